// The form of docs/decisions/: few records, each with a title that says what is decided.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/decisions')
const files = readdirSync(FOLDER).sort()
const records = files.map((file) => ({ file, lines: readFileSync(join(FOLDER, file), 'utf8').trimEnd().split('\n') }))

const MOST_RECORDS = 40
const FEWEST_LINES = 15
const MOST_LINES = 45
const LONGEST_LINE = 160
const FEWEST_WORDS = 4

// The verbs of the titles so far. A title whose verb is missing here is a sentence as well: add its verb.
const VERBS = new Set(
  `is are has have can may must never
  answers asks blocks bounds carries chooses confirms costs counts decides depend depends do does expires gives grants holds installs
  keeps lapses leaves lend lends makes needs owns poll polls publishes reads refuses replaces run runs show shows starts stays
  stores stops takes use uses wait waits`.split(/\s+/),
)

describe('the decisions', () => {
  it(`are at most ${MOST_RECORDS}: what a reader would undo by mistake`, () => {
    expect(files.length).toBeLessThanOrEqual(MOST_RECORDS)
  })

  it('are numbered from 0001 without gaps, in their files and their titles', () => {
    const numbers = records.map(({ file, lines }) => [
      /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.exec(file)?.[1],
      /^# (\d+)\. \S/.exec(lines[0] ?? '')?.[1],
    ])
    expect(numbers).toEqual(records.map((_, index) => [String(index + 1).padStart(4, '0'), String(index + 1)]))
  })

  it('have titles that are sentences', () => {
    expect(records.map(({ lines }) => titleOf(lines)).filter((title) => !isSentence(title))).toEqual([])
  })

  it(`have ${FEWEST_LINES} to ${MOST_LINES} lines of at most ${LONGEST_LINE} characters`, () => {
    const wrong = records.filter(
      ({ lines }) =>
        lines.length < FEWEST_LINES || lines.length > MOST_LINES || lines.some((line) => line.length > LONGEST_LINE),
    )
    expect(wrong.map(({ file }) => file)).toEqual([])
  })

  it('say what is decided, why, and what breaks otherwise', () => {
    const parts = ['**Decision.**', '**Why.**', '**Otherwise.**']
    const incomplete = records.filter(({ lines }) => parts.some((part) => !lines.some((line) => line.startsWith(part))))
    expect(incomplete.map(({ file }) => file)).toEqual([])
  })

  it('are named by their own number where code, guides and benchmarks link to them', () => {
    const names = new Set(files.map((file) => file.slice(0, 4)))
    const linked = sources().flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/docs\/decisions\/(\d{4})|\bdecision (\d{1,3})\b/g)].map(
        ([, long, short = '']) => ({ path, number: long ?? short.padStart(4, '0') }),
      ),
    )
    expect(linked.length).toBeGreaterThan(0)
    expect(linked.filter(({ number }) => !names.has(number))).toEqual([])
  })
})

describe('the check of titles', () => {
  it('accepts a sentence and refuses a noun phrase', () => {
    expect(isSentence('total_count is capped at 100,000')).toBe(true)
    for (const title of ['What surrounds a verify', 'Rate limits', 'The standing of a claim', '']) {
      expect([title, isSentence(title)]).toEqual([title, false])
    }
  })
})

function titleOf([first = '']: readonly string[]): string {
  return first.replace(/^# \d+\. /, '')
}

function isSentence(title: string): boolean {
  const words = title.split(/[\s,:]+/)
  return words.length >= FEWEST_WORDS && words.some((word) => VERBS.has(word)) && !/^(?:What|How|Whose|Of) /.test(title)
}

function sources(): string[] {
  return ['src', 'test', 'bench', 'workers', 'commands', 'faults', 'hostile', 'bootstrap', 'tools', 'deploy', 'clients']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${name}`))
    .filter((path) => /\.(?:ts|md|cjs|yaml)$/.test(path) && !path.includes('node_modules'))
}
