// One table has what every reason code means: the API answers it, and docs/authorize/reasons.md shows it. `UPDATE=1` writes the page's
// rows from the table.

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REASON_CODES } from '#src/attest/cases/machine.ts'
import { ADVISORIES, FACTOR_CODES } from '#src/attest/factors/table.ts'
import { VERIFY_REASON_CODES } from '#src/authorize/intents/reasons.ts'
import * as catalogue from '#src/catalogue/reasons.ts'
import { listReasonCodes, type ReasonPlace } from '#src/overview/reference/reasons.ts'
import { REASON_CODES_OF_SPECIFICATION } from '../support/reason-codes.ts'

const FILE = resolve(import.meta.dirname, '../../docs/authorize/reasons.md')
const ROW = /^\| `([a-z0-9_]+)` +\| (.*?) +\| (.*?) +\|$/gm
const entries = listReasonCodes()
const texts: Record<string, catalogue.ReasonText> = {
  ...catalogue.VERIFY_REASON_TEXTS,
  ...catalogue.FINDING_TEXTS,
  ...catalogue.CASE_REASON_TEXTS,
  ...catalogue.FINISH_REASON_TEXTS,
  ...catalogue.LEDGER_REASON_TEXTS,
}
if (process.env.UPDATE !== undefined) {
  const page = readFileSync(FILE, 'utf8').replaceAll(ROW, (row, code, meaning, remedy) => {
    const text = texts[code]
    const isSame = text === undefined || (text.meaning === meaning && text.remedy === remedy)
    return isSame ? row : `| \`${code}\` | ${text.meaning} | ${text.remedy} |`
  })
  writeFileSync(FILE, page)
}

describe('the table of reason codes', () => {
  it('has every code of the specification at the places where it appears', () => {
    const told = Object.fromEntries(entries.map(({ code, places }) => [code, places]))
    expect(told).toEqual(expect.objectContaining(REASON_CODES_OF_SPECIFICATION))
    expect(Object.keys(REASON_CODES_OF_SPECIFICATION)).toHaveLength(76)
  })

  it('has every code that a feature gives, and no other', () => {
    const at = (place: ReasonPlace) => entries.filter(({ places }) => places.includes(place)).map(({ code }) => code)
    expect(Object.keys(catalogue.VERIFY_REASON_TEXTS)).toEqual(VERIFY_REASON_CODES)
    expect(Object.keys(catalogue.FINDING_TEXTS)).toEqual([...FACTOR_CODES, ...ADVISORIES])
    expect(at('case').toSorted()).toEqual([...REASON_CODES].toSorted())
    expect(entries.filter(({ places }) => places.length === 0)).toEqual([])
    expect(new Set(entries.map(({ code }) => code)).size).toBe(entries.length)
  })

  it('has points where a factor counts, and nowhere else', () => {
    expect(entries.filter(({ points, places }) => (points !== null) !== places.includes('factor'))).toEqual([])
  })

  it('says of each in sentences what happened and what to do', () => {
    const short = entries.filter(
      ({ meaning, remedy }) => !/\w{2}.*[.)]$/.test(meaning) || !/\w{2}.*[.)]$/.test(remedy) || /\]\(/.test(meaning),
    )
    expect(short).toEqual([])
    expect(new Set(entries.map(({ meaning }) => meaning)).size).toBe(entries.length)
  })
})

describe('docs/authorize/reasons.md', () => {
  const rows = [...readFileSync(FILE, 'utf8').matchAll(ROW)].map(([, code = '', meaning, remedy]) => ({
    code,
    meaning,
    remedy,
  }))

  it('shows every code of the table once, those of verify in the order in which the pipeline answers', () => {
    expect(rows.slice(0, VERIFY_REASON_CODES.length).map(({ code }) => code)).toEqual(VERIFY_REASON_CODES)
    expect(rows.map(({ code }) => code).toSorted()).toEqual(entries.map(({ code }) => code).toSorted())
  })

  it('says what the table says', () => {
    expect(rows).toEqual(rows.map(({ code }) => ({ code, ...texts[code] })))
  })
})
