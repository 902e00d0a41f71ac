// Checks over the real routes: what is stored, answered, recorded and sent.

import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KEY_SCOPES } from '#src/catalogue/access.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { limitOf } from '#src/platform/retention.ts'
import { makeAccount } from '../../support/database.ts'
import { type Checking, FAMILY, QUIET, startChecking, TRIPPING } from '../service.ts'

const RULED = { reading: { models: [], max_tokens: 64 } }
const NOW = new Date('2026-11-20T15:11:00.000Z')

let on: Checking
let caller: Awaited<ReturnType<Checking['makeCaller']>>

beforeAll(async () => {
  on = await startChecking({ now: NOW })
})
afterAll(() => on?.close())
beforeEach(async () => {
  on.service.clock.now = NOW
  caller = await on.makeCaller()
})

const later = (seconds: number) => {
  on.service.clock.now = new Date(NOW.getTime() + seconds * 1_000)
}

/** As docs/trace/canaries.md says, from what is shown of a client's readings. */
function hashOf({ trace_id, canary }: Record<string, unknown>): string {
  const { set, readings, reading_at } = canary as Record<string, unknown>
  const hashed = { trace_id, model_version_id: null, probe_set: set, readings, reading_at, runtime: null }
  return createHash('sha256')
    .update(canonicalize(hashed) as string)
    .digest('base64url')
}

describe('the kill switch', () => {
  it('monitors until it is set, is replaced as a whole, and each change is in the audit log', async () => {
    const path = '/v1/trace/kill-switch'
    const defaults = {
      mode: 'monitor',
      max_age_s: 300,
      families: [],
      apply_to: {},
      allow_experimental: false,
      ...RULED,
    }
    expect(await on.get(caller, path)).toMatchObject({
      version: 0,
      changed_at: null,
      changed_by: null,
      document: defaults,
    })
    const agent = await on.makeAgent(caller)
    const set = {
      mode: 'block',
      max_age_s: 60,
      families: [{ family: 'f', threshold: 0.7 }],
      apply_to: { agents: [agent] },
    }
    const made = await on.setKillSwitch(caller, set)
    expect(made).toMatchObject({
      version: 1,
      changed_at: NOW.toISOString(),
      document: { ...set, families: [{ enabled: true }] },
    })
    expect(await on.get(caller, path)).toEqual(made)
    expect(await on.setKillSwitch(caller, { mode: 'off' })).toMatchObject({
      document: { ...defaults, mode: 'off' },
    })
    const audit = (await on.get(caller, '/v1/account/audit?action=kill_switch.changed')).data as Record<
      string,
      unknown
    >[]
    expect(audit.map(({ before, after }) => [(before as typeof set).mode, (after as typeof set).mode])).toEqual([
      ['block', 'off'],
      ['monitor', 'block'],
    ])
    expect(await on.get(await on.makeCaller(), path)).toMatchObject({ document: { mode: 'monitor' } })
  })

  it('refuses what can’t be meant: agents that do not exist, no agents, and a family twice', async () => {
    const put = (document: object) =>
      on.service.call(caller, '/v1/trace/kill-switch', {
        method: 'PUT',
        json: { document },
        headers: { 'If-Match': '*' },
      })
    const errors = async (json: object) => (await put(json)).json.errors?.map(({ pointer, code }) => [pointer, code])
    const unknown = { mode: 'block', apply_to: { agents: [await on.makeAgent(caller), newId('agt', 'sandbox')] } }
    expect(await errors(unknown)).toEqual([['/document/apply_to/agents/1', 'unknown']])
    expect(await errors({ mode: 'block', apply_to: { agents: [] } })).toEqual([
      ['/document/apply_to/agents', 'too_few'],
    ])
    const twice = [FAMILY, FAMILY].map((family) => ({ family, threshold: 0.5 }))
    expect(await errors({ mode: 'block', families: twice })).toEqual([['/document/families/1/family', 'duplicate']])
    expect(await errors({ mode: 'block', max_age_s: 86_401 })).toEqual([['/document/max_age_s', 'out_of_range']])
    expect((await put({ mode: 'block', apply_to: { agents: [newId('agt', 'live')] } })).json.code).toBe(
      'environment_mismatch',
    )
  })
})

