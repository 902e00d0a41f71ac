import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDeliverMail } from '#src/account/mail/deliver-mail.ts'
import type { Letter } from '#src/account/mail/letter.ts'
import { purgeMails } from '#src/account/mail/rows.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { createMailer, type MailerSettings, smtpOptions } from '#src/platform/net/mailer.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { type MailServer, startMailServer } from '../../support/smtp.ts'

const LETTER: Letter = {
  subject: 'Überprüfung \u{1F512}\r\nBcc: evil@example.com',
  paragraphs: ['A <b>paragraph</b> & more.'],
  action: { label: 'Sign in', url: 'https://api.example.test/login/link#q6urq6urq6' },
  notes: ['A note.'],
}
const SERVICE: Scope = { accountId: 'acc_service', environment: 'live' }

let test: TestDatabase
let jobs: Jobs<'mail'>
let server: MailServer
let scope: Scope
let folder: string
let lines: string[]

beforeAll(async () => {
  test = await createTestDatabase()
  jobs = createJobs(test, 'mail')
  server = await startMailServer()
  scope = await makeAccount(test)
  folder = await mkdtemp(join(tmpdir(), 'mails-'))
})
afterAll(async () => {
  await server.close()
  await test.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  server.received.length = 0
  server.refusals.length = 0
  lines = []
})

function makeWork(settings: Partial<MailerSettings> = {}, writer: LetterWriter = async () => LETTER) {
  const mailer = createMailer({
    smtpUrl: server.url,
    from: 'Countersign <no-reply@example.com>',
    host: 'api.example.test',
    connections: 2,
    ...settings,
  })
  const log = createLog({ process: 'mail', level: 'debug' }, { write: (line) => void lines.push(line) })
  return {
    work: createDeliverMail({
      db: test.db,
      mailer,
      writers: {
        login_link: writer,
        invite: writer,
        usage_notice: writer,
        sso_changed: writer,
        passkey_changed: writer,
        approval: writer,
        exclusions_changed: writer,
        webhook_endpoint_disabled: writer,
        disclosure_code: writer,
        disclosure_grant: writer,
      },
      log,
    }),
    mailer,
  }
}

const mail = (recipient = 'mika@example.com') => ({ kind: 'login_link', recipient, subjectId: 'lnk_1' }) as const
const statusOf = async (id: string) => (await test.owner('SELECT status, reason FROM mails WHERE id = $1', [id]))[0]
const runOne = async (id: string, work: ReturnType<typeof makeWork>['work']) => {
  const [job = ''] = await jobs.of(id)
  return jobs.run(await jobs.take(job), work)
}

