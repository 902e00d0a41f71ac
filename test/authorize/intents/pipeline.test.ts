import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replayable } from '#src/authorize/intents/explain.ts'
import { policyFactsOf, type VerifyFacts } from '#src/authorize/intents/facts.ts'
import { runPipeline, STEPS, STOP_RULE } from '#src/authorize/intents/pipeline.ts'
import { describeReason, labelOf, VERIFY_REASON_CODES, VERIFY_REASONS } from '#src/authorize/intents/reasons.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { DEFAULT_DOCUMENT, documentSchema } from '#src/authorize/policy/document.ts'
import { CAUSES, factsWith, MANDATE, SCHEDULE, VALID_FACTS } from './facts.ts'

const DEFAULTS = compilePolicy(DEFAULT_DOCUMENT)
const { token: TOKEN } = VALID_FACTS
if (TOKEN === null) throw new Error('valid facts have a token')

describe('the pipeline', () => {
  it('answers valid where nothing refuses', () => {
    expect(runPipeline(VALID_FACTS, DEFAULTS)).toEqual({
      valid: true,
      reason: null,
      already_executed: false,
      results: [],
      shadow: [],
      needs: [],
    })
  })

  it('answers each reason where it alone is true', () => {
    for (const cause of CAUSES) {
      const { facts, policy } = factsWith([cause])
      expect(runPipeline(facts, policy), cause.reason).toMatchObject({ valid: false, reason: cause.reason, needs: [] })
    }
  })

  it('is replayed with another policy only where a policy decides', () => {
    const policy = { version: 1, digest: '', document: DEFAULT_DOCUMENT }
    const isReplayed = (facts: VerifyFacts) =>
      replayable(JSON.parse(JSON.stringify({ facts, policy })), DEFAULTS) !== undefined
    const { at } = VALID_FACTS
    expect(isReplayed(VALID_FACTS)).toBe(true)
    expect(isReplayed({ ...VALID_FACTS, stop: { reason: 'incident', at } })).toBe(false)
    expect(isReplayed({ ...VALID_FACTS, token: null })).toBe(false)
    const unsigned = CAUSES.find(({ name }) => name === 'clinical:order_unsigned')
    expect(isReplayed(unsigned?.change?.(VALID_FACTS) ?? VALID_FACTS)).toBe(false)
    expect(isReplayed({ ...VALID_FACTS, at: TOKEN.expires_at })).toBe(false)
  })

  it('answers every pair of reasons that are true at once by the published order', () => {
    let pairs = 0
    for (const [index, first] of CAUSES.entries()) {
      for (const second of CAUSES.slice(index + 1)) {
        const { facts, policy } = factsWith([first, second])
        const { reason, matched_rule_id } = runPipeline(facts, policy)
        expect(reason, `${first.reason} and ${second.reason}`).toBe(first.reason)
        if (first.name === 'by the stop') expect(matched_rule_id).toBe(STOP_RULE)
        if (first.name?.startsWith('clinical:')) expect(matched_rule_id).toBe(first.name)
        pairs += 1
      }
    }
    expect(pairs).toBe((CAUSES.length * (CAUSES.length - 1)) / 2)
  })

  it('answers any set of reasons by the first of them', () => {
    fc.assert(
      fc.property(fc.subarray([...CAUSES], { minLength: 1 }), (causes) => {
        const { facts, policy } = factsWith(causes)
        expect(runPipeline(facts, policy).reason).toBe(causes[0]?.reason)
      }),
    )
  })

  it('publishes the order of its steps: the lists agree', () => {
    const tried = [...new Set(CAUSES.map(({ reason }) => reason))]
    expect(tried).toEqual(VERIFY_REASON_CODES.filter((reason) => tried.includes(reason)))
    const twice = ['approval_pending', 'canary_tripped']
    const steps = STEPS.flatMap(({ reasons }) => reasons).filter((one) => !twice.includes(one))
    expect(steps.toSorted((a, b) => placeOf(a) - placeOf(b))).toEqual(steps)
  })

  it('refuses by a trip that the kill switch counts after agent_suspended and before everything else, without a rule', () => {
    const trip = {
      mode: 'block',
      families: [{ family: 'exfiltration', score: 0.9, threshold: 0.5, tripped: true }],
      tripped_families: ['exfiltration'],
      locks: false,
      trace_id: 'trc_test_1',
      canary_set: 's',
      canary_hash: 'h',
    } as const
    const place = placeOf('agent_suspended')
    for (const cause of CAUSES) {
      const { facts, policy } = factsWith([cause])
      const isBefore = placeOf(cause.reason) <= place || facts.at >= (facts.token?.expires_at ?? '')
      const tripped = {
        ...facts,
        canary_trip: { ...trip, families: [...trip.families], tripped_families: ['exfiltration'] },
      }
      const { reason, matched_rule_id, needs, opens } = runPipeline(tripped, policy)
      expect([cause.name ?? cause.reason, reason]).toEqual([
        cause.name ?? cause.reason,
        isBefore ? cause.reason : 'canary_tripped',
      ])
      if (!isBefore) expect([matched_rule_id, needs, opens]).toEqual([undefined, [], undefined])
    }
  })

  it('answers invalid_token without a token, whatever else is true', () => {
    const { facts, policy } = factsWith(CAUSES)
    expect(runPipeline({ ...facts, token: null }, policy)).toMatchObject({ valid: false, reason: 'invalid_token' })
  })

  it('is deterministic, also over facts that went through JSON', () => {
    fc.assert(
      fc.property(fc.subarray([...CAUSES]), (causes) => {
        const { facts, policy } = factsWith(causes)
        const copy = JSON.parse(JSON.stringify(facts)) as VerifyFacts
        expect(runPipeline(copy, policy)).toEqual(runPipeline(facts, policy))
      }),
    )
  })

  it('never turns a refusal into a permission when a deny rule is added', () => {
    fc.assert(
      fc.property(
        fc.subarray([...CAUSES]),
        fc.integer({ min: 0, max: 100 }),
        fc.constantFrom('any', 'never', 'amount'),
        (causes, priority, when) => {
          const { facts, policy } = factsWith(causes)
          const conditions = {
            any: { all: [] },
            never: { any: [] },
            amount: { field: 'context.transaction_amount', op: 'gt', value: 1 },
          }
          const added = { id: 'added', priority, when: conditions[when], require: { deny: true } }
          const stricter = compilePolicy(
            documentSchema.parse({ ...policy.document, rules: [...policy.document.rules, added] }),
          )
          if (!runPipeline(facts, policy).valid) expect(runPipeline(facts, stricter).valid).toBe(false)
          if (when === 'any') expect(runPipeline(facts, stricter).valid).toBe(false)
        },
      ),
    )
  })

  it('names what must be asked outside unless a refusal before it is final', () => {
    const rules = [
      { id: 'ask', require: { webhook: { url: 'https://policy.example.com/' } } },
      { id: 'read', require: { canary: { set: 'set', mode: 'best_effort' } } },
    ]
    const policy = compilePolicy(documentSchema.parse({ rules }))
    const asked = runPipeline(VALID_FACTS, policy)
    expect(asked).toMatchObject({ valid: false, reason: 'policy_webhook_unavailable', pending: 'webhook' })
    expect(asked.needs.map(({ rule_id }) => rule_id).toSorted()).toEqual(['ask', 'read'])
    const denied = compilePolicy(documentSchema.parse({ rules: [...rules, { id: 'no', require: { deny: true } }] }))
    expect(runPipeline(VALID_FACTS, denied)).toMatchObject({ reason: 'policy_denied', needs: [] })
  })

  it('answers a token of an agent that has no row as if the agent were suspended', () => {
    expect(runPipeline({ ...VALID_FACTS, agent: null }, DEFAULTS).reason).toBe('agent_suspended')
  })

  it('allows the execution of an unbound token by another caller, and says that it was executed', () => {
    const execution = { at: VALID_FACTS.at, is_retry: false }
    expect(runPipeline({ ...VALID_FACTS, execution }, DEFAULTS)).toMatchObject({ valid: true, already_executed: true })
    const bound = { ...VALID_FACTS, execution, mandate: MANDATE, token: { ...TOKEN, mandate_id: 'mnd_test_1' } }
    expect(runPipeline(bound, DEFAULTS).reason).toBe('token_already_executed')
    const check = { ...bound, request: { ...bound.request, execute: false } }
    expect(runPipeline(check, DEFAULTS).reason).toBe('token_already_executed')
    expect(runPipeline({ ...bound, execution: { ...execution, is_retry: true } }, DEFAULTS).valid).toBe(true)
  })
})

