// Tokens of clinicians' orders: what verify refuses them for, once each and against what happens at the same time.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { createLog } from '#src/platform/log.ts'
import type { TestCaller } from '../../support/callers.ts'
import { readTables } from '../../support/stored.ts'
import { until } from '../../support/until.ts'
import { createReceivers, decide } from '../webhooks/receivers.ts'
import { type Clinic, createClinic, ORDER_ACTION, PERSONAL } from './clinic.ts'
import { type Intents, startIntents } from './service.ts'

type Members = Record<string, unknown>

const receivers = createReceivers()
const lines: string[] = []
let service: Intents
let clinic: Clinic
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({
    poolSize: 12,
    overrides: () => ({
      log: createLog({ process: 'web', level: 'debug' }, { write: (line) => void lines.push(line) }),
    }),
  })
  clinic = createClinic(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(async () => {
  await receivers.close()
  await service?.close()
})

const issue = (order_id: string, more: Members = {}) => service.issue(caller, { ...ORDER_ACTION, order_id, ...more })
const verify = (token: string, more: Members = {}, key?: string) =>
  service.verify(
    caller,
    token,
    { ...ORDER_ACTION, ...more },
    key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
  )
const check = (token: string) => verify(token, { execute: false })
const answerOf = ({ reason, matched_rule_id: rule }: Members) => rule ?? reason
const statusOf = async (orderId: string) =>
  (await service.test.owner<{ status: string }>('SELECT status FROM orders WHERE id = $1', [orderId]))[0]?.status
const shift = (table: string, column: string, where: string, values: unknown[]) =>
  service.test.owner(`UPDATE ${table} SET ${column} = now() - interval '1 minute' WHERE ${where}`, values)

describe('authorize of an order', () => {
  it('binds the token to the order and its content, and foresees what verify answers', async () => {
    const { orderId, prescriber } = await clinic.authorized(caller)
    const { status, json } = await service.authorize(caller, { ...ORDER_ACTION, order_id: orderId })
    expect({ status, json }).toMatchObject({
      status: 200,
      json: {
        bindings: { order_id: orderId, order_hash: expect.stringMatching(/^[\w-]{43}$/), mandate_id: null },
        preflight: { would_be_valid: true, reason: null },
      },
    })
    const claims = JSON.parse(Buffer.from(String(json.intent_token).split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ order_id: orderId, order_hash: (json.bindings as Members).order_hash })
    const { json: issued } = await service.call(caller, '/v1/intents')
    expect(issued.data).toMatchObject([{ jti: json.jti, order_id: orderId }])

    const unsigned = await clinic.insert(caller, prescriber)
    const foreseen = await service.authorize(caller, { ...ORDER_ACTION, order_id: unsigned })
    expect(foreseen.json.preflight).toEqual({
      would_be_valid: false,
      reason: 'controlled_substance_cosign_required',
    })
    const other = await service.authorize(caller, { order_id: orderId })
    expect(other.json.preflight).toEqual({ would_be_valid: false, reason: 'payload_hash_mismatch' })
  })

  it('refuses what is no order of the account, and an order beside a mandate or a schedule', async () => {
    const foreign = await clinic.authorized(await service.makeCaller())
    expect(await service.authorize(caller, { ...ORDER_ACTION, order_id: foreign.orderId })).toMatchObject({
      status: 404,
    })
    const live = foreign.orderId.replace('_test_', '_live_')
    expect(await service.authorize(caller, { order_id: live })).toMatchObject({ status: 403 })
    for (const name of ['mandate_id', 'schedule_id']) {
      expect(await service.authorize(caller, { [name]: 'x', order_id: foreign.orderId })).toMatchObject({
        status: 400,
        json: { errors: [{ pointer: '/order_id', code: 'mismatch' }] },
      })
    }
  })

  it('answers the same bindings to a repeated request', async () => {
    const { orderId } = await clinic.authorized(caller)
    const sent = { headers: { 'Idempotency-Key': 'order-1' } }
    const [first, again] = [
      await service.authorize(caller, { ...ORDER_ACTION, order_id: orderId }, sent),
      await service.authorize(caller, { ...ORDER_ACTION, order_id: orderId }, sent),
    ]
    expect(again.json).toEqual(first.json)
  })
})

describe('verify of an order', () => {
  it('executes it once: the same attempt is repeated, and no other token or caller executes it', async () => {
    const { orderId } = await clinic.authorized(caller)
    const [one, two] = [await issue(orderId), await issue(orderId)]
    expect(await check(one.token)).toMatchObject({ valid: true })
    const executed = await verify(one.token, {}, 'attempt-1')
    expect(executed).toMatchObject({ valid: true, reason: null })
    const [row] = await service.test.owner('SELECT status, decision_id FROM orders WHERE id = $1', [orderId])
    expect(row).toEqual({ status: 'executed', decision_id: executed.decision_id })
    expect(await verify(one.token, {}, 'attempt-1')).toMatchObject({ valid: true, already_executed: true })
    expect(await verify(one.token, {}, 'attempt-2')).toMatchObject({ reason: 'token_already_executed' })
    expect(await verify(two.token)).toMatchObject({ valid: false, reason: 'token_already_executed' })
    const { json } = await service.authorize(caller, { ...ORDER_ACTION, order_id: orderId })
    expect(json.preflight).toEqual({ would_be_valid: false, reason: 'token_already_executed' })
    // What did not happen does not open the order again: a clinician signs a new one.
    await service.done(caller, `/v1/intent/executions/${one.jti}/outcome`, { status: 'not_run' })
    expect(await verify(two.token)).toMatchObject({ reason: 'token_already_executed' })
  })

  it('gets a token valid that was issued before the signatures', async () => {
    await clinic.listNobody(caller)
    const [prescriber, cosigner] = [await clinic.makePrescriber(caller), await clinic.makePrescriber(caller)]
    const orderId = await clinic.insert(caller, prescriber)
    const { token } = await issue(orderId)
    expect(answerOf(await verify(token))).toBe('controlled_substance_cosign_required')
    await clinic.sign(caller, orderId, prescriber, { act: 'sign', status: 'pending_cosign' })
    expect(answerOf(await verify(token))).toBe('controlled_substance_cosign_required')
    await clinic.sign(caller, orderId, cosigner, { act: 'cosign', status: 'authorized' })
    expect(await verify(token)).toMatchObject({ valid: true })
  })

  it('refuses each change between authorize and verify by its reason, and explains it alike', async () => {
    const CHANGES: Record<string, (order: Awaited<ReturnType<Clinic['authorized']>>) => Promise<unknown>> = {
      payload_hash_mismatch: ({ orderId }) => clinic.edit(caller, orderId),
      prescriber_excluded: ({ cosigner }) => clinic.list(caller, { npi: cosigner.npi }),
      order_declined: ({ orderId }) => clinic.end(caller, orderId, 'declined'),
      prescriber_tier_insufficient: ({ prescriber }) => clinic.suspend(caller, prescriber),
      controlled_substance_cosign_required: ({ orderId }) =>
        service.test.owner(`UPDATE order_signatures SET voided_at = now() WHERE order_id = $1 AND act = 'cosign'`, [
          orderId,
        ]),
      'clinical:order_cancelled': ({ orderId }) => clinic.end(caller, orderId, 'cancelled'),
      'clinical:order_expired': ({ orderId }) => shift('orders', 'expires_at', 'id = $1', [orderId]),
      'clinical:order_unsigned': ({ orderId }) =>
        service.test.owner(`UPDATE order_signatures SET passkey_id = NULL WHERE order_id = $1 AND act = 'sign'`, [
          orderId,
        ]),
      'clinical:list_stale': () =>
        service.test.owner(
          `UPDATE exclusion_pointers SET list_date = current_date - 8 WHERE account_id = $1 AND list = 'sam'`,
          [caller.accountId],
        ),
      'clinical:exclusion_review': ({ prescriber }) => clinic.list(caller, { nameOf: prescriber.id }),
    }
    for (const [expected, change] of Object.entries(CHANGES)) {
      caller = await service.makeCaller()
      const order = await clinic.authorized(caller)
      const { token } = await issue(order.orderId)
      expect(await check(token), expected).toMatchObject({ valid: true })
      await change(order)
      const refused = await verify(token)
      expect(answerOf(refused)).toBe(expected)
      expect(refused).toMatchObject({ valid: false })
      if (expected.startsWith('clinical:')) expect(refused.reason).toBe('policy_denied')
      const { json } = await service.call(caller, `/v1/decisions/${refused.decision_id}/explain`)
      expect(json).toMatchObject({ same_answer: true, replay: { reason: refused.reason } })
      const [entry, ...others] = (await service.entries(caller, 'clinician_order')).filter(
        ({ inputs }) => inputs.decision_id === refused.decision_id,
      )
      expect(others).toEqual([])
      expect(entry).toMatchObject({
        subject_id: order.orderId,
        reason: 'order_execution_refused',
        inputs: { cause: expected },
        valid: false,
        matched_rule_id: refused.matched_rule_id ?? null,
      })
      expect(await statusOf(order.orderId)).not.toBe('executed')
    }
  })

  it('refuses a lapsed licence or registration, and what a tightened clinical policy does not allow', async () => {
    for (const kind of ['licence', 'dea', 'identity']) {
      caller = await service.makeCaller()
      const { orderId, prescriber } = await clinic.authorized(caller)
      const { token } = await issue(orderId)
      await shift('prescriber_facts', 'expires_at', 'prescriber_id = $1 AND kind = $2', [prescriber.id, kind])
      expect(answerOf(await verify(token)), kind).toBe('prescriber_tier_insufficient')
    }
    const { orderId } = await clinic.authorized(caller, { schedule: 'IV', refills: 3 })
    const { token } = await issue(orderId)
    const set = (rule: Members) =>
      clinic.policy(caller, (document) => {
        const schedules = document.schedules as Members
        return { ...document, schedules: { ...schedules, IV: { ...(schedules.IV as Members), ...rule } } }
      })
    for (const [rule, expected] of [
      [{ max_refills: 2 }, 'clinical:refills_exceeded'],
      [{ deny: true }, 'clinical:schedule_denied'],
    ] as const) {
      expect(await set(rule)).toMatchObject({ status: 200 })
      expect(answerOf(await verify(token))).toBe(expected)
    }
  })

  it('is told of a stop before the order, of the order before its policy, and asks nobody then', async () => {
    const { orderId } = await clinic.authorized(caller)
    await service.setPolicy(caller, [{ id: 'people', when: { all: [] }, require: { approval: { min_approvals: 1 } } }])
    const { token } = await issue(orderId)
    await clinic.end(caller, orderId, 'cancelled')
    const late = await issue(orderId)
    expect(answerOf(await verify(late.token))).toBe('clinical:order_cancelled')
    expect((await service.call(caller, '/v1/approvals')).json.data).toHaveLength(1)
    await service.done(caller, '/v1/intent/stop', { reason: 'incident' })
    expect(answerOf(await verify(token))).toBe('system:stop')
  })
})

describe('what happens at once', () => {
  it('executes an order by one of several tokens, and the others get their reason', async () => {
    const { orderId } = await clinic.authorized(caller)
    const tokens = await Promise.all(Array.from({ length: 5 }, () => issue(orderId)))
    const answers = await Promise.all(tokens.map(({ token }, index) => verify(token, {}, `key-${index}`)))
    expect(answers.filter(({ valid }) => valid)).toHaveLength(1)
    const refused = answers.filter(({ valid }) => valid !== true)
    expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['token_already_executed']))
    expect(await service.entries(caller, 'execute')).toHaveLength(1)
  })

  it('either executes an order or lets it end, and never both', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { orderId, prescriber } = await clinic.authorized(caller)
      const { token } = await issue(orderId)
      const status = round % 2 === 0 ? 'declined' : 'cancelled'
      const [answer, hasEnded] = await Promise.all([
        verify(token),
        round % 4 < 2 ? clinic.end(caller, orderId, status) : clinic.suspend(caller, prescriber).then(() => undefined),
      ])
      if (hasEnded !== undefined) expect(answer.valid).toBe(!hasEnded)
      expect(await statusOf(orderId)).toBe(answer.valid === true ? 'executed' : hasEnded ? status : 'authorized')
    }
  })

  it('waits for a change of a clinician that is under way, and answers by what it left', async () => {
    const { orderId, prescriber } = await clinic.authorized(caller)
    const { token } = await issue(orderId)
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    let verified: ReturnType<typeof verify> | undefined
    await service.test.db.tenant(caller, async (tx) => {
      const row = [caller.accountId, prescriber.id]
      await tx.query(
        `UPDATE prescribers SET suspended_at = now(), suspended_by = '{"type": "system"}', suspended_reason = 'other' WHERE account_id = $1 AND id = $2`,
        row,
      )
      verified = verify(token)
      await until(async () => (await service.test.owner(waiting)).length > 0)
    })
    expect(await verified).toMatchObject({ valid: false, reason: 'prescriber_tier_insufficient' })
  })

  it('is not valid after a change of a clinician has answered, whatever was under way', async () => {
    const { orderId, prescriber } = await clinic.authorized(caller)
    const { token } = await issue(orderId)
    let hasEnded = false
    const late: Members[] = []
    const one = async () => {
      const beganAfter = hasEnded
      const answer = await check(token)
      if (beganAfter && answer.valid === true) late.push(answer)
    }
    const before = Array.from({ length: 6 }, one)
    const ended = clinic.suspend(caller, prescriber).then(() => {
      hasEnded = true
    })
    await Promise.all([...before, ended.then(() => Promise.all([one(), one()]))])
    expect(late).toEqual([])
    expect(answerOf(await verify(token))).toBe('prescriber_tier_insufficient')
  })
})

