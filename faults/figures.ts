// The measurements of a run, from the same evidence as the verdict. Times are milliseconds unless a name says
// otherwise.

import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { attackedOnly } from './check-answers.ts'
import { countDuplicates } from './check-deliveries.ts'
import { countLooks } from './check-screenings.ts'
import type { Evidence, Step } from './evidence.ts'
import { groupBy } from './group.ts'
import type { Answered, Injected, Weighed } from './journal.ts'

export interface Figures {
  submitted: number
  accepted: number
  requests: number
  repeats: number
  unanswered: number
  statuses: Record<string, number>
  deliveries: number
  duplicates: number
  looks: ReturnType<typeof countLooks>
  lapses: number
  /** From SIGKILL, or death at a fail point, until the job runs again: each job. */
  killToRunMs: number[]
  /** From each return of Redis to the first job that ran. */
  redisToJobMs: number[]
  /** Time from each FLUSHALL until the last of the jobs that it deleted ran. */
  flushToAllMs: number[]
  redisDown: { calls: number; refused: number; p99Ms: number; calmP99Ms: number }
  /** Single submissions while another account attacked. */
  attacked: { calls: number; refused: number; p99Ms: number; calmP99Ms: number }
  /** Each restart: from its beginning, and from the moment that Postgres served again, to the first 2xx. */
  postgresToAcceptMs: { fromStartMs: number; fromServingMs: number }[]
  unavailable: { answers: number; withoutRetryAfter: number; other5xx: number }
  /** Processes that booted while a store did not answer, and more that took their place. */
  slowStarts: { processes: number; others: number }
  drains: { slowestMs: number; refused: number; processes: number; lapses: number }
  oldestDueInteractiveP99Seconds: number
  oldestDueP99Seconds: number
  /** MB per hour by which each long-lived process grew: live memory, and resident memory. */
  memorySlopes: { process: string; live: number; resident: number }[]
}

// In its first minutes a process compiles its code and fills its caches, and a slope of less than ten more says
// nothing.
const WARM_MS = 600_000
const LONG_ENOUGH_MS = 600_000
/** The bar of a killed worker's jobs. */
export const RECOVERY_MS = 25_000

export function measure(evidence: Evidence): Figures {
  const { asked, answered, unanswered, attestations, steps, faults, samples, received } = evidence
  const statuses: Record<string, number> = {}
  for (const { status } of answered) statuses[status] = (statuses[status] ?? 0) + 1
  const captures = new Set(
    asked.filter(({ count }) => count > 0).map(({ prefix, first, count }) => `${prefix} ${first} ${count}`),
  )
  const interactive = samples.map(({ oldestDueInteractive }) => oldestDueInteractive)
  return {
    submitted: [...captures].reduce((sum, one) => sum + Number(one.split(' ')[2]), 0),
    accepted: attestations.length,
    requests: asked.length,
    // A request that was asked when the load ended may have no answer of either kind.
    repeats: answered.length + unanswered.length - new Set([...answered, ...unanswered].map(({ n }) => n)).size,
    unanswered: unanswered.length,
    statuses,
    deliveries: received.length,
    duplicates: countDuplicates(evidence).duplicates,
    looks: countLooks(evidence),
    lapses: steps.filter(({ isLapse }) => isLapse).length,
    killToRunMs: recoveriesOf(evidence),
    redisToJobMs: named(faults, 'redis-kill').flatMap(({ until }) => firstRunAfter(steps, until)),
    flushToAllMs: named(faults, 'redis-flush').flatMap((fault) => allAgain(steps, fault)),
    redisDown: whileRedisIsDown(evidence),
    attacked: whileAttacked(evidence),
    postgresToAcceptMs: named(faults, 'postgres-restart').flatMap((fault) => firstAccepted(evidence, fault)),
    unavailable: {
      answers: answered.filter(({ status }) => status === 503).length,
      withoutRetryAfter: answered.filter(({ status, retryAfter }) => status === 503 && retryAfter === null).length,
      other5xx: answered.filter(({ status }) => status >= 500 && status !== 503).length,
    },
    slowStarts: {
      processes: named(faults, 'slow-start').length,
      others: named(faults, 'slow-start').reduce((sum, one) => sum + (one.figures.starts ?? 0) - 1, 0),
    },
    drains: drainsOf(evidence),
    oldestDueInteractiveP99Seconds: percentile(interactive, 99),
    oldestDueP99Seconds: percentile(
      samples.map(({ oldestDue }) => oldestDue),
      99,
    ),
    memorySlopes: slopesOf(evidence),
  }
}

