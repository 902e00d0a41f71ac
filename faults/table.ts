// A run as Markdown: its findings, the times of recoveries, and the missed bars.

import { type Finding, INVARIANTS, type Invariant } from './check.ts'
import { countDuplicates } from './check-deliveries.ts'
import type { Evidence } from './evidence.ts'
import { type Figures, percentile, RECOVERY_MS } from './figures.ts'
import { groupBy } from './group.ts'

export interface Report {
  findings: readonly Finding[]
  figures: Figures
  evidence: Evidence
  left: number
  loadMs: number
  drainMs: number
}

interface Row {
  what: string
  bar: string
  found: string
  /** undefined: there is no bar for it. */
  isReached: boolean | undefined
}

/** Whether every invariant holds and every measured bar is reached. */
export function isReached(report: Report): boolean {
  return report.findings.length === 0 && report.left === 0 && barRows(report).every((row) => row.isReached !== false)
}

export function toMarkdown(report: Report): string {
  return [
    table(['invariant', 'broken', 'what it says'], invariantRows(report)),
    table(['figure', 'bar', 'found', ''], barRows(report).map(cells)),
    table(['fault', 'times', 'what'], faultRows(report.evidence)),
  ].join('\n\n')
}

function invariantRows({ findings }: Report): string[][] {
  return (Object.keys(INVARIANTS) as Invariant[]).map((invariant) => {
    const count = findings.filter((finding) => finding.invariant === invariant).length
    return [invariant, String(count), INVARIANTS[invariant]]
  })
}

