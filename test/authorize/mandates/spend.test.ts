import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readMandateFacts } from '#src/authorize/mandates/facts-rows.ts'
import { judgeMandate, type MandateFacts, remainingOf } from '#src/authorize/mandates/judge.ts'
import { checkIn, insertMandate, lockMandate, type NewMandate, revokeMandate } from '#src/authorize/mandates/rows.ts'
import { chargeMandate, purgeSpend, releaseMandate } from '#src/authorize/mandates/spend-rows.ts'
import { statusOf } from '#src/authorize/mandates/state.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import { isLockTimeout } from '#src/platform/unavailable.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

let test: TestDatabase
let scope: Scope

beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 })
})
beforeEach(async () => {
  scope = await makeAccount(test)
})
afterAll(() => test?.close())

type Terms = Partial<NewMandate> & { limit?: string }

async function grant({ limit, ...more }: Terms = {}): Promise<string> {
  const id = newId('mnd', scope.environment)
  const mandate: NewMandate = {
    id,
    ancestors: [],
    agentId: null,
    principal: 'buying@example.com',
    description: 'Spare parts',
    timezone: 'UTC',
    constraints: {},
    pointers: {},
    budget: limit === undefined ? null : { limit, currency: 'EUR', period: 'total' },
    expiresAt: new Date(Date.now() + DAY_MS),
    notBefore: null,
    instruments: null,
    heartbeat: null,
    createdBy: newId('key', scope.environment),
    ...more,
  }
  expect(await test.db.tenant(scope, (tx) => insertMandate(tx, scope, mandate))).toBe(true)
  return id
}

const read = (id: string): Promise<MandateFacts> => test.db.tenant(scope, (tx) => factsOf(tx, id))
async function factsOf(tx: Tx, id: string): Promise<MandateFacts> {
  const facts = await readMandateFacts(tx, id, 'update')
  if (facts === undefined) throw new Error('no mandate')
  return facts
}
const spentOf = async (id: string) => (await read(id)).levels.map(({ spent }) => spent)
const newJti = () => newId('jti', scope.environment)

const NOT_CHARGED = new Error('not charged')

/** A transaction, again where a slow machine held its lock for longer than the timeout: then nothing of it was kept. */
async function transact<R>(work: (tx: Tx) => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await test.db.tenant(scope, work)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
  }
}

/** As verify executes: locks, judges and charges in one transaction. What the judge allows under the locks is charged. */
function execute(id: string, amount: string, jti = newJti()): Promise<boolean> {
  return transact(async (tx) => {
    const facts = await factsOf(tx, id)
    const action = {
      amount,
      currency: 'EUR',
      action_type: null,
      counterparty: null,
      instrument: null,
      malformed: [],
      contradicted: {},
    }
    const refusal = judgeMandate(facts, action, new Date().toISOString(), { isCharged: false })
    if (refusal !== undefined) return false
    if (!(await chargeMandate(tx, scope, { jti, facts, amount }))) throw new Error('allowed, and not charged')
    return true
  })
}

/** Without the judge: the guard alone. */
async function charge(facts: MandateFacts, amount: string, jti = newJti()): Promise<boolean> {
  try {
    return await transact(async (tx) => {
      if (!(await chargeMandate(tx, scope, { jti, facts, amount }))) throw NOT_CHARGED
      return true
    })
  } catch (error) {
    if (error !== NOT_CHARGED) throw error
    return false
  }
}

const release = (jti: string) => transact((tx) => releaseMandate(tx, scope, jti))
const numberOf = (answers: boolean[]) => answers.filter(Boolean).length