describe('what leaves the service about an order', () => {
  it('are ids and hashes: in events, mails, questions to policy webhooks, logs, audit entries and the ledger', async () => {
    const { url, questions } = await receivers.plain(decide('allow'))
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const all = { all: [] }
    await service.setPolicy(caller, [
      { id: 'people', when: all, require: { approval: { min_approvals: 1 } } },
      { id: 'ask', when: all, require: { webhook: { url } } },
    ])
    const order = await clinic.authorized(caller)
    const owner = await service.signIn(caller.accountId, { role: 'owner' })
    const context = { patient: PERSONAL.patient }
    const { json } = await service.authorize(caller, { ...ORDER_ACTION, order_id: order.orderId, context })
    const { intent_token: token, approval_id: id } = json as { intent_token: string; approval_id: string }
    expect(answerOf(await verify(token))).toBe('people')
    const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
    const approved = await service.call({}, `/v1/approvals/${id}/approve`, { method: 'POST', json: {}, headers })
    expect(approved).toMatchObject({ status: 200, json: { order_id: order.orderId, ...ORDER_ACTION } })
    expect(await verify(token, { context })).toMatchObject({ valid: true })
    await clinic.list(caller, { npi: order.prescriber.npi })
    await verify((await issue((await clinic.another(caller, order)).orderId)).token)

    const requested = (await service.events(caller)).find(({ type }) => type === 'approval.requested')
    expect(requested?.data).toMatchObject({
      order_id: order.orderId,
      action_description: null,
      payload_preview: null,
      preview_hash: sha256Base64url('null'),
      payload_hash: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(questions[0]?.json).toMatchObject({
      action_description: null,
      action_payload: null,
      context: null,
      order: { order_id: order.orderId, payload_hash: requested?.data.payload_hash },
    })
    // Mails are jobs until they are sent, and every other text of the run is in a table too.
    const stored = [...(await readTables(service.test)).values()]
    const told = [...lines, ...questions.map(({ rawBody }) => rawBody.toString()), ...stored].join('\n')
    expect(told).toContain(order.orderId)
    for (const [name, value] of Object.entries(PERSONAL)) expect(told.includes(value), name).toBe(false)
  })
})
