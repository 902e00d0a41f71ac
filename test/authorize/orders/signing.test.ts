// Signatures on orders: who may sign what, with which challenge, and what is recorded of a refusal.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { type Json, ORDERS, type OrderService, PERSONAL, type Prescriber, startOrders } from './service.ts'

let orders: OrderService
let prescriber: Prescriber
let second: Prescriber
let third: Prescriber

beforeAll(async () => {
  orders = await startOrders()
  prescriber = await orders.makePrescriber()
  second = await orders.makePrescriber({ role: 'developer' })
  third = await orders.makePrescriber({ role: 'analyst' })
})
afterAll(() => orders.close())

const facts = (id: string, lock = false) =>
  orders.service.test.db.tenant(orders.caller, (tx) =>
    orders.feature.orders.readFacts(tx, orders.caller, id, { at: new Date(), lock }),
  )

describe('an order of schedule II', () => {
  it('is authorized by its prescriber and a second clinician, each with a passkey that signs exactly it', async () => {
    const { order_id: id, order_hash } = await orders.makeOrder(prescriber)
    expect(await facts(id)).toMatchObject({ facts: { status: 'draft', signature: 'none', cosigner: null } })
    const signed = await orders.signBy(prescriber.person, id)
    expect(signed).toMatchObject({ status: 200, json: { status: 'pending_cosign', authorized_at: null } })
    const done = await orders.signBy(second.person, id, 'cosign')
    expect(done).toMatchObject({
      status: 200,
      json: {
        status: 'authorized',
        order_hash,
        allowed_acts: ['edit', 'decline', 'cancel', 'execute'],
        signatures: [
          { act: 'sign', prescriber_id: prescriber.id, method: 'passkey', order_hash, voided_at: null },
          { act: 'cosign', prescriber_id: second.id, method: 'passkey', statement_version: '1', order_hash },
        ],
      },
    })
    expect(await facts(id, true)).toMatchObject({
      order_id: id,
      order_hash,
      facts: {
        status: 'authorized',
        schedule: 'II',
        signature: 'passkey',
        prescriber: { tier: 3, exclusion: 'clear' },
        cosigner: { tier: 3, dea_schedules: ['II', 'III', 'IV', 'V'] },
        is_denied_as_stale: false,
      },
    })
    const acts = (await orders.service.entries(orders.caller, 'clinician_order')).filter(
      ({ subject_id }) => subject_id === id,
    )
    expect(acts.map(({ reason }) => reason)).toEqual(['order_created', 'order_signed', 'order_cosigned'])
    expect(await orders.refusals(id)).toEqual([])
  })

  it('shows the signer the statement, the prescriber with name and registration, and the whole order with its hash', async () => {
    const { order_id: id, order_hash } = await orders.makeOrder(prescriber)
    const { json } = await orders.as(prescriber.person, `${ORDERS}/${id}/challenge`, { act: 'sign' })
    expect(json).toMatchObject({
      order_hash,
      statement: { version: '1', text: expect.stringContaining('legally signing the prescription') },
      prescriber: { last: PERSONAL.last, npi: prescriber.npi, dea_numbers: ['AB1234563'] },
      order: { patient_ref: PERSONAL.patient, sig: PERSONAL.sig, needs: { cosign: true, passkey: true } },
    })
  })

  it('is another order to sign after an edit: both signatures are void', async () => {
    const id = await orders.makeSigned(prescriber)
    await orders.signBy(second.person, id, 'cosign')
    const edited = await orders.patch(id, { refills: 0, sig: 'Another direction' })
    expect(edited).toMatchObject({ status: 200, json: { status: 'draft', revision: 2, authorized_at: null } })
    const { signatures } = edited.json as { signatures: { voided_at: string | null }[] }
    expect(signatures.map(({ voided_at }) => voided_at === null)).toEqual([false, false])
    expect(await facts(id)).toMatchObject({ facts: { status: 'draft', signature: 'none', cosigner: null } })
    expect(await orders.signBy(prescriber.person, id)).toMatchObject({ json: { status: 'pending_cosign' } })
  })

  it('needs no passkey where the policy asks for none: the signed-in prescriber confirms', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber, { medication: { name: 'Amoxicillin 500 mg' } })
    expect(await orders.as(prescriber.person, `${ORDERS}/${id}/sign`, {})).toMatchObject({
      status: 200,
      json: { status: 'authorized', schedule: 'none', signatures: [{ method: 'session', passkey_id: null }] },
    })
  })
})