describe('200 concurrent executions', () => {
  it('allows an action of 0 where the limit was narrowed below what is spent', async () => {
    const id = await grant({ limit: '100' })
    expect(await execute(id, '80')).toBe(true)
    await test.owner('UPDATE mandates SET budget_limit = 50 WHERE id = $1', [id])
    expect(await execute(id, '1')).toBe(false)
    expect(await execute(id, '0')).toBe(true)
    expect(await spentOf(id)).toEqual(['80'])
  })

  it('on one mandate never spend a cent too much, and none that fits is refused', async () => {
    const id = await grant({ limit: '100.00' })
    const amounts = Array.from({ length: 200 }, () => '0.75')
    const answers = await Promise.all(amounts.map((amount) => execute(id, amount)))
    expect(numberOf(answers)).toBe(133)
    expect(await spentOf(id)).toEqual(['99.75'])
    expect(remainingOf(await read(id))).toBe('0.25')
    expect(await execute(id, '0.25')).toBe(true)
    expect(await execute(id, '0.0001')).toBe(false)
  })

  it('without their locks and without a judge are still guarded by the statement that charges', async () => {
    const id = await grant({ limit: '10' })
    const facts = await read(id)
    const answers = await Promise.all(Array.from({ length: 200 }, () => charge(facts, '0.3')))
    expect(numberOf(answers)).toBe(33)
    expect(await spentOf(id)).toEqual(['9.9'])
  })

  it("across two parents' children spend of all levels what they spend together", async () => {
    const root = await grant({ limit: '60' })
    const parents = [
      await grant({ limit: '50', ancestors: [root] }),
      await grant({ limit: '20', ancestors: [root] }),
    ] as const
    const children = await Promise.all(
      parents.flatMap((parent) => [0, 1].map(() => grant({ ancestors: [root, parent], limit: '40' }))),
    )
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const child = children[index % children.length] ?? ''
        return execute(child, '1').then((isCharged) => ({ child, isCharged }))
      }),
    )
    const ofChild = (child: string) => answers.filter((answer) => answer.child === child && answer.isCharged).length
    const [first = '', second = '', third = '', fourth = ''] = children
    const [left, right] = [ofChild(first) + ofChild(second), ofChild(third) + ofChild(fourth)]
    expect(left + right).toBe(60)
    expect(left).toBeLessThanOrEqual(50)
    expect(right).toBeLessThanOrEqual(20)
    expect((await spentOf(first)).slice(0, 2)).toEqual(['60', String(left)])
    expect((await spentOf(third)).slice(0, 2)).toEqual(['60', String(right)])
    for (const child of children) expect((await spentOf(child))[2]).toBe(String(ofChild(child)))
  })

  it('with releases among them leave exactly what was executed and not released', async () => {
    const root = await grant({ limit: '30' })
    const child = await grant({ limit: '25', ancestors: [root] })
    const kept = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const jti = newJti()
        if (!(await execute(child, '1', jti))) return 0
        if (index % 3 !== 0) return 1
        const released = await Promise.all([release(jti), release(jti)])
        expect(released.flat()).toHaveLength(2)
        return 0
      }),
    )
    const total = kept.reduce<number>((sum, one) => sum + one, 0)
    expect(total).toBeLessThanOrEqual(25)
    expect(await spentOf(child)).toEqual([String(total), String(total)])
  })
})

describe('a charge', () => {
  it('that one level can not bear changes no other', async () => {
    const root = await grant({ limit: '10' })
    const child = await grant({ limit: '100', ancestors: [root] })
    expect(await charge(await read(child), '11')).toBe(false)
    expect(await spentOf(child)).toEqual(['0', '0'])
    expect(await charge(await read(child), '10')).toBe(true)
    expect(await charge(await read(child), '0.0001')).toBe(false)
    expect(await spentOf(child)).toEqual(['10', '10'])
  })

  it('is guarded by the limit as it is now, whatever the facts say', async () => {
    const id = await grant({ limit: '10' })
    const facts = await read(id)
    await test.owner(`UPDATE mandates SET budget_limit = 5 WHERE id = $1`, [id])
    expect(await charge(facts, '6')).toBe(false)
    expect(await charge(facts, '5')).toBe(true)
  })

  it('counts, and is guarded by the count as it is now, whatever the facts say', async () => {
    const limited = { limit: '10', currency: 'EUR', period: 'week' as const, max_count: 3 }
    const id = await grant({ budget: limited })
    const [facts, jti] = [await read(id), newJti()]
    expect(await charge(facts, '1', jti)).toBe(true)
    const answers = await Promise.all(Array.from({ length: 20 }, () => charge(facts, '0')))
    expect(numberOf(answers)).toBe(2)
    await release(jti)
    expect((await read(id)).levels[0]).toMatchObject({ count: 2, spent: '0' })
    expect(await charge(facts, '1')).toBe(true)
    expect(await charge(facts, '0')).toBe(false)
  })

  it('is made once for a token', async () => {
    const id = await grant({ limit: '10' })
    const [facts, jti] = [await read(id), newJti()]
    expect(await charge(facts, '1', jti)).toBe(true)
    await expect(charge(facts, '1', jti)).rejects.toMatchObject({ constraint: 'mandate_charges_pkey' })
    expect(await spentOf(id)).toEqual(['1'])
  })

  it('is not made of what has no budget, and needs an amount where there is one', async () => {
    const free = await grant()
    const facts = await read(free)
    expect(await test.db.tenant(scope, (tx) => chargeMandate(tx, scope, { jti: newJti(), facts, amount: null }))).toBe(
      true,
    )
    const limited = await read(await grant({ limit: '1' }))
    const charged = test.db.tenant(scope, (tx) =>
      chargeMandate(tx, scope, { jti: newJti(), facts: limited, amount: null }),
    )
    expect(await charged).toBe(false)
    expect(await charge(limited, '-1')).toBe(false)
    expect(await release(newJti())).toEqual([])
  })
})

