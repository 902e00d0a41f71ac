// Session locks: one for all trips of a session, the suspension that comes with it, and the end of both.

import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lockExclusive, lockShared } from '#src/platform/db/advisory.ts'
import { newId } from '#src/platform/ids.ts'
import { locksOf, type TripSubject } from '#src/trace/locks/locks.ts'
import { readLiveLock } from '#src/trace/locks/rows.ts'
import { until } from '../../support/until.ts'
import { type Checking, FAMILY, startChecking, TRIPPING } from '../service.ts'

let on: Checking
let caller: Awaited<ReturnType<Checking['makeCaller']>>

beforeAll(async () => {
  on = await startChecking()
})
afterAll(() => on?.close())
beforeEach(async () => {
  caller = await on.makeCaller()
  await on.setKillSwitch(caller, { mode: 'block_and_lock' })
})

const trip = (body: object) => on.check(caller, { readings: TRIPPING, ...body })
const live = (agentSessionId: string | null, agentId: string | null) =>
  on.service.test.db.tenant(caller, (tx) => readLiveLock(tx, { agentSessionId, agentId }))

describe('a trip under block_and_lock', () => {
  it('locks the session, suspends its agent, and sends one event, all on the ledger', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    const answer = await trip({ agent_session_id: session })
    expect(answer).toMatchObject({
      allowed: false,
      reason: 'canary_tripped',
      lock_id: expect.stringMatching(/^lck_test_/),
    })
    const lock = { lock_id: answer.lock_id, agent_session_id: session, agent_id: agent, trace_id: answer.trace_id }
    expect(await on.locks(caller, '&status=locked')).toMatchObject([
      { ...lock, status: 'locked', source: 'check', tripped_families: [FAMILY], agent_unsuspended: null },
    ])
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['lock'] })
    expect(await on.trips(caller)).toMatchObject([{ ...lock, mode: 'block_and_lock', source: 'check', jti: null }])
    expect((await on.ledger(caller)).map(({ kind, reason, subject }) => [kind, reason, subject]).toSorted()).toEqual([
      ['agent_suspend', 'session_canary_locked', agent],
      ['lock', 'canary_tripped', lock.lock_id],
      ['trace_check', 'canary_tripped', session],
    ])
    // While it lives, a check is answered by the lock, and a trip sends nothing.
    for (const body of [
      { agent_session_id: session },
      { agent_id: agent },
      { agent_session_id: 'x', agent_id: agent },
    ]) {
      const quiet = await on.check(caller, body)
      expect(quiet).toMatchObject({ allowed: false, reason: 'session_canary_locked', lock_id: lock.lock_id })
    }
    expect(await trip({ agent_session_id: session })).toMatchObject({ reason: 'session_canary_locked' })
    expect(await on.trips(caller)).toHaveLength(1)
    expect(await live(session, null)).toMatchObject({ lockId: lock.lock_id, agentId: agent })
    expect(await live('x', agent)).toMatchObject({ lockId: lock.lock_id })
    expect(await live('x', null)).toBeUndefined()
  })

  it('makes one lock and one event of a hundred at once', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    const answers = await Promise.all(Array.from({ length: 100 }, () => trip({ agent_session_id: session })))
    const [lock, ...more] = await on.locks(caller)
    expect(more).toEqual([])
    expect(new Set(answers.map(({ lock_id }) => lock_id))).toEqual(new Set([lock?.lock_id]))
    expect(answers.filter(({ reason }) => reason === 'canary_tripped')).toHaveLength(1)
    expect(answers.filter(({ allowed }) => allowed)).toEqual([])
    expect(await on.trips(caller)).toHaveLength(1)
    const kinds = (await on.ledger(caller)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind !== 'trace_check').toSorted()).toEqual(['agent_suspend', 'lock'])
    expect(kinds).toHaveLength(102)
  })

  it('locks an agent where it names no session, and nothing where it names neither', async () => {
    const agent = await on.makeAgent(caller)
    const { lock_id } = await trip({ agent_id: agent })
    expect(await on.locks(caller)).toMatchObject([{ lock_id, agent_session_id: null, agent_id: agent }])
    expect(await trip({ agent_id: agent })).toMatchObject({ reason: 'session_canary_locked', lock_id })
    expect(await trip({})).toMatchObject({ allowed: false, reason: 'canary_tripped', lock_id: null })
    expect(await on.trips(caller)).toMatchObject([
      { lock_id },
      { lock_id: null, agent_id: null, agent_session_id: null },
    ])
  })

  it('of a trace that a lock was cleared for locks once more', async () => {
    const first = await trip({ agent_session_id: 'run-1' })
    await on.clear(caller, first.lock_id)
    const second = await on.check(caller, { trace_id: first.trace_id })
    expect(second).toMatchObject({ reason: 'canary_tripped', trace_id: first.trace_id })
    expect(second.lock_id).not.toBe(first.lock_id)
    expect((await on.trips(caller)).map(({ lock_id }) => lock_id)).toEqual([first.lock_id, second.lock_id])
  })
})