describe('a check', () => {
  it('compares all digits of a score with all digits of a threshold, and shows and hashes six', async () => {
    const below = { family: FAMILY, score: 0.499_999_6, threshold: 0.5 }
    const quiet = await on.check(caller, { readings: [below] })
    expect(quiet).toMatchObject({ reason: null, tripped_families: [] })
    const trace = await on.get(caller, `/v1/trace/traces/${quiet.trace_id}`)
    const { readings } = trace.canary as { readings: object[] }
    expect(readings).toMatchObject([{ score: 0.5, threshold: 0.5, tripped: false }])
    expect(hashOf(trace)).toBe(quiet.canary_hash)
    // The threshold of the kill switch has more digits than are shown of a score.
    const families = [{ family: FAMILY, threshold: 0.700_000_4 }]
    await on.setKillSwitch(caller, { mode: 'block', families })
    for (const [score, tripped] of [
      [0.700_000_39, []],
      [0.700_000_41, [FAMILY]],
    ] as const) {
      const answer = await on.check(caller, { readings: [{ family: FAMILY, score, threshold: 0.5 }] })
      expect([score, answer.tripped_families]).toEqual([score, tripped])
    }
    const [trip] = await on.trips(caller)
    expect(trip).toMatchObject({ canary_readings: [{ score: 0.7, threshold: 0.7, tripped: true }] })
  })

  it('stores client readings as a trace with the hash of section and formula, and the ledger has it', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    const answer = await on.check(caller, { readings: TRIPPING, agent_session_id: session })
    expect(answer).toEqual({
      allowed: true,
      action: 'allow',
      reason: 'canary_tripped',
      stale: false,
      reading_age_s: 0,
      mode: 'monitor',
      unavailable_cause: null,
      tripped_families: [FAMILY],
      uncounted_families: [],
      lock_id: null,
      decision_id: expect.stringMatching(/^dec_test_/),
      trace_id: expect.stringMatching(/^trc_test_/),
      canary_hash: expect.any(String),
      runtime: null,
    })
    const trace = await on.get(caller, `/v1/trace/traces/${answer.trace_id}`)
    // A registered session brings its agent.
    expect(trace).toMatchObject({
      source: 'client',
      agent_session_id: session,
      agent_id: agent,
      model_version_id: null,
    })
    const { hash } = trace.canary as Record<string, unknown>
    expect(hash).toBe(hashOf(trace))
    expect(hash).toBe(answer.canary_hash)
    expect(await on.ledger(caller, 'trace_check')).toMatchObject([
      {
        subject_id: session,
        reason: 'canary_tripped',
        valid: true,
        inputs: {
          trace_id: trace.trace_id,
          canary_hash: hash,
          agent_id: agent,
          agent_session_id: session,
          lock_id: null,
        },
      },
    ])
    expect(await on.trips(caller)).toEqual([])
    const listed = async (query: string) =>
      ((await on.get(caller, `/v1/trace/traces?${query}`)).data as { trace_id: string }[]).map((one) => one.trace_id)
    expect(await listed(`agent_id=${agent}`)).toEqual([trace.trace_id])
    expect(await listed(`agent_session_id=${session}&source=client`)).toEqual([trace.trace_id])
    expect(await listed('source=server')).toEqual([])
  })

  it('is explained by the ledger as it was answered', async () => {
    await on.setKillSwitch(caller, { mode: 'block_and_lock', families: [{ family: FAMILY, threshold: 0.8 }] })
    const answer = await on.check(caller, { readings: TRIPPING, agent_session_id: 'run-1' })
    await on.setKillSwitch(caller, { mode: 'off' })
    const { ledger } = on.service.services.platform
    const facts = await on.service.test.db.tenant(caller, (tx) => ledger.readFacts(tx, String(answer.decision_id)))
    const explained = on.service.services.trace.canaries.explainers.trace_check(facts ?? null)
    const { allowed, reason, stale, reading_age_s, mode, tripped_families } = answer
    expect(explained).toMatchObject({ allowed, reason, stale, reading_age_s, mode, tripped_families })
    expect(explained).toMatchObject({
      families: [{ family: FAMILY, threshold: 0.8, tripped: true }, { tripped: false }],
    })
  })

  it('reads a stored trace by its own session and agent only, and until it is too old', async () => {
    await on.setKillSwitch(caller, { mode: 'block' })
    const agent = await on.makeAgent(caller)
    const [session, other] = [await on.openSession(caller, agent), await on.makeAgent(caller)]
    const { trace_id } = await on.check(caller, { agent_session_id: session })
    const reasons = async (more: object) => {
      const { allowed, reason } = await on.check(caller, { trace_id, ...more })
      return [allowed, reason]
    }
    for (const more of [
      {},
      { agent_session_id: session },
      { agent_id: agent },
      { agent_id: agent, agent_session_id: 'x' },
    ]) {
      expect(await reasons(more), JSON.stringify(more)).toEqual([true, null])
    }
    for (const more of [{ agent_id: other }, { agent_session_id: 'x' }, { agent_id: other, agent_session_id: 'x' }]) {
      expect(await reasons(more), JSON.stringify(more)).toEqual([false, 'canary_unavailable'])
    }
    later(300)
    expect(await reasons({})).toEqual([true, null])
    later(300.5)
    const old = { reason: 'reading_too_old', stale: true, reading_age_s: 300.5 }
    expect(await on.check(caller, { trace_id })).toMatchObject({ ...old, allowed: false })
    await on.setKillSwitch(caller, { mode: 'monitor' })
    expect(await on.check(caller, { trace_id })).toMatchObject({ ...old, allowed: true })
    const entries = (await on.ledger(caller, 'trace_check')).filter(({ reason }) => reason === old.reason)
    expect(entries.map(({ valid }) => valid).toSorted()).toEqual([false, true])
  })

  it('refuses readings of the future, sessions of other agents, and unknown traces, agents and sessions, and records none of them', async () => {
    const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString()
    expect((await on.send(caller, { reading_at: at(30) })).json).toMatchObject({ reading_age_s: 0 })
    const [agent, other] = [await on.makeAgent(caller), await on.makeAgent(caller)]
    const session = await on.openSession(caller, agent)
    const recorded = (await on.ledger(caller)).length
    const refusal = async (body: Record<string, unknown>) => {
      const { status, json } = await on.send(caller, body)
      return [status, json.code, ...(json.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)]
    }
    expect(await refusal({ reading_at: at(30.001) })).toEqual([400, 'invalid_request', '/reading_at in_future'])
    expect(await refusal({ agent_id: other, agent_session_id: session })).toEqual([
      400,
      'invalid_request',
      '/agent_session_id other_agent',
    ])
    expect(await refusal({ trace_id: newId('trc', 'sandbox') })).toEqual([404, 'not_found'])
    expect(await refusal({ agent_id: newId('agt', 'sandbox') })).toEqual([404, 'not_found'])
    expect(await refusal({ agent_session_id: newId('ses', 'sandbox') })).toEqual([404, 'not_found'])
    const both = { inference_input: 'x', readings: QUIET, reading_at: at(0), canary_set: 's' }
    expect(await refusal(both)).toEqual([400, 'invalid_request', '/inference_input conflict'])
    expect(await refusal({ readings: undefined })).toEqual([
      400,
      'invalid_request',
      '/trace_id required',
      '/reading_at conflict',
      '/canary_set conflict',
    ])
    expect(await refusal({ canary_set: undefined })).toEqual([400, 'invalid_request', '/canary_set required'])
    expect(await refusal({ inference_input: 'x'.repeat(70_000) })).toEqual([
      400,
      'invalid_request',
      '/inference_input too_long',
    ])
    expect((await on.ledger(caller)).length).toBe(recorded)
    // Another account's trace is not found.
    const { trace_id } = await on.check(caller)
    expect((await on.send(await on.makeCaller(), { trace_id })).json.code).toBe('not_found')
  })

  it('blocks with one event per trace under block, and locks nothing', async () => {
    await on.setKillSwitch(caller, { mode: 'block', families: [{ family: FAMILY, threshold: 0.9 }] })
    const answer = await on.check(caller, { readings: TRIPPING, agent_session_id: 'run-2' })
    expect(answer).toMatchObject({ allowed: false, action: 'block', reason: 'canary_tripped', lock_id: null })
    await on.check(caller, { trace_id: answer.trace_id })
    expect(await on.trips(caller)).toEqual([
      {
        trace_id: answer.trace_id,
        canary_hash: answer.canary_hash,
        canary_readings: [
          { family: FAMILY, score: 0.9, threshold: 0.9, tripped: true },
          { family: 'sandbag', score: 0.1, threshold: 0.5, tripped: false },
        ],
        tripped_families: [FAMILY],
        mode: 'block',
        source: 'check',
        agent_id: null,
        agent_session_id: 'run-2',
        lock_id: null,
        jti: null,
        matched_rule_id: null,
      },
    ])
    expect(await on.locks(caller)).toEqual([])
  })

  it('repeated with its Idempotency-Key is judged by the present state, and records nothing more', async () => {
    await on.setKillSwitch(caller, { mode: 'block' })
    const send = (body = {}) => on.send(caller, body, { 'Idempotency-Key': 'check-1' })
    const first = await send()
    expect(first.json).toMatchObject({ allowed: true, reason: null })
    later(301)
    const body = { reading_at: NOW.toISOString() }
    const second = await send(body)
    expect(second.headers['idempotent-replayed']).toBe('true')
    const { decision_id, trace_id, canary_hash } = first.json
    expect(second.json).toMatchObject({ allowed: false, reason: 'reading_too_old', decision_id, trace_id, canary_hash })
    expect(await on.ledger(caller)).toHaveLength(1)
    expect((await on.get(caller, '/v1/trace/traces')).data).toHaveLength(1)
  })
})