describe('a release', () => {
  it('credits the very period and the ancestors that were charged, once', async () => {
    const root = await grant({ limit: '100' })
    const middle = await grant({ ancestors: [root] })
    const child = await grant({ ancestors: [root, middle], budget: { limit: '50', currency: 'EUR', period: 'day' } })
    const [yesterdays, todays] = [newJti(), newJti()]
    expect(await execute(child, '7.5', yesterdays)).toBe(true)
    // As if the day had passed since.
    const moved = await test.owner<{ period_start: string }>(
      `UPDATE mandate_spend SET period_start = period_start - 1 WHERE mandate_id = $1 RETURNING period_start::text`,
      [child],
    )
    await test.owner(`UPDATE mandate_charges SET period_start = period_start - 1 WHERE mandate_id = $1`, [child])
    expect(await execute(child, '2', todays)).toBe(true)
    expect(await spentOf(child)).toEqual(['9.5', '0', '2'])

    const released = await release(yesterdays)
    expect(released).toEqual([
      { mandate_id: root, period_start: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), amount: '7.5', currency: 'EUR' },
      { mandate_id: child, period_start: moved[0]?.period_start, amount: '7.5', currency: 'EUR' },
    ])
    expect(await release(yesterdays)).toEqual([])
    expect(await spentOf(child)).toEqual(['2', '0', '2'])
    const rows = await test.owner<{ spent: string }>(
      'SELECT spent FROM mandate_spend WHERE mandate_id = $1 ORDER BY period_start',
      [child],
    )
    expect(rows.map(({ spent }) => Number(spent))).toEqual([0, 2])
  })
})

