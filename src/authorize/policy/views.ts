// What callers see of policies, their evaluation and their analysis.

import { z } from 'zod'
import { defaultRules } from './compile.ts'
import type { PolicyEvaluation, PolicyNeed, PolicyRefusal, PolicyRuleResult } from './evaluate.ts'
import type { PolicyVersion, VersionSummary } from './rows.ts'

const iso = z.iso.datetime()
const whole = z.number().int()

// Stored documents were checked when they were written. Reading one does not compile its regular expressions again.
const storedRules = z
  .array(z.record(z.string(), z.unknown()))
  .describe('As `PolicyRule` describes them, with their defaults filled in.')

const version = {
  version: whole.describe('0: the defaults, before a policy is set.'),
  digest: z.string().describe('SHA-256 of the canonical JSON of the document, hex.'),
  rolled_back_to: whole.nullable().describe('The version whose document this one repeats.'),
  changed_at: iso.nullable(),
  changed_by: z.string().nullable().describe('The API key or user that made this version.'),
}

export const policyView = z
  .object({
    ...version,
    name: z.string(),
    default_rules: z.object({
      biometric_flag: z.boolean(),
      hardware_above: z.union([z.number(), z.string()]).nullable(),
    }),
    approvals: z
      .object({ require_human_session: z.boolean().optional(), separation_of_duties: z.boolean().optional() })
      .optional(),
    require_bindings: z.boolean().optional(),
    rules: storedRules,
    builtin_rules: storedRules.describe('What `default_rules` come to, written as rules.'),
  })
  .meta({ id: 'Policy' })

export const versionSummaryView = z
  .object({ ...version, name: z.string(), rules: whole.describe('How many.') })
  .meta({ id: 'PolicyVersionSummary' })

export const ruleResultView = z
  .object({
    rule_id: z.string(),
    effect: z.string().describe('deny, biometric, hardware, tier, canary, webhook or approval.'),
    matched: z.boolean(),
    met: z.boolean(),
    shadow: z.boolean(),
    error: z
      .string()
      .optional()
      .describe('The condition met a value of the wrong type, or names no field: matched and unmet.'),
    note: z.string().optional(),
  })
  .meta({ id: 'PolicyRuleResult' })

export const findingView = z
  .object({
    code: z.enum([
      'always_denies',
      'never_matches',
      'shadowed_by',
      'conflicts_with',
      'unreachable_approval',
      'webhook_unreachable',
      'ineffective',
      'ineffective_when_missing',
      'unknown_policy_field',
    ]),
    rule_id: z.string(),
    pointer: z.string(),
    other_rule_id: z.string().optional(),
    detail: z.string(),
  })
  .meta({ id: 'PolicyFinding' })

const refusalView = z
  .object({
    reason: z.string(),
    matched_rule_id: z.string(),
    kind: z.string(),
    priority: whole,
    webhook_reason: z.string().optional(),
    canary_set: z.string().optional(),
    canary_readings: z.unknown().optional(),
  })
  .meta({ id: 'PolicyRefusal' })

const needView = z
  .object({
    kind: z.enum(['webhook', 'canary']),
    rule_id: z.string(),
    url: z.string().optional(),
    timeout_ms: whole.optional(),
    set: z.string().optional(),
    families: z.array(z.string()).optional(),
    mode: z.string().optional(),
    max_age_s: whole.optional(),
    source: z.literal('inference').optional(),
  })
  .meta({ id: 'PolicyNeed' })

export const evaluationView = z
  .object({
    policy_version: whole.nullable().describe('null: a draft.'),
    would_be_valid: z.boolean(),
    reason: z.string().nullable().describe('The first refusal; policy_webhook_pending where it waits for a webhook.'),
    matched_rule_id: z.string().nullable(),
    refusals: z.array(refusalView).describe('In the published order.'),
    results: z.array(ruleResultView).describe('Of every enabled rule, by priority and id.'),
    shadow: z.array(ruleResultView),
    needs: z.array(needView).describe('What verify would ask before it answers.'),
  })
  .meta({ id: 'PolicySimulation' })

export function toPolicyView(row: PolicyVersion): z.input<typeof policyView> {
  const { name, default_rules, approvals, require_bindings, rules } = row.document
  const document = { name, default_rules, approvals, require_bindings, rules }
  return { ...toVersion(row), ...document, builtin_rules: defaultRules(row.document) }
}

export function toSummaryView(row: VersionSummary): z.input<typeof versionSummaryView> {
  return { ...toVersion(row), name: row.name, rules: row.rules }
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

function toVersion({ version, digest, rolledBackTo, changedBy, createdAt }: Omit<PolicyVersion, 'document'>) {
  return {
    version,
    digest,
    rolled_back_to: rolledBackTo,
    changed_at: createdAt?.toISOString() ?? null,
    changed_by: changedBy,
  }
}
