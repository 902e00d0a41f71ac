import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BENCHES, isBenchName } from '../../bench/benches.ts'

const BENCH = resolve(import.meta.dirname, '../../bench')
const NAMES = [
  'intake',
  'accept',
  'verify',
  'authorize',
  'batch',
  'dashboard',
  'backlog',
  'backlog-depth',
  'fairness',
  'attest',
  'attest-media',
  'latency',
  'deliver',
  'keys',
  'sso',
  'exclusions',
  'timing',
  'policy',
  'duplicates',
  'neighbours',
  'ledger',
  'start',
  'idle',
  'trace',
  'attribution',
] as const
// The floor of these is the service itself under other conditions, or the engine alone, in the benchmark's own process.
const FLOOR_WITHIN: readonly string[] = [
  'dashboard',
  'sso',
  'exclusions',
  'backlog',
  'backlog-depth',
  'fairness',
  'timing',
  'policy',
  'duplicates',
  'ledger',
  'neighbours',
  'start',
  'idle',
  'trace',
  'attribution',
]
// These share the attest floor, and the file that starts it.
const SETTLING: readonly string[] = ['attest', 'attest-media']
// Its parts share the file that starts it.
const STARTERS: Record<string, string> = { deliver: 'delivering.ts' }

describe('the benchmarks', () => {
  it('exist, each in a file of its name', () => {
    expect(Object.keys(BENCHES).sort()).toEqual([...NAMES].sort())
    for (const name of NAMES) expect(existsSync(join(BENCH, `${name}.ts`)), name).toBe(true)
    expect(isBenchName('toString')).toBe(false)
  })

  it.each(NAMES)('%s has a floor in readable code, and starts it', (name) => {
    const text = readFileSync(join(BENCH, `${name}.ts`), 'utf8')
    if (FLOOR_WITHIN.includes(name)) expect(text).toMatch(/floors?: /)
    else {
      const floor = SETTLING.includes(name) ? 'attest' : name
      const starter = SETTLING.includes(name)
        ? readFileSync(join(BENCH, 'settling.ts'), 'utf8')
        : readFileSync(join(BENCH, STARTERS[name] ?? `${name}.ts`), 'utf8')
      if (SETTLING.includes(name)) expect(text).toContain('openSettling(')
      expect(starter).toContain(`bench/floors/${floor}.ts`)
      expect(existsSync(join(BENCH, 'floors', `${floor}.ts`))).toBe(true)
    }
  })

  it('are in the table of the README, in the same words', () => {
    const told = readFileSync(join(BENCH, 'README.md'), 'utf8')
    const rows = told
      .split('\n')
      .filter((line) => /^\| `[a-z][a-z-]*` +\|/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    const expected = Object.entries(BENCHES).map(([name, { measures, floor, bar }]) => [
      '',
      `\`${name}\``,
      measures,
      floor,
      bar,
      '',
    ])
    expect(rows).toEqual(expected)
  })
})
