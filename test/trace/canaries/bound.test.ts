// A token is bound to a reading, and that reading is judged: at authorize as a check judges it, at verify by the kill switch
// as it is then.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Checking, FAMILY, QUIET, startChecking, TRIPPING } from '../service.ts'

const ACTION = { action_description: 'Send the contract', action_payload: { to: 'eve@example.net' } }
const SET = 'default-v1'

let on: Checking
let caller: TestCaller
let agent: string
let session: string

beforeAll(async () => {
  on = await startChecking()
})
afterAll(() => on?.close())
beforeEach(async () => {
  on.service.clock.now = new Date()
  caller = await on.makeCaller()
  agent = await on.makeAgent(caller)
  session = await on.openSession(caller, agent)
})

const later = (seconds: number) => {
  on.service.clock.now = new Date(Date.now() + seconds * 1_000)
}
/** A trace of the service's models, stored while the kill switch monitors. */
async function traceOf(readings: object, more: object = {}): Promise<string> {
  const { trace_id } = await on.check(caller, { readings, agent_session_id: session, ...more })
  await on.service.test.owner(
    "UPDATE traces SET source = 'server', model_version_id = 'countersign-tiny@0' WHERE id = $1",
    [trace_id],
  )
  return String(trace_id)
}
const authorize = (more: object = {}, headers = {}) =>
  on.post(caller, '/v1/intent/authorize', { ...ACTION, agent_session_id: session, device_id: 'd', ...more }, headers)
const issue = async (more: object = {}) => {
  const { status, json } = await authorize(more)
  expect([status, json.code]).toEqual([200, undefined])
  return json as { intent_token: string; jti: string; preflight: object }
}
const verify = async (token: string, more: object = {}) =>
  (await on.post(caller, '/v1/intent/verify', { ...ACTION, intent_token: token, execute: false, ...more })).json
const tokens = () => on.service.test.owner('SELECT jti FROM intents WHERE account_id = $1', [caller.accountId])