describe('a token of single use', () => {
  const once = { ...VALID_FACTS, token: { ...TOKEN, single_use: true } }
  const execution = { at: VALID_FACTS.at, is_retry: false }

  it('is refused once it was executed, also by a check, and valid for a retry', () => {
    expect(runPipeline(once, DEFAULTS).valid).toBe(true)
    const used = { ...once, execution }
    expect(runPipeline(used, DEFAULTS).reason).toBe('token_already_executed')
    const check = { ...used, request: { ...used.request, execute: false } }
    expect(runPipeline(check, DEFAULTS).reason).toBe('token_already_executed')
    expect(runPipeline({ ...once, execution: { ...execution, is_retry: true } }, DEFAULTS)).toMatchObject({
      valid: true,
      already_executed: true,
    })
  })

  it('has the reason of its schedule under a schedule', () => {
    const used = { ...once, execution, schedule: SCHEDULE, token: { ...once.token, schedule_id: 'sch_test_1' } }
    expect(runPipeline(used, DEFAULTS).reason).toBe('schedule_already_executed')
  })
})

describe('the facts of the policy', () => {
  const seen = (payload: object, authorized: object | null, verified: object | null) =>
    policyFactsOf(
      {
        ...VALID_FACTS,
        authorized: { action_type: null, context: authorized as never },
        request: { ...VALID_FACTS.request, action_payload: payload as never, context: verified as never },
      },
      TOKEN,
    ).map(({ context }) => context)

  it('have the largest amount of all sources, exactly', () => {
    expect(seen({ amount: '500.01' }, { transaction_amount: 1 }, { transaction_amount: '500.0001' })).toEqual([
      { transaction_amount: '500.01' },
      { transaction_amount: '500.01' },
    ])
    expect(seen({ transaction_amount: 9 }, null, { transaction_amount: '10' })).toEqual([{ transaction_amount: '10' }])
    expect(seen({}, null, null)).toEqual([{}])
  })

  it('require a biometric when any source does', () => {
    expect(seen({ require_biometric: true }, { require_biometric: false }, null)).toEqual([{ require_biometric: true }])
    expect(seen({}, { require_biometric: true }, { a: 1 })).toEqual([
      { require_biometric: true },
      { a: 1, require_biometric: true },
    ])
  })

  it('refuse an amount or a wish that can not be read, whatever the others say', () => {
    for (const amount of ['12,00', '1e3', {}, [], true, '00500', 0.00001]) {
      const facts = { ...VALID_FACTS, request: { ...VALID_FACTS.request, action_payload: { amount } as never } }
      expect(runPipeline(facts, DEFAULTS).reason, JSON.stringify(amount)).toBe('hardware_required_above_500')
    }
    const wish = { ...VALID_FACTS, request: { ...VALID_FACTS.request, action_payload: { require_biometric: 'yes' } } }
    expect(runPipeline(wish, DEFAULTS).reason).toBe('biometric_required')
  })

  it('are strictly above 500', () => {
    const at = (amount: string) => {
      const facts = { ...VALID_FACTS, request: { ...VALID_FACTS.request, action_payload: { amount } } }
      return runPipeline(facts, DEFAULTS).reason
    }
    expect(at('500')).toBeNull()
    expect(at('500.0000')).toBeNull()
    expect(at('500.0001')).toBe('hardware_required_above_500')
  })
})

describe('the reasons', () => {
  it('have a sentence each, and metrics a label from a bounded set', () => {
    for (const reason of VERIFY_REASON_CODES) {
      expect(describeReason(reason)).toBe(VERIFY_REASONS[reason])
      expect(labelOf(reason)).toBe(reason)
    }
    expect(labelOf(null)).toBe('valid')
    expect(labelOf('constructor')).toBe('policy_own')
  })
})

function placeOf(reason: (typeof VERIFY_REASON_CODES)[number]): number {
  return VERIFY_REASON_CODES.indexOf(reason)
}
