import { describe, expect, it } from 'vitest'
import {
  type DecidedRow,
  judgeMatches,
  type MatchedOn,
  type RowMatch,
  staleLists,
} from '#src/authorize/exclusions/judge.ts'

const DAY = '2026-11-20'
const ROW: RowMatch = {
  list: 'leie',
  listDate: '2026-11-01',
  rowHash: 'aa',
  matchedOn: 'npi',
  startedOn: '2020-01-01',
  endedOn: null,
  waivedIn: null,
  waivedOn: null,
}
const judge = (rows: Partial<RowMatch>[], decided: DecidedRow[] = [], state?: string) =>
  judgeMatches(
    rows.map((row) => ({ ...ROW, ...row })),
    decided,
    { day: DAY, state },
  )
const decision = (status: DecidedRow['status']): DecidedRow[] => [{ list: 'leie', rowHash: 'aa', status }]

describe('the ladder of matches', () => {
  it.each<[MatchedOn, string]>([
    ['npi', 'excluded'],
    ['name_birth_date', 'excluded'],
    ['name', 'review'],
    ['name_state', 'review'],
  ])('%s alone is %s', (matchedOn, status) => {
    expect(judge([{ matchedOn }])).toEqual({
      status,
      evidence: [{ list: 'leie', row_hash: 'aa', list_date: '2026-11-01', matched_on: matchedOn }],
    })
  })

  it.each<[string, Partial<RowMatch>, string | undefined, string]>([
    ['ended yesterday', { endedOn: '2026-11-19' }, undefined, 'clear'],
    ['ended today', { endedOn: DAY }, undefined, 'clear'],
    ['ends tomorrow', { endedOn: '2026-11-21' }, undefined, 'excluded'],
    ['begins today', { startedOn: DAY }, undefined, 'excluded'],
    ['begins tomorrow', { startedOn: '2026-11-21' }, undefined, 'review'],
    ['has no first day', { startedOn: null }, undefined, 'excluded'],
    ['is waived in the state', { waivedIn: 'NM', waivedOn: '2021-01-01' }, 'NM', 'clear'],
    ['is waived in another state', { waivedIn: 'NM', waivedOn: '2021-01-01' }, 'CA', 'excluded'],
    ['is waived and no state is known', { waivedIn: 'NM' }, undefined, 'excluded'],
    ['is waived from tomorrow on', { waivedIn: 'NM', waivedOn: '2026-11-21' }, 'NM', 'excluded'],
  ])('a row that %s', (_, row, state, status) => {
    expect(judge([row], [], state).status).toBe(status)
  })

  it('a decision counts for a match by name and not against a proof', () => {
    expect(judge([{ matchedOn: 'name' }], decision('cleared'))).toEqual({ status: 'clear', evidence: [] })
    expect(judge([{ matchedOn: 'name' }], decision('confirmed')).status).toBe('excluded')
    expect(judge([{ matchedOn: 'name' }, { matchedOn: 'npi' }], decision('cleared')).status).toBe('excluded')
    expect(judge([{ matchedOn: 'npi', startedOn: '2026-11-21' }], decision('cleared')).status).toBe('clear')
    expect(judge([{ matchedOn: 'name', rowHash: 'bb' }], decision('cleared')).status).toBe('review')
    expect(judge([{ matchedOn: 'name_state', list: 'sam' }], decision('cleared')).status).toBe('review')
  })

  it('names a row once, by its strongest match, and only the rows that decided', () => {
    const found = judge([
      { matchedOn: 'name' },
      { matchedOn: 'name_birth_date' },
      { matchedOn: 'name', rowHash: 'bb' },
      { matchedOn: 'npi', rowHash: 'cc', list: 'sam' },
    ])
    expect(found.evidence.map(({ row_hash, matched_on }) => [row_hash, matched_on])).toEqual([
      ['cc', 'npi'],
      ['aa', 'name_birth_date'],
    ])
  })

  it('calls a list outdated after 45 days (LEIE) and 7 days (SAM), and a missing one too', () => {
    const stale = (leie: string, sam: string) =>
      staleLists(
        new Map([
          ['leie', leie],
          ['sam', sam],
        ] as const),
        DAY,
      )
    expect(stale('2026-10-06', '2026-11-13')).toEqual([])
    expect(stale('2026-10-05', '2026-11-12')).toEqual(['leie', 'sam'])
    expect(staleLists(new Map(), DAY)).toEqual(['leie', 'sam'])
  })
})
