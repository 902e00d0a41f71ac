// What is wrong with a policy although it is well-formed: rules that always refuse, never match, or never give the reason.
// A finding that says always or never is proven; a policy without findings may still have such rules.

import { APPROVER_ROLES, compareRules, compilePolicy, DEFAULT_RULE_IDS, defaultRules } from './compile.ts'
import type { PolicyDocument, PolicyRequirements, PolicyRule } from './document.ts'
import { evaluatePolicy, NO_ANSWERS } from './evaluate.ts'
import { TIER_RANK } from './requirements.ts'
import { factsOf } from './samples.ts'
import { bothOf, canBoth, type Terms, termsOf } from './satisfiability.ts'

export type FindingCode =
  | 'always_denies'
  | 'never_matches'
  | 'shadowed_by'
  | 'conflicts_with'
  | 'unreachable_approval'
  | 'webhook_unreachable'
  | 'ineffective'

export interface PolicyFinding {
  code: FindingCode
  rule_id: string
  /** Into the document. */
  pointer: string
  /** Of `shadowed_by` and `conflicts_with`. */
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
}

/** Members of the account who may act, by role. */
export type TeamRoles = Readonly<Partial<Record<string, number>>>

export interface PolicyAnalysis {
  /** In the order of the document. */
  findings: PolicyFinding[]
  /** false: not all pairs of rules were compared. */
  isComplete: boolean
}

const MAX_FINDINGS = 500
// Comparisons of terms, some 0.2 µs each: a thousand plain rules take two million.
const MAX_WORK = 20_000_000
const WORK_AT_ONCE = 5_000

/** Yields after some milliseconds at most, so that the caller can pause. */
export function* analyzePolicy(document: PolicyDocument): Generator<void, PolicyAnalysis> {
  const findings: PolicyFinding[] = []
  const analyzed: Analyzed[] = []
  for (const [index, rule] of document.rules.entries()) {
    const pointer = `/rules/${index}`
    if (!rule.enabled) {
      findings.push({ code: 'ineffective', rule_id: rule.id, pointer, detail: 'is disabled' })
      continue
    }
    const one = analyzeRule(rule, pointer, false)
    analyzed.push(one)
    findings.push(...findingsOf(one))
    yield
  }
  const live = [
    ...defaultRules(document).map((rule) => analyzeRule(rule, '', true)),
    ...analyzed.filter(({ rule }) => !rule.shadow).toSorted((a, b) => compareRules(a.rule, b.rule)),
  ]
  let work = 0
  let pause = WORK_AT_ONCE
  for (const [index, later] of live.entries()) {
    if (later.isDefault) continue
    for (const [before, other] of live.entries()) {
      if (findings.length >= MAX_FINDINGS || work > MAX_WORK)
        return { findings: inDocumentOrder(findings), isComplete: false }
      if (before === index) continue
      work += workOf(later, other)
      if (work > pause) {
        pause = work + WORK_AT_ONCE
        yield
      }
      const finding = shadowing(later, other, before < index) ?? (before < index ? conflict(later, other) : undefined)
      if (finding !== undefined) findings.push(finding)
      if (finding?.code === 'shadowed_by') break
    }
  }
  return { findings: inDocumentOrder(findings), isComplete: true }
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

function workOf(later: Analyzed, other: Analyzed): number {
  const sizeOf = (terms: Terms) => terms?.length ?? 0
  return 1 + (sizeOf(later.applying) + sizeOf(later.failing)) * (sizeOf(other.passing) + sizeOf(other.matching))
}

function analyzeRule(rule: PolicyRule, pointer: string, isDefault: boolean): Analyzed {
  const options = { onMissing: rule.on_missing ?? 'false' } as const
  const applying = termsOf(rule.when, 'notFalse', options)
  return {
    rule,
    pointer,
    isDefault,
    matching: termsOf(rule.when, 'true', options),
    applying,
    failing: bothOf(applying, termsOf(rule.when, 'notTrue', options)),
    passing: termsOf(rule.when, 'false', options),
  }
}

function findingsOf({ rule, pointer, matching, applying, passing }: Analyzed): PolicyFinding[] {
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
  if (require.biometric && matching !== undefined && matching.length > 0 && !canBoth(matching, NO_BIOMETRIC)) {
    add('ineffective', '/require/biometric', 'holds wherever the condition does')
  }
  return findings
}

const NO_BIOMETRIC = termsOf({ field: 'token.biometric', op: 'eq', value: false }, 'true')

// Wherever the later rule refuses, the other one does so too, and comes first.
function shadowing(later: Analyzed, other: Analyzed, isBefore: boolean): PolicyFinding | undefined {
  if (!coversAll(other, later.rule.require, isBefore)) return undefined
  if (later.applying === undefined || other.passing === undefined || later.applying.length === 0) return undefined
  if (canBoth(later.applying, other.passing)) return undefined
  // A rule that fails refuses whatever the device is; a requirement may be met where only the other rule matches.
  if (!other.rule.require.deny && canBoth(later.failing, other.matching)) return undefined
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
function conflict(later: Analyzed, other: Analyzed): PolicyFinding | undefined {
  const why = contradiction(later.rule, other.rule)
  if (why === undefined) return undefined
  const [term] = bothOf(later.matching, other.matching) ?? []
  const facts = term && factsOf(term)
  if (facts === undefined) return undefined
  const pair = { ...EMPTY, rules: [later.rule, other.rule] }
  const { results } = evaluatePolicy(compilePolicy(pair), facts, NO_ANSWERS)
  if (new Set(results.filter(({ error }) => error === undefined).map(({ rule_id }) => rule_id)).size < 2)
    return undefined
  return {
    code: 'conflicts_with',
    rule_id: later.rule.id,
    pointer: later.pointer,
    other_rule_id: other.rule.id,
    detail: why,
  }
}

const EMPTY = { name: 'pair', default_rules: { biometric_flag: false, hardware_above: null } }

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