it('traces and cleared locks are deleted when the retention of the plan ends, and live locks never', async () => {
  const DAY = 24 * 3_600_000
  const rules = on.service.services.features.flatMap(({ retention = [] }) => retention)
  const left = async (scope: Scope, days: number) => {
    for (const rule of rules) {
      if (rule.per !== 'tenant' || !['traces', 'session_locks', 'agent_sessions'].includes(rule.what)) continue
      const before = limitOf(
        rule,
        { environment: scope.environment, isPublic: false },
        new Date(NOW.getTime() + days * DAY),
      )
      if (before !== undefined) await rule.purge(scope, before, AbortSignal.timeout(60_000))
    }
    const [row] = await on.service.test.owner<{ traces: number; locks: number; sessions: number }>(
      `SELECT (SELECT count(*)::int FROM traces WHERE account_id = $1) AS traces,
         (SELECT count(*)::int FROM session_locks WHERE account_id = $1) AS locks,
         (SELECT count(*)::int FROM agent_sessions WHERE account_id = $1) AS sessions`,
      [scope.accountId],
    )
    return [row?.traces, row?.locks, row?.sessions]
  }
  for (const [plan, environment, days] of [
    ['growth', 'sandbox', 7],
    ['developer', 'live', 30],
    ['growth', 'live', 365],
  ] as const) {
    const scope = await makeAccount(on.service.test, { plan, environment })
    const caller = { ...(await on.makeCaller()), ...scope }
    caller.key = on.service.addKey({ ...scope, plan, scopes: [...KEY_SCOPES] })
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    const agent = await on.makeAgent(caller)
    const [ended] = [await on.openSession(caller, agent), await on.openSession(caller, agent)]
    await on.post(caller, `/v1/agents/${agent}/sessions/${ended}/end`)
    const { lock_id } = await on.check(caller, { readings: TRIPPING, agent_session_id: 'a' })
    await on.check(caller, { readings: TRIPPING, agent_session_id: 'b' })
    await on.clear(caller, lock_id)
    const hours = 1 / 24
    const [kept, gone] = [await left(scope, days - hours), await left(scope, days + hours)]
    const sessions = (at: number) => (at > 90 ? 1 : 2)
    expect([plan, environment, kept, gone]).toEqual([plan, environment, [2, 2, sessions(days)], [0, 1, sessions(days)]])
  }
})

