// A verification that Postgres breaks off answers nothing valid and leaves nothing behind: no decision, no execution, no
// metered operation. What may pass is 503, and an error of the service itself is 500.

import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { return503 } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { ACTION, type Intents, startIntents } from './service.ts'

return503()

let service: Intents
let caller: TestCaller
let issued: { token: string; jti: string }

beforeAll(async () => {
  service = await startIntents()
})
beforeEach(async () => {
  caller = await service.makeCaller()
  issued = await service.issue(caller)
  // The process knows that the policy asks nothing: the transaction alone decides.
  await service.verify(caller, issued.token, { execute: false })
})
afterAll(() => service?.close())

const ask = () => service.post(caller, '/v1/intent/verify', { ...ACTION, intent_token: issued.token })
const left = async () => {
  const { accountId } = caller
  const [row] = await service.test.owner(
    `SELECT (SELECT count(*)::int FROM decisions WHERE account_id = $1) AS decisions,
       (SELECT count(*)::int FROM decision_facts WHERE account_id = $1) AS facts,
       (SELECT count(*)::int FROM intents WHERE account_id = $1 AND executed_at IS NOT NULL) AS executed`,
    [accountId],
  )
  return row
}
// Of authorize and of the check in beforeEach.
const UNTOUCHED = { decisions: 2, facts: 2, executed: 0 }
const UNAVAILABLE = { status: 503, json: { code: 'service_unavailable' } }

/** Makes the service wait for the row of the token, after all locks of phase 2. */
async function whileLocked<R>(work: (waiting: () => Promise<number[]>) => Promise<R>): Promise<R> {
  const holder = new pg.Client({ connectionString: service.test.ownerUrl })
  await holder.connect()
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM intents WHERE jti = $1 FOR UPDATE', [issued.jti])
    return await work(async () => {
      const pids: number[] = []
      await until(async () => {
        const { rows } = await holder.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        )
        pids.push(...rows.map(({ pid }) => pid))
        return pids.length > 0
      })
      return pids
    })
  } finally {
    await holder.end()
  }
}

/** Raises an error of this SQLSTATE where phase 2 writes to a table, or when it commits. */
async function whileRaising(code: string, at: 'intents' | 'decisions' | 'commit', work: () => Promise<void>) {
  const table = at === 'commit' ? 'ledger_pending' : at
  const kind = at === 'commit' ? 'CONSTRAINT TRIGGER' : 'TRIGGER'
  const moment =
    at === 'commit' ? `AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED` : `BEFORE INSERT OR UPDATE ON ${table}`
  await service.test.owner(
    `CREATE FUNCTION public.broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = '${code}'; END $$`,
  )
  await service.test.owner(`CREATE ${kind} broken ${moment} FOR EACH ROW EXECUTE FUNCTION public.broken()`)
  try {
    await work()
  } finally {
    await service.test.owner(`DROP TRIGGER broken ON ${table}`)
    await service.test.owner('DROP FUNCTION public.broken()')
  }
}

describe('a verification that is broken off', () => {
  it('by the end of its connection answers 503, and succeeds when it is repeated', async () => {
    const answer = await whileLocked(async (waiting) => {
      const asked = ask()
      await service.test.owner('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [await waiting()])
      return asked
    })
    expect(answer).toMatchObject(UNAVAILABLE)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(await left()).toEqual(UNTOUCHED)
    expect(await ask()).toMatchObject({ status: 200, json: { valid: true } })
    expect(await left()).toEqual({ decisions: 4, facts: 3, executed: 1 })
  })

  it('by a lock that another transaction holds answers 503', async () => {
    const answer = await whileLocked(() => ask())
    expect(answer).toMatchObject(UNAVAILABLE)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(await left()).toEqual(UNTOUCHED)
  })

  it('answers 503 for what may pass, whichever statement or the commit fails, and 500 for anything else', async () => {
    for (const at of ['intents', 'decisions', 'commit'] as const) {
      for (const [code, expected] of Object.entries({
        '40001': UNAVAILABLE,
        '40P01': UNAVAILABLE,
        '55P03': UNAVAILABLE,
        '57014': UNAVAILABLE,
        '22012': { status: 500, json: { code: 'internal_error' } },
      })) {
        await whileRaising(code, at, async () => expect(await ask(), `${code} at ${at}`).toMatchObject(expected))
        expect(await left()).toEqual(UNTOUCHED)
      }
    }
    expect(await ask()).toMatchObject({ status: 200, json: { valid: true } })
  })
})
