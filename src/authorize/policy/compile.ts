// A document made ready to be evaluated: conditions as closures, fields in slots, regular expressions compiled, rules in
// the order in which they decide. Compiled once for each version in each process.

import { hash } from 'node:crypto'
import { canonicalize } from '#client/verify/canonicalize.ts'
import type { HardwareTier } from '#src/attest/hardware/verdict.ts'
import { compileCondition, createFieldSlots, type FieldSlots, onMissingOf, type Predicate } from './conditions.ts'
import type { ApproverRole, PolicyCondition, PolicyDocument, PolicyRequirements, PolicyRule } from './document.ts'
import { formOf } from './forms.ts'

export type CompiledRequirement =
  | { kind: 'deny' }
  | { kind: 'biometric' }
  | { kind: 'hardware' }
  | { kind: 'tier'; minTier: HardwareTier }
  | {
      kind: 'canary'
      set: string
      families: readonly string[] | undefined
      mode: 'strict' | 'best_effort'
      maxAgeSeconds: number | undefined
      source: 'inference' | undefined
    }
  | { kind: 'webhook'; url: string; timeoutMs: number }
  | ({ kind: 'approval' } & ApprovalDemand)

/** Approval that a rule demands. */
export interface ApprovalDemand {
  /** Distinct people. */
  minApprovals: number
  /** Each of them has one of these. */
  roles: readonly ApproverRole[]
  ttlSeconds: number
  requiresPasskey: boolean
}

export interface CompiledRule {
  id: string
  priority: number
  isShadow: boolean
  isDefault: boolean
  /** The rule's own, in place of the code of its requirement. */
  reason: string | undefined
  /**
   * SHA-256 of the canonical JSON of a rule that requires an approval, in base64url without padding. A changed rule has
   * another hash, which earlier approvals don't cover.
   */
  hash: string | undefined
  /** For people. */
  description: string | undefined
  matches: Predicate
  /** Requirements in the published order. */
  requirements: readonly CompiledRequirement[]
}

export interface CompiledPolicy {
  document: PolicyDocument
  slots: FieldSlots
  defaults: readonly CompiledRule[]
  /** Enabled ones, by priority and id: the order of the document decides nothing. */
  rules: readonly CompiledRule[]
  /** Returns the rules that an action of the type can match. */
  rulesFor(actionType: string | null): readonly CompiledRule[]
  shadowRules: readonly CompiledRule[]
  /** A rule requires an answer from outside: of a webhook, or of canaries. */
  asksOutside: boolean
}

/** Approver roles of a rule that names none. */
export const APPROVER_ROLES: readonly ApproverRole[] = ['owner', 'admin', 'approver']

export const DEFAULT_RULE_IDS = { biometric: 'default:biometric_flag', hardware: 'default:hardware_above' } as const

/** @param document Checked by its schema. */
export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const slots = createFieldSlots()
  const enabled = document.rules.filter(({ enabled }) => enabled).toSorted(compareRules)
  const compiled = enabled.map((rule) => compileRule(rule, slots))
  const rules = compiled.filter(({ isShadow }) => !isShadow)
  return {
    document,
    slots,
    rules,
    rulesFor: indexByType(
      rules,
      enabled.filter(({ shadow }) => !shadow),
    ),
    defaults: defaultRules(document).map((rule) => ({
      ...compileRule(rule, slots),
      isDefault: true,
    })),
    shadowRules: compiled.filter(({ isShadow }) => isShadow),
    asksOutside: rules.some(({ requirements }) => requirements.some(({ kind }) => OUTSIDE.has(kind))),
  }
}

const OUTSIDE: ReadonlySet<string> = new Set(['webhook', 'canary'] satisfies CompiledRequirement['kind'][])

// Number of action types of one account whose rules are kept; beyond it each call filters the rules anew.
const MAX_TYPES = 200

// Most rules of a long policy are about one type of action, and a comparison with it is false for every other type.
function indexByType(compiled: readonly CompiledRule[], rules: readonly PolicyRule[]): CompiledPolicy['rulesFor'] {
  const typesOf = rules.map(({ when, on_missing }) => (on_missing === undefined ? actionTypesOf(when) : undefined))
  const named = new Set(typesOf.flatMap((types) => types ?? []))
  const lists = new Map<string, readonly CompiledRule[]>()
  const others = compiled.filter((_, index) => typesOf[index] === undefined)
  return (actionType) => {
    if (actionType === null || !named.has(actionType)) return others
    const known = lists.get(actionType)
    if (known !== undefined) return known
    const list = compiled.filter((_, index) => typesOf[index]?.includes(actionType) ?? true)
    if (lists.size < MAX_TYPES) lists.set(actionType, list)
    return list
  }
}

