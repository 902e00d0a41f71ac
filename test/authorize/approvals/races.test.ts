// Decisions about one approval at the same time: each person counts once, there is one end, and nothing is decided after it.

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readApprovals } from '#src/authorize/approvals/rows.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type ApprovalService, startApprovals } from './service.ts'

const ROUNDS = 8

let on: ApprovalService
let caller: TestCaller

beforeAll(async () => {
  on = await startApprovals({ poolSize: 12 })
})
beforeEach(async () => {
  caller = await on.makeCaller()
})
afterAll(() => on?.close())

const team = (count: number): Promise<SignedIn[]> => Promise.all(Array.from({ length: count }, () => on.join(caller)))
const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).toSorted()
const resolved = async (id: string) =>
  (await on.events(caller)).filter(({ type, data }) => type === 'approval.resolved' && data.approval_id === id)

async function expectOneEnd(id: string, status: string): Promise<void> {
  expect(await resolved(id)).toMatchObject([{ data: { status } }])
  const ends = (await on.entries(caller, 'approval_decision')).filter(
    ({ subject_id, reason }) => subject_id === id && reason !== 'approval_vote',
  )
  expect(ends.map(({ reason }) => reason)).toEqual([`approval_${status}`])
}

it('ten requests of five people at once count five people', async () => {
  const people = await team(5)
  for (let round = 0; round < ROUNDS; round += 1) {
    const row = await on.open(caller, { demands: [{ min_approvals: 5 }] })
    const answers = await Promise.all([...people, ...people].map((user) => on.approve(user, row.id)))
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 200, 409, 409, 409, 409, 409])
    const shown = await on.read(caller, row.id)
    expect(shown).toMatchObject({ status: 'approved', missing: [] })
    expect(new Set((shown.decisions as { by: { id: string } }[]).map(({ by }) => by.id)).size).toBe(5)
    await expectOneEnd(row.id, 'approved')
  }
})

it('of more people than are wanted, as many count as are wanted', async () => {
  const people = await team(6)
  const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
  const answers = await Promise.all(people.map((user) => on.approve(user, row.id)))
  expect(statusesOf(answers)).toEqual([200, 200, 409, 409, 409, 409])
  await expectOneEnd(row.id, 'approved')
})

it('an approval and a denial at once have one end, which both see', async () => {
  const [a, b] = await team(2)
  if (a === undefined || b === undefined) throw new Error('two people')
  const ends = new Set<unknown>()
  for (let round = 0; round < ROUNDS * 2; round += 1) {
    const row = await on.open(caller)
    const answers = await Promise.all([
      delay(round % 3).then(() => on.approve(a, row.id)),
      delay((round + 1) % 3).then(() => on.deny(b, row.id)),
    ])
    expect(statusesOf(answers)).toEqual([200, 409])
    const { status } = await on.read(caller, row.id)
    const won = answers.find((answer) => answer.status === 200)
    expect(won?.json.status).toBe(status)
    await expectOneEnd(row.id, String(status))
    ends.add(status)
  }
  expect(ends.size).toBeGreaterThan(0)
})

it('two votes of one key at once are one', async () => {
  await team(2)
  const emails = await on.test.owner<{ email: string }>('SELECT email FROM users WHERE account_id = $1', [
    caller.accountId,
  ])
  const key = { key: on.addKey({ ...caller, keyId: 'key_test_other', scopes: ['escalate'] }) }
  for (let round = 0; round < ROUNDS; round += 1) {
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    const answers = await Promise.all(
      emails.map(({ email }) =>
        on.call(key, `/v1/approvals/${row.id}/approve`, { method: 'POST', json: { approver: { email } } }),
      ),
    )
    expect(statusesOf(answers)).toEqual([200, 409])
    expect(await on.read(caller, row.id)).toMatchObject({ status: 'pending' })
  }
})

