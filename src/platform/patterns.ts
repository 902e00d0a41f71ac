// Regular expressions of RE2, whose time is linear in the text whatever the pattern. What depends on the pattern is bounded
// by its weight: time and memory grow with the compiled program, and counted repetitions multiply it. The library compiles
// them; they run here (automaton.ts), so that what a run costs is counted.

import { RE2JS } from 're2js'
import { createAutomaton, type StepBudget } from './automaton.ts'

const MAX_PATTERN_LENGTH = 500
/** Weight of one pattern: 150 take a millisecond to compile. */
const MAX_PATTERN_WEIGHT = 1_000
const UNICODE_CLASS_WEIGHT = 10
const MAX_KEPT = 256

export interface Pattern {
  /** Finds it anywhere in the text: anchors are the pattern's own. */
  test(text: string): boolean
  /** The same, as far as the budget goes: undefined where it does not suffice. The same text always takes the same steps. */
  testWithin(budget: StepBudget, text: string): boolean | undefined
  /** How large a test of this text is before it runs: instructions times characters. */
  stepsOf(text: string): number
}

// A document is checked, compiled and analyzed with the same patterns. The oldest go first.
const kept = new Map<string, Pattern>()

/** @throws {Error} with a sentence for the author of the pattern. */
export function compilePattern(source: string): Pattern {
  const known = kept.get(source)
  if (known !== undefined) return known
  if (source.length > MAX_PATTERN_LENGTH) throw new Error(`must have at most ${MAX_PATTERN_LENGTH} characters`)
  if (weighPattern(source) > MAX_PATTERN_WEIGHT) throw new Error('is too large: its counted repetitions multiply')
  const expression = parse(source)
  const size = expression.programSize()
  const automaton = createAutomaton(expression.re2().prog)
  const pattern: Pattern = {
    test: (text) => automaton.run(text, { steps: Number.POSITIVE_INFINITY }) === true,
    testWithin: (budget, text) => automaton.run(text, budget),
    stepsOf: (text) => size * (text.length + 1),
  }
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(source, pattern)
  return pattern
}

// What may stand for one thing that is matched: an escape with its braces, a class, a quotation, or a character.
const ATOM = /\\[pPx]\{[^}]*\}|\\[pP].|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g

/** How many things a pattern matches once its counted repetitions are written out. Cheap: nothing is compiled. */
export function weighPattern(source: string): number {
  const groups: { weight: number; last: number }[] = []
  let here = { weight: 0, last: 0 }
  const add = (weight: number) => {
    here.weight += weight
    here.last = weight
  }
  for (const [atom] of source.matchAll(ATOM)) {
    const counts = /^\{(\d+)(?:,(\d*))?\}$/.exec(atom)
    if (counts !== null) {
      const times = Math.max(Number(counts[1]), Number(counts[2] ?? 0), 1)
      here.weight += here.last * (times - 1)
      here.last *= times
    } else if (atom === '(') {
      groups.push(here)
      here = { weight: 0, last: 0 }
    } else if (atom === ')') {
      const { weight } = here
      here = groups.pop() ?? { weight: 0, last: 0 }
      add(weight + 1)
    } else add(/\\[pP]/.test(atom) ? UNICODE_CLASS_WEIGHT : 1)
  }
  return groups.reduce((sum, { weight }) => sum + weight, here.weight)
}

function parse(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    throw new Error(`is no regular expression of RE2 (${cause instanceof Error ? cause.message : 'unknown'})`, {
      cause,
    })
  }
}