describe('clearing a lock', () => {
  it('resumes the agent, is on the ledger with its note, and happens once', async () => {
    const agent = await on.makeAgent(caller)
    const { lock_id } = await trip({ agent_session_id: await on.openSession(caller, agent) })
    const [one, two] = await Promise.all([on.clear(caller, lock_id, { note: 'Quoted.' }), on.clear(caller, lock_id)])
    expect([one.status, two.status].toSorted()).toEqual([200, 409])
    const [cleared, refused] = one.status === 200 ? [one, two] : [two, one]
    expect(cleared.json).toEqual({ lock_id, status: 'cleared', agent_unsuspended: true })
    expect([refused.json.code, refused.json.allowed]).toEqual(['invalid_state_transition', ['locked']])
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'active', causes: [] })
    expect(await on.get(caller, `/v1/trace/session-locks/${lock_id}`)).toMatchObject({
      status: 'cleared',
      cleared_at: expect.any(String),
      cleared_by: expect.stringMatching(/^key_test_/),
      agent_unsuspended: true,
    })
    const entries = await on.ledger(caller)
    expect(
      entries
        .slice(-2)
        .map(({ kind, reason, subject }) => [kind, reason, subject])
        .toSorted(),
    ).toEqual([
      ['agent_unsuspend', 'agent_unsuspended', agent],
      ['lock_clear', 'session_lock_cleared', lock_id],
    ])
    expect(await live(null, agent)).toBeUndefined()
    expect(await on.locks(caller, '&status=locked')).toEqual([])
  })

  it('resumes an agent with two locks by the last of them, and not while it is suspended manually', async () => {
    const agent = await on.makeAgent(caller)
    const [a, b] = [await on.openSession(caller, agent), await on.openSession(caller, agent)]
    const first = (await trip({ agent_session_id: a })).lock_id
    // The second session tripped too: clearing the first lock must not let it go on.
    expect(await trip({ agent_session_id: b })).toMatchObject({ reason: 'session_canary_locked', lock_id: first })
    const second = (await live(b, agent))?.lockId
    expect((await live(a, agent))?.lockIds).toEqual([first, second])
    expect((await live(b, agent))?.lockIds).toEqual([second, first])
    expect((await live(null, agent))?.lockIds).toEqual([first, second])
    const refused = await on.post(caller, '/v1/intent/authorize', {
      action_description: 'Pay',
      action_payload: {},
      agent_session_id: a,
      device_id: 'd',
    })
    const run = await on.post(caller, '/v1/trace/inferences', { prompt: 'Pay', agent_session_id: a })
    for (const { status, json } of [refused, run]) {
      expect([status, json.code, json.lock_id]).toEqual([409, 'session_canary_locked', first])
      // A person who clears only the first would be refused again.
      expect(json.detail).toContain(String(first))
      expect(json.detail).toContain(String(second))
    }
    expect(await on.trips(caller)).toMatchObject([{ lock_id: first }, { lock_id: second, agent_session_id: b }])
    expect((await on.clear(caller, first)).json).toMatchObject({ agent_unsuspended: false })
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['lock'] })
    const held = await on.post(caller, `/v1/agents/${agent}/unsuspend`)
    expect([held.status, held.json.code, held.json.lock_id]).toEqual([409, 'conflict', second])
    await on.post(caller, `/v1/agents/${agent}/suspend`, { reason: 'r' })
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['lock', 'manual'] })
    expect((await on.post(caller, `/v1/agents/${agent}/unsuspend`)).json.code).toBe('conflict')
    expect((await on.clear(caller, second)).json).toMatchObject({ agent_unsuspended: false })
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['manual'] })
    expect((await on.post(caller, `/v1/agents/${agent}/unsuspend`)).json).toMatchObject({ status: 'active' })
  })

  it('is for owners, admins and approvers, and for keys with escalate', async () => {
    const { lock_id } = await trip({ agent_session_id: 'run-2' })
    const path = `/v1/trace/session-locks/${lock_id}/clear`
    const key = on.service.addKey({ accountId: caller.accountId, scopes: ['intent', 'admin'] })
    const byKey = await on.service.call({ key }, path, { method: 'POST' })
    expect([byKey.json.code, byKey.json.required_scope]).toEqual(['insufficient_scope', 'escalate'])
    for (const [role, status] of [
      ['analyst', 403],
      ['approver', 200],
    ] as const) {
      const { headers } = await on.service.signIn(caller.accountId, { role })
      expect([role, (await on.service.call({}, path, { method: 'POST', headers })).status]).toEqual([role, status])
    }
  })

  it('repeated with its Idempotency-Key answers the same', async () => {
    const { lock_id } = await trip({ agent_session_id: 'run-3' })
    const send = () => on.post(caller, `/v1/trace/session-locks/${lock_id}/clear`, {}, { 'Idempotency-Key': 'c' })
    const [first, second] = [await send(), await send()]
    expect([second.status, second.json]).toEqual([200, first.json])
    expect((await on.ledger(caller, 'lock_clear')).length).toBe(1)
  })
})

