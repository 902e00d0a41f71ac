// Executions under one mandate that arrive at the same time: each is decided by itself, and none of them is turned away.

import { request } from 'node:http'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { intentsFeature } from '#src/authorize/intents/feature.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import type { Services } from '#src/services.ts'
import type { TestCaller } from '../../support/callers.ts'
import { call, makeKeyRow, return503, startApp } from '../../support/http.ts'
import { makeServices, routesOf } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

type Members = Record<string, unknown>

let service: Intents
let under: Under
let caller: TestCaller

// A slow machine may take more than five seconds to read 200 requests.
const PATIENT_MS = 120_000
let verifiesRead = 0
let transactions = 0

/** The intents of a service, with more patience than they have. */
function patientIntents({ platform, attest, trace, authorize }: Services) {
  const { policy, tokens, webhooks, passkeys, approvals } = authorize
  const below = { trust: attest.hardware.trust, canaries: trace.canaries.port }
  const deps = { ...policy, ...tokens, ...webhooks, ...passkeys, ...approvals, ...below, maxWaitMs: PATIENT_MS }
  return intentsFeature(platform, deps).feature
}

// A 503 is not sent again: it would be an answer.
return503()
beforeAll(async () => {
  service = await startIntents({
    // As many connections as a process has by default.
    poolSize: 4,
    replace: (services) => [patientIntents(services)],
    overrides: ({ db }) => ({
      db: {
        ...db,
        tenant(...given) {
          transactions += 1
          return db.tenant(...given)
        },
      },
      // Each verification asks for the time once, when its token was parsed.
      now() {
        verifiesRead += 1
        return new Date()
      },
    }),
  })
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const budgetOf = (limit: string) => ({ budget: { limit, currency: 'EUR', period: 'total' } })

/** One request, which is not sent again. */
async function verifyOnce(token: string, amount: string, more: Members = {}, key?: string) {
  const body = { ...under.payload(amount), intent_token: token, ...more }
  const { status, json } = await service.post(
    caller,
    '/v1/intent/verify',
    body,
    key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
  )
  return { status, ...(json as Members) } as Members & { status: number }
}

async function issueMany(count: number, amount: string, mandateIdOf: (index: number) => string) {
  const tokens: { token: string; jti: string }[] = []
  while (tokens.length < count) {
    const some = Array.from({ length: Math.min(8, count - tokens.length) }, (_, index) =>
      under.issue(caller, amount, { mandate_id: mandateIdOf(tokens.length + index) }),
    )
    tokens.push(...(await Promise.all(some)))
  }
  return tokens
}

const countBy = (answers: readonly Members[], member: string) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => String(answer[member]))].map(([name, group]) => [name, group.length]),
  )

/** Holds the row of a mandate, as a transaction of another process does. */
async function lockMandate(id: string) {
  const client = new pg.Client({ connectionString: service.test.ownerUrl })
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM mandates WHERE id = $1 FOR UPDATE', [id])
  return {
    async release() {
      await client.query('ROLLBACK')
      await client.end()
    },
  }
}