/** Nearest rank; NaN of nothing. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}

function named(faults: readonly Injected[], name: string): Injected[] {
  return faults.filter((fault) => fault.name === name)
}

// The jobs that ran when a worker was killed and that were not settled before they ran once more. The death at a fail
// point has no recorded time: there the expired lease itself names the jobs, and the last lease the time. Where a store was
// taken away before the leases of a killed worker had lapsed, the time is that of two faults.
function recoveriesOf({ steps, faults }: Evidence): number[] {
  const taken = faults.filter(({ name }) => /^(?:redis|postgres|link)/.test(name))
  const isAlone = ({ at }: Injected) => !taken.some((other) => other.until > at && other.at < at + RECOVERY_MS)
  const kills = faults
    .filter(({ detail }) => QUEUE_NAMES.some((queue) => detail.startsWith(`kill ${queue}`)))
    .filter(isAlone)
  const found: number[] = []
  for (const trail of groupBy(steps, ({ id }) => id).values()) {
    if (!trail.some(({ fence }) => fence > 1)) continue
    for (const { at } of kills) {
      const index = trail.findLastIndex((step) => step.at <= at)
      const held = trail[index]
      if (held?.state !== 'running') continue
      const next = trail[index + 1]
      const isOrphan = next !== undefined && (next.isLapse || next.state === 'running')
      const again = trail.find((step) => step.at > at && step.state === 'running')
      if (isOrphan && again !== undefined) found.push(again.at - at)
    }
  }
  return found
}

function firstRunAfter(steps: readonly Step[], at: number): number[] {
  const first = steps.find((step) => step.at > at && step.state === 'running')
  return first === undefined ? [] : [first.at - at]
}

function allAgain(steps: readonly Step[], { at }: Injected): number[] {
  const again: number[] = []
  for (const trail of groupBy(steps, ({ id }) => id).values()) {
    const held = trail.findLast((step) => step.at <= at)
    if (held?.state !== 'dispatched') continue
    const next = trail.find((step) => step.at > at && step.state === 'running')
    again.push((next?.at ?? Number.POSITIVE_INFINITY) - at)
  }
  return again.length === 0 ? [] : [Math.max(...again)]
}

function whileRedisIsDown(evidence: Evidence): Figures['redisDown'] {
  const down = named(evidence.faults, 'redis-kill')
  return singlesWhile(evidence, (from, to) => down.some((fault) => from > fault.at && to < fault.until))
}

function whileAttacked(evidence: Evidence): Figures['attacked'] {
  return singlesWhile(evidence, attackedOnly(evidence.faults))
}

/** Single submissions whose whole time lies within one of the spans, beside those of calm times. */
function singlesWhile({ asked, answered, faults }: Evidence, isThen: (from: number, to: number) => boolean) {
  // Callers who wait for the result wait for the engine too, as they asked to.
  const prompt = new Set(asked.filter(({ op, wait }) => op === 'attest' && wait === 0).map(({ n }) => n))
  const calls = answered.filter(({ n }) => prompt.has(n))
  const began = ({ at, ms }: Answered) => at - ms
  const then = calls.filter((call) => isThen(began(call), call.at))
  const calm = calls.filter(
    (call) => !faults.some(({ at, until }) => call.at > at - 1_000 && began(call) < until + 5_000),
  )
  const times = (some: readonly Answered[]) => some.map(({ ms }) => ms)
  return {
    calls: then.length,
    refused: then.filter(({ status }) => status >= 300).length,
    p99Ms: percentile(times(then), 99),
    calmP99Ms: percentile(times(calm), 99),
  }
}

function firstAccepted(
  { asked, answered }: Evidence,
  { at, until }: Injected,
): { fromStartMs: number; fromServingMs: number }[] {
  const submissions = new Set(asked.filter(({ op }) => op === 'attest' || op === 'batch').map(({ n }) => n))
  const good = answered.filter(({ n, status }) => submissions.has(n) && status < 300)
  // Work committed just before may still be answered: take the first request sent after it began.
  const first = good.filter((answer) => answer.at - answer.ms > at || answer.at > until).map((answer) => answer.at)
  if (first.length === 0) return []
  const earliest = Math.min(...first)
  return [{ fromStartMs: earliest - at, fromServingMs: Math.max(0, earliest - until) }]
}

function drainsOf({ faults, steps }: Evidence): Figures['drains'] {
  const rolls = named(faults, 'rolling')
  const sum = (key: string) => rolls.reduce((total, { figures }) => total + (figures[key] ?? 0), 0)
  return {
    slowestMs: Math.max(0, ...rolls.map(({ figures }) => figures.slowestMs ?? 0)),
    refused: sum('refused'),
    processes: sum('processes'),
    lapses: lapsesOf(steps, faults, rolls),
  }
}

/** Leases that expired although nothing but a rolling deployment came between lease and expiry. */
function lapsesOf(steps: readonly Step[], faults: readonly Injected[], rolls: readonly Injected[]): number {
  let lapses = 0
  for (const trail of groupBy(steps, ({ id }) => id).values()) {
    for (const [index, step] of trail.entries()) {
      const claimed = trail[index - 1]
      if (!step.isLapse || claimed === undefined) continue
      const between = faults.filter(({ at, until }) => at < step.at && until > claimed.at)
      if (between.length > 0 && between.every((fault) => rolls.includes(fault))) lapses += 1
    }
  }
  return lapses
}

function slopesOf({ weights }: Evidence): Figures['memorySlopes'] {
  return [...groupBy(weights, ({ process }) => process)].flatMap(([process, all]) => {
    const from = all[0]?.at ?? 0
    const warm = all.filter(({ at }) => at > from + WARM_MS)
    const livedMs = (all.at(-1)?.at ?? 0) - from
    if (livedMs < WARM_MS + LONG_ENOUGH_MS) return []
    const slopeOf = (bytes: (entry: Weighed) => number) =>
      slope(warm.map((entry) => ({ at: entry.at, bytes: bytes(entry) })))
    return [{ process, live: slopeOf(({ live }) => live), resident: slopeOf(({ rss }) => rss) }]
  })
}

/** Least squares, in MB per hour. */
function slope(points: readonly { at: number; bytes: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const hours = points.map(({ at }) => (at - (points[0]?.at ?? 0)) / 3_600_000)
  const mb = points.map(({ bytes }) => bytes / 1e6)
  const [meanHours, meanMb] = [mean(hours), mean(mb)]
  const over = hours.reduce((sum, hour, index) => sum + (hour - meanHours) * ((mb[index] ?? 0) - meanMb), 0)
  const under = hours.reduce((sum, hour) => sum + (hour - meanHours) ** 2, 0)
  return under === 0 ? 0 : over / under
}
