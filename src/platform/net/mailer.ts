// Sends mails: to the operator's mail server, or as files where none is configured. The server belongs to the
// deployment, like Postgres, so the rules for addresses that tenants choose don't apply to it. Errors of the library and
// of the server contain the recipient, so none of them leaves this file.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface OutgoingMail {
  /** Id of the row. The Message-ID is made from it, so that a mail that is sent twice has one. */
  id: string
  to: string
  subject: string
  text: string
  html: string
}

export type MailResult =
  | { kind: 'sent' }
  /** The server refused this mail permanently (RFC 5321 4.2.1: 5yz). */
  | { kind: 'refused'; reason: string }
  /** The mail may be taken later. */
  | { kind: 'failed'; reason: string }

export interface Mailer {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<MailResult>
  close(): void
}

export interface MailerSettings {
  smtpUrl?: string | undefined
  /** A folder for .eml files; used without `smtpUrl`. */
  directory?: string | undefined
  /** `Countersign <no-reply@example.com>`, or the address alone. */
  from: string
  /** The right-hand side of Message-IDs. */
  host: string
  /** Connections to the server at once. */
  connections: number
}

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }
// No part of a mail may be read from a file or an address.
const CLOSED = { disableFileAccess: true, disableUrlAccess: true }
// A developer looks at the newest few.
const MAX_FILES = 200
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

// Loaded at the first mail, which one process of all sends.
const loadLibrary = async () => (await import('nodemailer')).default

/** Opens no connection before the first mail. */
export function createMailer(settings: MailerSettings): Mailer {
  const { smtpUrl, directory } = settings
  if (smtpUrl !== undefined) return createSmtpMailer(settings, smtpUrl)
  if (directory !== undefined) return createFileMailer(settings, directory)
  return {
    send: async () => ({ kind: 'failed', reason: 'neither SMTP_URL nor MAIL_DIR is set' }),
    close() {},
  }
}

function createSmtpMailer(settings: MailerSettings, smtpUrl: string): Mailer {
  const options = { ...smtpOptions(smtpUrl), ...TIMEOUTS, ...CLOSED, pool: true, maxConnections: settings.connections }
  const open = async () => (await loadLibrary()).createTransport(options)
  let transport: ReturnType<typeof open> | undefined
  return {
    async send(mail, signal) {
      transport ??= open()
      try {
        await (await transport).sendMail({ ...messageOf(mail, settings), signal })
        return { kind: 'sent' }
      } catch (error) {
        return resultOf(error)
      }
    },
    close: () => void transport?.then((opened) => opened.close()),
  }
}

/**
 * `smtps://` is TLS from the start. `smtp://` demands STARTTLS, because mails contain links that sign in: without it
 * somebody between could read them. `?tls=off` is for a relay on a private network; a relay on this machine needs none.
 * Exported for tests.
 */
export function smtpOptions(smtpUrl: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(smtpUrl)
  const secure = protocol === 'smtps:'
  const auth =
    username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !LOOPBACK.test(hostname) && searchParams.get('tls') !== 'off',
    ...auth,
  }
}

function createFileMailer(settings: MailerSettings, directory: string): Mailer {
  const open = async () =>
    (await loadLibrary()).createTransport({ streamTransport: true, buffer: true, newline: 'unix', ...CLOSED })
  let transport: ReturnType<typeof open> | undefined
  return {
    async send(mail) {
      transport ??= open()
      const { message } = await (await transport).sendMail(messageOf(mail, settings))
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Ids sort by time. A mail that is sent again replaces its file.
      await writeFile(join(directory, `${mail.id}.eml`), message, { mode: 0o600 })
      const files = (await readdir(directory)).filter((name) => name.endsWith('.eml')).toSorted()
      await Promise.all(files.slice(0, -MAX_FILES).map((name) => rm(join(directory, name), { force: true })))
      return { kind: 'sent' }
    },
    close() {},
  }
}

function messageOf({ id, to, subject, text, html }: OutgoingMail, { from, host }: MailerSettings) {
  return {
    from,
    // The address is an object: a string would be parsed as a list of addresses.
    to: { name: '', address: to },
    envelope: { from: addressOf(from), to: [to] },
    messageId: `<${id}@${host}>`,
    subject,
    text,
    html,
    // RFC 3834: no answer from a holiday notice.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  }
}

/** The address of `Name <address>`, or of the address alone. */
export function addressOf(from: string): string {
  return /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from
}

// Other errors, such as a refused connection or login (EAUTH has 535), are not the mail's fault.
const ABOUT_THE_MAIL = ['EENVELOPE', 'EMESSAGE']

function resultOf(error: unknown): MailResult {
  const { code, responseCode } = (error instanceof Error ? error : {}) as { code?: unknown; responseCode?: unknown }
  const status = typeof responseCode === 'number' ? responseCode : undefined
  const name = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : 'unknown'
  const reason = status === undefined ? `the mail server: ${name}` : `the mail server: ${name} ${status}`
  const isRefused = status !== undefined && status >= 500 && ABOUT_THE_MAIL.includes(name)
  return { kind: isRefused ? 'refused' : 'failed', reason }
}