// The types of action that a condition is not false for; undefined: it may be true for any type.
function actionTypesOf(condition: PolicyCondition): readonly string[] | undefined {
  const { field, op, value } = condition
  if (field === 'action_type' && op === 'eq' && typeof value === 'string') return [value]
  if (field === 'action_type' && op === 'in' && Array.isArray(value))
    return value.filter((one) => typeof one === 'string')
  const form = formOf(condition)
  for (const operand of form.kind === 'all' ? form.operands : []) {
    const types = actionTypesOf(operand)
    if (types !== undefined) return types
  }
  return undefined
}

/** The default rules of a document, written as rules. */
export function defaultRules({ default_rules: defaults }: PolicyDocument): PolicyRule[] {
  const rules: PolicyRule[] = []
  const common = { enabled: true, shadow: false }
  if (defaults.biometric_flag) {
    rules.push({
      ...common,
      id: DEFAULT_RULE_IDS.biometric,
      description: 'context.require_biometric requires a token that is bound to a biometric.',
      priority: 0,
      when: { field: 'context.require_biometric', op: 'eq', value: true },
      require: { biometric: true },
      reason: 'biometric_required',
    })
  }
  if (defaults.hardware_above !== null) {
    rules.push({
      ...common,
      id: DEFAULT_RULE_IDS.hardware,
      description: `A transaction amount strictly above ${defaults.hardware_above} requires a hardware-attested device.`,
      priority: 1,
      when: { field: 'context.transaction_amount', op: 'gt', value: defaults.hardware_above },
      require: { hardware: true },
      reason: 'hardware_required_above_500',
    })
  }
  return rules
}

/** Sorts by ascending priority, then by id. */
export function compareRules(a: PolicyRule, b: PolicyRule): number {
  return a.priority - b.priority || (a.id < b.id ? -1 : Number(a.id > b.id))
}

function compileRule(rule: PolicyRule, slots: FieldSlots): CompiledRule {
  return {
    id: rule.id,
    priority: rule.priority,
    isShadow: rule.shadow,
    isDefault: false,
    reason: rule.reason,
    hash: rule.require.approval === undefined ? undefined : hashRule(rule),
    description: rule.description,
    matches: compileCondition(rule.when, { slots, onMissing: onMissingOf(rule), aliases: [] }),
    requirements: compileRequirements(rule.require),
  }
}

function compileRequirements(require: PolicyRequirements): CompiledRequirement[] {
  const { deny, biometric, hardware, min_tier: minTier, canary, webhook, approval } = require
  const requirements: CompiledRequirement[] = []
  if (deny) requirements.push({ kind: 'deny' })
  if (biometric) requirements.push({ kind: 'biometric' })
  if (hardware) requirements.push({ kind: 'hardware' })
  if (minTier !== undefined) requirements.push({ kind: 'tier', minTier })
  if (canary !== undefined) {
    const { set, families, mode, max_age_s: maxAgeSeconds, source } = canary
    requirements.push({ kind: 'canary', set, families, mode, maxAgeSeconds, source })
  }
  if (webhook !== undefined) requirements.push({ kind: 'webhook', url: webhook.url, timeoutMs: webhook.timeout_ms })
  if (approval !== undefined) {
    const { min_approvals: minApprovals, roles, ttl_seconds: ttlSeconds, require_passkey: requiresPasskey } = approval
    requirements.push({ kind: 'approval', minApprovals, roles: roles ?? APPROVER_ROLES, ttlSeconds, requiresPasskey })
  }
  return requirements
}

/** What a rule asks a webhook, a canary or people: an earlier answer is valid for the same question only. */
export function questionOf(rule: PolicyRule): string {
  const { webhook, canary, approval } = rule.require
  return JSON.stringify([webhook?.url, canary, approval === undefined ? null : hashRule(rule)])
}

// JSON leaves out members that are undefined, which the canonical form refuses.
function hashRule(rule: PolicyRule): string {
  return hash('sha256', canonicalize(JSON.parse(JSON.stringify(rule))), 'base64url')
}
