import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyCheckpoint } from '#client/verify/checkpoint.ts'
import { decisionsFeature } from '#src/authorize/decisions/feature.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Principal } from '#src/platform/http/principal.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { verifyConsistency, verifyInclusion } from '#src/platform/ledger/proofs.ts'
import { DECISION, decisions } from '../../support/ledger.ts'
import { type LedgerService, startLedgerService } from './fixture.ts'

const AT = '2026-11-22T10:00:00'
const hash = (text: string) => Buffer.from(text, 'base64url')

describe('the routes of the decision ledger', () => {
  let service: LedgerService
  let scope: Scope
  let key: string

  beforeAll(async () => {
    service = await startLedgerService()
    const caller = await service.makeCaller()
    scope = caller
    key = caller.key
  })
  afterAll(() => service?.close())

  const get = (path: string) => service.ask({ key }, `${path}`)
  const idsOf = (json: { data: { decision_id: string }[] }) => json.data.map(({ decision_id: id }) => id)

  it('list decisions newest first, by kind, reason, jti and time, a page at a time', async () => {
    const other = await service.makeCaller()
    const made = await service.record(other, [
      ...decisions(3),
      ...decisions(1, { kind: 'lock', subject: 'lck_test_1', at: new Date(`${AT}.010Z`) }),
      ...decisions(1, {
        reason: 'policy_denied',
        valid: false,
        at: new Date(`${AT}.020Z`),
        inputs: { jti: 'jti_test_9' },
      }),
    ])
    const list = async (query: string) => {
      const { status, json } = await service.ask(other, `?${query}`)
      expect(status).toBe(200)
      return idsOf(json)
    }
    expect(await list('')).toEqual(made.toReversed())
    expect(await list('kind=lock')).toEqual([made[3]])
    expect(await list('reason=policy_denied')).toEqual([made[4]])
    expect(await list('jti=jti_test_9')).toEqual([made[4]])
    expect(await list(`created_gte=${AT}.002Z&created_lt=${AT}.020Z`)).toEqual([made[3], made[2]])
    expect(await list('kind=lock&kind=verify')).toEqual(made.toReversed())
    expect(await list('reason=policy_denied&reason=other')).toEqual([made[4]])
    const first = await service.ask(other, '?limit=2&include=total_count')
    expect(first.json).toMatchObject({ has_more: true, total_count: 5 })
    const second = await service.ask(other, `?limit=3&cursor=${first.json.next_cursor}`)
    expect(idsOf(second.json)).toEqual(made.slice(0, 3).toReversed())
    for (const wrong of ['kind=unknown', `from=${AT}.002Z`, 'created_gte=yesterday', 'cursor=x', 'agent_id=']) {
      expect((await service.ask(other, `?${wrong}`)).json.code, wrong).toBe('invalid_request')
    }
    // Nothing of it is another account's.
    expect((await get('')).json.data).toEqual([])
    expect((await get(`/${made[0]}`)).json.code).toBe('not_found')
    expect((await get(`/${newId('dec', 'live')}`)).json.code).toBe('environment_mismatch')
    expect((await get(`?jti=${newId('jti', 'live')}`)).json.code).toBe('environment_mismatch')
  })

  it('are found by what they are about and by the rule that answered, and show both', async () => {
    const other = await service.makeCaller()
    const about = {
      agent_id: newId('agt', 'sandbox'),
      agent_session_id: 'shopping',
      device_id: 'laptop-5',
      mandate_id: newId('mnd', 'sandbox'),
      schedule_id: newId('sch', 'sandbox'),
      trace_id: newId('trc', 'sandbox'),
    }
    const [whole = '', suspended = '', plain = ''] = await service.record(other, [
      ...decisions(1, {
        subject: 'jti_test_1',
        inputs: { jti: 'jti_test_1', ...about },
        matchedRuleId: 'wire-over-10k',
      }),
      ...decisions(1, { kind: 'agent_suspend', subject: about.agent_id, at: new Date(`${AT}.100Z`), inputs: {} }),
      ...decisions(1, { subject: null, inputs: {}, at: new Date(`${AT}.200Z`) }),
    ])
    const list = async (query: string) => idsOf((await service.ask(other, `?${query}`)).json)
    const named = { ...about, subject_id: 'jti_test_1', jti: 'jti_test_1', matched_rule_id: 'wire-over-10k' }
    for (const [name, value] of Object.entries(named)) {
      const found = name === 'agent_id' ? [suspended, whole] : [whole]
      expect([name, await list(`${name}=${value}`)]).toEqual([name, found])
      expect([name, await list(`${name}=${value}x`)]).toEqual([name, []])
    }
    expect(await list(`subject_id=${about.agent_id}`)).toEqual([suspended])
    expect(await list(`agent_id=${about.agent_id}&device_id=laptop-5`)).toEqual([whole])
    expect((await service.ask(other, `/${whole}`)).json).toMatchObject(named)
    const nothing = Object.fromEntries(Object.keys(named).map((name) => [name, null]))
    expect((await service.ask(other, `/${plain}`)).json).toMatchObject(nothing)
    expect((await service.ask(other, `?agent_id=${newId('agt', 'live')}`)).json.code).toBe('environment_mismatch')
  })

  it('name who acted as people call them, beside the entry that was hashed', async () => {
    const other = await service.makeCaller()
    const { keyId } = other.principal as Extract<Principal, { kind: 'key' }>
    const { userId } = await service.signIn(other.accountId, { role: 'approver', email: 'eva@example.com' })
    const made = await service.record(other, [
      ...decisions(1, { actor: { id: keyId, person: 'mika', keyId } }),
      ...decisions(1, { actor: { id: keyId, person: userId, keyId } }),
      ...decisions(1, { actor: { id: userId, person: userId, keyId: null } }),
      ...decisions(1, { actor: 'service' }),
    ])
    const read = async (id: string) => (await service.ask(other, `/${id}`)).json
    const shown = await Promise.all(made.map(read))
    expect(shown.map(({ actor }) => actor)).toEqual([
      { type: 'key', id: keyId, label: 'mika' },
      { type: 'key', id: keyId, label: 'eva@example.com' },
      { type: 'user', id: userId, label: 'eva@example.com' },
      { type: 'service', id: null, label: null },
    ])
    for (const { entry, entry_hash } of shown) expect(sha256Base64url(canonicalize(entry))).toBe(entry_hash)
  })

  it('prove an entry against a signed checkpoint, and a checkpoint against a later one', async () => {
    const caller = await service.makeCaller()
    const ask = (path: string) => service.ask(caller, `${path}`)
    const [early = ''] = await service.record(caller, decisions(1))
    expect((await ask(`/${early}`)).json).toMatchObject({ decision_id: early, position: null })
    expect((await ask(`/${early}/proof`)).json.code).toBe('not_ready')
    expect((await ask('/consistency?from=1')).json.code).toBe('not_ready')
    await service.append()
    expect((await ask(`/${early}/proof`)).json.code).toBe('not_ready')
    await service.sign()
    await service.decide(caller, decisions(300, { at: new Date(`${AT}.500Z`) }))
    const [late = ''] = await service.decide(caller, decisions(1, { at: new Date(`${AT}.900Z`) }))

    const { json: proof } = await ask(`/${late}/proof`)
    expect(proof).toMatchObject({ decision_id: late, position: 301, size: 302 })
    const { json: entry } = await ask(`/${late}`)
    expect(proof.entry_hash).toBe(entry.entry_hash)
    const verdict = await verifyCheckpoint(proof.checkpoint.jws, await service.services.platform.signingKeys.jwks())
    expect(verdict).toMatchObject({
      isValid: true,
      claims: { account_id: caller.accountId, env: 'sandbox', size: 302, root: proof.root },
    })
    const inclusion = {
      index: proof.position,
      size: proof.size,
      leaf: hash(proof.leaf_hash),
      root: hash(proof.root),
      proof: proof.proof.map(hash),
    }
    expect(verifyInclusion(inclusion)).toBe(true)
    expect(verifyInclusion({ ...inclusion, index: 300 })).toBe(false)

    // Against any size that the caller kept.
    const older = await ask(`/${early}/proof?size=200`)
    expect(older.json).toMatchObject({ position: 0, size: 200, checkpoint: null })
    expect((await ask(`/${late}/proof?size=301`)).json.code).toBe('invalid_request')
    expect((await ask(`/${late}/proof?size=303`)).json.code).toBe('invalid_request')

    const { json: list } = await ask('/checkpoints?limit=2')
    expect(list.data.map(({ size }) => size)).toEqual([302, 301])
    const { json: rest } = await ask(`/checkpoints?limit=2&cursor=${list.next_cursor}`)
    expect(rest.data.map(({ size }) => size)).toEqual([1])
    const { json: grown } = await ask('/consistency?from=1')
    expect(grown).toMatchObject({ from: { size: 1, root: rest.data[0]?.root }, to: { size: 302, root: proof.root } })
    const claim = {
      first: 1,
      firstRoot: hash(grown.from.root),
      second: 302,
      secondRoot: hash(grown.to.root),
      proof: grown.proof.map(hash),
    }
    expect(verifyConsistency(claim)).toBe(true)
    for (const wrong of ['from=0', 'from=5&to=4', 'from=1&to=303', 'from=x']) {
      expect((await ask(`/consistency?${wrong}`)).json.code, wrong).toBe('invalid_request')
    }
  })

  it('sign at most one checkpoint of a state, also by two processes at once', async () => {
    const caller = await service.makeCaller()
    await service.record(caller, decisions(2))
    await service.append()
    await Promise.all([service.sign(), service.sign(), service.sign()])
    expect((await service.ask(caller, '/checkpoints')).json.data).toHaveLength(1)
    expect(await service.sign()).toBe(0)
  })

  it('explain a decision from its facts, and say when these or the entry were changed', async () => {
    const explainers = {
      verify: (facts: unknown) => ({ valid: (facts as { amount: number }).amount < 500, reason: null, steps: ['x'] }),
    }
    const own = decisionsFeature(service.services.platform, { explainers })
    const facts = { amount: 20 }
    const [same = '', other = '', none = '', unexplained = ''] = await service.record(scope, [
      { ...DECISION, facts },
      { ...DECISION, facts: { amount: 700 } },
      DECISION,
      { ...DECISION, kind: 'lock', facts },
    ])
    const principal: Principal = { kind: 'key', keyId: newId('key', scope.environment), scopes: ['admin'] }
    const explain = (id: string) => own.decisions.explain({ ...scope, principal }, id)
    expect(await explain(same)).toMatchObject({
      isEntryIntact: true,
      facts: 'intact',
      shownFacts: facts,
      replay: { valid: true, steps: ['x'] },
      isSameAnswer: true,
      differences: [],
    })
    expect(await explain(other)).toMatchObject({ isSameAnswer: false, differences: ['valid'] })
    expect(await explain(none)).toMatchObject({ facts: 'none', replay: null, isSameAnswer: null })
    expect(await explain(unexplained)).toMatchObject({ facts: 'intact', shownFacts: facts, replay: null })
    const { json } = await get(`/${unexplained}/explain`)
    const reads = await service.test.owner(
      `SELECT actor_id, after FROM audit_entries WHERE action = 'decision_facts.read' AND subject_id = $1`,
      [unexplained],
    )
    expect(reads).toEqual([
      { actor_id: principal.keyId, after: expect.anything() },
      { actor_id: expect.stringMatching(/^key_/), after: expect.anything() },
    ])
    expect(json).toMatchObject({
      decision: { decision_id: unexplained },
      entry_intact: true,
      facts_status: 'intact',
      facts,
    })

    // The sealed facts of another decision do not open; the entry was edited.
    await service.test.owner(
      `UPDATE decision_facts SET sealed_facts = (SELECT sealed_facts FROM decision_facts WHERE decision_id = $2)
       WHERE decision_id = $1`,
      [same, other],
    )
    await service.test.owner(`UPDATE decisions SET entry = replace(entry, 'true', 'false') WHERE id = $1`, [same])
    expect(await explain(same)).toMatchObject({
      isEntryIntact: false,
      facts: 'changed',
      shownFacts: null,
      replay: null,
    })
  })

  it('export the log in parts that fit together, with a line in the audit log', async () => {
    const caller = await service.makeCaller()
    await expect(service.exported(caller.key)).rejects.toThrow(/409/)
    await service.decide(caller, decisions(20))
    const first = await service.exported(caller.key)
    await service.decide(caller, decisions(700, { at: new Date(`${AT}.500Z`) }))
    const second = await service.exported(caller.key, 19)
    const whole = await service.exported(caller.key)
    expect(await service.judge(whole)).toMatchObject({ findings: [], from: 0, size: 720, entries: 720, checkpoints: 2 })
    expect(await service.judge([...first, ...second])).toMatchObject({ findings: [], size: 720, entries: 720 })
    expect(await service.judge(second)).toMatchObject({ findings: [], from: 20, size: 720, entries: 700 })
    expect((await service.judge([...first, ...(await service.exported(caller.key, 30))])).findings).toMatchObject([
      { check: 'order', outcome: 'failed' },
    ])
    const ended = await service.exported(caller.key, 719)
    expect(ended.map((line) => JSON.parse(line).type)).toEqual(['head', 'end'])
    const tooFar = await service.ask(caller, '/export?after=720')
    expect(tooFar.json.code).toBe('invalid_request')
    const rows = await service.test.owner(
      `SELECT 1 FROM audit_entries WHERE action = 'ledger.exported' AND account_id = $1`,
      [caller.accountId],
    )
    expect(rows).toHaveLength(5)
  })

  it('show a key with verify the decisions that it made itself, and with admin as well all of them', async () => {
    const maker = await service.makeCaller({ scopes: ['verify'] })
    const { keyId } = maker.principal as Extract<Principal, { kind: 'key' }>
    const [own = '', foreign = '', unattended = ''] = await service.record(maker, [
      ...decisions(1, { actor: { id: keyId, person: 'mika', keyId } }),
      ...decisions(1),
      ...decisions(1, { actor: 'service' }),
    ])
    const read = async (key: string) =>
      Promise.all([own, foreign, unattended].map(async (id) => (await service.ask({ key }, `/${id}`)).status))
    expect(await read(maker.key)).toEqual([200, 404, 404])
    const { accountId, environment } = maker
    expect(await read(service.addKey({ accountId, environment, scopes: ['verify', 'admin'] }))).toEqual([200, 200, 200])
    expect(await read(service.addKey({ accountId, environment, scopes: ['all'] }))).toEqual([200, 200, 200])
    expect(await read(service.addKey({ accountId, environment, scopes: ['admin'] }))).toEqual([403, 403, 403])
    expect((await service.ask(maker, '')).json.code).toBe('insufficient_scope')
  })

  it('show a developer decisions of live, and their facts to those who may read them', async () => {
    const caller = await service.makeCaller({ environment: 'live' })
    const [id = ''] = await service.record(caller, decisions(1))
    for (const [role, explained] of [
      ['developer', 403],
      ['analyst', 200],
    ] as const) {
      const { headers } = await service.signIn(caller.accountId, { role })
      const live = { headers: { ...headers, 'Service-Environment': 'live' } }
      expect([role, (await service.ask({}, `/${id}`, live)).status]).toEqual([role, 200])
      expect([role, (await service.ask({}, `/${id}/explain`, live)).status]).toEqual([role, explained])
    }
  })

  it('are not open to publishable keys, other scopes and roles without the permission', async () => {
    const publishable = await service.makeCaller({ isAccountBearing: false })
    expect((await service.ask(publishable, '')).json.code).toBe('account_key_required')
    const verifier = await service.makeCaller({ scopes: ['verify'] })
    expect((await service.ask(verifier, '')).json.code).toBe('insufficient_scope')
    for (const [role, status] of [
      ['analyst', 200],
      ['approver', 200],
      ['admin', 200],
    ] as const) {
      const { headers } = await service.signIn(scope.accountId, { role })
      expect((await service.ask({}, '', { headers })).status, role).toBe(status)
    }
  })
})
