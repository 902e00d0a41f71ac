// What a draft or a shadow rule would have said of decisions of the past, page by page. Nothing here changes anything.

import type { Json } from '#src/platform/crypto/canonical.ts'
import { digestOf } from '#src/platform/http/documents.ts'
import type { Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type DecisionEntry, MAX_RULE_RESULTS, type RuleResult } from '#src/platform/ledger/entry.ts'
import type { Ledger, RecordedDecision } from '#src/platform/ledger/record.ts'
import { createSlice } from '#src/platform/slices.ts'
import { type CompiledPolicy, questionOf } from './compile.ts'
import type { PolicyDocument } from './document.ts'
import {
  answeredReason,
  evaluateContexts,
  type PolicyAnswers,
  type PolicyEvaluation,
  type PolicyFacts,
} from './evaluate.ts'
import type { Policies } from './policies.ts'
import { compileSent } from './trials.ts'

/** Reads the facts of decisions of the past. */
export interface ReadRecorded {
  /**
   * What a decision was evaluated over; undefined where it was refused before the rules of any policy. `refusal`: the draft
   * itself refuses it there, with this reason.
   */
  replayable(
    facts: Json,
    draft: CompiledPolicy,
  ): { contexts: readonly PolicyFacts[]; answers: PolicyAnswers; refusal?: string | undefined } | undefined
  /** The results of all rules that matched. */
  resultsOf(facts: Json): readonly RuleResult[]
}

export interface PastDecisionDeps extends ReadRecorded {
  policies: Pick<Policies, 'getVersion' | 'problemsOf'>
  ledger: Pick<Ledger, 'listDecisionsBetween'>
  pager: Pager
}

export interface ReplayRequest {
  document: PolicyDocument
  from: string
  to: string
  limit: number
  cursor?: string | undefined
}

interface Answered {
  valid: boolean
  reason: string | null
}

export interface ReplayChange {
  entry: Pick<DecisionEntry, 'decision_id' | 'at' | 'subject_id'>
  before: Answered
  after: Answered & { matchedRuleId: string | null }
}

export interface RuleTally {
  ruleId: string
  /** Decisions that the rule refused, under the policy at the time and under the draft. */
  before: number
  after: number
}

export interface Replay {
  changes: ReplayChange[]
  looked: number
  /** Refused before the rules of the policy, as under the draft. */
  unaffected: number
  /** They need an answer of a webhook or a canary that was not asked for then. */
  unknown: number
  tallies: RuleTally[]
  lookedTo: string | null
  nextCursor: string | null
}

export interface ShadowTally {
  ruleId: string
  matched: number
  wouldDeny: number
  wouldAllow: number
  unevaluated: number
  errors: number
  /** It would have refused what was valid. */
  divergent: number
  examples: string[]
}

/** Decisions that one call examines; the next page continues. */
const MAX_LOOKED = 2_000
/** Size of the entries and facts. Facts of a long policy have up to two megabytes. */
const MAX_BYTES = 64 * 1024 * 1024
/** Processor time of a call: a decision takes milliseconds where a draft or the policy at the time has 1,000 rules. */
const MAX_WORK_MS = 2_000
const MAX_EXAMPLES = 10
const REPLAY_ROUTE = 'POST /v1/policy/replay'
const REPORT_ROUTE = 'GET /v1/policy/shadow-report'

export type PastDecisions = ReturnType<typeof createPastDecisions>