/** The transactions that wait for a lock now, each with the time at which its statement began. */
const waitingNow = async () =>
  (
    await service.test.owner<{ statement: string }>(
      `SELECT pid || ' ' || query_start AS statement FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
  ).map(({ statement }) => statement)

const remainingOf = async (id: string) => (await service.call(caller, `/v1/mandates/${id}`)).json.remaining

describe('200 executions of one mandate at once', () => {
  it('share a few transactions, and are all answered: as many are valid as the budget allows', async () => {
    const mandateId = await under.mandate(caller, budgetOf('100'))
    const tokens = await issueMany(200, '0.99', () => mandateId)
    const held = await lockMandate(mandateId)
    const before = { verifiesRead, transactions }
    const answered = Promise.all(tokens.map(({ token }) => verifyOnce(token, '0.99')))
    await until(() => verifiesRead >= before.verifiesRead + 200)
    await held.release()
    const answers = await answered
    expect(countBy(answers, 'status')).toEqual({ 200: 200 })
    expect(countBy(answers, 'reason')).toEqual({ null: 101, mandate_budget_exceeded: 99 })
    expect(await remainingOf(mandateId)).toBe('0.01')
    expect(transactions - before.transactions).toBeLessThan(100)
    const verifies = await under.entries(caller, 'verify')
    expect(new Set(verifies.map(({ decision_id: id }) => id))).toEqual(
      new Set(answers.map(({ decision_id }) => decision_id)),
    )
    expect(await under.entries(caller, 'execute')).toHaveLength(101)
  })
})

describe('executions of one mandate that wait', () => {
  it('are not refused where another process holds its row for longer than a lock is waited for', async () => {
    const mandateId = await under.mandate(caller, budgetOf('5'))
    const tokens = await issueMany(8, '1', () => mandateId)
    const held = await lockMandate(mandateId)
    const answered = Promise.all(tokens.map(({ token }) => verifyOnce(token, '1')))
    const seen = new Set<string>()
    // The second one begins when the first has had its lock timeout.
    await until(async () => {
      for (const statement of await waitingNow()) seen.add(statement)
      return seen.size > 1
    })
    await held.release()
    expect(countBy(await answered, 'status')).toEqual({ 200: 8 })
    expect(countBy(await answered, 'reason')).toEqual({ null: 5, mandate_budget_exceeded: 3 })
    expect(await remainingOf(mandateId)).toBe('0')
  })

  it('have their own answers: what refuses one of them refuses no other', async () => {
    const mandateId = await under.mandate(caller, {
      ...budgetOf('100'),
      constraints: { max_amount: '10', currency: 'EUR' },
    })
    const [first, twice, foreign, revoked, keyed, reused, last] = await issueMany(7, '10', () => mandateId)
    const other = await under.issue(caller, '11', { mandate_id: mandateId })
    await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: revoked?.jti, reason: 'r' })
    const held = await lockMandate(mandateId)
    const answered = Promise.all([
      verifyOnce(first?.token ?? '', '10'),
      verifyOnce(twice?.token ?? '', '10', {}, 'one'),
      verifyOnce(twice?.token ?? '', '10', {}, 'two'),
      verifyOnce(foreign?.token ?? '', '10', { device_id: 'another' }),
      verifyOnce(revoked?.token ?? '', '10'),
      verifyOnce(keyed?.token ?? '', '10', {}, 'same'),
      verifyOnce(reused?.token ?? '', '10', {}, 'same'),
      verifyOnce(other.token, '11'),
      verifyOnce(last?.token ?? '', '10'),
    ])
    await until(async () => (await waitingNow()).length > 0)
    await held.release()
    const answers = await answered
    const reasons = answers.map(({ status, code, reason }) => (status === 200 ? reason : code))
    // Of two requests with one token, and of two tokens with one key, the first that arrives wins.
    expect([reasons[0], ...reasons.slice(1, 3).toSorted(), ...reasons.slice(3, 5)]).toEqual([
      ...[null, null, 'token_already_executed', 'invalid_token', 'token_revoked'],
    ])
    expect([...reasons.slice(5, 7).toSorted(), ...reasons.slice(7)]).toEqual([
      ...['idempotency_key_reused', null, 'mandate_constraint_violated', null],
    ])
    expect(await remainingOf(mandateId)).toBe('60')
    expect(await under.entries(caller, 'execute')).toHaveLength(4)
    expect(await under.entries(caller, 'verify')).toHaveLength(8)
  })

  it('are not decided for clients that have left, and the others are', async () => {
    const mandateId = await under.mandate(caller, budgetOf('100'))
    const tokens = await issueMany(40, '1', () => mandateId)
    const held = await lockMandate(mandateId)
    const first = verifyOnce(tokens[0]?.token ?? '', '1')
    await until(async () => (await waitingNow()).length > 0)
    const readBefore = verifiesRead
    const left = tokens.slice(1, 20).map(({ token }) => sendAndLeave(token, '1'))
    const stayed = tokens.slice(20).map(({ token }) => verifyOnce(token, '1'))
    await until(() => verifiesRead >= readBefore + 39)
    for (const { leave } of left) leave()
    await until(() => service.app.logged.filter(({ status }) => status === 499).length >= left.length)
    await held.release()
    expect(countBy(await Promise.all([first, ...stayed]), 'reason')).toEqual({ null: 21 })
    const executed = 100 - Number(await remainingOf(mandateId))
    expect(await under.entries(caller, 'execute')).toHaveLength(executed)
    expect(executed).toBe(21)
    // Their tokens are as good as before.
    expect(await verifyOnce(tokens[1]?.token ?? '', '1')).toMatchObject({ valid: true })
  })

  it('in two processes spend of all levels what the budgets allow', async () => {
    const db = createDatabase({ url: service.test.url, poolSize: 4 })
    const services = makeServices({ db, store: service.store }, { DATABASE_URL: service.test.url })
    const kept = services.features.filter(({ name }) => name !== 'intents')
    const findKey = async () => makeKeyRow({ scopes: ['all'], accountId: caller.accountId })
    const app = await startApp(routesOf({ features: [...kept, patientIntents(services)] }), { findKey })
    try {
      const root = await under.mandate(caller, budgetOf('120'))
      const children = await Promise.all(
        ['50', '100'].map((limit) => under.mandate(caller, { ...budgetOf(limit), parent_id: root })),
      )
      const tokens = await issueMany(200, '1', (index) => children[index % 2] ?? '')
      const elsewhere = async (token: string) => {
        const json = { ...under.payload('1'), intent_token: token }
        const answer = await call(app, '/v1/intent/verify', { method: 'POST', json, key: caller.key })
        return { status: answer.status, ...answer.json }
      }
      const answers = await Promise.all(
        tokens.map(({ token }, index) => (index % 4 < 2 ? verifyOnce(token, '1') : elsewhere(token))),
      )
      expect(countBy(answers, 'status')).toEqual({ 200: 200 })
      expect(countBy(answers, 'reason')).toEqual({ null: 120, mandate_budget_exceeded: 80 })
      const left = await Promise.all(
        [root, ...children].map(async (id) => (await service.call(caller, `/v1/mandates/${id}`)).json),
      )
      const spent = left.map(({ budget }) => Number((budget as Members).spent))
      expect(spent[0]).toBe(120)
      expect((spent[1] ?? 0) + (spent[2] ?? 0)).toBe(120)
      expect(spent[1]).toBeLessThanOrEqual(50)
    } finally {
      await app.close()
      await db.close()
    }
  })
})

/** A request whose client can leave before its answer. */
function sendAndLeave(token: string, amount: string) {
  const body = JSON.stringify({ ...under.payload(amount), intent_token: token })
  const headers = { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' }
  const sent = request({ port: service.app.port, path: '/v1/intent/verify', method: 'POST', headers, agent: false })
  sent.on('error', () => {})
  sent.end(body)
  return { leave: () => sent.destroy() }
}
