// The policy document as accounts write it. The schema is strict: a member that this version does not know could be a
// constraint that the author relies on, so it is refused and never ignored.

import { z } from 'zod'
import { hardwareTierView } from '#src/attest/judgement-views.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { compilePattern, weighPattern } from '#src/platform/patterns.ts'
import { checkCondition, checkRule } from './checks.ts'
import { partsOf } from './forms.ts'

/** Who may decide approvals. */
export const approverRole = z.enum(['owner', 'admin', 'approver']).meta({ id: 'ApproverRole' })

const MAX_RULES = 1_000
const MAX_OPERANDS = 100
const MAX_LIST = 1_000
/** Comparisons and quantifiers of one document: what an evaluation may have to do. */
const MAX_COMPARISONS = 10_000
/** Regular expressions keep caches of their own in memory. */
const MAX_PATTERNS = 200
// Weight of all regular expressions of a document: some 50 ms of compiling.
const MAX_WEIGHT = 8_000

export const OPERATORS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'matches',
  'exists',
  'between',
] as const
export type Operator = (typeof OPERATORS)[number]

export type Operand = string | number | boolean

/** Whether every element of a list (`all`) or at least one (`any`) meets a condition. */
export interface PolicyQuantifier {
  in: string
  /** What paths in `when` call the element. */
  as: string
  when: PolicyCondition
}

/** A combinator (`all`, `any` or `not`), a quantifier, or a comparison (`field`, `op` and its value). */
export interface PolicyCondition {
  all?: PolicyCondition[] | PolicyQuantifier | undefined
  any?: PolicyCondition[] | PolicyQuantifier | undefined
  not?: PolicyCondition | undefined
  field?: string | undefined
  op?: Operator | undefined
  value?: Operand | Operand[] | undefined
  timezone?: string | undefined
}

const text = z.string().max(1_000)
const operand = z.union([text, z.number(), z.boolean()])
const nested: z.ZodType<PolicyCondition> = z.lazy(() => conditionSchema)
const operands = z.array(nested).max(MAX_OPERANDS)

const quantifierSchema = z
  .strictObject({
    in: z
      .string()
      .max(300)
      .describe('Field with the list, such as `action_payload.items`. A value of another type is an error.'),
    as: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must have 1 to 64 of a-z, 0-9 and _, and begin with a letter')
      .describe(
        'Name of an element in the fields of `when`: with `item`, the fields are `item` itself and `item.sku`.',
      ),
    when: nested.describe('Condition that the element must meet. It may use fields of the policy too.'),
  })
  .meta({ id: 'PolicyQuantifier', verbatim: true })

export const conditionSchema = z
  .strictObject({
    all: z
      .union([operands, quantifierSchema])
      .optional()
      .describe(
        'A list holds when every condition holds. An object holds when every element of a list meets its condition. ' +
          'An empty list always holds.',
      ),
    any: z
      .union([operands, quantifierSchema])
      .optional()
      .describe(
        'A list holds when any condition holds. An object holds when any element of a list meets its condition. An ' +
          'empty list never holds.',
      ),
    not: nested.optional(),
    field: z
      .string()
      .max(300)
      .optional()
      .describe('Field to compare, such as `context.transaction_amount`. A name that does not exist is refused.'),
    op: z.enum(OPERATORS).meta({ id: 'PolicyOperator' }).optional(),
    value: z.union([operand, z.array(operand).min(1).max(MAX_LIST)]).optional(),
    timezone: z.string().max(64).optional().describe('IANA zone of `time.hour` and `time.weekday`. Default: UTC.'),
  })
  .superRefine(checkCondition)
  .meta({ id: 'PolicyCondition', verbatim: true })

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must have 1 to 64 of A-Z, a-z, 0-9, _, . and -')

export const canaryModeView = z.enum(['strict', 'best_effort']).meta({ id: 'CanaryMode' })

export const requireSchema = z
  .strictObject({
    deny: z.literal(true).optional(),
    biometric: z.literal(true).optional().describe('The token is bound to a biometric.'),
    hardware: z.literal(true).optional().describe('The device is hardware-attested: its tier is tee or higher.'),
    min_tier: hardwareTierView.optional(),
    canary: z
      .strictObject({
        set: name,
        families: z
          .array(name)
          .min(1)
          .max(50)
          .optional()
          .describe('Families to read. Default: every family of the set.'),
        mode: canaryModeView,
        max_age_s: z.number().int().min(1).max(86_400).optional(),
        source: z
          .literal('inference')
          .optional()
          .describe(
            'Only a traced inference of the agent itself satisfies the condition; an `inference_input` does not.',
          ),
      })
      .meta({ id: 'PolicyCanaryRequirement', verbatim: true })
      .optional()
      .describe('Requires a canary reading. Without a reading, `strict` refuses and `best_effort` does not.'),
    webhook: z
      .strictObject({ url: z.string().max(2_048), timeout_ms: z.number().int().min(100).max(3_000).default(3_000) })
      .meta({ id: 'PolicyWebhookRequirement', verbatim: true })
      .optional(),
    approval: z
      .strictObject({
        min_approvals: z.number().int().min(1).max(10).default(1),
        roles: z
          .array(approverRole)
          .min(1)
          .max(3)
          .optional()
          .describe('Roles; each approving person has one of them. Default: all three.'),
        ttl_seconds: z.number().int().min(60).max(604_800).default(3_600),
        require_passkey: z.boolean().default(false).describe('Each approving person signs the action with a passkey.'),
      })
      .meta({ id: 'PolicyApprovalRequirement', verbatim: true })
      .optional()
      .describe('Requires that people approve the action before it may run.'),
  })
  .refine((require) => Object.values(require).some((one) => one !== undefined), 'must name at least one requirement')
  .meta({ id: 'PolicyRequirement', verbatim: true })

