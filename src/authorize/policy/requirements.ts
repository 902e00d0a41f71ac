// What each requirement of a rule demands, and the code with which it refuses.

import type { HardwareTier } from '#src/attest/hardware/verdict.ts'
import type { CompiledRequirement, CompiledRule } from './compile.ts'
import type { PolicyAnswers, PolicyFacts, PolicyNeed, PolicyRefusal, RequirementKind } from './evaluate.ts'

export const TIER_RANK: Record<HardwareTier, number> = { none: 0, software: 1, tee: 2, strongbox: 3, secure_enclave: 3 }

export interface JudgedRequirement {
  /** undefined: met. */
  refusal?: Omit<PolicyRefusal, 'reason' | 'kind' | 'ruleId' | 'priority'> & { code: string }
  note?: string
  need?: PolicyNeed
}

export function judgeRequirement(
  rule: CompiledRule,
  requirement: CompiledRequirement,
  { facts, answers }: { facts: PolicyFacts; answers: PolicyAnswers },
): JudgedRequirement {
  switch (requirement.kind) {
    case 'deny':
      return { refusal: { code: 'policy_denied' } }
    case 'biometric':
      return facts.token.biometric ? {} : { refusal: { code: 'policy_biometric_required' } }
    case 'hardware':
      return isHardwareAttested(facts.device) ? {} : { refusal: { code: 'policy_hardware_required' } }
    case 'tier': {
      const { tier, enrolled } = facts.device
      const isHigh = TIER_RANK[enrolled ? tier : 'none'] >= TIER_RANK[requirement.minTier]
      return isHigh ? {} : { refusal: { code: 'policy_tier_required' } }
    }
    case 'canary':
      return judgeCanary(rule, requirement, answers)
    case 'webhook':
      return judgeWebhook(rule, requirement, answers)
    case 'approval':
      return lookUp(answers.approvals, rule.id) === 'covered' ? {} : { refusal: { code: 'approval_required' } }
  }
}

// A reading that is not there refuses under `strict` alone, and one that tripped refuses under both.
function judgeCanary(
  rule: CompiledRule,
  requirement: CompiledRequirement & { kind: 'canary' },
  answers: PolicyAnswers,
): JudgedRequirement {
  const { set, mode } = requirement
  if (rule.isShadow) {
    return { refusal: { code: 'canary_unavailable' }, note: 'shadow_canary_unevaluated' }
  }
  const answer = lookUp(answers.canaries, rule.id)
  const unavailable: JudgedRequirement =
    mode === 'strict'
      ? { refusal: { code: 'canary_unavailable', canarySet: set, isUnanswered: true }, note: 'canary_unavailable' }
      : { note: 'canary_unavailable' }
  if (answer === undefined) {
    const { refusal } = unavailable
    return {
      ...unavailable,
      ...(refusal !== undefined && { refusal: { ...refusal, isPending: true } }),
      need: canaryNeed(rule, requirement),
    }
  }
  if (answer === 'unavailable') return unavailable
  if (answer.tripped) {
    return { refusal: { code: 'canary_tripped', canarySet: answer.set, canaryReadings: answer.readings } }
  }
  return answer.source === 'server' ? {} : unavailable
}

function judgeWebhook(
  rule: CompiledRule,
  requirement: CompiledRequirement & { kind: 'webhook' },
  answers: PolicyAnswers,
): JudgedRequirement {
  const unavailable = { code: 'policy_webhook_unavailable', isUnanswered: true } as const
  if (rule.isShadow) return { refusal: unavailable, note: 'shadow_webhook_unevaluated' }
  const answer = lookUp(answers.webhooks, rule.id)
  if (answer === undefined) {
    const need = webhookNeed(rule, requirement)
    return { refusal: { ...unavailable, isPending: true }, note: 'policy_webhook_pending', need }
  }
  if (answer === 'unavailable') return { refusal: unavailable }
  if ('unavailable' in answer) return { refusal: { ...unavailable, webhookCause: answer.unavailable } }
  if (answer.decision === 'allow') return {}
  return {
    refusal: {
      code: 'policy_webhook_denied',
      ...(answer.reason !== undefined && { webhookReason: answer.reason }),
    },
  }
}

/** What a rule asks outside. The same question has the same JSON. */
export function needsOf(rule: CompiledRule): PolicyNeed[] {
  return rule.requirements.flatMap((requirement) => {
    if (requirement.kind === 'webhook') return [webhookNeed(rule, requirement)]
    return requirement.kind === 'canary' ? [canaryNeed(rule, requirement)] : []
  })
}

function webhookNeed({ id }: CompiledRule, { url, timeoutMs }: CompiledRequirement & { kind: 'webhook' }): PolicyNeed {
  return { kind: 'webhook', rule_id: id, url, timeout_ms: timeoutMs }
}

function canaryNeed(
  { id }: CompiledRule,
  { set, families, mode, maxAgeSeconds, source }: CompiledRequirement & { kind: 'canary' },
): PolicyNeed {
  return {
    kind: 'canary',
    rule_id: id,
    set,
    mode,
    ...(families !== undefined && { families: [...families] }),
    ...(maxAgeSeconds !== undefined && { max_age_s: maxAgeSeconds }),
    ...(source !== undefined && { source }),
  }
}

const UNMET: Record<RequirementKind, string> = {
  deny: 'policy_denied',
  biometric: 'policy_biometric_required',
  hardware: 'policy_hardware_required',
  tier: 'policy_tier_required',
  canary: 'canary_unavailable',
  webhook: 'policy_webhook_unavailable',
  // What people would approve is refused again: they are not asked.
  approval: 'policy_denied',
}

/** Refusal of a rule whose condition could not be evaluated. */
export function failedBy(requirement: CompiledRequirement): NonNullable<JudgedRequirement['refusal']> {
  const code = UNMET[requirement.kind]
  if (requirement.kind === 'canary') return { code, canarySet: requirement.set, isUnanswered: true }
  return requirement.kind === 'webhook' ? { code, isUnanswered: true } : { code }
}

function isHardwareAttested({ tier, enrolled }: PolicyFacts['device']): boolean {
  return enrolled && TIER_RANK[tier] >= TIER_RANK.tee
}

// Rules may be called `constructor`.
function lookUp<Value>(values: Record<string, Value>, ruleId: string): Value | undefined {
  return Object.hasOwn(values, ruleId) ? values[ruleId] : undefined
}
