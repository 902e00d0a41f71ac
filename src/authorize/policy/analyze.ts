// What is wrong with a policy although it is well-formed: rules that always refuse, never match, or never give the reason.
// A finding that says always or never is proven; a policy without findings may still have such rules.

import { unknownFieldsOf } from './checks.ts'
import {
  APPROVER_ROLES,
  type CompiledPolicy,
  compareRules,
  compilePolicy,
  DEFAULT_RULE_IDS,
  defaultRules,
} from './compile.ts'
import { onMissingOf } from './conditions.ts'
import type { PolicyDocument, PolicyRequirements, PolicyRule } from './document.ts'
import { evaluatePolicy, NO_ANSWERS, type PolicyFacts } from './evaluate.ts'
import { sizeOf } from './forms.ts'
import { missingFindingOf } from './missing-fields.ts'
import { TIER_RANK } from './requirements.ts'
import { sampleFactsOf } from './samples.ts'
import { bothOf, canBoth, type Terms, termsOf } from './satisfiability.ts'
import { type AnalysisWork, createWork, MAX_STEPS_AT_ONCE, type Pausing, unitsOf } from './work.ts'

export type FindingCode =
  | 'always_denies'
  | 'never_matches'
  | 'shadowed_by'
  | 'conflicts_with'
  | 'unreachable_approval'
  | 'webhook_unreachable'
  | 'webhook_without_secret'
  | 'ineffective'
  | 'ineffective_when_missing'
  | 'unknown_policy_field'

export interface PolicyFinding {
  code: FindingCode
  rule_id: string
  /** Into the document. */
  pointer: string
  /** Second rule of `shadowed_by` and `conflicts_with`. */
  other_rule_id?: string
  detail: string
}

interface Analyzed {
  rule: PolicyRule
  pointer: string
  isDefault: boolean
  /** The facts for which it matches, for which it matches or fails, for which it fails, and for which it does neither. */
  matching: Terms
  applying: Terms
  failing: Terms
  passing: Terms
  /** The rule alone. */
  compiled: () => CompiledPolicy
  /** Comparisons and combinators of its condition. */
  size: number
}

/** Members of the account who may act, by role. */
export type TeamRoles = Readonly<Partial<Record<string, number>>>

export interface PolicyAnalysis {
  /** Findings in the order of the document. */
  findings: PolicyFinding[]
  /** false: not all rules, pairs of rules or texts were compared. */
  isComplete: boolean
}

const MAX_FINDINGS = 500
// Units of work, some 0.2 µs each: a thousand plain rules take three million.
const MAX_WORK = 20_000_000

/** Yields after some milliseconds at most, so that the caller can pause. */
export function* analyzePolicy(document: PolicyDocument): Pausing<PolicyAnalysis> {
  const work = createWork()
  const findings: PolicyFinding[] = []
  // Most policies have many of these findings, so they don't count for the limit.
  const whenMissing: PolicyFinding[] = []
  for (const [index, rule] of document.rules.entries()) {
    const finding = missingFindingOf(rule, `/rules/${index}`)
    if (finding !== undefined) whenMissing.push(finding)
    yield
  }
  const steps = addFindings(document, findings, work)
  for (;;) {
    const { done: isDone = false, value: isWhole } = steps.next()
    if (isDone || work.spent > MAX_WORK) {
      const isComplete = isDone && isWhole === true && !work.hasSkipped
      return { findings: inDocumentOrder([...findings, ...whenMissing]), isComplete }
    }
    yield
  }
}

// Returns whether all rules were compared. Where the work is too much, the caller ends it at a pause.
function* addFindings(document: PolicyDocument, findings: PolicyFinding[], work: AnalysisWork): Pausing<boolean> {
  const analyzed: Analyzed[] = []
  for (const [index, rule] of document.rules.entries()) {
    const pointer = `/rules/${index}`
    if (!rule.enabled) {
      findings.push({ code: 'ineffective', rule_id: rule.id, pointer, detail: 'is disabled' })
      continue
    }
    for (const { pointer: at, detail } of unknownFieldsOf(rule, index)) {
      if (findings.length >= MAX_FINDINGS) return false
      findings.push({
        code: 'unknown_policy_field',
        rule_id: rule.id,
        pointer: at,
        detail: `${detail}; the rule refuses`,
      })
    }
    const one = yield* analyzeRule(work, rule, pointer, false)
    analyzed.push(one)
    findings.push(...(yield* findingsOf(work, one)))
    yield
  }
  const live: Analyzed[] = []
  for (const rule of defaultRules(document)) live.push(yield* analyzeRule(work, rule, '', true))
  live.push(...analyzed.filter(({ rule }) => !rule.shadow).toSorted((a, b) => compareRules(a.rule, b.rule)))
  for (const [index, later] of live.entries()) {
    if (later.isDefault) continue
    for (const [before, other] of live.entries()) {
      if (findings.length >= MAX_FINDINGS) return false
      if (before === index) continue
      if (work.charge(1)) yield
      const isBefore = before < index
      const isCovered = coversAll(other, later.rule.require, isBefore)
      const shadow = isCovered ? yield* shadowing(work, later, other) : undefined
      const why = isBefore ? contradiction(later.rule, other.rule) : undefined
      const finding = shadow ?? (why === undefined ? undefined : yield* conflict(work, later, other, why))
      if (finding !== undefined) findings.push(finding)
      if (finding?.code === 'shadowed_by') break
    }
  }
  return true
}

