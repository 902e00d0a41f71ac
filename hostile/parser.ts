// The declaration of every parser of the table, and how a number of cases is run through it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dice, diceOf } from './random.ts'

export interface Parser {
  name: string
  /** Its file. */
  source: string
  /**
   * `thread`: processor time of one case on the thread that serves all requests. `wall`: for work in another
   * thread or process, from question to answer.
   */
  limit: { kind: 'thread' | 'wall'; ms: number }
  /** A case. The same dice make the same case. */
  make(dice: Dice): Buffer
  /**
   * `accepted`, or the code of the refusal. Anything it throws is a failure: a crash, an unknown code, or a property
   * that does not hold.
   */
  run(input: Buffer): string | Promise<string>
  /** Every code that a refusal may have. */
  refusals: readonly string[]
}

export interface Failed {
  index: number
  why: string
  /** The start of the input in base64, to inspect it without running it again. */
  input: string
}

export interface Report {
  name: string
  cases: number
  outcomes: Record<string, number>
  slowestMs: number
  slowestIndex: number
  failures: Failed[]
}

export interface Cases {
  seed: number
  from: number
  count: number
}

const SHOWN_BYTES = 1_500
const MAX_FAILURES = 20
const TURN_EVERY = 50
// Every test run detects hangs only: a machine that shares its cores and its caches makes sound cases several times
// slower. The large form, run for its figures, holds each case to its limit.
const SLACK = process.env.HOSTILE === undefined ? 10 : 1

/** @param onCase Called before each case, with its index. */
export async function runCases(
  parser: Parser,
  { seed, from, count }: Cases,
  onCase: (index: number) => void = () => {},
): Promise<Report> {
  const report: Report = { name: parser.name, cases: 0, outcomes: {}, slowestMs: 0, slowestIndex: from, failures: [] }
  for (let index = from; index < from + count && report.failures.length < MAX_FAILURES; index += 1) {
    onCase(index)
    // The parent process may have ended, which is only noticed between turns.
    if (index % TURN_EVERY === 0) await nextTurn()
    const input = parser.make(diceOf(seed, parser.name, index))
    note(report, await runCase(parser, input), index, input)
  }
  return report
}

export interface Ran {
  outcome: string | undefined
  ms: number
  why?: string
}

export async function runCase(parser: Parser, input: Buffer): Promise<Ran> {
  const { limit, refusals } = parser
  const clock = limit.kind === 'thread' ? threadMs : () => performance.now()
  const startedAt = clock()
  try {
    const outcome = await parser.run(input)
    const ms = clock() - startedAt
    if (outcome !== 'accepted' && !refusals.includes(outcome)) {
      return { outcome, ms, why: `an unknown refusal: ${outcome.slice(0, 300)}` }
    }
    const limitMs = limit.ms * SLACK
    if (ms > limitMs) return { outcome, ms, why: `took ${Math.round(ms)} ms, its limit is ${limitMs} (${limit.kind})` }
    return { outcome, ms }
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { outcome: undefined, ms: clock() - startedAt, why: why.slice(0, 2_000) }
  }
}

export function note(report: Report, { outcome, ms, why }: Ran, index: number, input: Buffer): void {
  report.cases += 1
  if (outcome !== undefined) report.outcomes[outcome] = (report.outcomes[outcome] ?? 0) + 1
  if (ms > report.slowestMs) Object.assign(report, { slowestMs: ms, slowestIndex: index })
  if (why !== undefined) report.failures.push({ index, why, input: input.subarray(0, SHOWN_BYTES).toString('base64') })
}

/** What a person needs to repeat the case. */
export function describeFailures({ name, failures }: Report, seed: number): string[] {
  return failures.map(({ index, why, input }) => `${name}, seed ${seed}, index ${index}: ${why}\n  input: ${input}`)
}

export function hold(condition: boolean, property: string): asserts condition {
  if (!condition) throw new Error(`does not hold: ${property}`)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
