// What a kill switch would have done: the checks and inferences on record, re-evaluated by settings that are not in force
// yet. It changes nothing.

import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { createSlice } from '#src/platform/slices.ts'
import { type CheckFacts, type CheckReason, judgeCheck, type KillSwitch } from './judge.ts'
import { checkAgents } from './kill-switch.ts'

const DAY_MS = 86_400_000
const DAYS = 7
/** Decisions of each kind that one preview judges, the newest ones. */
const MAX_LOOKED = 5_000
/** Agents that the answer names, those with most refusals first. */
const MAX_AGENTS = 100

/** What the service asked the kill switch about. */
const PREVIEWED_KINDS = ['trace_check', 'inference'] as const
export type PreviewedKind = (typeof PREVIEWED_KINDS)[number]

/** A request of the past: what it was about, and when. */
interface PastRequest {
  kind: PreviewedKind
  facts: PastFacts
}

/**
 * The kill switch of that time is left out: it may name a thousand agents, and thousands of them would fill the memory.
 */
export type PastFacts = Omit<CheckFacts, 'kill_switch'>

interface Tally {
  /** Checks that were refused, and inferences that were withheld. */
  refused: number
  /** Sessions and agents that would have been locked by it. */
  locks: number
}

export interface FamilyTally extends Tally {
  family: string
  /** It tripped, and does not count because its probe is experimental. */
  uncounted: number
}

export interface KillSwitchPreview {
  from: Date
  to: Date
  /** false: there were more requests than are judged at once; those before `from` are not among the figures. */
  isComplete: boolean
  looked: Record<PreviewedKind, number>
  refused: Record<PreviewedKind, number>
  /** Refused checks and withheld inferences by reason. */
  reasons: { reason: CheckReason; refused: number }[]
  /** Traces that tripped, each once. */
  trippedTraces: number
  locks: number
  /** Requests of locked sessions and agents after their lock, if no person had cleared it. */
  heldByLocks: number
  families: FamilyTally[]
  agents: (Tally & { agentId: string | null })[]
}

export type Preview = ReturnType<typeof createPreview>

export function createPreview({ db, ledger, now }: Pick<Platform, 'db' | 'ledger' | 'now'>) {
  return {
    /** @throws {Failure} `invalid_request` for an agent that does not exist; `environment_mismatch`. */
    async preview(acting: Acting, settings: KillSwitch): Promise<KillSwitchPreview> {
      await db.tenant(acting, (tx) => checkAgents(tx, acting, settings))
      const to = now()
      const week = new Date(to.getTime() - DAYS * DAY_MS)
      const found = await Promise.all(PREVIEWED_KINDS.map((kind) => readNewest(acting, kind, { from: week, to })))
      // Where one kind is cut off, the other is cut at the same time: the figures are those of one span.
      const from = new Date(Math.max(...found.map((one) => one.from.getTime())))
      const requests = found
        .flatMap((one) => one.requests)
        .filter(({ facts }) => Date.parse(facts.at) >= from.getTime())
        .sort((a, b) => (a.facts.at < b.facts.at ? -1 : 1))
      const tally = createTally(settings)
      const slice = createSlice()
      for (const request of requests) {
        tally.add(request)
        if (slice.isOver()) await slice.next()
      }
      return { ...tally.result(), from, to, isComplete: found.every((one) => one.isComplete) }
    },
  }

  async function readNewest(acting: Acting, kind: PreviewedKind, range: { from: Date; to: Date }) {
    const requests: PastRequest[] = []
    const slice = createSlice()
    let looked = 0
    let oldest = range.to
    for await (const decision of ledger.listDecisionsBetween(acting, { kind, ...range, isNewestFirst: true })) {
      looked += 1
      oldest = new Date(decision.entry.at)
      const facts = decision.facts()
      const past = facts === undefined ? undefined : pastFactsOf(facts)
      if (past !== undefined) requests.push({ kind, facts: past })
      if (looked === MAX_LOOKED) return { requests, from: oldest, isComplete: false }
      if (slice.isOver()) await slice.next()
    }
    return { requests, from: range.from, isComplete: true }
  }
}

/** undefined: recorded without what the kill switch is asked about. */
export function pastFactsOf(facts: Json): PastFacts | undefined {
  const isJudged = typeof facts === 'object' && facts !== null && 'kill_switch' in facts && 'reading' in facts
  if (!isJudged) return undefined
  const { kill_switch: _, ...kept } = facts as unknown as CheckFacts
  return kept
}

/** Requests are added in the order in which they were made. */
function createTally(settings: KillSwitch) {
  const looked = perKind()
  const refused = perKind()
  const reasons = new Map<CheckReason, number>()
  const traces = new Set<string>()
  const locked = new Set<string>()
  const families = new Map<string, FamilyTally>()
  const agents = new Map<string | null, Tally>()
  let heldByLocks = 0

  function add({ kind, facts }: PastRequest): void {
    looked[kind] += 1
    // A recorded lock is in force whatever the settings.
    const judged = judgeCheck({ ...facts, kill_switch: settings })
    const subject = facts.agent_session_id ?? facts.agent_id
    const isHeld = [facts.agent_session_id, facts.agent_id].some((name) => name !== null && locked.has(name))
    if (isHeld && facts.lock_id === null) heldByLocks += 1
    const isNewLock = judged.locks && subject !== null && !locked.has(subject)
    if (isNewLock) {
      locked.add(subject)
      // A lock on one session of an agent is in force for all of them.
      if (facts.agent_id !== null) locked.add(facts.agent_id)
    }
    const one = { refused: judged.allowed ? 0 : 1, locks: isNewLock ? 1 : 0 }
    refused[kind] += one.refused
    if (judged.reason !== null && !judged.allowed) reasons.set(judged.reason, (reasons.get(judged.reason) ?? 0) + 1)
    if (judged.tripped_by !== null) {
      traces.add(judged.tripped_by.trace_id)
      for (const family of judged.tripped_families) addTo(tallyOfFamily(family), one)
    }
    if (!judged.stale) {
      for (const family of judged.uncounted_families) tallyOfFamily(family).uncounted += 1
    }
    addTo(tallyOfAgent(facts.agent_id), one)
  }

  function tallyOfFamily(family: string): FamilyTally {
    const known = families.get(family) ?? { family, refused: 0, locks: 0, uncounted: 0 }
    families.set(family, known)
    return known
  }

  function tallyOfAgent(agentId: string | null): Tally {
    const known = agents.get(agentId) ?? { refused: 0, locks: 0 }
    agents.set(agentId, known)
    return known
  }

  function result(): Omit<KillSwitchPreview, 'from' | 'to' | 'isComplete'> {
    const ofAgents = [...agents].map(([agentId, tally]) => ({ agentId, ...tally }))
    return {
      looked,
      refused,
      reasons: [...reasons].map(([reason, count]) => ({ reason, refused: count })),
      trippedTraces: traces.size,
      locks: ofAgents.reduce((sum, one) => sum + one.locks, 0),
      heldByLocks,
      families: [...families.values()].sort((a, b) => (a.family < b.family ? -1 : 1)),
      agents: ofAgents
        .filter((one) => one.refused > 0)
        .sort((a, b) => b.refused - a.refused)
        .slice(0, MAX_AGENTS),
    }
  }

  return { add, result }
}

function addTo(tally: Tally, one: Tally): void {
  tally.refused += one.refused
  tally.locks += one.locks
}

function perKind(): Record<PreviewedKind, number> {
  return { trace_check: 0, inference: 0 }
}
