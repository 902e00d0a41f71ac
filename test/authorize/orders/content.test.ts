import { describe, expect, it } from 'vitest'
import {
  boundOfSignature,
  CURRENT_STATEMENT,
  hashOrder,
  type SignatureBinding,
  type SignedOrder,
  STATEMENTS,
} from '#src/authorize/orders/content.ts'

const ORDER: SignedOrder = {
  order_id: 'ord_test_1',
  prescriber_id: 'prs_test_1',
  patient_ref: 'Patient/1',
  encounter_ref: null,
  medication: { rxnorm: '1049502', name: 'Oxycodone 10 mg' },
  schedule: 'II',
  us_state: 'CA',
  quantity: { value: '10.0', unit: 'tablet' },
  refills: 0,
  sig: 'One tablet every 6 hours',
  action_payload: { a: 1 },
  resource_hash: null,
}

describe('the hash of an order', () => {
  it('changes with every member that a signer sees', () => {
    const changes: Partial<SignedOrder>[] = [
      { order_id: 'ord_test_2' },
      { prescriber_id: 'prs_test_2' },
      { patient_ref: 'Patient/2' },
      { encounter_ref: 'Encounter/1' },
      { medication: { ...ORDER.medication, rxnorm: null } },
      { medication: { ...ORDER.medication, name: 'Oxycodone 20 mg' } },
      { schedule: 'III' },
      { us_state: null },
      { quantity: { ...ORDER.quantity, value: '10.00' } },
      { quantity: { ...ORDER.quantity, unit: null } },
      { refills: 1 },
      { sig: `${ORDER.sig}.` },
      { action_payload: { a: 2 } },
      { action_payload: null },
      { resource_hash: 'x' },
    ]
    const hashes = [ORDER, ...changes.map((change) => ({ ...ORDER, ...change }))].map(hashOrder)
    expect(new Set(hashes).size).toBe(hashes.length)
    const changed = new Set(changes.flatMap((change) => Object.keys(change)))
    expect([...changed].sort()).toEqual(Object.keys(ORDER).sort())
  })

  it('does not depend on the order of members, nor on members that nobody signs', () => {
    const turned = Object.fromEntries(Object.entries(ORDER).toReversed()) as unknown as SignedOrder
    expect(hashOrder({ ...turned, note: 'x' } as SignedOrder)).toBe(hashOrder(ORDER))
  })
})

describe('what a signature is bound to', () => {
  it('differs for another order, content, act and statement, and is of no agent session', () => {
    const binding: SignatureBinding = {
      order_id: 'ord_test_1',
      order_hash: hashOrder(ORDER),
      act: 'sign',
      statement_version: CURRENT_STATEMENT,
    }
    const bounds = [
      binding,
      { ...binding, order_id: 'ord_test_2' },
      { ...binding, order_hash: 'x' },
      { ...binding, act: 'cosign' as const },
      { ...binding, statement_version: '0' as '1' },
    ].map(boundOfSignature)
    expect(new Set(bounds.map(({ payload_hash }) => payload_hash)).size).toBe(bounds.length)
    for (const bound of bounds) expect(bound).toMatchObject({ agent_session_id: null, device_id: null })
  })

  it('keeps every statement that was ever shown', () => {
    expect(Object.keys(STATEMENTS)).toContain(CURRENT_STATEMENT)
    expect(STATEMENTS['1']).toContain('legally signing the prescription(s)')
  })
})