describe('a signature is refused, with a code and an entry of its own,', () => {
  const answered = async (id: string, act: 'sign' | 'cosign', by: Prescriber | 'key', json: Json) => {
    const path = `${ORDERS}/${id}/${act}`
    const answer = await (by === 'key' ? orders.post(path, json) : orders.as(by.person, path, json))
    return [answer.status, (answer.json as Json).code]
  }

  it('for another user, by session and by key', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber)
    expect(await answered(id, 'sign', second, {})).toEqual([403, 'signer_mismatch'])
    const passkey_assertion = await orders.assertionFor(second.person, id, 'sign', 'key')
    expect(await answered(id, 'sign', 'key', { passkey_assertion })).toEqual([403, 'signer_mismatch'])
    const challenge = await orders.as(second.person, `${ORDERS}/${id}/challenge`, { act: 'sign' })
    expect(challenge).toMatchObject({ status: 403, json: { code: 'signer_mismatch' } })
    const refusal = ['order_signature_refused', 'sign', 'signer_mismatch']
    expect(await orders.refusals(id)).toEqual([refusal, refusal, refusal])
  })

  it('for a person who is no prescriber', async () => {
    const id = await orders.makeSigned(prescriber)
    expect(await orders.as(orders.owner, `${ORDERS}/${id}/challenge`, { act: 'cosign' })).toMatchObject({
      status: 403,
      json: { code: 'signer_mismatch' },
    })
    expect(await orders.as(orders.owner, `${ORDERS}/${id}/decline`, { reason: 'dose' })).toMatchObject({
      status: 403,
      json: { code: 'signer_mismatch' },
    })
  })

  it('for another act', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber)
    const wrong = await orders.post(`${ORDERS}/${id}/challenge`, { act: 'cosign' })
    expect(wrong).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', allowed: ['pending_cosign'] },
    })
    const passkey_assertion = await orders.assertionFor(prescriber.person, id, 'sign')
    const other = await orders.assertionFor(second.person, id, 'sign', 'key')
    expect(await orders.as(prescriber.person, `${ORDERS}/${id}/sign`, { passkey_assertion })).toMatchObject({
      status: 200,
    })
    expect(await answered(id, 'cosign', 'key', { passkey_assertion: other })).toEqual([409, 'challenge_act_mismatch'])
    expect((await orders.refusals(id)).at(-1)).toEqual(['order_signature_refused', 'cosign', 'challenge_act_mismatch'])
  })

  it('for an order that was edited since, and for another order', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber)
    const passkey_assertion = await orders.assertionFor(prescriber.person, id, 'sign')
    const elsewhere = await orders.makeOrder(prescriber)
    expect(await answered(elsewhere.order_id, 'sign', prescriber, { passkey_assertion })).toEqual([
      409,
      'payload_hash_mismatch',
    ])
    expect(await orders.patch(id, { sig: 'Two tablets' }, 1)).toMatchObject({ status: 200 })
    expect(await answered(id, 'sign', prescriber, { passkey_assertion })).toEqual([409, 'payload_hash_mismatch'])
    expect(await orders.refusals(id)).toEqual([['order_signature_refused', 'sign', 'payload_hash_mismatch']])
  })

  it('for an order that is edited between the check of the passkey and the lock of the order', async () => {
    const { test } = orders.service
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    const { order_id: id } = await orders.makeOrder(prescriber)
    const passkey_assertion = await orders.assertionFor(prescriber.person, id, 'sign')
    let signing: Promise<unknown> | undefined
    await test.db.tenant(orders.caller, async (tx) => {
      const row = [orders.caller.accountId, id, Buffer.alloc(32, 7)]
      await tx.query(
        'UPDATE orders SET order_hash = $3, revision = revision + 1 WHERE account_id = $1 AND id = $2',
        row,
      )
      signing = answered(id, 'sign', prescriber, { passkey_assertion })
      await until(async () => (await test.owner(waiting)).length > 0)
    })
    expect(await signing).toEqual([409, 'payload_hash_mismatch'])
    expect(await facts(id)).toMatchObject({ facts: { status: 'draft', signature: 'none' } })
  })

  it('for an expired challenge, none, and a second time', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber)
    const passkey_assertion = await orders.assertionFor(prescriber.person, id, 'sign')
    await orders.service.test.owner('UPDATE passkey_challenges SET expires_at = clock_timestamp() WHERE id = $1', [
      passkey_assertion.challenge_id,
    ])
    expect(await answered(id, 'sign', prescriber, { passkey_assertion })).toEqual([409, 'challenge_expired'])
    expect(await answered(id, 'sign', prescriber, {})).toEqual([403, 'passkey_required'])
    expect(await answered(id, 'sign', 'key', {})).toEqual([403, 'passkey_required'])
    const used = await orders.assertionFor(prescriber.person, id, 'sign')
    expect(await answered(id, 'sign', prescriber, { passkey_assertion: used })).toEqual([200, undefined])
    expect(await answered(id, 'sign', prescriber, { passkey_assertion: used })).toEqual([
      409,
      'invalid_state_transition',
    ])
    expect((await orders.refusals(id)).map(([, , cause]) => cause)).toEqual([
      'challenge_expired',
      'passkey_required',
      'passkey_required',
      'invalid_state_transition',
    ])
  })

  it('for a co-signer who is the prescriber, by user and by NPI', async () => {
    const id = await orders.makeSigned(prescriber)
    const own = await orders.assertionFor(prescriber.person, id, 'cosign', 'key')
    expect(await answered(id, 'cosign', 'key', { passkey_assertion: own })).toEqual([403, 'cosigner_same_user'])
    expect(await orders.as(prescriber.person, `${ORDERS}/${id}/decline`, { reason: 'dose' })).toMatchObject({
      json: { code: 'cosigner_same_user' },
    })
    // One person as two prescribers: the table refuses it, so that the index has to go.
    const { test } = orders.service
    await test.owner('ALTER TABLE prescribers DROP CONSTRAINT prescribers_npi_key')
    await test.owner('UPDATE prescribers SET npi = $2 WHERE id = $1', [second.id, prescriber.npi])
    const passkey_assertion = await orders.assertionFor(second.person, id, 'cosign', 'key')
    expect(await answered(id, 'cosign', 'key', { passkey_assertion })).toEqual([403, 'cosigner_same_npi'])
    await test.owner('UPDATE prescribers SET npi = $2 WHERE id = $1', [second.id, second.npi])
    await test.owner('ALTER TABLE prescribers ADD CONSTRAINT prescribers_npi_key UNIQUE (npi, account_id, environment)')
    expect((await orders.refusals(id)).map(([, , cause]) => cause)).toEqual([
      'cosigner_same_user',
      'cosigner_same_user',
      'cosigner_same_npi',
    ])
  })

  it('for a tier that does not suffice, a suspension, and what the policy denies', async () => {
    const weak = await orders.makePrescriber({ isConfirmed: false })
    const { order_id: id } = await orders.makeOrder(weak)
    const passkey_assertion = await orders.assertionFor(weak.person, id, 'sign')
    expect(await answered(id, 'sign', weak, { passkey_assertion })).toEqual([403, 'prescriber_tier_insufficient'])
    const heroin = await orders.makeOrder(prescriber, { medication: { name: 'Heroin', schedule: 'none' } })
    expect(heroin).toMatchObject({ schedule: 'I', schedule_source: 'table' })
    const assertion = await orders.assertionFor(prescriber.person, heroin.order_id, 'sign')
    const denied = await orders.as(prescriber.person, `${ORDERS}/${heroin.order_id}/sign`, {
      passkey_assertion: assertion,
    })
    expect(denied.status).toBe(403)
    const refilled = await orders.makeOrder(prescriber, { refills: 1 })
    const again = await orders.signBy(prescriber.person, refilled.order_id)
    expect(again).toMatchObject({
      status: 403,
      json: { code: 'clinical_policy_denied', matched_rule_id: 'clinical:refills_exceeded' },
    })
    expect(await orders.refusals(refilled.order_id)).toEqual([
      ['order_signature_refused', 'sign', 'clinical:refills_exceeded'],
    ])
    const pending = await orders.makeSigned(prescriber)
    await orders.post(`/v1/clinical/prescribers/${third.id}/suspend`, { reason: 'licence' })
    expect(await orders.signBy(third.person, pending, 'cosign')).toMatchObject({
      status: 403,
      json: { code: 'prescriber_tier_insufficient' },
    })
  })
})