describe('authorize with a reading that tripped', () => {
  it.each(['off', 'monitor'] as const)('issues a token under %s', async (mode) => {
    const trace_id = await traceOf(TRIPPING)
    await on.setKillSwitch(caller, { mode })
    const { intent_token, preflight } = await issue({ trace_id })
    expect(preflight).toEqual({ would_be_valid: true, reason: null })
    expect(await verify(intent_token)).toMatchObject({ valid: true })
    expect([await on.locks(caller), await on.trips(caller)]).toEqual([[], []])
  })

  it('refuses under block, on the ledger and with one event, and issues nothing', async () => {
    const trace_id = await traceOf(TRIPPING)
    await on.setKillSwitch(caller, { mode: 'block' })
    for (let round = 0; round < 2; round++) {
      expect(await authorize({ trace_id }, { 'Idempotency-Key': 'one' })).toMatchObject({
        status: 409,
        json: { code: 'canary_tripped', trace_id, tripped_families: [FAMILY] },
      })
    }
    expect(await tokens()).toEqual([])
    expect(await on.locks(caller)).toEqual([])
    expect(await on.trips(caller)).toMatchObject([
      {
        trace_id,
        source: 'check',
        mode: 'block',
        agent_id: agent,
        agent_session_id: session,
        lock_id: null,
        jti: null,
      },
    ])
    const [entry, second] = await on.ledger(caller, 'authorize')
    expect(second).toMatchObject({ reason: 'canary_tripped' })
    expect(entry).toMatchObject({
      subject: session,
      valid: false,
      reason: 'canary_tripped',
      inputs: { trace_id, jti: null },
    })
    const { json } = await on.service.call(caller, `/v1/decisions/${entry?.id}/explain`)
    expect(json).toMatchObject({ same_answer: true, replay: { valid: false, reason: 'canary_tripped' } })
  })

  it('refuses and locks under block_and_lock, once for requests at the same time', async () => {
    const trace_id = await traceOf(TRIPPING)
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    const answers = await Promise.all(Array.from({ length: 12 }, () => authorize({ trace_id })))
    const [lock, ...more] = await on.locks(caller)
    expect(more).toEqual([])
    expect(lock).toMatchObject({ trace_id, source: 'check', agent_session_id: session, tripped_families: [FAMILY] })
    for (const { status, json } of answers) expect([status, json.lock_id]).toEqual([409, lock?.lock_id])
    const codes = answers.map(({ json }) => json.code)
    const tripped = codes.filter((code) => code === 'canary_tripped')
    expect(tripped.length).toBeGreaterThan(0)
    expect(codes.filter((code) => code === 'session_canary_locked')).toHaveLength(12 - tripped.length)
    expect(await on.trips(caller)).toMatchObject([{ lock_id: lock?.lock_id, source: 'check', mode: 'block_and_lock' }])
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['lock'] })
    expect(await tokens()).toEqual([])
    const kinds = (await on.ledger(caller)).map(({ kind }) => kind)
    const once = kinds.filter((kind) => kind !== 'trace_check' && kind !== 'authorize')
    expect(once.toSorted()).toEqual(['agent_suspend', 'lock'])
    expect(await on.ledger(caller, 'authorize')).toHaveLength(tripped.length)
  })

  it('refuses one that is too old as well, and does not lock for it', async () => {
    const trace_id = await traceOf(TRIPPING)
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    later(301)
    expect(await authorize({ trace_id })).toMatchObject({ status: 409, json: { code: 'canary_tripped' } })
    expect(await on.locks(caller)).toEqual([])
  })

  it('leaves agents alone that the kill switch does not apply to', async () => {
    const trace_id = await traceOf(TRIPPING)
    await on.setKillSwitch(caller, { mode: 'block_and_lock', apply_to: { agents: [await on.makeAgent(caller)] } })
    expect(await verify((await issue({ trace_id })).intent_token)).toMatchObject({ valid: true })
  })
})

it('authorize refuses a trace of another session or agent, and one of none', async () => {
  const stranger = await on.openSession(caller, await on.makeAgent(caller))
  for (const whose of [{ agent_session_id: stranger }, { agent_session_id: 'x' }, { agent_session_id: undefined }]) {
    const trace_id = await traceOf(QUIET, whose)
    const { status, json } = await authorize({ trace_id })
    expect([status, json.errors], JSON.stringify(whose)).toMatchObject([
      400,
      [{ pointer: '/trace_id', code: 'mismatch' }],
    ])
  }
  const sibling = await traceOf(QUIET, { agent_session_id: await on.openSession(caller, agent) })
  expect((await authorize({ trace_id: sibling })).status).toBe(200)
  expect(await tokens()).toHaveLength(1)
})

