// What callers see of policies, their evaluation and their analysis.

import { z } from 'zod'
import { documentMembers, toDocumentView, toVersionView, versionMembers } from '#src/platform/http/documents.ts'
import { asWritten, extended } from '#src/platform/http/views.ts'
import type { FindingCode } from './analyze.ts'
import { defaultRules } from './compile.ts'
import { canaryModeView, conditionSchema, documentSchema, requireSchema } from './document.ts'
import type { PolicyEvaluation, PolicyNeed, PolicyRefusal, PolicyRuleResult, RequirementKind } from './evaluate.ts'
import type { PolicySummary, StoredPolicy } from './policies.ts'

const whole = z.number().int()

const builtinRuleView = z
  .object({
    id: z.string(),
    description: z.string(),
    priority: whole,
    enabled: z.boolean(),
    shadow: z.boolean(),
    when: asWritten(conditionSchema),
    require: asWritten(requireSchema),
    reason: z.string(),
  })
  .meta({ id: 'BuiltinPolicyRule', verbatim: true })

const versionView = z
  .object({
    ...versionMembers,
    rolled_back_to: whole.nullable().describe('The version whose document this one repeats.'),
  })
  .meta({ id: 'PolicyVersion' })

export const policyView = extended(
  versionView,
  {
    document: documentMembers(documentSchema).document,
    builtin_rules: z.array(builtinRuleView).describe('The effect of `default_rules`, written as rules.'),
  },
  { id: 'Policy' },
)

export const versionSummaryView = extended(
  versionView,
  { name: z.string(), rules: whole.describe('Number of rules.') },
  { id: 'PolicyVersionSummary' },
)

const FINDING_CODES = [
  'always_denies',
  'never_matches',
  'shadowed_by',
  'conflicts_with',
  'unreachable_approval',
  'webhook_unreachable',
  'webhook_without_secret',
  'ineffective',
  'ineffective_when_missing',
  'unknown_policy_field',
] as const satisfies FindingCode[]

const EFFECTS = [
  'deny',
  'biometric',
  'hardware',
  'tier',
  'canary',
  'webhook',
  'approval',
] as const satisfies RequirementKind[]
// Listed and not checked: the ledger has the words of every version of the service.
const effectView = z.string().meta({ id: 'PolicyEffect', enum: [...EFFECTS] })

export const ruleResultView = z
  .object({
    rule_id: z.string(),
    effect: effectView,
    matched: z.boolean(),
    met: z.boolean(),
    shadow: z.boolean(),
    error: z
      .string()
      .optional()
      .describe(
        'The condition met a value of the wrong type, or names no field: the rule counts as matched and unmet.',
      ),
    note: z.string().optional(),
  })
  .meta({ id: 'PolicyRuleResult' })

export const findingView = z
  .object({
    code: z.enum(FINDING_CODES).meta({ id: 'PolicyFindingCode' }),
    rule_id: z.string(),
    pointer: z.string(),
    other_rule_id: z.string().optional(),
    detail: z.string(),
  })
  .meta({ id: 'PolicyFinding' })

const refusalKindView = z
  .enum(['default', ...EFFECTS])
  .meta({ id: 'PolicyRefusalKind', description: 'default: a rule that follows from `default_rules`.' })

const refusalView = z
  .object({
    reason: z.string(),
    matched_rule_id: z.string(),
    kind: refusalKindView,
    priority: whole,
    webhook_reason: z.string().optional(),
    canary_set: z.string().optional(),
    canary_readings: z.unknown().optional(),
  })
  .meta({ id: 'PolicyRefusal' })

/** What a rule asks before it decides. */
export const policyNeedKind = z.enum(['webhook', 'canary']).meta({ id: 'PolicyNeedKind' })

const needView = z
  .object({
    kind: policyNeedKind,
    rule_id: z.string(),
    url: z.string().optional(),
    timeout_ms: whole.optional(),
    set: z.string().optional(),
    families: z.array(z.string()).optional(),
    mode: canaryModeView.optional(),
    max_age_s: whole.optional(),
    source: z.literal('inference').optional(),
  })
  .meta({ id: 'PolicyNeed' })

export const evaluationView = z
  .object({
    policy_version: whole.nullable().describe('Version of the policy; null: the document in the request.'),
    would_be_valid: z.boolean(),
    reason: z
      .string()
      .nullable()
      .describe('Reason of the first refusal; policy_webhook_pending where the result waits for a webhook.'),
    matched_rule_id: z.string().nullable(),
    refusals: z.array(refusalView).describe('Refusals in the published order.'),
    results: z.array(ruleResultView).describe('Results of every enabled rule, by priority and id.'),
    shadow: z.array(ruleResultView),
    needs: z.array(needView).describe('Questions that verify would ask before it answers.'),
  })
  .meta({ id: 'PolicySimulation' })

export function toPolicyView(policy: StoredPolicy): z.input<typeof policyView> {
  return {
    ...toDocumentView(policy),
    rolled_back_to: policy.rolledBackTo,
    builtin_rules: defaultRules(policy.document).map(({ description = '', reason = '', ...rule }) => ({
      ...rule,
      description,
      reason,
    })),
  }
}

export function toSummaryView(policy: PolicySummary): z.input<typeof versionSummaryView> {
  const { rolledBackTo: rolled_back_to, name, rules } = policy
  return { ...toVersionView(policy), rolled_back_to, name, rules }
}

export function toEvaluationView(
  evaluation: PolicyEvaluation,
  policyVersion: number | null,
): z.input<typeof evaluationView> {
  const [first] = evaluation.refusals
  return {
    policy_version: policyVersion,
    would_be_valid: first === undefined,
    reason: first === undefined ? null : reasonOf(first),
    matched_rule_id: first?.ruleId ?? null,
    refusals: evaluation.refusals.map(toRefusalView),
    results: evaluation.results.map(toResultView),
    shadow: evaluation.shadow.map(toResultView),
    needs: evaluation.needs.map((need: PolicyNeed) => need),
  }
}

// Nothing was asked yet: verify would ask, and only then refuse.
function reasonOf({ reason, kind, isPending }: PolicyRefusal): string {
  return isPending === true && kind === 'webhook' ? 'policy_webhook_pending' : reason
}

function toRefusalView(refusal: PolicyRefusal): z.input<typeof refusalView> {
  const { ruleId, kind, priority, webhookReason, canarySet, canaryReadings } = refusal
  return {
    reason: reasonOf(refusal),
    matched_rule_id: ruleId,
    kind,
    priority,
    ...(webhookReason !== undefined && { webhook_reason: webhookReason }),
    ...(canarySet !== undefined && { canary_set: canarySet }),
    ...(canaryReadings !== undefined && { canary_readings: canaryReadings }),
  }
}

function toResultView(result: PolicyRuleResult): z.input<typeof ruleResultView> {
  return { ...result }
}