it('nothing is approved after a revocation has answered, and one that came before stays', async () => {
  const [user] = await team(1)
  if (user === undefined) throw new Error('a person')
  for (let round = 0; round < ROUNDS * 2; round += 1) {
    const sessionId = `session-${round}`
    const row = await on.open(caller, { agentSessionId: sessionId })
    const json = { scope: 'session', agent_session_id: sessionId, reason: 'r' }
    const [approved, revoked] = await Promise.all([
      delay(round % 4).then(() => on.approve(user, row.id)),
      delay((round * 3) % 4).then(() => on.call(caller, '/v1/intent/revocations', { method: 'POST', json })),
    ])
    expect(revoked.status).toBe(200)
    const { status } = await on.read(caller, row.id)
    expect(status).toBe(approved.status === 200 ? 'approved' : 'cancelled')
    await expectOneEnd(row.id, String(status))
  }
})

it('a person who is removed at the same moment is counted before it, or not at all', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first, second] = await team(2)
    if (first === undefined || second === undefined) throw new Error('two people')
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    await on.approve(first, row.id)
    const removal = on.test.db.tenant(caller, async (tx) => {
      await delay(round % 3)
      await tx.query('UPDATE users SET deprovisioned_at = clock_timestamp() WHERE account_id = $1 AND id = $2', [
        caller.accountId,
        first.userId,
      ])
    })
    const [answer] = await Promise.all([on.approve(second, row.id), removal])
    expect(answer.status).toBe(200)
    const [left] = await on.test.owner<{ removed: Date }>(
      'SELECT deprovisioned_at AS removed FROM users WHERE id = $1',
      [first.userId],
    )
    const decidedAt = answer.json.status === 'approved' ? new Date(String(answer.json.decided_at)) : undefined
    // Approved: the transaction read them as a member, and the removal waited for it.
    if (decidedAt !== undefined) expect(decidedAt.getTime()).toBeLessThanOrEqual(left?.removed.getTime() ?? 0)
    else expect(answer.json).toMatchObject({ status: 'pending', missing: [{ approvals: 1 }] })
  }
})

describe('the expiry', () => {
  it('between the lock and the end of a decision undoes it: nothing is late', async () => {
    const [user] = await team(1)
    if (user === undefined) throw new Error('a person')
    for (let round = 0; round < ROUNDS; round += 1) {
      const row = await on.open(caller, { latestExpiry: new Date(Date.now() + 150 + round * 5) })
      const answers = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          await delay(100 + index * 15)
          return on.approve(user, row.id)
        }),
      )
      await until(async () => (await on.read(caller, row.id)).status !== 'pending')
      const shown = await on.read(caller, row.id)
      const isApproved = answers.some(({ status }) => status === 200)
      expect(shown.status).toBe(isApproved ? 'approved' : 'expired')
      expect(shown.decisions).toHaveLength(isApproved ? 1 : 0)
      if (isApproved) expect(Date.parse(String(shown.decided_at))).toBeLessThan(Date.parse(String(shown.expires_at)))
      await Promise.all([on.services.authorize.approvals.tellEnded(), on.services.authorize.approvals.tellEnded()])
      await expectOneEnd(row.id, String(shown.status))
    }
  })

  it('waits for a decision that was made in time and has not committed: what is shown as expired stays so', async () => {
    const row = await on.open(caller, { latestExpiry: new Date(Date.now() + 300) })
    const decided = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const deciding = on.test.db.tenant(caller, async (tx) => {
      await tx.query(
        `UPDATE approvals SET outcome = 'approved', decided_at = clock_timestamp(), is_told = true WHERE id = $1`,
        [row.id],
      )
      decided.resolve()
      await mayCommit.promise
    })
    await decided.promise
    await until(() => Date.now() > row.expiresAt.getTime() + 20)
    // A reader, a verification and the clock.
    const seen = on.read(caller, row.id)
    const locked = on.test.db.tenant(caller, (tx) => readApprovals(tx, row.jti, true))
    await on.services.authorize.approvals.tellEnded()
    expect(await resolved(row.id)).toEqual([])
    mayCommit.resolve()
    await deciding
    expect(await seen).toMatchObject({ status: 'approved' })
    expect(await locked).toMatchObject([{ outcome: 'approved' }])
  })
})