describe('a token that is bound to a reading that tripped', () => {
  it('verifies by the kill switch as it is then: block refuses, block_and_lock locks, once', async () => {
    const trace_id = await traceOf(TRIPPING)
    const { intent_token, jti } = await issue({ trace_id })
    expect(await verify(intent_token)).toMatchObject({ valid: true })
    await on.setKillSwitch(caller, { mode: 'block' })
    const canary_readings = [
      { family: FAMILY, score: 0.9, threshold: 0.5, tripped: true },
      { family: 'sandbag', score: 0.1, threshold: 0.5, tripped: false },
    ]
    const refused = { valid: false, reason: 'canary_tripped', canary_set: SET, canary_readings }
    const answer = await verify(intent_token)
    expect(answer).toMatchObject(refused)
    expect(answer).not.toHaveProperty('matched_rule_id')
    const { json } = await on.service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
    expect(json).toMatchObject({ same_answer: true, replay: { valid: false, reason: 'canary_tripped' } })
    await verify(intent_token)
    const event = { trace_id, source: 'verify', jti, matched_rule_id: null }
    expect(await on.trips(caller)).toMatchObject([{ ...event, mode: 'block', lock_id: null }])
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(intent_token)))
    const [lock, ...more] = await on.locks(caller)
    expect(more).toEqual([])
    expect(lock).toMatchObject({ source: 'verify', jti, trace_id })
    for (const one of answers) expect(one).toMatchObject({ valid: false, lock_id: lock?.lock_id })
    expect(await on.trips(caller)).toMatchObject([{ lock_id: null }, { ...event, lock_id: lock?.lock_id }])
  })

  it('is refused for as long as it lives, also after its lock was cleared, and locks nothing once it is too old', async () => {
    const trace_id = await traceOf(TRIPPING)
    const { intent_token } = await issue({ trace_id, ttl_seconds: 3_600 })
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    const { lock_id } = await verify(intent_token)
    await on.clear(caller, lock_id)
    later(301)
    expect(await verify(intent_token)).toMatchObject({ valid: false, reason: 'canary_tripped' })
    expect(await on.locks(caller)).toHaveLength(1)
    // With another reading, the agent goes on.
    expect(await verify((await issue()).intent_token)).toMatchObject({ valid: true })
  })

  it('satisfies no condition of the policy by waiting until the reading is too old', async () => {
    const canary = { set: SET, mode: 'best_effort', max_age_s: 60 }
    const put = { method: 'PUT', json: { document: { name: 'p', rules: [{ id: 'calm', require: { canary } }] } } }
    await on.service.call(caller, '/v1/policy', { ...put, headers: { 'If-Match': '*' } })
    const trace_id = await traceOf(TRIPPING)
    const { intent_token, preflight } = await issue({ trace_id, ttl_seconds: 3_600 })
    expect(preflight).toEqual({ would_be_valid: false, reason: 'canary_tripped' })
    const denied = { reason: 'canary_tripped', matched_rule_id: 'calm' }
    expect(await verify(intent_token)).toMatchObject(denied)
    later(301)
    expect(await verify(intent_token)).toMatchObject(denied)
  })
})

it('a condition that tripped locks also where another rule of the policy gives the reason', async () => {
  const calm = { set: SET, families: [FAMILY], mode: 'strict' }
  const rules = [
    { id: 'calm', require: { canary: calm } },
    { id: 'unread', priority: 1, require: { canary: { set: 'other', mode: 'strict' } } },
    { id: 'first', require: { hardware: true } },
  ]
  const put = { method: 'PUT', json: { document: { name: 'p', rules } }, headers: { 'If-Match': '*' } }
  await on.service.call(caller, '/v1/policy', put)
  const { intent_token } = await issue()
  await traceOf(TRIPPING)
  // The kill switch itself leaves the family out; the condition names it.
  const families = [{ family: FAMILY, threshold: 0.5, enabled: false }]
  await on.setKillSwitch(caller, { mode: 'block_and_lock', families })
  expect(await verify(intent_token)).toMatchObject({ reason: 'policy_hardware_required', matched_rule_id: 'first' })
  expect(await on.locks(caller)).toMatchObject([{ matched_rule_id: 'calm', source: 'verify' }])
})

it('a condition that tripped gives the reason before one of another set that has no reading, whatever their priorities', async () => {
  const rules = [
    { id: 'calm', require: { canary: { set: SET, families: [FAMILY], mode: 'strict' } } },
    { id: 'unread', priority: 1, require: { canary: { set: 'other', mode: 'strict' } } },
  ]
  await on.service.call(caller, '/v1/policy', {
    method: 'PUT',
    json: { document: { name: 'p', rules } },
    headers: { 'If-Match': '*' },
  })
  const { intent_token } = await issue()
  expect(await verify(intent_token)).toMatchObject({ reason: 'canary_unavailable', matched_rule_id: 'unread' })
  await traceOf(TRIPPING)
  expect(await verify(intent_token)).toMatchObject({ reason: 'canary_tripped', matched_rule_id: 'calm' })
})
