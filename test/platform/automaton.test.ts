// The automaton against the engines of the library, which compiles the programs: generated patterns over generated texts.

import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { createAutomaton } from '#src/platform/automaton.ts'

const atom = fc.constantFrom(
  ...[
    'a',
    'b',
    'k',
    '.',
    '(?s).',
    '[ab]',
    '[^a]',
    '[k-m]',
    'é',
    '\\d',
    '\\w',
    '\\W',
    '\\s',
    '\\p{L}',
    '\\n',
    '(?i)k',
    '(?i)s',
  ],
  ...['\\b', '\\B', '^', '$', '\\A', '\\z', '(?m)^', '(?m)$', '\\x{1F600}', '[\\x{D800}-\\x{DFFF}]', '', '(?:a{0,4}b)'],
)
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map(([first, second]) => `${first}${second}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,3}', '{1,}'))
      .map(([repeated, count]) => `(?:${repeated})${count}`),
  ),
}))
// Letters of both cases and their Unicode folds, halves of a surrogate pair, and what assertions look at.
const CHARACTERS = [...'abkAK sS1_zé', '\n', '\u212a', '\u017f', '😀', '\ud83d', '\ude00']
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 }).map((characters) => characters.join(''))

const RUNS = { numRuns: 3_000 }
const PLENTY = 1e9

const automatonOf = (source: string) => createAutomaton(RE2JS.compile(source).re2().prog)

function run(automaton: ReturnType<typeof automatonOf>, searched: string, most = PLENTY) {
  const budget = { steps: most }
  const isMatch = automaton.run(searched, budget)
  return { isMatch, steps: most - budget.steps }
}

describe('the automaton of a pattern', () => {
  it('finds what the library finds', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 4 }), (source, texts) => {
        const automaton = automatonOf(source)
        const found = texts.map((one) => run(automaton, one).isMatch)
        const expression = RE2JS.compile(source)
        expect(found).toEqual(texts.map((one) => expression.test(one)))
      }),
      RUNS,
    )
  })

  it('takes the same steps for a text, whichever texts came before', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { maxLength: 4 }), text, (source, others, one) => {
        const used = automatonOf(source)
        for (const other of others) run(used, other)
        expect(run(used, one)).toEqual(run(automatonOf(source), one))
      }),
      RUNS,
    )
  })

  it('stops where the budget ends, and answers with exactly as much as it takes', () => {
    const automaton = automatonOf('\\b(?:[ab]*a){10}[ab]{36}[cd]')
    const searched = 'abba'.repeat(250)
    const { isMatch, steps } = run(automaton, searched)
    expect(isMatch).toBe(false)
    expect(run(automaton, searched, steps)).toEqual({ isMatch, steps })
    expect(run(automaton, searched, steps - 1).isMatch).toBeUndefined()
    const [most, ofOneCharacter] = [1_000, 500]
    expect(run(automaton, searched, most)).toMatchObject({ isMatch: undefined })
    expect(run(automaton, searched, most).steps).toBeLessThan(most + ofOneCharacter)
  })

  it('takes hardly more than a step for a character with which nothing begins', () => {
    const searched = 'pay the invoice of the garage '.repeat(50)
    for (const source of ['(?i)\\b(bitcoin|crypto)\\b', '^DE[0-9]{20}$', '[0-9]{13,19}', '\\p{Cyrillic}']) {
      expect(run(automatonOf(source), searched).steps).toBeLessThan(1.5 * searched.length)
    }
  })
})