describe('the port of a policy condition', () => {
  const read = async (traceId: unknown, more: object = {}, source: object = {}) => {
    const from = { agentSessionId: 'run-3', agentId: null, traceId: String(traceId), ...source }
    const conditions = [{ set: 'default-v1', maxAgeSeconds: 60, ...more }]
    const { port } = on.service.services.trace.canaries
    return (await port.read(caller, from, conditions, AbortSignal.timeout(60_000)))[0]
  }
  const store = async (readings: object, body: object = {}) =>
    (await on.check(caller, { readings, agent_session_id: 'run-3', ...body })).trace_id

  it('answers a client reading that tripped, and never one that did not', async () => {
    const [tripping, quiet] = [await store(TRIPPING), await store(QUIET)]
    expect(await read(quiet)).toBeUndefined()
    const families = [
      { family: FAMILY, score: 0.9, threshold: 0.5, tripped: true },
      { family: 'sandbag', score: 0.1, threshold: 0.5, tripped: false },
    ]
    expect(await read(tripping)).toMatchObject({ source: 'client', set: 'default-v1', traceId: tripping, families })
    expect(await read(tripping, { families: [FAMILY] })).toMatchObject({ families: families.slice(0, 1) })
    expect(await read(tripping, { families: ['sandbag'] })).toBeUndefined()
    expect(await read(tripping, { set: 'other' })).toBeUndefined()
    for (const source of [{ agentSessionId: 'x' }, { traceId: null }]) {
      expect(await read(tripping, {}, source), JSON.stringify(source)).toBeUndefined()
    }
    expect(await read(newId('trc', 'sandbox'))).toBeUndefined()
    later(60.5)
    expect(await read(tripping)).toBeUndefined()
  })

  it('answers a server reading whether it tripped or not, unless a family is missing', async () => {
    const trace = await store(QUIET)
    await on.service.test.owner(
      "UPDATE traces SET source = 'server', model_version_id = 'countersign-tiny@0' WHERE id = $1",
      [trace],
    )
    expect(await read(trace)).toMatchObject({ source: 'server', families: [{ family: FAMILY, tripped: false }] })
    expect(await read(trace, { families: [FAMILY, 'sandbag'] })).toBeUndefined()
    // A rule that names a family asks for it, also where the kill switch leaves it out; then its threshold counts.
    await on.setKillSwitch(caller, { mode: 'monitor', families: [{ family: FAMILY, threshold: 0.2, enabled: false }] })
    expect(await read(trace)).toBeUndefined()
    expect(await read(trace, { families: [FAMILY] })).toMatchObject({ families: [{ threshold: 0.2, tripped: true }] })
  })

  it('has the stored hash of a trace, in its own account only', async () => {
    const { port } = on.service.services.trace.canaries
    const { trace_id, canary_hash } = await on.check(caller)
    const hashIn = (scope: Parameters<typeof on.service.test.db.tenant>[0], id: unknown) =>
      on.service.test.db.tenant(scope, async (tx) => {
        const subject = { agentSessionId: null, agentId: null, trippedAt: undefined, maxAgeSeconds: () => 0 }
        return (await port.readState(tx, { traceId: String(id), isBound: true, ...subject })).hash
      })
    expect(await hashIn(caller, trace_id)).toBe(canary_hash)
    expect(await hashIn(caller, newId('trc', 'sandbox'))).toBeUndefined()
    expect(await hashIn(await makeAccount(on.service.test), trace_id)).toBeUndefined()
  })
})