export function createPastDecisions({ policies, ledger, pager, replayable, resultsOf }: PastDecisionDeps) {
  /** The decisions of a page, which begins after a cursor. */
  function readPage(scope: Scope, { from, to }: { from: string; to: string }, after: string | undefined) {
    let isFull = false
    async function* read() {
      const range = { kind: 'verify' as const, from: new Date(from), to: new Date(to), after }
      const slice = createSlice()
      let [looked, bytes] = [0, 0]
      for await (const decision of ledger.listDecisionsBetween(scope, range)) {
        yield decision
        looked += 1
        bytes += decision.bytes
        isFull = looked === MAX_LOOKED || bytes >= MAX_BYTES
        if (isFull) return
        if (slice.isOver()) await slice.next()
      }
    }
    return { decisions: read(), isFull: () => isFull }
  }

  // An entry names the first ones of each kind, what refused before others. Where there may be more, the facts have them.
  function resultsWhere({ entry, facts }: RecordedDecision, isWanted: (result: RuleResult) => boolean) {
    const named = entry.rule_results.filter(isWanted)
    const isWhole = entry.rule_results_omitted === undefined || named.length < MAX_RULE_RESULTS
    const recorded = isWhole ? undefined : facts()
    return recorded === undefined ? named : resultsOf(recorded).filter(isWanted)
  }

  return {
    /** @throws {Failure} `invalid_request`. */
    async replay(scope: Scope, { document, from, to, limit, cursor }: ReplayRequest): Promise<Replay> {
      const compiled = compileSent(policies, scope, document)
      const binding = { route: REPLAY_ROUTE, scope, query: { from, to, document: digestOf(document) } }
      const replay: Replay = {
        changes: [],
        looked: 0,
        unaffected: 0,
        unknown: 0,
        tallies: [],
        lookedTo: null,
        nextCursor: null,
      }
      const tallies = new Map<string, RuleTally>()
      const staleOf = staleAnswersOf(scope, document)
      const work = createWorkTime()
      const page = readPage(scope, { from, to }, pager.decode(cursor, binding))
      let isFull = false
      let last: string | undefined
      for await (const decision of page.decisions) {
        const { entry } = decision
        last = entry.decision_id
        replay.looked += 1
        replay.lookedTo = entry.at
        const { facts, recorded } = work.run(() => {
          if (entry.valid !== true) addBefore(tallies, resultsWhere(decision, refuses))
          const facts = decision.facts()
          return { facts, recorded: facts === undefined ? undefined : replayable(facts, compiled) }
        })
        if (recorded === undefined) {
          if (facts === undefined) replay.unknown += 1
          else replay.unaffected += 1
        } else if (recorded.refusal !== undefined) {
          replay.changes.push(...changesOf(entry, { reason: recorded.refusal, ruleId: null }))
        } else {
          const stale = await staleOf(entry.policy_version ?? 0)
          const answers = withoutAnswers(recorded.answers, stale)
          addAfter(
            replay,
            tallies,
            entry,
            work.run(() => evaluateContexts(compiled, recorded.contexts, answers)),
          )
        }
        isFull = replay.changes.length >= limit || work.isOver()
        if (isFull) break
      }
      replay.tallies = [...tallies.values()].sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1))
      if ((isFull || page.isFull()) && last !== undefined) replay.nextCursor = pager.cursorAfter(last, binding)
      return replay
    },

    /** What the shadow rules said of decisions, as it is on record. @throws {Failure} `invalid_request`. */
    async shadowReport(scope: Scope, query: { from: string; to: string; cursor?: string | undefined }) {
      const { from, to, cursor } = query
      const binding = { route: REPORT_ROUTE, scope, query: { from, to } }
      const tallies = new Map<string, ShadowTally>()
      let last: string | undefined
      let looked = 0
      let lookedTo: string | null = null
      const work = createWorkTime()
      const page = readPage(scope, { from, to }, pager.decode(cursor, binding))
      for await (const decision of page.decisions) {
        const { entry } = decision
        last = entry.decision_id
        looked += 1
        lookedTo = entry.at
        const results = work.run(() => resultsWhere(decision, ({ shadow, matched }) => shadow && matched))
        for (const [ruleId, ofRule] of Map.groupBy(results, ({ rule_id }) => rule_id)) {
          addShadow(shadowTallyOf(tallies, ruleId), ofRule, entry)
        }
        if (work.isOver()) break
      }
      const rules = [...tallies.values()].sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1))
      const nextCursor =
        (page.isFull() || work.isOver()) && last !== undefined ? pager.cursorAfter(last, binding) : null
      return { from, to, looked, lookedTo, rules, nextCursor }
    },
  }

  // A rule of the same id that asks another receiver, or for another canary, has no recorded answer. An approval covers
  // a rule only in its earlier form.
  function staleAnswersOf(scope: Scope, { rules }: PolicyDocument) {
    const byVersion = new Map<number, ReadonlySet<string>>()
    return async (version: number): Promise<ReadonlySet<string>> => {
      const known = byVersion.get(version)
      if (known !== undefined) return known
      const { document } = await policies.getVersion(scope, version)
      const asked = new Map(document.rules.map((rule) => [rule.id, questionOf(rule)]))
      const changed = rules.filter((rule) => asked.has(rule.id) && asked.get(rule.id) !== questionOf(rule))
      const stale = new Set(changed.map(({ id }) => id))
      byVersion.set(version, stale)
      return stale
    }
  }
}

