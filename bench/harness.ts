// Runs the floor and ours in turns (A B A B ...), so that a machine whose speed drifts slows both: the ratio counts,
// absolute figures are a note.

import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

export interface Options {
  /** A smoke run of seconds: sizes are small, and its figures are meaningless. */
  isQuick: boolean
  /** Measured runs of each side, after one warm-up. */
  rounds: number
  /** The folder in which every started process leaves a CPU profile. */
  profileDirectory?: string | undefined
  /** The only part to run, of a benchmark that has parts. */
  part?: string | undefined
}

export interface Bench {
  measures: string
  floor: string
  bar: string
  /** The parts that can be run alone. */
  parts?: readonly string[]
  run(options: Options): Promise<Verdict[]>
}

/** One measured run: a rate (higher is better) or a time (lower is better), in the unit that the benchmark names. */
export type Measure = () => Promise<number>

interface Comparison {
  name: string
  unit: string
  floor: { label: string; run: Measure }
  ours: { label: string; run: Measure }
  /** The least ratio ours/floor; for times, the greatest. */
  bar: number
  isTime?: boolean
  rounds?: number
}

export interface Verdict {
  name: string
  line: string
  isReached: boolean
}

/** Warms both up once, then runs them in turns and prints medians, ranges and the ratio. */
export async function compare(comparison: Comparison): Promise<Verdict> {
  const { floor, ours, rounds = 3 } = comparison
  const floors: number[] = []
  const own: number[] = []
  await floor.run()
  await ours.run()
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await floor.run())
    own.push(await ours.run())
  }
  return judgeRatio({ ...comparison, floors, own })
}

/** The verdict on runs that were measured in turns: the median of each round's ratio. */
export function judgeRatio({
  name,
  unit,
  floor,
  ours,
  bar,
  isTime = false,
  floors,
  own,
}: Omit<Comparison, 'floor' | 'ours' | 'rounds'> & {
  floor: { label: string }
  ours: { label: string }
  floors: readonly number[]
  own: readonly number[]
}): Verdict {
  const ratio = median(own.map((value, round) => value / (floors[round] ?? Number.NaN)))
  const isReached = isTime ? ratio <= bar : ratio >= bar
  return told({
    name,
    isReached,
    line:
      `${ours.label} ${describe(own, unit)}; floor ${floor.label} ${describe(floors, unit)}; ` +
      `ratio ${ratio.toFixed(2)} (bar ${isTime ? '<=' : '>='} ${bar}${isReached ? '' : ', missed'})`,
  })
}

/** The verdict on figures that have their own limit. */
export function judgeLimit(limit: {
  name: string
  label: string
  unit: string
  values: readonly number[]
  max: number
  /** For the record. */
  beside?: string
}): Verdict {
  const { name, label, unit, values, max, beside } = limit
  const isReached = median(values) <= max
  return told({
    name,
    isReached,
    line: `${label} ${describe(values, unit)} (bar <= ${max} ${unit}${isReached ? '' : ', missed'})${beside === undefined ? '' : `; ${beside}`}`,
  })
}

/** Figures that were judged where they were made; the line says their bar. */
export function judged(name: string, line: string, isReached: boolean): Verdict {
  return told({ name, line: `${line}${isReached ? '' : ', missed'}`, isReached })
}

/** A figure for the record, without a bar. */
export function note(name: string, line: string): Verdict {
  return told({ name, line, isReached: true })
}

/** Of an even number of values the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[sorted.length / 2 - 1] ?? Number.NaN) + upper) / 2
}

/** The p-th percentile (0 to 100), nearest rank. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN
}

/** `median unit (smallest to largest)`. */
export function describe(values: readonly number[], unit: string): string {
  const round = (value: number) => (Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))
  return `${round(median(values))} ${unit} (${round(Math.min(...values))} to ${round(Math.max(...values))})`
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Writes a dated section with the machine and the command into bench/README.md, in the place of the last one. */
export function record(name: string, lines: readonly string[]): void {
  const [cpu] = cpus()
  const machine = `${cpus().length} cores${cpu === undefined ? '' : ` (${cpu.model.trim()})`}, ${Math.round(totalmem() / 2 ** 30)} GiB, kernel ${release()}`
  const head = `### ${name}: ${new Date().toISOString().slice(0, 10)}`
  const body = lines.map((line) => `- ${line}`).join('\n')
  const section = `${head}\n\n\`npm run bench -- ${name}\` on ${machine}, Node ${process.versions.node}\n\n${body}\n`
  const file = new URL('./README.md', import.meta.url)
  writeFileSync(file, withRecord(readFileSync(file, 'utf8'), name, section))
}

/**
 * Replaces the section of the same benchmark, so that the file holds the newest figures and no history. A whole run
 * replaces the sections of its parts too; a part leaves the whole run as it is.
 */
export function withRecord(text: string, name: string, section: string): string {
  const [before = '', ...sections] = text.split(/^(?=### )/m)
  // `### name: date` is the benchmark itself, `### name:part: date` a part of it.
  const kept = sections.filter((other) => !other.startsWith(`### ${name}:`))
  return [before, ...kept]
    .map((part) => part.trimEnd())
    .concat(section)
    .join('\n\n')
}

function told(verdict: Verdict): Verdict {
  print(`${verdict.name}: ${verdict.line}`)
  return verdict
}