function barRows(report: Report): Row[] {
  const { figures, findings, evidence, left, loadMs, drainMs } = report
  const { taken } = countDuplicates(evidence)
  const { redisDown, attacked, unavailable, slowStarts, drains, killToRunMs } = figures
  const broken = findings.filter(({ invariant }) => invariant === 'I1' || invariant === 'I6').length
  const accepting = figures.postgresToAcceptMs.map(({ fromServingMs }) => fromServingMs)
  const slopes = figures.memorySlopes
  const steepest = (of: (slope: (typeof slopes)[number]) => number) =>
    `${Math.max(0, ...slopes.map(of)).toFixed(1)} MB per hour`
  return [
    {
      what: 'captures submitted / rows',
      bar: '>= 100,000 in the large form',
      found: `${count(figures.submitted)} / ${count(figures.accepted)} in ${seconds(loadMs)}, then ${seconds(drainMs)} until nothing was left`,
      isReached: undefined,
    },
    { what: 'lost, phantom, double', bar: '0', found: String(broken), isReached: broken === 0 },
    { what: 'jobs that did not end', bar: '0', found: String(left), isReached: left === 0 },
    {
      what: 'requests / tries repeated / tries without an answer',
      bar: '',
      found: `${count(figures.requests)} / ${count(figures.repeats)} / ${count(figures.unanswered)}`,
      isReached: undefined,
    },
    {
      what: 'answers by status',
      bar: '',
      found: Object.entries(figures.statuses)
        .map(([status, times]) => `${status}: ${count(times)}`)
        .join(', '),
      isReached: undefined,
    },
    {
      what: 'SIGKILL of a worker to the job running again, p99',
      bar: '<= 25 s',
      found: `${seconds(percentile(killToRunMs, 99))} (p50 ${seconds(percentile(killToRunMs, 50))}, ${killToRunMs.length} jobs)`,
      isReached: atMost(percentile(killToRunMs, 99), RECOVERY_MS),
    },
    {
      what: 'Redis back to the first job',
      bar: '<= 6 s',
      found: listed(figures.redisToJobMs),
      isReached: atMost(Math.max(...figures.redisToJobMs), 6_000),
    },
    {
      what: 'FLUSHALL: all that it held runs again',
      bar: '<= 60 s',
      found: listed(figures.flushToAllMs),
      isReached: atMost(Math.max(...figures.flushToAllMs), 60_000),
    },
    {
      what: 'Redis down: single submissions refused',
      bar: '0',
      found: `${redisDown.refused} of ${redisDown.calls}`,
      isReached: redisDown.calls === 0 ? undefined : redisDown.refused === 0,
    },
    {
      what: 'Redis down: p99 of a single submission',
      bar: 'calm + 10 %',
      found: `${millis(redisDown.p99Ms)}, calm ${millis(redisDown.calmP99Ms)}`,
      isReached: atMost(redisDown.p99Ms, redisDown.calmP99Ms * 1.1),
    },
    {
      what: 'another account attacks: single submissions refused',
      bar: '0',
      found: `${attacked.refused} of ${attacked.calls}`,
      isReached: attacked.calls === 0 ? undefined : attacked.refused === 0,
    },
    {
      what: 'another account attacks: p99 of a single submission',
      bar: 'I8: 5 s',
      found: `${millis(attacked.p99Ms)}, calm ${millis(attacked.calmP99Ms)}`,
      isReached: undefined,
    },
    {
      what: 'Postgres restarted: serving again to the first 2xx',
      bar: '<= 5 s',
      found: listed(accepting),
      isReached: atMost(Math.max(...accepting), 5_000),
    },
    {
      what: '503 / of them without Retry-After / other 5xx',
      bar: 'any / 0 / 0',
      found: `${unavailable.answers} / ${unavailable.withoutRetryAfter} / ${unavailable.other5xx}`,
      isReached: unavailable.withoutRetryAfter === 0 && unavailable.other5xx === 0,
    },
    {
      what: 'processes that booted while Postgres did not answer / that gave up',
      bar: 'any / 0',
      found: `${slowStarts.processes} / ${slowStarts.others}`,
      isReached: slowStarts.processes === 0 ? undefined : slowStarts.others === 0,
    },
    {
      what: 'SIGTERM under load: slowest of the processes / not ended in order / leases lapsed',
      bar: '<= 25 s / 0 / 0',
      found: `${seconds(drains.slowestMs)} of ${drains.processes} / ${drains.refused} / ${drains.lapses}`,
      isReached:
        drains.processes === 0 ? undefined : drains.slowestMs <= 25_000 && drains.refused + drains.lapses === 0,
    },
    {
      what: 'webhooks received / more than once after a 2xx',
      bar: '<= 0.1 % under faults, 0 without',
      found: `${count(figures.deliveries)} / ${figures.duplicates} (${((100 * figures.duplicates) / Math.max(1, taken)).toFixed(3)} %)`,
      isReached: figures.duplicates <= taken / (evidence.faults.length > 0 ? 1_000 : Number.POSITIVE_INFINITY),
    },
    {
      what: 'pictures that the detector saw / shown again after it had answered',
      bar: '',
      found: `${count(figures.looks.pictures)} / ${figures.looks.again}`,
      isReached: undefined,
    },
    { what: 'leases that lapsed', bar: '', found: String(figures.lapses), isReached: undefined },
    {
      what: 'oldest due job, p99 (of single submissions)',
      bar: '<= 1 s in a soak',
      found: `${figures.oldestDueP99Seconds.toFixed(1)} s (${figures.oldestDueInteractiveP99Seconds.toFixed(1)} s)`,
      isReached: evidence.faults.length > 0 ? undefined : figures.oldestDueP99Seconds <= 1,
    },
    {
      what: 'memory that stays, steepest slope of a process after ten minutes (resident)',
      bar: '<= 1 MB per hour in a soak of an hour',
      found:
        slopes.length === 0
          ? 'not measured'
          : `${steepest(({ live }) => live)} of ${slopes.length} (${steepest(({ resident }) => resident)})`,
      isReached: slopes.length === 0 ? undefined : slopes.every(({ live }) => live <= 1),
    },
  ]
}

function faultRows({ faults }: Evidence): string[][] {
  return [...groupBy(faults, ({ name }) => name)].map(([name, some]) => [
    name,
    String(some.length),
    [...new Set(some.map(({ detail }) => detail.slice(name.length).trim()))].join('; '),
  ])
}

// Nothing measured: neither reached nor missed.
function atMost(value: number, bar: number): boolean | undefined {
  return Number.isFinite(value) || value === Number.POSITIVE_INFINITY ? value <= bar : undefined
}

function cells({ what, bar, found, isReached: reached }: Row): string[] {
  return [what, bar, found, reached === undefined ? '' : reached ? 'reached' : '**missed**']
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function listed(values: readonly number[]): string {
  return values.length === 0 ? 'not measured' : values.map(seconds).join(', ')
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'not measured'
}

function millis(ms: number): string {
  return Number.isFinite(ms) ? `${Math.round(ms)} ms` : 'not measured'
}

function count(value: number): string {
  return value.toLocaleString('en')
}
