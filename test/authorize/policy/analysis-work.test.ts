// How much the analysis does between two turns of the event loop, and in all. Counted and not timed: turns, comparisons of
// decimals, and steps of patterns.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Decimal } from 'decimal.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { analyzePolicy } from '#src/authorize/policy/analyze.ts'
import { compilePattern } from '#src/platform/patterns.ts'
import { documentOf } from './policy-vectors.ts'

const x = (op: string, value: unknown) => ({ field: 'context.x', op, value })
const deny = (id: string, when: unknown, members: object = {}) => ({ id, when, require: { deny: true }, ...members })
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the analysis', () => {
  it('of a rule of 1,000 numbers pauses within the rule, and is complete after a few turns', async () => {
    const rules = [deny('a', x('in', upTo(1_000)))]
    const { turns, isComplete } = await analyze(rules)
    // One turn ends each rule.
    expect(turns).toBeGreaterThan(1)
    expect(turns).toBeLessThan(20)
    expect(isComplete).toBe(true)
  })

  it('of decimals that are equal as doubles compares a few for each turn, and in proportion to their number', async () => {
    const compare = vi.spyOn(Decimal.prototype, 'cmp')
    const comparisonsOf = async (count: number) => {
      compare.mockClear()
      const values = upTo(count).map((n) => `1.${String((n * 7) % 10_007).padStart(39, '0')}`)
      const { most } = await analyze([deny('a', x('in', values))], () => compare.mock.calls.length)
      return { most, all: compare.mock.calls.length }
    }
    const [some, more] = [await comparisonsOf(200), await comparisonsOf(400)]
    expect(some.all).toBeGreaterThan(0)
    expect(more.all).toBeLessThan(3 * some.all)
    // Sorting compares each some ten times, and nothing interrupts it.
    expect(more.most).toBeLessThan(20 * 400)
  })

  it('of 1,000 short texts and 200 patterns runs at most 5 ms of patterns for each turn, and is complete', async () => {
    const { rules, countSteps } = listAndPatterns('abc')
    const { turns, most, isComplete } = await analyze(rules, countSteps)
    expect(isComplete).toBe(true)
    expect(countSteps()).toBeGreaterThan(STEPS_OF_200_MS)
    expect(most).toBeLessThan(STEPS_OF_5_MS)
    expect(turns).toBeGreaterThan(countSteps() / STEPS_OF_5_MS)
  })

  it('of 1,000 long texts and 200 patterns ends when it costs too much, and says so', async () => {
    const { rules, countSteps } = listAndPatterns('abc'.repeat(300))
    const { most, isComplete } = await analyze(rules, countSteps)
    expect(isComplete).toBe(false)
    expect(most).toBeLessThan(STEPS_OF_5_MS)
    expect(countSteps()).toBeGreaterThan(STEPS_OF_200_MS)
    expect(countSteps()).toBeLessThan(25 * STEPS_OF_200_MS)
  })

  it('leaves out a pattern that costs too much on one text, and says so', async () => {
    const source = `(ab?c?){150}$`
    const all = (text: string) => [deny('a', { all: [x('eq', text), x('matches', source)] })]
    expect(compilePattern(source).stepsOf('x'.repeat(900))).toBeGreaterThan(STEPS_OF_5_MS)
    expect(await analyze(all('x'.repeat(900)))).toMatchObject({ isComplete: false, findings: [] })
    expect(await analyze(all('x'))).toMatchObject({ isComplete: true, findings: [{ code: 'never_matches' }] })
  })
})

// Instructions times characters of patterns, at worst.
const STEPS_OF_200_MS = 4_000_000
const STEPS_OF_5_MS = STEPS_OF_200_MS / 40

// Each pattern matches all texts of the list but the last: it is tested on every one.
function listAndPatterns(start: string) {
  const sources = upTo(200).map((n) => `^ab(x${n})?`)
  const values = [...upTo(999).map((n) => `${start}${n}`), 'other']
  const rules = [
    ...sources.map((source, n) => deny(`a${n}`, x('matches', source), { priority: 1 })),
    deny('b', x('in', values), { priority: 2 }),
  ]
  let steps = 0
  for (const source of sources) {
    const pattern = compilePattern(source)
    const test = pattern.test.bind(pattern)
    vi.spyOn(pattern, 'test').mockImplementation((text) => {
      steps += pattern.stepsOf(text)
      return test(text)
    })
  }
  return { rules, countSteps: () => steps }
}

// `most` is how far the counter goes from one turn of the event loop to the next.
async function analyze(rules: object[], count = () => 0) {
  const steps = analyzePolicy(documentOf({ rules }))
  let [turns, most] = [0, 0]
  for (;;) {
    const before = count()
    const step = steps.next()
    most = Math.max(most, count() - before)
    if (step.done === true) {
      const findings = step.value.findings.filter(({ code }) => code !== 'ineffective_when_missing')
      return { ...step.value, findings, turns, most }
    }
    await nextTurn()
    turns += 1
  }
}
