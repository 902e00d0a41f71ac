// What counts as isolation between tenants. Pure.

import { note, percentile, print, type Verdict } from '../harness.ts'
import type { Observed } from './steady.ts'

/** The name under which the times of deliveries are kept, beside those of routes. */
export const DELIVERIES = 'webhook, from event to receipt'

/**
 * On two cores the attacker may have its fair share of the processors, which makes each wait for one up to twice as long, and a
 * request waits for several processes in turn. A higher factor means that requests wait for the attacker's work itself.
 */
export const MAX_FACTOR = 3

export interface Compared {
  calmMs: number
  attackedMs: number
  ratio: number
  /** Samples of the calm phases, and under attack. */
  samples: [calm: number, attacked: number]
}

/** The p99 under attack against the p99 without. NaN, which is no ratio within a bar, where either was never measured. */
export function compareP99(calm: readonly number[], attacked: readonly number[]): Compared {
  const [calmMs, attackedMs] = [percentile(calm, 99), percentile(attacked, 99)]
  return { calmMs, attackedMs, ratio: attackedMs / calmMs, samples: [calm.length, attacked.length] }
}

/**
 * Prints every line of a scenario, slowest first: a line has a few samples, whose p99 is their slowest, so it is not judged. All requests
 * together and all deliveries are.
 */
export function judgeScenario(
  name: string,
  { calm, attacked, rate }: { calm: Observed; attacked: Observed; rate: string },
): Verdict {
  const lines = [...attacked].map(([line, { latenciesMs }]) => ({
    line,
    ...compareP99(calm.get(line)?.latenciesMs ?? [], latenciesMs),
  }))
  for (const one of lines.toSorted((left, right) => right.ratio - left.ratio)) print(`  ${one.line} ${describe(one)}`)
  const requests = compareP99(requestsOf(calm), requestsOf(attacked))
  const deliveries = compareP99(calm.get(DELIVERIES)?.latenciesMs ?? [], attacked.get(DELIVERIES)?.latenciesMs ?? [])
  const failures = failuresOf(attacked)
  const isReached = requests.ratio <= MAX_FACTOR && deliveries.ratio <= MAX_FACTOR && failures.length === 0
  const line =
    `${rate}; p99 of all requests ${describe(requests)}, of deliveries ${describe(deliveries)} ` +
    `(bar <= ${MAX_FACTOR} x${isReached ? '' : ', missed'})${failures.length === 0 ? '' : `; failed: ${failures.join('; ')}`}`
  return { ...note(`neighbours, ${name}`, line), isReached }
}

/** Answers that no honest caller should get, by line. */
export function failuresOf(observed: Observed): string[] {
  return [...observed].flatMap(([line, { failures }]) =>
    Object.entries(failures).map(([what, times]) => `${line}: ${times} x ${what}`),
  )
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

function requestsOf(observed: Observed): number[] {
  return [...observed].flatMap(([line, { latenciesMs }]) => (line === DELIVERIES ? [] : latenciesMs))
}

function describe({ calmMs, attackedMs, ratio, samples }: Compared): string {
  return `${ratio.toFixed(2)} x (${ms(calmMs)} to ${ms(attackedMs)}; ${samples[0]} calm, ${samples[1]} attacked)`
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`
}
