import { describe, expect, it } from 'vitest'
import {
  type ClinicianFacts,
  judgeOrder,
  ORDER_REASONS,
  ORDER_RULES,
  type OrderFacts,
} from '#src/authorize/orders/judge.ts'
import { DEFAULT_CLINICAL_POLICY, ruleOf } from '#src/authorize/prescribers/policy-document.ts'
import { SCHEDULES } from '#src/authorize/prescribers/substances.ts'

const AT = '2026-03-01T00:00:00.000Z'
const clinician = (change: Partial<ClinicianFacts> = {}): ClinicianFacts => ({
  tier: 3,
  dea_schedules: ['II', 'III', 'IV', 'V'],
  exclusion: 'clear',
  ...change,
})
const order = (change: Partial<OrderFacts> = {}): OrderFacts => ({
  status: 'authorized',
  schedule: 'II',
  refills: 0,
  prescriber: clinician(),
  cosigner: clinician(),
  signature: 'passkey',
  authorized_at: '2026-02-28T00:00:00.000Z',
  rule: ruleOf(DEFAULT_CLINICAL_POLICY, change.schedule ?? 'II'),
  is_denied_as_stale: false,
  ...change,
})
const answerOf = (facts: OrderFacts) => {
  const refusal = judgeOrder(facts, AT)
  return refusal === undefined ? null : 'matched_rule_id' in refusal ? refusal.matched_rule_id : refusal.reason
}

describe('an order under the default policy', () => {
  // Written out once more, so that neither table is computed by the other.
  const NEEDS = {
    none: { tier: 2, passkey: false, cosign: false, refills: 99 },
    I: { tier: 3, passkey: true, cosign: false, refills: 0 },
    II: { tier: 3, passkey: true, cosign: true, refills: 0 },
    III: { tier: 3, passkey: true, cosign: false, refills: 5 },
    IV: { tier: 3, passkey: true, cosign: false, refills: 5 },
    V: { tier: 3, passkey: true, cosign: false, refills: 99 },
  }

  it('is authorized by exactly the tier, the signatures and the refills that its schedule asks for', () => {
    const dea_schedules = ['I', 'II', 'III', 'IV', 'V'] as const
    for (const schedule of SCHEDULES) {
      const needs = NEEDS[schedule]
      for (const tier of [0, 1, 2, 3] as const)
        for (const signature of ['none', 'session', 'passkey'] as const)
          for (const isCosigned of [false, true])
            for (const refills of [0, 1, 5, 6, 99, 100]) {
              const cosigner = isCosigned ? clinician({ dea_schedules }) : null
              const given = order({
                schedule,
                refills,
                signature,
                cosigner,
                prescriber: clinician({ tier, dea_schedules }),
              })
              const isSigned = signature === 'passkey' || (signature === 'session' && !needs.passkey)
              const expected =
                tier < needs.tier
                  ? 'prescriber_tier_insufficient'
                  : needs.cosign && !isCosigned
                    ? 'controlled_substance_cosign_required'
                    : !isSigned
                      ? 'clinical:order_unsigned'
                      : schedule === 'I'
                        ? 'clinical:schedule_denied'
                        : refills > needs.refills
                          ? 'clinical:refills_exceeded'
                          : null
              expect(answerOf(given), JSON.stringify([schedule, tier, signature, isCosigned, refills])).toBe(expected)
            }
    }
  })
})

describe('the reasons of an order', () => {
  const rule = ruleOf(DEFAULT_CLINICAL_POLICY, 'II')
  // Each change brings about one reason. Those of one member can't be combined.
  const CAUSES: [string, Partial<OrderFacts>][] = [
    ['prescriber_excluded', { prescriber: clinician({ exclusion: 'excluded' }) }],
    ['order_declined', { status: 'declined' }],
    ['prescriber_tier_insufficient', { prescriber: clinician({ dea_schedules: ['III'] }) }],
    ['controlled_substance_cosign_required', { cosigner: null }],
    ['clinical:order_cancelled', { status: 'cancelled' }],
    ['clinical:order_expired', { status: 'expired' }],
    ['clinical:order_unsigned', { signature: 'session' }],
    ['clinical:schedule_denied', { rule: { ...rule, deny: true } }],
    ['clinical:refills_exceeded', { refills: 1 }],
    ['clinical:validity_over', { rule: { ...rule, validityDays: 1 } }],
    ['clinical:exclusion_review', { prescriber: clinician({ exclusion: 'review' }) }],
    ['clinical:list_stale', { is_denied_as_stale: true }],
  ]

  it('stand in one order', () => {
    expect(CAUSES.map(([name]) => name)).toEqual([...ORDER_REASONS, ...ORDER_RULES])
  })

  it('are answered alone, and of two at once the first', () => {
    expect(answerOf(order())).toBeNull()
    for (const [index, [first, change]] of CAUSES.entries()) {
      expect(answerOf(order(change)), first).toBe(first)
      for (const [second, other] of CAUSES.slice(index + 1)) {
        if (Object.keys(other).some((name) => name in change)) continue
        expect(answerOf(order({ ...other, ...change })), `${first} and ${second}`).toBe(first)
      }
    }
  })

  it('ask for a co-signature that was needed at the signature, whatever the policy asks for since', () => {
    const loose = { ...rule, cosign: false }
    const waiting = order({ status: 'pending_cosign', rule: loose, cosigner: null })
    expect(answerOf(waiting)).toBe('controlled_substance_cosign_required')
  })

  it('hold for the co-signer too', () => {
    expect(answerOf(order({ cosigner: clinician({ exclusion: 'excluded' }) }))).toBe('prescriber_excluded')
    expect(answerOf(order({ cosigner: clinician({ tier: 2 }) }))).toBe('prescriber_tier_insufficient')
    expect(answerOf(order({ cosigner: clinician({ exclusion: 'review' }) }))).toBe('clinical:exclusion_review')
  })
})
