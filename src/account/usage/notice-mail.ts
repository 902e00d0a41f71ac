// The mails that tell owners and admins of a usage notice. The row of a mail names the notice; its text is made from the
// notice when it is sent.

import type { Letter } from '#src/account/mail/letter.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Notify } from './fold.ts'
import { findNotice, findTold, type NoticeRow } from './notice-rows.ts'

/** One mail for each owner and admin. An account without users is told by GET /v1/account only. */
export const mailNotice: Notify = async (tx, { accountId, month, kind }) => {
  const scope = { accountId, environment: 'live' } as const
  for (const { email: recipient } of await findTold(tx)) {
    await sendMail(tx, { kind: 'usage_notice', recipient, subjectId: `${month} ${kind}`, scope })
  }
}

export function createNoticeLetter({ db, baseUrl }: { db: Pick<Database, 'tenant'>; baseUrl: string }): LetterWriter {
  return async ({ subjectId, recipient, scope }) => {
    const [month = '', kind = ''] = subjectId.split(' ')
    return db.tenant(scope, async (tx) => {
      // A person who was removed, or lost the role, meanwhile.
      const isTold = (await findTold(tx)).some(({ email }) => email === recipient)
      const notice = isTold ? await findNotice(tx, month, kind) : undefined
      return notice && letterOf(notice, scope.accountId, baseUrl)
    })
  }
}

function letterOf({ month, plan, cap, used, kind }: NoticeRow, accountId: string, baseUrl: string): Letter {
  const [count, included] = [used, cap].map((number) => number.toLocaleString('en'))
  const isUsedUp = kind === 'usage_100'
  return {
    subject: isUsedUp ? 'The operations of this month are used up' : 'Most operations of this month are used',
    paragraphs: [
      `The account ${accountId} has used ${count} of the ${included} metered operations that the plan ${plan} includes in ${month} (UTC).`,
      plan === 'enterprise'
        ? 'Nothing is refused: the plan enterprise has no hard cap.'
        : isUsedUp
          ? 'Further live operations are refused with monthly_cap_exceeded until the next month begins, or until the operator of the service moves the account to a larger plan.'
          : 'When they are used up, further live operations are refused until the next month begins. The operator of the service can move the account to a larger plan.',
    ],
    action: { label: 'How plans work', url: `${baseUrl}/docs/account/plans` },
    notes: ['You get this mail because you are an owner or an admin of the account.'],
  }
}
