// What counts as isolation between tenants. Pure.

import { note, percentile, print, type Verdict } from '../harness.ts'
import type { Observed, Seen } from './steady.ts'

export const MAX_FACTOR = 2
/**
 * A smaller difference does not count. Two cores run the service, its stores, the attacker and the measuring process: a
 * request that arrives while both are in use waits for a few slices of the scheduler, which are 3 ms each.
 */
export const NOISE_MS = 10

/**
 * A line is missed where its samples show, with this chance of error, that more than one request in a hundred is beyond the
 * bar. Of a route with 6 to 35 samples these are two. A run judges 2,300 lines, so some are missed by chance: such a scenario is
 * played again, and a line counts as missed where these samples alone show the same.
 */
const ERROR = 0.05

export interface Compared {
  name: string
  calmMs: number
  attackedMs: number
  ratio: number
  /** Samples under attack that took longer than the bar allows. */
  beyond: number
  /** Samples of the calm phases, and under attack. */
  samples: [calm: number, attacked: number]
  /** When the scenario was played again. */
  again?: { beyond: number; samples: number }
  /** Answers under attack that no honest caller should get. */
  failures: string
  isReached: boolean
}

/**
 * Each name's p99 under attack against its p99 without, worst first. The calm phases of all scenarios of a run count
 * for each: they are the same, and a p99 needs a hundred samples.
 * @param again The samples of a second run of the scenario, if there was one.
 */
export function compareAll(calm: Observed, attacked: Observed, again: Observed = new Map()): Compared[] {
  const compared = [...attacked].map(([name, seen]): Compared => {
    const quiet = calm.get(name)?.latenciesMs ?? []
    const calmMs = percentile(quiet, 99)
    const attackedMs = percentile(seen.latenciesMs, 99)
    const ratio = attackedMs / calmMs
    const most = Math.max(MAX_FACTOR * calmMs, calmMs + NOISE_MS)
    // Also where the time without attack was never measured.
    const beyondOf = ({ latenciesMs }: Seen) => latenciesMs.filter((ms) => !(ms <= most)).length
    const holds = (one: Seen) => chanceOf(beyondOf(one), one.latenciesMs.length) >= ERROR
    const second = again.get(name)
    const failures = [seen, second].flatMap((one) =>
      Object.entries(one?.failures ?? {}).map(([what, times]) => `${times} x ${what}`),
    )
    return {
      name,
      calmMs,
      attackedMs,
      ratio,
      beyond: beyondOf(seen),
      samples: [quiet.length, seen.latenciesMs.length],
      ...(second && { again: { beyond: beyondOf(second), samples: second.latenciesMs.length } }),
      failures: failures.join(', '),
      isReached: failures.length === 0 && (holds(seen) || (second !== undefined && holds(second))),
    }
  })
  const rank = ({ ratio, isReached }: Compared) => (isReached ? 0 : 1e9) + ratio
  return compared.sort((left, right) => rank(right) - rank(left))
}

/** The chance that of `samples` requests at least `beyond` are, where one in a hundred is: the binomial distribution. */
function chanceOf(beyond: number, samples: number): number {
  let exactly = 0.99 ** samples
  let fewer = 0
  for (let count = 0; count < beyond; count += 1) {
    fewer += exactly
    exactly *= ((samples - count) / (count + 1)) * (0.01 / 0.99)
  }
  return 1 - fewer
}

/**
 * The p99 of all requests and deliveries under attack, each in relation to the calm p99 of its name, which counts as at
 * least `NOISE_MS`. One name has few samples in a scenario, so its p99 is its slowest; all together have thousands.
 */
export function ratioOfAll(calm: Observed, attacked: Observed): number {
  const ratios = [...attacked].flatMap(([name, { latenciesMs }]) => {
    const calmMs = percentile(calm.get(name)?.latenciesMs ?? [], 99)
    return latenciesMs.map((ms) => ms / Math.max(calmMs, NOISE_MS))
  })
  return percentile(ratios, 99)
}

export function merge(all: readonly Observed[]): Observed {
  const merged: Observed = new Map()
  for (const observed of all) {
    for (const [name, { latenciesMs, failures }] of observed) {
      const seen = merged.get(name) ?? { latenciesMs: [], failures: {} }
      seen.latenciesMs.push(...latenciesMs)
      for (const [what, times] of Object.entries(failures)) seen.failures[what] = (seen.failures[what] ?? 0) + times
      merged.set(name, seen)
    }
  }
  return merged
}

const WORST_RECORDED = 4

/** Prints every route of a scenario, worst first; the verdict names the worst. */
export function judgeScenario(
  name: string,
  compared: readonly Compared[],
  { rate, ofAll }: { rate: string; ofAll: number },
): Verdict {
  for (const one of compared) print(`  ${describeOne(one)}`)
  const missed = compared.filter(({ isReached }) => !isReached)
  const worst = compared.slice(0, Math.max(1, Math.min(WORST_RECORDED, missed.length))).map(describeOne)
  const isReached = missed.length === 0 && ofAll <= MAX_FACTOR
  const slow = compared.filter(({ beyond }) => beyond > 0).length
  const line =
    `${rate}; all requests together ${ofAll.toFixed(2)} (bar <= ${MAX_FACTOR} x${isReached ? '' : ', missed'}), ` +
    `${missed.length === 0 ? 'all' : `${compared.length - missed.length} of`} ${compared.length} reached, ` +
    `${slow} with a request beyond; worst: ${worst.join('; ')}`
  return { ...note(`neighbours, ${name}`, line), isReached }
}

function describeOne(compared: Compared): string {
  const { name, calmMs, attackedMs, ratio, beyond, samples, again, failures, isReached } = compared
  const repeated = again === undefined ? '' : `, again ${again.beyond} of ${again.samples}`
  const figures = `${ratio.toFixed(2)} (${ms(calmMs)} to ${ms(attackedMs)}; ${beyond} of ${samples[1]} beyond${repeated}, ${samples[0]} calm)`
  return `${name} ${figures}${failures === '' ? '' : `; failed: ${failures}`}${isReached ? '' : ' missed'}`
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`
}