describe('the state by the clock of Postgres', () => {
  const HEARTBEAT = { intervalSeconds: 300, windowSeconds: 600 }
  const stateAt = async (id: string, offset: string) => {
    const [row] = await test.owner<{ status: string }>(
      `SELECT ${statusOf('m', 'm.last_check_in_at + $2::interval')} AS status FROM mandates m WHERE id = $1`,
      [id, offset],
    )
    return row?.status
  }

  it('changes at every edge to the microsecond', async () => {
    const id = await grant({ heartbeat: HEARTBEAT })
    const edges: [string, string][] = [
      ['0', 'active'],
      ['300 seconds', 'active'],
      ['360 seconds', 'active'],
      ['360.000001 seconds', 'suspended'],
      ['361 seconds', 'suspended'],
      ['960 seconds', 'suspended'],
      ['960.000001 seconds', 'lapsed'],
      ['1 day', 'expired'],
    ]
    for (const [offset, status] of edges)
      expect({ offset, status: await stateAt(id, offset) }).toEqual({ offset, status })
    await test.owner(`UPDATE mandates SET expires_at = last_check_in_at + interval '100 seconds' WHERE id = $1`, [id])
    expect([await stateAt(id, '99.999999 seconds'), await stateAt(id, '100 seconds')]).toEqual(['active', 'expired'])
    await test.owner(`UPDATE mandates SET revoked_at = now(), revoked_by = 'k', revoked_reason = 'r' WHERE id = $1`, [
      id,
    ])
    expect(await stateAt(id, '2 days')).toBe('revoked')
  })

  it('is the same for verify, for lists and for the check-in, second by second', async () => {
    for (const [seconds, status] of [
      [0, 'active'],
      [299, 'active'],
      [340, 'active'],
      [361, 'suspended'],
      [930, 'suspended'],
      [961, 'lapsed'],
    ] as const) {
      const id = await grant({ heartbeat: HEARTBEAT })
      await test.owner(
        `UPDATE mandates SET last_check_in_at = clock_timestamp() - make_interval(secs => $2) WHERE id = $1`,
        [id, seconds],
      )
      const facts = await read(id)
      const row = await test.db.tenant(scope, (tx) => lockMandate(tx, id))
      expect([seconds, facts.levels[0]?.status, row?.status]).toEqual([seconds, status, status])
      const checked = await test.db.tenant(scope, (tx) => checkIn(tx, id))
      expect([seconds, checked !== undefined]).toEqual([seconds, status !== 'lapsed'])
      expect((await read(id)).levels[0]?.status).toBe(status === 'lapsed' ? 'lapsed' : 'active')
    }
  })

  it('is read after a change that held the lock, at any lock but none', async () => {
    const blocked = () =>
      test.owner(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    for (const [lock, expected] of [
      ['none', 'active'],
      ['share', 'revoked'],
      ['update', 'revoked'],
    ] as const) {
      const id = await grant({ limit: '1' })
      const { promise: revoked, resolve: hasLock } = Promise.withResolvers<void>()
      const { promise: asked, resolve: mayCommit } = Promise.withResolvers<void>()
      const revoking = test.db.tenant(scope, async (tx) => {
        await revokeMandate(tx, id, { id: 'k', reason: 'r' })
        hasLock()
        await asked
      })
      await revoked
      let isRead = false
      const reading = test.db
        .tenant(scope, (tx) => readMandateFacts(tx, id, lock))
        .finally(() => {
          isRead = true
        })
      await until(async () => isRead || (await blocked()).length > 0)
      mayCommit()
      const [facts] = await Promise.all([reading, revoking])
      expect([lock, facts?.levels[0]?.status]).toEqual([lock, expected])
    }
  })

  it('is undefined for a mandate of another account', async () => {
    const id = await grant()
    const other = await makeAccount(test)
    expect(await test.db.tenant(other, (tx) => readMandateFacts(tx, id, 'share'))).toBeUndefined()
  })
})

describe('the period of a budget', () => {
  it('begins with nothing spent', async () => {
    const id = await grant({ budget: { limit: '5', currency: 'EUR', period: 'month' } })
    expect(await execute(id, '5')).toBe(true)
    expect(await execute(id, '5')).toBe(false)
    await test.owner(`UPDATE mandate_spend SET period_start = (period_start - interval '1 month')::date`)
    expect(await execute(id, '5')).toBe(true)
  })

  it('is not forgotten before it ends, and is when it has ended or its mandate is gone', async () => {
    const [month, total] = [
      await grant({ budget: { limit: '5', currency: 'EUR', period: 'month' } }),
      await grant({ limit: '5' }),
    ]
    for (const id of [month, total]) expect(await execute(id, '5')).toBe(true)
    const begins = Date.parse((await read(month)).levels[0]?.period?.start ?? '')
    const forget = (before: Date) => test.db.tenant(scope, (tx) => purgeSpend(tx, scope, { before, limit: 100 }))
    // As where keys are published: a week after the period began, which is not over.
    expect(await forget(new Date(begins + 20 * DAY_MS))).toBe(0)
    for (const id of [month, total]) expect(await execute(id, '1')).toBe(false)
    expect(await forget(new Date(begins + 32 * DAY_MS))).toBe(1)
    expect(await execute(total, '1')).toBe(false)
    await test.owner('DELETE FROM mandates WHERE id = $1', [total])
    expect(await forget(new Date(begins))).toBe(1)
  })
})
