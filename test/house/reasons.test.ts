import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERIFY_REASON_CODES } from '#src/authorize/intents/reasons.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/reasons.md'), 'utf8')
const rows = [...page.matchAll(/^\| `([a-z0-9_]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, code, happened, remedy]) => ({
  code,
  happened,
  remedy,
}))

describe('docs/reasons.md', () => {
  it('has every reason of verify, in the order in which the pipeline answers', () => {
    expect(rows.map(({ code }) => code)).toEqual(VERIFY_REASON_CODES)
  })

  it('says of each in sentences what happened and what to do', () => {
    const short = rows.filter(
      ({ happened = '', remedy = '' }) => !/\w{2}.*[.)]$/.test(happened) || !/\w{2}.*[.)]$/.test(remedy),
    )
    expect(short).toEqual([])
    expect(new Set(rows.map(({ happened }) => happened)).size).toBe(rows.length)
  })
})