const ruleSchema = z
  .strictObject({
    id: name,
    description: z.string().max(1_000).optional(),
    priority: z.number().int().min(0).max(1_000_000).default(100).describe('Priority; the lower number comes first.'),
    enabled: z.boolean().default(true),
    shadow: z.boolean().default(false).describe('true: the rule is evaluated and reported, and never decides.'),
    when: conditionSchema.default({ all: [] }).describe('Condition of the rule. Default: always.'),
    on_missing: z
      .enum(['match'])
      .optional()
      .describe(
        'For deny rules: a missing field counts as a match. When absent, a comparison with a missing field is false; ' +
          'in a deny rule, `ne` and `not_in` are true.',
      ),
    require: requireSchema,
    reason: z
      .string()
      .regex(/^[a-z0-9_.:-]{1,64}$/, 'must have 1 to 64 of a-z, 0-9, _, ., : and -')
      .optional()
      .describe('Reason that is answered in place of the code of the requirement.'),
  })
  .superRefine(checkRule)
  .meta({ id: 'PolicyRule', verbatim: true })

const amount = z.union([
  z.number().min(0).max(1e15),
  z.string().regex(/^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,4})?$/, 'must be a decimal with at most 4 decimals'),
])

export const documentSchema = z
  .strictObject({
    name: z.string().min(1).max(100).default('default'),
    default_rules: z
      .strictObject({
        biometric_flag: z
          .boolean()
          .default(true)
          .describe('`context.require_biometric` requires a token that is bound to a biometric.'),
        hardware_above: amount
          .nullable()
          .default(500)
          .describe(
            'A transaction amount strictly above this value requires a hardware-attested device. null: no amount ' +
              'does.',
          ),
      })
      .meta({ id: 'PolicyDefaultRules', verbatim: true })
      .prefault({}),
    approvals: z
      .strictObject({
        require_human_session: z
          .boolean()
          .optional()
          .describe(
            'Only signed-in people decide approvals, and API keys do not; earlier votes of keys do not count. ' +
              'Default: true in live, false in sandbox.',
          ),
        separation_of_duties: z
          .boolean()
          .optional()
          .describe(
            'The person who asked for the action, and the owner of the agent, can not decide it. Default: true in an ' +
              'account with two or more members.',
          ),
      })
      .meta({ id: 'PolicyApprovals', verbatim: true })
      .optional(),
    require_bindings: z
      .boolean()
      .optional()
      .describe(
        'Verify has to name the agent session, the device, the audience and the context evidence that the token is ' +
          'bound to: an absent binding is answered as if it differed. Default: false.',
      ),
    rules: z.array(ruleSchema).max(MAX_RULES).default([]),
  })
  .superRefine(checkWhole)
  .meta({
    id: 'PolicyDocument',
    verbatim: true,
    description: 'The digest covers the names of the members. An unknown name is refused.',
  })

export type PolicyDocument = z.output<typeof documentSchema>
export type PolicyRule = z.output<typeof ruleSchema>
export type PolicyRequirements = z.output<typeof requireSchema>
export type ApproverRole = NonNullable<NonNullable<PolicyRequirements['approval']>['roles']>[number]

/** Policy of an account that has written none. */
export const DEFAULT_DOCUMENT: PolicyDocument = documentSchema.parse({})

function checkWhole({ rules }: { rules: PolicyRule[] }, context: z.RefinementCtx): void {
  const seen = new Set<string>()
  const patterns: { path: (string | number)[]; source: string }[] = []
  let comparisons = 0
  const refuse = (path: (string | number)[], code: FieldErrorCode, message: string) => {
    context.addIssue({ code: 'custom', path, message, params: { code } })
  }
  for (const [index, { id, when }] of rules.entries()) {
    if (seen.has(id)) refuse(['rules', index, 'id'], 'duplicate', 'is used twice')
    seen.add(id)
    for (const { condition, path } of partsOf(when, ['rules', index, 'when'])) {
      comparisons += 1
      const { op, value } = condition
      if (op === 'matches' && typeof value === 'string') patterns.push({ path: [...path, 'value'], source: value })
    }
  }
  if (comparisons > MAX_COMPARISONS) {
    refuse(['rules'], 'too_many', `must have at most ${MAX_COMPARISONS} comparisons and quantifiers in all`)
  }
  if (patterns.length > MAX_PATTERNS) {
    refuse(['rules'], 'too_many', `must have at most ${MAX_PATTERNS} regular expressions in all`)
    return
  }
  const weight = patterns.reduce((sum, { source }) => sum + weighPattern(source), 0)
  if (weight > MAX_WEIGHT && patterns.length > 1) {
    refuse(['rules'], 'too_many', 'must not have so many counted repetitions in its regular expressions')
    return
  }
  // Only now: compiling costs time.
  for (const { path, source } of patterns) {
    const problem = problemOf(source)
    if (problem !== undefined) refuse(path, 'invalid_pattern', problem)
  }
}

function problemOf(source: string): string | undefined {
  try {
    compilePattern(source)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'is no regular expression'
  }
}
