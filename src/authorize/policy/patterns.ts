// Regular expressions by RE2: time is linear in the text whatever the pattern. Time and memory are bounded by the size of
// the compiled pattern, which a counted repetition multiplies.

import { RE2JS } from 're2js'

export const MAX_PATTERN_LENGTH = 500
const MAX_PROGRAM = 1_000
// RE2 keeps the states of its automaton: 8 MB for each pattern unless told otherwise.
const MAX_CACHE_BYTES = 128 * 1024

export interface Pattern {
  /** Finds it anywhere in the text: anchors are the pattern's own. */
  test(text: string): boolean
  /** What a test of this text costs at most, in instructions times characters. */
  stepsOf(text: string): number
  programSize: number
}

/** @throws {Error} with a sentence for the author of the pattern. */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) throw new Error(`must have at most ${MAX_PATTERN_LENGTH} characters`)
  const expression = parse(source)
  const programSize = expression.programSize()
  if (programSize > MAX_PROGRAM) throw new Error('is too large: its counted repetitions multiply')
  const { dfa } = expression.re2()
  dfa.stateBudget = MAX_CACHE_BYTES
  dfa.memBudget = MAX_CACHE_BYTES
  return { test: (text) => expression.test(text), stepsOf: (text) => programSize * (text.length + 1), programSize }
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
