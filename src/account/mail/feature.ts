import { QUEUES } from '#src/catalogue/queues.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createMailer } from '#src/platform/net/mailer.ts'
import { deploymentRule } from '#src/platform/retention.ts'
import type { MailSettings } from './config.ts'
import { createDeliverMail } from './deliver-mail.ts'
import { purgeMails } from './rows.ts'
import type { LetterWriter, MailKind } from './send.ts'

const MAIL_DAYS = 7

/** Mails, sent by a queue of their own. @param writers Of the features whose mails they are. */
export function mailFeature(p: Platform, settings: MailSettings, writers: Record<MailKind, LetterWriter>) {
  const openMailer = () => {
    const mailer = createMailer({
      smtpUrl: settings.SMTP_URL,
      directory: settings.MAIL_DIR,
      from: settings.MAIL_FROM ?? 'Countersign <no-reply@localhost>',
      host: new URL(p.baseUrl).hostname,
      connections: QUEUES.mail.concurrency,
    })
    p.onClose(() => mailer.close(), 'mailer')
    return mailer
  }
  return defineFeature(
    {
      name: 'mail',
      data: [{ table: 'mails', key: ['id'] }],
      work: { mail: () => createDeliverMail({ ...p, mailer: openMailer(), writers }) },
      retention: [deploymentRule(p, { what: 'mails', days: MAIL_DAYS }, purgeMails)],
    },
    {},
  )
}
