// The work of the mail queue. At least once: a crash between the server's answer and the commit sends the mail again,
// with the same Message-ID. What is refused permanently ends the mail and not the job: a redrive can't fix it.

import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { Log } from '#src/platform/log.ts'
import type { Mailer } from '#src/platform/net/mailer.ts'
import { renderLetter } from './letter.ts'
import { findMail, reopenMail, settleMail } from './rows.ts'
import { type LetterWriter, MAIL_KINDS, type MailKind } from './send.ts'

interface DeliverMailDeps {
  db: Pick<Database, 'tenant'>
  mailer: Mailer
  writers: Record<MailKind, LetterWriter>
  log: Log
}

export function createDeliverMail({ db, mailer, writers, log }: DeliverMailDeps): Work<'mail'> {
  return {
    async run({ mailId }, job) {
      const { scope } = job
      const mail = await db.tenant(scope, (tx) => findMail(tx, mailId))
      if (mail?.status !== 'pending') return { kind: 'done' }
      if (!isKind(mail.kind)) return { kind: 'dead', error: 'a mail of a kind that this release does not know' }
      const letter = await writers[mail.kind]({ ...mail, scope })
      if (letter === undefined) return end(job, (tx) => settleMail(tx, mailId, { status: 'dropped' }))

      const result = await mailer.send({ id: mailId, to: mail.recipient, ...renderLetter(letter) }, job.signal)
      failpoint('mail:sent')
      if (result.kind === 'failed') return { kind: 'retry', error: result.reason }
      if (result.kind === 'sent') return end(job, (tx) => settleMail(tx, mailId, { status: 'sent' }))
      log.warn({ reason: result.reason }, 'the mail server refused a mail permanently')
      return end(job, (tx) => settleMail(tx, mailId, { status: 'failed', reason: result.reason }))
    },
    onDead: (tx, _scope, { mailId }, error) =>
      settleMail(tx, mailId, { status: 'failed', reason: error.slice(0, 200) }),
    onRedrive: (tx, _scope, { mailId }) => reopenMail(tx, mailId),
  }

  async function end(job: RunningJob, write: (tx: Tx) => Promise<void>) {
    const settle = () =>
      db.tenant(job.scope, async (tx) => {
        await write(tx)
        await job.settle(tx)
      })
    // The mail is out: a restart of Postgres must not send it again.
    await retryWhileAway(settle, job.signal)
    return { kind: 'settled' } as const
  }
}

function isKind(kind: string): kind is MailKind {
  return MAIL_KINDS.some((known) => known === kind)
}
