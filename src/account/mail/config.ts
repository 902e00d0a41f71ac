import { z } from 'zod'
import { defineConfig, type SettingsOf } from '#src/platform/config-keys.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { addressOf } from '#src/platform/net/mailer.ts'

export type MailSettings = SettingsOf<typeof mailConfig>

// A name without the characters that have a meaning in a header.
const SENDER = /^(?:[\p{L}\p{N} '&.-]{1,80} <[^<>\s]+>|[^<>\s]+)$/u
const sender = z
  .string()
  .refine(
    (from) => SENDER.test(from) && normalizeAddress(addressOf(from)) !== undefined,
    'must be an address, or a name and an address: Countersign <no-reply@example.com>',
  )

export const mailConfig = defineConfig({
  title: 'Mail',
  keys: {
    SMTP_URL: z
      .url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps address' })
      .optional()
      .describe(
        'Mail server, smtps://user:password@host:465 or smtp://…:587 with STARTTLS. `?tls=off` for a relay on a private network.',
      ),
    MAIL_FROM: sender.optional().describe('Sender of mails, such as Countersign <no-reply@example.com>.'),
    MAIL_DIR: z
      .string()
      .optional()
      .describe(
        'Folder for mails as .eml files where SMTP_URL is not set. Development only. `npm start` uses `.data/mail`.',
      ),
  },
  problems({ MODE, SMTP_URL, MAIL_FROM, MAIL_DIR }) {
    if (MODE !== 'production') return []
    return [
      ...(SMTP_URL !== undefined && MAIL_FROM === undefined ? ['MAIL_FROM: is missing. Mails need a sender.'] : []),
      ...(MAIL_DIR === undefined ? [] : ['MAIL_DIR: refused in production']),
    ]
  },
})