describe('a trip of a verify', () => {
  it('locks in the transaction of the decision, once for decisions at the same time', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    const { port } = on.service.services.trace.canaries
    await on.setKillSwitch(caller, { mode: 'monitor' })
    const { trace_id } = await trip({ agent_session_id: session })
    await on.setKillSwitch(caller, { mode: 'block_and_lock' })
    const subject = { agentId: agent, agentSessionId: session }
    const source = { ...subject, traceId: String(trace_id) }
    const conditions = [{ set: 'default-v1', maxAgeSeconds: 300 }]
    const [reading] = await port.read(caller, source, conditions, AbortSignal.timeout(60_000))
    if (reading === undefined) throw new Error('no reading')
    const verify = () =>
      on.service.test.db.tenant(caller, async (tx) => {
        await lockShared(tx, locksOf(caller, subject))
        return port.tripAtVerify(tx, caller, {
          ...subject,
          jti: `jti-${Math.random()}`,
          matchedRuleId: 'no-exfiltration',
          reading,
        })
      })
    const answers = await Promise.all(Array.from({ length: 8 }, verify))
    const [lock, ...more] = await on.locks(caller)
    expect(more).toEqual([])
    expect(lock).toMatchObject({
      source: 'verify',
      matched_rule_id: 'no-exfiltration',
      jti: expect.stringMatching(/^jti-/),
    })
    expect(answers).toEqual(answers.map(() => ({ lockId: lock?.lock_id })))
    expect(await on.trips(caller)).toMatchObject([
      { source: 'verify', jti: lock?.jti, lock_id: lock?.lock_id, trace_id },
    ])
    expect(await on.statusOf(caller, agent)).toEqual({ status: 'suspended', causes: ['lock'] })
  })

  it('sends its event without a lock in every other mode, once per token', async () => {
    const { port } = on.service.services.trace.canaries
    const { trace_id } = await trip({ agent_session_id: 'run-4' })
    const before = (await on.trips(caller)).length
    await on.setKillSwitch(caller, { mode: 'off' })
    const subject = { agentId: null, agentSessionId: 'run-4' }
    const source = { ...subject, traceId: String(trace_id) }
    const conditions = [{ set: 'default-v1', maxAgeSeconds: 300 }]
    const [reading] = await port.read(caller, source, conditions, AbortSignal.timeout(60_000))
    if (reading === undefined) throw new Error('no reading')
    const jti = newId('dec', 'sandbox')
    for (let round = 0; round < 2; round++) {
      const answer = await on.service.test.db.tenant(caller, (tx) =>
        port.tripAtVerify(tx, caller, { ...subject, jti, matchedRuleId: 'r', reading }),
      )
      expect(answer).toEqual({})
    }
    const sent = (await on.trips(caller)).slice(before)
    expect(sent).toMatchObject([{ source: 'verify', mode: 'off', jti, matched_rule_id: 'r', lock_id: null }])
  })
})