describe('a mail', () => {
  it('is a row and a job without its text, and arrives as text and HTML with a Message-ID of its own', async () => {
    const { work, mailer } = makeWork()
    const id = await test.db.system('test', (tx) => sendMail(tx, mail()))
    expect(await runOne(id, work)).toBe('settled')
    mailer.close()
    expect(await statusOf(id)).toEqual({ status: 'sent', reason: null })
    const [{ from, to, parsed, raw } = { from: '', to: [], parsed: undefined, raw: '' }] = server.received
    expect({ from, to }).toEqual({ from: 'no-reply@example.com', to: ['mika@example.com'] })
    expect(parsed).toMatchObject({
      messageId: `<${id}@api.example.test>`,
      from: { text: '"Countersign" <no-reply@example.com>' },
    })
    // A line break in a text makes no header.
    expect(parsed?.headers.has('bcc')).toBe(false)
    expect(parsed?.subject).toContain('Überprüfung')
    expect(parsed?.headers.get('auto-submitted')).toBe('auto-generated')
    expect(parsed?.text).toContain(LETTER.action.url)
    expect(parsed?.html).toContain('A &lt;b&gt;paragraph&lt;/b&gt; &amp; more.')
    expect(parsed?.html).not.toMatch(/<img|src=|http-equiv/)
    expect(raw).not.toContain('Bcc:')
    const rows = await test.owner<{ row: string }>(
      'SELECT to_jsonb(mails)::text AS row FROM mails UNION ALL SELECT to_jsonb(jobs)::text FROM jobs',
    )
    expect(rows.map(({ row }) => row).join('\n')).not.toContain('q6urq6urq6')
  })

  it('can be written in the transaction of a tenant, and is invisible to other accounts', async () => {
    const { work, mailer } = makeWork()
    const id = await test.db.tenant(scope, (tx) => sendMail(tx, { ...mail(), scope }))
    const stranger = await makeAccount(test)
    expect(await test.db.tenant(stranger, (tx) => tx.query('SELECT id FROM mails'))).toEqual([])
    expect(await runOne(id, work)).toBe('settled')
    mailer.close()
    expect(server.received).toHaveLength(1)
  })

  it('is sent once, however often its job runs, and again with the same Message-ID after a crash', async () => {
    const { work, mailer } = makeWork()
    const id = await test.db.system('test', (tx) => sendMail(tx, mail()))
    const [job = ''] = await jobs.of(id)
    const first = await jobs.take(job)
    // The second delivery takes the job over: the first one's mail was sent, and its end does not count.
    const second = await jobs.take(job)
    expect(await jobs.run(first, work)).toBe('stale')
    expect(await jobs.run(second, work)).toBe('settled')
    expect(await jobs.runNew(SERVICE, { mailId: id }, work)).toBe('done')
    mailer.close()
    expect(server.received.map(({ parsed }) => parsed.messageId)).toEqual(Array(2).fill(`<${id}@api.example.test>`))
  })

  it('is dropped when its letter is no longer to be sent', async () => {
    const { work, mailer } = makeWork({}, async () => undefined)
    const id = await test.db.system('test', (tx) => sendMail(tx, mail()))
    expect(await runOne(id, work)).toBe('settled')
    mailer.close()
    expect(await statusOf(id)).toMatchObject({ status: 'dropped' })
    expect(server.received).toEqual([])
  })

  it('ends at a permanent refusal, and is tried again after a temporary one, without a recipient in errors and logs', async () => {
    const { work, mailer } = makeWork()
    const [refused, later] = await test.db.system('test', async (tx) => [
      await sendMail(tx, mail('refused@example.com')),
      await sendMail(tx, mail('later@example.com')),
    ])
    server.refusals.push(550, 451, undefined)
    expect(await runOne(refused ?? '', work)).toBe('settled')
    expect(await statusOf(refused ?? '')).toEqual({ status: 'failed', reason: 'the mail server: EENVELOPE 550' })
    expect(await runOne(later ?? '', work)).toBe('retry')
    await jobs.hurry()
    expect(await runOne(later ?? '', work)).toBe('settled')
    mailer.close()
    expect(server.received).toHaveLength(1)
    const errors = await test.owner<{ error: string }>(
      'SELECT last_error AS error FROM jobs WHERE last_error IS NOT NULL',
    )
    expect(errors.length).toBeGreaterThan(0)
    expect(JSON.stringify([errors, lines])).not.toMatch(/(refused|later)@/)
  })

  it('waits while the server is away; out of attempts it has failed, and a redrive sends it', async () => {
    const away = makeWork({ smtpUrl: 'smtp://127.0.0.1:1' })
    const id = await test.db.system('test', (tx) => sendMail(tx, mail()))
    expect(await runOne(id, away.work)).toBe('retry')
    expect(await statusOf(id)).toMatchObject({ status: 'pending' })
    await jobs.hurry()
    const [job = ''] = await jobs.of(id)
    const last = await jobs.take(job)
    await jobs.kill(last, away.work)
    expect(await statusOf(id)).toMatchObject({ status: 'failed' })
    const { work, mailer } = makeWork()
    await jobs.redrive(last, work)
    expect(await runOne(id, work)).toBe('settled')
    for (const one of [away.mailer, mailer]) one.close()
    expect(await statusOf(id)).toMatchObject({ status: 'sent' })
  })

  it('of an unknown kind is dead, and without a server or a folder it waits', async () => {
    const { work } = makeWork({ smtpUrl: undefined })
    const [unknown, waiting] = await test.db.system('test', async (tx) => [
      await sendMail(tx, mail()),
      await sendMail(tx, mail()),
    ])
    await test.owner(`UPDATE mails SET kind = 'no_such' WHERE id = $1`, [unknown])
    expect(await runOne(unknown ?? '', work)).toBe('dead')
    expect(await runOne(waiting ?? '', work)).toBe('retry')
  })

  it('is a file for its owner alone where a folder is configured, which keeps the newest', async () => {
    for (let at = 0; at < 205; at += 1) await writeFile(join(folder, `mai_00${String(at).padStart(3, '0')}.eml`), '')
    const { work } = makeWork({ smtpUrl: undefined, directory: folder })
    const id = await test.db.system('test', (tx) => sendMail(tx, mail()))
    expect(await runOne(id, work)).toBe('settled')
    const files = (await readdir(folder)).toSorted()
    expect(files).toHaveLength(200)
    const file = join(folder, files.at(-1) ?? '')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const parsed = await simpleParser(await readFile(file))
    expect(parsed.messageId).toBe(`<${id}@api.example.test>`)
  })

  it('is deleted with its recipient after a week', async () => {
    const before = new Date(Date.now() - 60_000)
    await test.owner(`UPDATE mails SET created_at = $1 WHERE id = (SELECT min(id) FROM mails)`, [
      new Date(before.getTime() - 1),
    ])
    expect(await purgeMails(test.db, before)).toBe(1)
    expect(await purgeMails(test.db, before)).toBe(0)
  })
})

it.each([
  [
    'smtps://u:p%40ss@mail.example.com',
    { host: 'mail.example.com', port: 465, secure: true, requireTLS: false, auth: { user: 'u', pass: 'p@ss' } },
  ],
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, requireTLS: true }],
  ['smtp://relay.internal:25?tls=off', { host: 'relay.internal', port: 25, secure: false, requireTLS: false }],
  ['smtp://127.0.0.1:25', { host: '127.0.0.1', port: 25, secure: false, requireTLS: false }],
])('%s demands encryption, except where the operator or the machine makes it needless', (url, options) => {
  expect(smtpOptions(url)).toEqual(options)
})
