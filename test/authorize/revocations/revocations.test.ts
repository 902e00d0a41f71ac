import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readRevocation } from '#src/authorize/revocations/rows.ts'
import type { DecisionKind } from '#src/catalogue/decisions.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { issueIntent } from '../../support/intents.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const revoke = (json: object, headers: Record<string, string> = {}, by: TestCaller = caller) =>
  service.call(by, '/v1/intent/revocations', { json: { reason: 'lost', ...json }, headers })
const statusOf = async (jti: string) => (await service.call(caller, `/v1/intent/status/${jti}`)).json
const issue = (wanted?: Parameters<typeof issueIntent>[2], by: TestCaller = caller) =>
  issueIntent(service.services, by, wanted)
const read = (agentSessionId: string, deviceId: string, jti?: string) =>
  service.test.db.tenant(caller, (tx) => readRevocation(tx, { jti, agentSessionId, deviceId }))
const ledgerOf = (kind: DecisionKind) => service.entries(caller, kind)

// In UTC it is in a year that RFC 3339 can't write: an answer with it would be an error, and so would each list.
const YEAR_10000 = '9999-12-31T23:59:59-12:00'

describe('a revocation', () => {
  it('of a session ends its unexpired tokens and no others, once, with one event and one ledger entry', async () => {
    const [first, second, late, other] = [
      await issue({ agentSessionId: 'shopping' }),
      await issue({ agentSessionId: 'shopping', deviceId: 'device-2' }),
      await issue({ agentSessionId: 'shopping', lifetimeSeconds: -1 }),
      await issue({ agentSessionId: 'travel' }),
    ]
    const stranger = await service.makeCaller()
    const foreign = await issue({ agentSessionId: 'shopping' }, stranger)

    const { status, json } = await revoke({ scope: 'session', agent_session_id: 'shopping' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ scope: 'session', agent_session_id: 'shopping', jti: null, tokens_revoked: 2 })
    const repeated = await revoke({ scope: 'session', agent_session_id: 'shopping', reason: 'again' })
    expect(repeated.json).toEqual(json)

    for (const { jti } of [first, second]) {
      expect(await statusOf(jti)).toMatchObject({ jti, status: 'revoked', revoked: true, revoked_scope: 'session' })
    }
    expect(await statusOf(late.jti)).toMatchObject({ status: 'expired', revoked: false, revoked_at: null })
    expect(await statusOf(other.jti)).toMatchObject({ status: 'active', revoked: false, revoked_scope: null })
    const unaffected = await service.call(stranger, `/v1/intent/status/${foreign.jti}`)
    expect(unaffected.json).toMatchObject({ status: 'active' })

    const { revocation_id: id } = json
    expect(await service.events(caller)).toEqual([
      {
        type: 'intent.revoked',
        data: {
          revocation_id: id,
          scope: 'session',
          agent_session_id: 'shopping',
          reason: 'lost',
          actor: { type: 'key', id: expect.stringMatching(/^key_/), label: null },
        },
      },
    ])
    expect(await ledgerOf('revocation')).toMatchObject([
      {
        subject: 'shopping',
        reason: 'session_revoked',
        inputs: { revocation_id: id, agent_session_id: 'shopping' },
      },
    ])
  })

  it('of a session or a device is what authorize reads; of a token, what verify reads', async () => {
    const { jti } = await issue({ agentSessionId: 's', deviceId: 'd' })
    expect(await read('s', 'd', jti)).toBeUndefined()
    await revoke({ scope: 'token', jti })
    expect(await read('s', 'd', jti)).toMatchObject({ scope: 'token' })
    expect(await read('s', 'd')).toBeUndefined()
    const { json } = await revoke({ scope: 'device', device_id: 'd' })
    expect(await read('s', 'd')).toMatchObject({ revocationId: json.revocation_id, scope: 'device' })
    expect(await read('s', 'another')).toBeUndefined()
    await revoke({ scope: 'session', agent_session_id: 's' })
    expect(await read('s', 'another')).toMatchObject({ scope: 'session' })
    // The first revocation of a token stays its own.
    expect(await statusOf(jti)).toMatchObject({ revoked_scope: 'token' })
  })

  it.each([' shopping ', '\u200b'])('reaches the session %j by exactly this name', async (agentSessionId) => {
    const { jti } = await issue({ agentSessionId })
    const other = await issue({ agentSessionId: 'shopping' })
    const { json } = await revoke({ scope: 'session', agent_session_id: agentSessionId })
    expect(json).toMatchObject({ agent_session_id: agentSessionId, tokens_revoked: 1 })
    expect(await statusOf(jti)).toMatchObject({ status: 'revoked' })
    expect(await statusOf(other.jti)).toMatchObject({ status: 'active' })
  })

  it('that expires lets new tokens be issued, and those that it ended stay revoked', async () => {
    const { jti } = await issue({ agentSessionId: 'night' })
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const { json } = await revoke({ scope: 'session', agent_session_id: 'night', expires_at: inAnHour })
    expect(json).toMatchObject({ expires_at: inAnHour, tokens_revoked: 1 })
    await service.test.owner("UPDATE revocations SET expires_at = now() - interval '1 s' WHERE id = $1", [
      json.revocation_id,
    ])
    expect(await read('night', 'd')).toBeUndefined()
    expect(await read('night', 'd', jti)).toMatchObject({ scope: 'session' })
    expect(await statusOf(jti)).toMatchObject({ status: 'revoked' })
  })

  it('that lasts longer than the one in force is a new one; a shorter one is not', async () => {
    const session = { scope: 'session', agent_session_id: 'long' }
    const inHours = (hours: number) => ({ expires_at: new Date(Date.now() + hours * 3_600_000).toISOString() })
    const ids = []
    for (const more of [inHours(2), inHours(1), inHours(3), {}, inHours(9)]) {
      ids.push((await revoke({ ...session, ...more })).json.revocation_id)
    }
    const [two, one, three, ever, nine] = ids
    expect(one).toBe(two)
    expect(new Set([two, three, ever]).size).toBe(3)
    expect(nine).toBe(ever)
    const { json } = await service.call(caller, '/v1/intent/revocations?scope=session&subject_id=long')
    expect((json.data as { revocation_id: string }[]).map((row) => row.revocation_id)).toEqual([ever, three, two])
  })

  it('repeats by its Idempotency-Key', async () => {
    const { jti } = await issue()
    const key = { 'Idempotency-Key': 'revoke-1' }
    const first = await revoke({ scope: 'token', jti }, key)
    const second = await revoke({ scope: 'token', jti }, key)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.json).toEqual(first.json)
    const shown = await service.call(caller, `/v1/intent/revocations/${first.json.revocation_id}`)
    expect(shown.json).toEqual(first.json)
  })

  it('of ten thousand tokens is one statement: every token and every place of the status list', async () => {
    const { row } = await issue({ agentSessionId: 'large-session' })
    const columns = (
      await service.test.owner<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'intents'::regclass AND attnum > 0
         AND attname NOT IN ('jti', 'status_list', 'status_index')`,
      )
    )
      .map(({ name }) => name)
      .join(', ')
    await service.test.owner(
      `INSERT INTO intents (jti, status_list, status_index, ${columns})
       SELECT jti || '_' || n, 77, n, ${columns} FROM intents, generate_series(1, 10000) n WHERE jti = $1`,
      [row.jti],
    )
    const { json } = await revoke({ scope: 'session', agent_session_id: 'large-session' })
    expect(json.tokens_revoked).toBe(10_001)
    const [bits] = await service.test.owner<{ count: number }>(
      'SELECT count(*)::int AS count FROM status_bits WHERE list = 77',
    )
    expect(bits?.count).toBe(10_000)
  })

  it('is deleted when it has ended nothing for a month: expired, or without its token', async () => {
    const { jti } = await issue()
    await revoke({ scope: 'token', jti })
    const gone = await issue()
    await revoke({ scope: 'token', jti: gone.jti })
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    await revoke({ scope: 'device', device_id: 'old', expires_at: inAnHour })
    await revoke({ scope: 'device', device_id: 'kept' })
    await service.test.owner('DELETE FROM intents WHERE jti = $1', [gone.jti])
    const rules = service.services.authorize.revocations.feature.retention ?? []
    const rule = rules.find(({ what }) => what === 'ended_revocations')
    if (rule?.per !== 'tenant') throw new Error('the rule is of tenants')
    const purge = (before: number) => rule.purge(caller, new Date(before), AbortSignal.timeout(60_000))
    expect(await purge(Date.now() - 3_600_000)).toBe(0)
    expect(await purge(Date.now() + 2 * 3_600_000)).toBe(2)
    const { json } = await service.call(caller, '/v1/intent/revocations')
    expect(json.data).toMatchObject([{ device_id: 'kept' }, { jti }])
  })

  it('is refused where its body contradicts itself, or names what is not of this environment', async () => {
    const { jti } = await issue()
    const past = new Date(Date.now() - 1_000).toISOString()
    const future = new Date(Date.now() + 60_000).toISOString()
    const cases: [object, number, string, string?][] = [
      [{ scope: 'token' }, 400, 'invalid_request', '/jti'],
      [{ scope: 'session', jti }, 400, 'invalid_request', '/jti'],
      [{ scope: 'device', device_id: 'd', agent_session_id: 's' }, 400, 'invalid_request', '/agent_session_id'],
      [{ scope: 'token', jti, expires_at: future }, 400, 'invalid_request', '/expires_at'],
      [{ scope: 'device', device_id: 'd', expires_at: past }, 400, 'invalid_request', '/expires_at'],
      [{ scope: 'device', device_id: 'd', expires_at: YEAR_10000 }, 400, 'invalid_request', '/expires_at'],
      [{ scope: 'account' }, 400, 'invalid_request', '/scope'],
      [{ scope: 'session', agent_session_id: '' }, 400, 'invalid_request', '/agent_session_id'],
      [{ scope: 'session', agent_session_id: 's', reason: '' }, 400, 'invalid_request', '/reason'],
      [{ scope: 'session', agent_session_id: 's', reason: '\u200b\u200b' }, 400, 'invalid_request', '/reason'],
      [{ scope: 'token', jti: newId('jti', 'sandbox') }, 404, 'not_found'],
      [{ scope: 'token', jti: 'jti_test_1' }, 404, 'not_found'],
      [{ scope: 'token', jti: newId('jti', 'live') }, 403, 'environment_mismatch'],
      [{ scope: 'device', device_id: newId('dev', 'live') }, 403, 'environment_mismatch'],
      [{ scope: 'session', agent_session_id: 'ses_shopping' }, 404, 'not_found'],
    ]
    for (const [body, status, code, pointer] of cases) {
      const { json, ...answer } = await revoke(body)
      const errors = (json.errors ?? []) as { pointer: string }[]
      expect([body, answer.status, json.code]).toEqual([body, status, code])
      if (pointer !== undefined) expect(errors.map((error) => error.pointer)).toContain(pointer)
    }
    expect(await service.events(caller)).toEqual([])
    for (const path of [`status/${newId('jti', 'sandbox')}`, `revocations/${newId('rev', 'sandbox')}`]) {
      expect((await service.call(caller, `/v1/intent/${path}`)).status).toBe(404)
    }
    for (const path of [`status/${newId('jti', 'live')}`, `revocations/${newId('rev', 'live')}`]) {
      expect((await service.call(caller, `/v1/intent/${path}`)).json.code).toBe('environment_mismatch')
    }
  })

  it('by a publishable key is one of a token only: its sessions and devices are those of every visitor', async () => {
    const shared = await service.makeCaller({ isAccountBearing: false })
    const { jti } = await issue({}, shared)
    expect((await revoke({ scope: 'token', jti }, {}, shared)).status).toBe(200)
    for (const subject of [
      { scope: 'session', agent_session_id: 'session-1' },
      { scope: 'device', device_id: 'device-1' },
    ]) {
      expect((await revoke(subject, {}, shared)).json.code).toBe('account_key_required')
    }
  })

  it('of an enrolled device follows from its registry, in the same transaction', async () => {
    const deviceId = newId('dev', 'sandbox')
    await service.test.owner(
      `INSERT INTO devices (account_id, environment, id, spki, spki_digest, certificate_chain, certificate_subject,
         not_before, not_after, enrolled_at)
       VALUES ($1, 'sandbox', $2, $3, sha256($3), ARRAY[$3::bytea], 'CN=phone', '2026-01-01', '2036-01-01', now())`,
      [caller.accountId, deviceId, Buffer.from(deviceId)],
    )
    const { jti } = await issue({ deviceId })
    for (let times = 0; times < 2; times += 1) {
      await service.services.attest.devices.devices.revoke(caller, deviceId, { reason: 'stolen' })
    }
    expect(await statusOf(jti)).toMatchObject({ status: 'revoked', revoked_scope: 'device' })
    expect(await read('s', deviceId)).toMatchObject({ scope: 'device' })
    const events = await service.events(caller)
    expect(events.map(({ type, data }) => [type, data.scope, data.device_id])).toEqual([
      ['intent.revoked', 'device', deviceId],
    ])
    expect(await ledgerOf('revocation')).toHaveLength(1)
  })

  it('in the registry from before revocations were kept counts too', async () => {
    const deviceId = newId('dev', 'sandbox')
    await service.test.owner(
      `INSERT INTO devices (account_id, environment, id, spki, spki_digest, certificate_chain, certificate_subject,
         not_before, not_after, enrolled_at, revoked_at, revoke_effective_at, revoke_reason)
       VALUES ($1, 'sandbox', $2, $3, sha256($3), ARRAY[$3::bytea], 'CN=phone', '2026-01-01', '2036-01-01', now(), now(), now(), 'old')`,
      [caller.accountId, deviceId, Buffer.from(deviceId)],
    )
    expect(await read('s', deviceId)).toMatchObject({ scope: 'device', revocationId: null })
  })
})

describe('a stop', () => {
  const send = (path: string, json?: object) =>
    service.call(caller, `/v1/intent/${path}`, json === undefined ? { method: 'POST' } : { json })

  it('is in force until the agents are resumed, once however often it is asked for, and on the ledger', async () => {
    expect((await service.call(caller, '/v1/intent/stop')).json).toMatchObject({ stopped: false, stop_id: null })
    const first = await send('stop', { reason: 'Strange payments' })
    expect(first.json).toMatchObject({ stopped: true, reason: 'Strange payments', resumed_at: null })
    expect((await send('stop', { reason: 'Another' })).json).toEqual(first.json)
    expect((await service.call(caller, '/v1/intent/stop')).json).toEqual(first.json)
    const resumed = await send('resume')
    expect(resumed.json).toMatchObject({ stopped: false, stop_id: first.json.stop_id, resumed_at: expect.any(String) })
    expect((await send('resume')).json).toEqual(resumed.json)
    const again = await send('stop', { reason: 'Once more' })
    expect(again.json).toMatchObject({ stopped: true, reason: 'Once more' })
    expect((await ledgerOf('stop')).map(({ subject }) => subject)).toEqual([first.json.stop_id, again.json.stop_id])
    expect(await ledgerOf('resume')).toMatchObject([{ subject: first.json.stop_id }])
  })

  it('in force is the one that is answered, also where another process had a fast clock', async () => {
    const first = await send('stop', { reason: 'first' })
    const ahead = newId('stp', 'sandbox', Date.now() + 300_000)
    await service.test.owner('UPDATE stops SET id = $2 WHERE id = $1', [first.json.stop_id, ahead])
    await send('resume')
    const second = await send('stop', { reason: 'second' })
    expect(second.json).toMatchObject({ stopped: true, reason: 'second' })
    expect((await service.call(caller, '/v1/intent/stop')).json).toEqual(second.json)
    expect((await send('resume')).json).toMatchObject({ stopped: false, reason: 'second' })
  })

  it('is of one account and environment, and takes a key of that account', async () => {
    await send('stop', { reason: 'r' })
    const live = service.addKey({ accountId: caller.accountId, environment: 'live', scopes: ['escalate'] })
    expect((await service.call({ key: live }, '/v1/intent/stop')).json).toMatchObject({ stopped: false })
    const shared = await service.makeCaller({ isAccountBearing: false })
    const refused = await service.call(shared, '/v1/intent/stop', { json: { reason: 'r' } })
    expect(refused.json.code).toBe('account_key_required')
  })
})