/** Rules that demand more people than the account has with one of their roles. */
export function unreachableApprovals({ rules }: PolicyDocument, team: TeamRoles): PolicyFinding[] {
  return rules.flatMap(({ id, enabled, require: { approval } }, index) => {
    if (!enabled || approval === undefined) return []
    const roles = approval.roles ?? APPROVER_ROLES
    const eligible = [...new Set(roles)].reduce((sum, role) => sum + (team[role] ?? 0), 0)
    if (eligible >= approval.min_approvals) return []
    const have = eligible === 0 ? 'no member has' : `${eligible} of ${approval.min_approvals} members have`
    return [
      {
        code: 'unreachable_approval' as const,
        rule_id: id,
        pointer: `/rules/${index}/require/approval`,
        detail: `can not be met: ${have} the role ${roles.join(' or ')}`,
      },
    ]
  })
}

/** Rules that no webhook is asked for: a question is signed, and the account has no secret. */
export function webhooksWithoutSecret({ rules }: PolicyDocument): PolicyFinding[] {
  return rules.flatMap(({ id, enabled, shadow, require: { webhook } }, index) => {
    if (!enabled || shadow || webhook === undefined) return []
    return [
      {
        code: 'webhook_without_secret' as const,
        rule_id: id,
        pointer: `/rules/${index}/require/webhook`,
        detail: 'refuses every action that it matches: the account has no secret to sign the question with',
      },
    ]
  })
}

function* analyzeRule(work: AnalysisWork, rule: PolicyRule, pointer: string, isDefault: boolean): Pausing<Analyzed> {
  const options = { onMissing: onMissingOf(rule) }
  const applying = yield* termsOf(work, rule.when, 'notFalse', options)
  let compiled: CompiledPolicy | undefined
  return {
    rule,
    pointer,
    isDefault,
    matching: yield* termsOf(work, rule.when, 'true', options),
    applying,
    failing: yield* bothOf(work, applying, yield* termsOf(work, rule.when, 'notTrue', options)),
    passing: yield* termsOf(work, rule.when, 'false', options),
    compiled: () => {
      compiled ??= compilePolicy({ ...ALONE, rules: [rule] })
      return compiled
    },
    size: sizeOf(rule.when),
  }
}

function* findingsOf(
  work: AnalysisWork,
  { rule, pointer, matching, applying, passing }: Analyzed,
): Pausing<PolicyFinding[]> {
  const { id, require, shadow } = rule
  const findings: PolicyFinding[] = []
  const add = (code: FindingCode, at: string, detail: string) =>
    findings.push({ code, rule_id: id, pointer: `${pointer}${at}`, detail })
  if (matching?.length === 0) {
    const isDead = applying?.length === 0
    add(
      'never_matches',
      '/when',
      isDead ? 'holds for no facts' : 'holds for no facts; values of a wrong type still refuse',
    )
  }
  if (require.deny && !shadow && passing?.length === 0) {
    add('always_denies', '/when', 'holds for all facts: every action is refused')
  }
  const others = Object.entries(require).filter(([name, value]) => name !== 'deny' && value !== undefined)
  if (require.deny && others.length > 0) {
    add('ineffective', '/require', `denies, whatever ${others.map(([name]) => name).join(', ')} would come to`)
  }
  if (require.min_tier === 'none') add('ineffective', '/require/min_tier', 'every device has it')
  else if (require.hardware && require.min_tier !== undefined && TIER_RANK[require.min_tier] <= TIER_RANK.tee) {
    add('ineffective', '/require/min_tier', 'hardware demands it already')
  }
  if (require.biometric && matching !== undefined && matching.length > 0) {
    const without = yield* termsOf(work, NO_BIOMETRIC, 'true')
    if (!(yield* canBoth(work, matching, without))) {
      add('ineffective', '/require/biometric', 'holds wherever the condition does')
    }
  }
  return findings
}

