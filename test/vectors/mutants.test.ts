// Without any single check of these verifiers a vector fails. `npm run mutants` runs the others, and the checks that are listed as equal.

import { describe, expect, it } from 'vitest'
import { findMutants } from '../../tools/mutants/mutate.ts'
import { runTarget } from '../../tools/mutants/run.ts'
import { SAMPLED_TARGETS, type Target } from '../../tools/mutants/targets.ts'

it.each(SAMPLED_TARGETS)('a vector sees each check of $file', async (target) => {
  const { mutants, unseen } = await runTarget(target, { includesEquals: false })
  expect(mutants).toBeGreaterThan(5)
  expect(unseen).toEqual([])
})

describe('the run of mutants', () => {
  const target: Target = { file: 'clients/typescript/src/verify/webhook.ts', answers: 'typescript', vectors: [] }

  it('names the checks that no vector sees', async () => {
    const { unseen } = await runTarget(
      { ...target, file: 'clients/typescript/src/verify/claims.ts', vectors: ['webhooks/signatures'] },
      { includesEquals: false },
    )
    expect(unseen.map(({ check }) => check)).toContain('!check(value) -> false')
    expect(unseen.every(({ line }) => line > 1)).toBe(true)
  })

  it('names entries of the list of equals that a vector sees, or that are gone', async () => {
    const checkpoint: Target = {
      file: 'clients/typescript/src/verify/checkpoint.ts',
      answers: 'service-ledger',
      vectors: [],
    }
    const { stale } = await runTarget({ ...checkpoint, functions: ['none'] })
    expect(stale).toEqual(["env === 'sandbox' || env === 'live' -> true"])
  })

  it('sees a check without which the verifier loops', async () => {
    const scalars: Target = {
      ...target,
      file: 'clients/typescript/src/verify/json-tokens.ts',
      functions: ['isDigit'],
    }
    const { endless, unseen } = await runTarget({ ...scalars, vectors: ['canonical/refused'] }, { limitMs: 500 })
    expect(endless).toBeGreaterThan(0)
    expect(unseen).toEqual([])
  })

  it('refuses vectors that the verifier fails as it is', async () => {
    const failing: Target = { ...target, vectors: ['webhooks/schedule'] }
    await expect(runTarget(failing)).rejects.toThrow('as it is fails webhooks-schedule-')
  })
})

describe('mutants', () => {
  const checksOf = (source: string, choice = {}) => findMutants(source, choice).map(({ check }) => check)

  it.each([
    ['if (a) throw b', ['a -> false']],
    ['if (a || b) f()', ['a -> false', 'a || b -> false', 'b -> false']],
    ['const x = a && b', ['a -> true', 'b -> true']],
    ['const x = a ? 1 : 2', ['a -> true', 'a -> false']],
    ['const isX = a === 1', ['a === 1 -> true']],
    ['function isX() { return a === 1 }', ['a === 1 -> true']],
    ['const isX = (a) => a === 1', ['a === 1 -> true']],
    ['list.every((a) => a > 1)', ['a > 1 -> true']],
    ['["a", "b"].every(f)', ['"a", -> gone', ', "b" -> gone']],
    ['finding(p, "x", a === b)', ['a === b -> true']],
    ['checkFacts(a)', ['checkFacts(a) -> ;']],
    ['const x = [...checkFacts(a)]', ['checkFacts(a) -> []']],
    ['const CHECKS = { a: isA, b: isB }', ['a: isA, -> gone', ', b: isB -> gone']],
    ['while (a && b) f()', []],
    ["const x = a ? 'one word' : 'word'", []],
    ['const x = a + b', []],
  ])('of %s are %j', (source, checks) => {
    expect(checksOf(source)).toEqual(checks)
  })

  it('are those of the functions and tables that are chosen', () => {
    const source = 'const WORDS = [1, 2]\nfunction a() { if (x) throw y }\nfunction b() { if (z) throw y }'
    expect(checksOf(source, { functions: ['b'] })).toEqual(['z -> false'])
    expect(checksOf(source, { notTables: ['WORDS'] })).toEqual(['x -> false', 'z -> false'])
    expect(checksOf('function c() { const shown = { a, b } }', { tables: ['shown'] })).toHaveLength(2)
  })
})
