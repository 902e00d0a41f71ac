import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFold } from '#src/account/usage/fold.ts'
import { countBatch } from '#src/account/usage/meter.ts'
import { createNoticeLetter, mailNotice } from '#src/account/usage/notice-mail.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

it('a usage notice is mailed once to each owner and admin, and not to who has left or may not read it', async () => {
  const { test } = service
  const { db } = test
  const { accountId } = await service.makeCaller({ environment: 'live' })
  await test.owner("UPDATE accounts SET plan = 'developer' WHERE id = $1", [accountId])
  const scope = { accountId, environment: 'live' } as const
  const owner = await service.signIn(accountId)
  await service.signIn(accountId, { role: 'admin', email: 'admin@example.com' })
  await service.signIn(accountId, { role: 'analyst', email: 'analyst@example.com' })
  const gone = await service.signIn(accountId, { role: 'admin', email: 'gone@example.com' })
  await test.owner('UPDATE users SET deprovisioned_at = now() WHERE id = $1', [gone.userId])

  await db.tenant(scope, (tx) => countBatch(tx, scope, 'attest', { batchId: 'bat_live_1', lines: 1_000 }))
  const fold = createFold({ db, notify: mailNotice, log: { warn: () => {} } })
  const run = () => fold.run(new AbortController().signal)
  await Promise.all([run(), run()])
  await run()
  const mails = await test.owner<{ recipient: string; subject: string }>(
    'SELECT recipient, subject_id AS subject FROM mails WHERE account_id = $1 ORDER BY recipient, subject_id',
    [accountId],
  )
  const month = new Date().toISOString().slice(0, 7)
  const each = [`${month} usage_100`, `${month} usage_80`]
  const recipients = ['admin@example.com', `${owner.userId}@example.com`]
  expect(mails).toEqual(recipients.flatMap((recipient) => each.map((subject) => ({ recipient, subject }))))

  const write = createNoticeLetter({ db, baseUrl: 'https://api.example.test' })
  const mail = { recipient: 'admin@example.com', subjectId: `${month} usage_100`, scope }
  const letter = await write(mail)
  expect(letter?.subject).toBe('The operations of this month are used up')
  expect(letter?.paragraphs[0]).toContain('1,000 of the 1,000')
  // Who lost the role before the mail was sent gets none.
  await test.owner("UPDATE users SET role = 'analyst' WHERE email = 'admin@example.com'")
  expect(await write(mail)).toBeUndefined()
})