const NO_BIOMETRIC = { field: 'token.biometric', op: 'eq', value: false } as const

// A rule that covers all that a later one requires shadows it: wherever the later one refuses, the first refuses too,
// and comes first.
function* shadowing(work: AnalysisWork, later: Analyzed, other: Analyzed): Pausing<PolicyFinding | undefined> {
  if (later.applying === undefined || other.passing === undefined || later.applying.length === 0) return undefined
  if (yield* canBoth(work, later.applying, other.passing)) return undefined
  // A rule that fails refuses whatever the device is; a requirement may be met where only the other rule matches.
  if (!other.rule.require.deny && (yield* canBoth(work, later.failing, other.matching))) return undefined
  return {
    code: 'shadowed_by',
    rule_id: later.rule.id,
    pointer: later.pointer,
    other_rule_id: other.rule.id,
    detail: `never gives the reason: wherever it refuses, ${other.rule.id} refuses first`,
  }
}

function coversAll(
  { rule: { require: first, id }, isDefault }: Analyzed,
  later: PolicyRequirements,
  isBefore: boolean,
) {
  if (isDefault) {
    // Their reasons come before those of all rules.
    const isSame = (name: 'biometric' | 'hardware', ruleId: string) => id === ruleId && isOnly(later, name)
    return isSame('biometric', DEFAULT_RULE_IDS.biometric) || isSame('hardware', DEFAULT_RULE_IDS.hardware)
  }
  if (first.deny) return isBefore || later.deny === undefined
  if (!isBefore || later.deny) return false
  if (later.biometric && !first.biometric) return false
  if (later.hardware && !first.hardware) return false
  if (later.min_tier !== undefined) {
    if (first.min_tier === undefined || TIER_RANK[first.min_tier] < TIER_RANK[later.min_tier]) return false
  }
  // Answers are asked for each rule.
  return later.canary === undefined && later.webhook === undefined && later.approval === undefined
}

function isOnly(require: PolicyRequirements, name: keyof PolicyRequirements): boolean {
  return Object.entries(require).every(([key, value]) => (value !== undefined) === (key === name))
}

// Two rules that contradict each other for some facts. An example proves it: it is evaluated.
function* conflict(
  work: AnalysisWork,
  later: Analyzed,
  other: Analyzed,
  why: string,
): Pausing<PolicyFinding | undefined> {
  const [term] = (yield* bothOf(work, later.matching, other.matching)) ?? []
  const facts = term && (yield* sampleFactsOf(work, term))
  if (facts === undefined) return undefined
  for (const one of [later, other]) if (!(yield* isMatch(work, one, facts))) return undefined
  return {
    code: 'conflicts_with',
    rule_id: later.rule.id,
    pointer: later.pointer,
    other_rule_id: other.rule.id,
    detail: why,
  }
}

const ALONE = { name: 'alone', default_rules: { biometric_flag: false, hardware_above: null } }
// A comparison is compiled once and then evaluated.
const UNITS_OF_COMPARISON = 5

function* isMatch(work: AnalysisWork, { compiled, size }: Analyzed, facts: PolicyFacts): Pausing<boolean> {
  if (work.charge(size * UNITS_OF_COMPARISON)) yield
  const budget = { steps: MAX_STEPS_AT_ONCE }
  const { results } = evaluatePolicy(compiled(), facts, NO_ANSWERS, { budget })
  if (budget.steps < 0) work.hasSkipped = true
  if (work.charge(unitsOf(MAX_STEPS_AT_ONCE - budget.steps))) yield
  return results.some(({ error }) => error === undefined)
}

function contradiction(a: PolicyRule, b: PolicyRule): string | undefined {
  if (a.require.canary && b.require.canary && a.require.canary.set === b.require.canary.set) {
    if (a.require.canary.mode !== b.require.canary.mode) {
      return `both match some facts, and ask for the set ${a.require.canary.set} strictly and by best effort`
    }
  }
  if (a.priority !== b.priority || a.reason === undefined || b.reason === undefined || a.reason === b.reason) return
  const [kind] = Object.keys(a.require)
  const isSameKind =
    isOnly(a.require, kind as keyof PolicyRequirements) && isOnly(b.require, kind as keyof PolicyRequirements)
  return isSameKind
    ? `both match some facts with the same priority: the order of their ids decides the reason`
    : undefined
}

function inDocumentOrder(findings: readonly PolicyFinding[]): PolicyFinding[] {
  const indexOf = ({ pointer }: PolicyFinding) => Number(pointer.split('/')[2])
  return findings.toSorted((a, b) => indexOf(a) - indexOf(b))
}