/** What the event loop does for one call, which others wait for. Waiting itself does not count. */
function createWorkTime() {
  let spentMs = 0
  return {
    isOver: () => spentMs >= MAX_WORK_MS,
    run<Result>(work: () => Result): Result {
      const startedAt = performance.now()
      try {
        return work()
      } finally {
        spentMs += performance.now() - startedAt
      }
    },
  }
}

function withoutAnswers({ webhooks, canaries, approvals }: PolicyAnswers, ruleIds: ReadonlySet<string>): PolicyAnswers {
  if (ruleIds.size === 0) return { webhooks, canaries, approvals }
  const kept = <Value>(answers: Record<string, Value>) =>
    Object.fromEntries(Object.entries(answers).filter(([ruleId]) => !ruleIds.has(ruleId)))
  return { webhooks: kept(webhooks), canaries: kept(canaries), approvals: kept(approvals) }
}

function changesOf(
  entry: DecisionEntry,
  refusal: { reason: string; ruleId: string | null } | undefined,
): ReplayChange[] {
  const before = { valid: entry.valid === true, reason: entry.reason }
  const after = {
    valid: refusal === undefined,
    reason: refusal?.reason ?? null,
    matchedRuleId: refusal?.ruleId ?? null,
  }
  return before.valid === after.valid && before.reason === after.reason ? [] : [{ entry, before, after }]
}

function refuses({ met, matched, shadow }: RuleResult): boolean {
  return matched && !met && !shadow
}

function addBefore(tallies: Map<string, RuleTally>, refusing: readonly RuleResult[]): void {
  for (const ruleId of new Set(refusing.map((one) => one.rule_id))) tallyOf(tallies, ruleId).before += 1
}

function addAfter(
  replay: Replay,
  tallies: Map<string, RuleTally>,
  entry: DecisionEntry,
  evaluation: PolicyEvaluation,
): void {
  if (evaluation.refusals[0]?.isPending === true) {
    replay.unknown += 1
    return
  }
  for (const ruleId of new Set(evaluation.refusals.map((one) => one.ruleId))) tallyOf(tallies, ruleId).after += 1
  const [first] = evaluation.refusals
  const refusal = first && { reason: answeredReason(first), ruleId: first.ruleId }
  replay.changes.push(...changesOf(entry, refusal))
}

function tallyOf(tallies: Map<string, RuleTally>, ruleId: string): RuleTally {
  const known = tallies.get(ruleId) ?? { ruleId, before: 0, after: 0 }
  tallies.set(ruleId, known)
  return known
}

function shadowTallyOf(tallies: Map<string, ShadowTally>, ruleId: string): ShadowTally {
  const known = tallies.get(ruleId) ?? {
    ruleId,
    matched: 0,
    wouldDeny: 0,
    wouldAllow: 0,
    unevaluated: 0,
    errors: 0,
    divergent: 0,
    examples: [],
  }
  tallies.set(ruleId, known)
  return known
}

// One rule may have several requirements: it denies where one of them is surely unmet.
function addShadow(
  tally: ShadowTally,
  results: readonly RuleResult[],
  { decision_id: id, valid }: DecisionEntry,
): void {
  tally.matched += 1
  if (results.some(({ error }) => error !== undefined)) tally.errors += 1
  const isDenied = results.some(({ met, note }) => !met && !isUnevaluated(note))
  if (isDenied) {
    tally.wouldDeny += 1
    if (valid !== true) return
    tally.divergent += 1
    if (tally.examples.length < MAX_EXAMPLES) tally.examples.push(id)
  } else if (results.some(({ note }) => isUnevaluated(note))) tally.unevaluated += 1
  else tally.wouldAllow += 1
}

function isUnevaluated(note: string | undefined): boolean {
  return note === 'shadow_webhook_unevaluated' || note === 'shadow_canary_unevaluated'
}