describe('a decision in progress', () => {
  /** Runs `act` while a transaction holds the advisory locks, and says which of the two ended first. */
  async function race(subject: TripSubject, take: typeof lockShared, act: () => Promise<{ status: number }>) {
    const order: string[] = []
    let acting: Promise<unknown> = Promise.resolve()
    await on.service.test.db.tenant(caller, async (tx) => {
      await take(tx, locksOf(caller, subject))
      acting = act().then(({ status }) => order.push(`act ${status}`))
      const isWaiting = async () => {
        const rows = await on.service.test.owner(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        )
        return rows.length > 0 || order.length > 0
      }
      await until(isWaiting, { everyMs: 1 })
      order.push('decision')
    })
    await acting
    return order
  }

  it('is not overtaken by what changes its agent or its session, and overtakes no lock', async () => {
    const agent = await on.makeAgent(caller)
    const session = await on.openSession(caller, agent)
    const path = `/v1/agents/${agent}`
    const ofAgent = { agentId: agent, agentSessionId: null }
    const ofSession = { agentId: null, agentSessionId: session }
    const patch = { method: 'PATCH', json: { name: 'B' } }
    const { lock_id } = await trip({ agent_session_id: 'run-5', agent_id: await on.makeAgent(caller) })
    const run5 = { agentId: null, agentSessionId: 'run-5' }
    const acts: [TripSubject, typeof lockShared, () => Promise<{ status: number }>][] = [
      [ofAgent, lockShared, () => on.service.call(caller, path, patch)],
      [ofAgent, lockShared, () => on.post(caller, `${path}/suspend`, { reason: 'r' })],
      [ofAgent, lockShared, () => on.post(caller, `${path}/unsuspend`)],
      [run5, lockShared, () => on.clear(caller, lock_id)],
      [ofSession, lockExclusive, () => on.send(caller, { agent_session_id: session })],
      [ofAgent, lockExclusive, () => on.send(caller, { agent_session_id: session })],
      [ofAgent, lockExclusive, () => on.post(caller, `${path}/sessions`, {})],
      [ofSession, lockShared, () => on.send(caller, { agent_session_id: session, readings: TRIPPING })],
      [ofSession, lockShared, () => on.post(caller, `${path}/sessions/${session}/end`)],
    ]
    for (const [index, [subject, take, act]] of acts.entries()) {
      expect([index, ...(await race(subject, take, act))]).toEqual([index, 'decision', 'act 200'])
    }
  })
})

// What holds an agent is the causes that were given and not lifted, whatever ran at the same time.
it('no interleaving of suspending, unsuspending, locking and clearing lifts a cause but by its own end', async () => {
  const { agents, trace } = on.service.services
  const settled = { caller, agent: '', sessions: [] as string[] }
  const now = () => new Date().toISOString()

  const OPS: Record<string, () => Promise<unknown>> = {
    suspend: () => agents.registry.suspend(caller, settled.agent, 'r'),
    unsuspend: () => agents.registry.unsuspend(caller, settled.agent),
    tripA: () => send(settled.sessions[0]),
    tripB: () => send(settled.sessions[1]),
    clearFirst: () => clearAt(0),
    clearLast: () => clearAt(-1),
  }
  const send = (agentSessionId: string | undefined) =>
    trace.canaries.checks.check(
      caller,
      {
        client: { readings: [{ family: 'f', score: 1, threshold: 0.5 }], readingAt: new Date(now()), canarySet: 's' },
        agentSessionId,
      },
      { signal: () => AbortSignal.timeout(60_000) },
    )
  const liveLocks = async () =>
    (await trace.locks.locks.list(caller, { status: 'locked', agentId: settled.agent }, { limit: 100 })).data
  async function clearAt(index: number) {
    const lock = (await liveLocks()).at(index)
    return lock && trace.locks.locks.clear(caller, lock.id, null)
  }
  // A refusal is an answer: another request was first. Anything else is a fault.
  const expected = new Set(['conflict', 'invalid_state_transition', 'not_found'])
  const run = (name: string) =>
    (OPS[name] ?? (() => Promise.reject(new Error(name))))().catch((error: { code?: string }) => {
      if (!expected.has(error.code ?? '')) throw error
    })

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...Object.keys(OPS)), { minLength: 2, maxLength: 6 }), {
        minLength: 1,
        maxLength: 4,
      }),
      async (rounds) => {
        settled.agent = await on.makeAgent(caller)
        settled.sessions = [await on.openSession(caller, settled.agent), await on.openSession(caller, settled.agent)]
        for (const round of rounds) {
          await Promise.all(round.map(run))
          const { suspensions } = await agents.registry.get(caller, settled.agent)
          const held = (await liveLocks()).map(({ id }) => id)
          expect(suspensions.flatMap(({ lockId }) => lockId ?? []).toSorted()).toEqual(held.toSorted())
          const entries = (await on.ledger(caller)).filter(({ subject }) => subject === settled.agent)
          const manual = (kind: string) =>
            entries.filter((one) => one.kind === kind && one.inputs.lock_id === undefined)
          const given = manual('agent_suspend').length - manual('agent_unsuspend').length
          expect(suspensions.filter(({ cause }) => cause === 'manual')).toHaveLength(given)
        }
      },
    ),
    { numRuns: 25 },
  )
})
