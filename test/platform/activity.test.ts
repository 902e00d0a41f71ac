import { describe, expect, it } from 'vitest'
import { createActivity } from '#src/platform/activity.ts'

describe('the activity of accounts', () => {
  it('is reported at a request, twice a second, with the newest two accounts of the last second', () => {
    let nowMs = 10_000
    const reports: (readonly string[])[] = []
    const activity = createActivity(() => nowMs)
    activity.note('early')
    activity.follow((accounts) => void reports.push(accounts))
    const noteAfter = (elapsedMs: number, ...accounts: string[]) => {
      nowMs += elapsedMs
      accounts.forEach(activity.note)
    }
    noteAfter(2_000, 'a', 'b')
    noteAfter(499, 'a')
    noteAfter(1, 'a', 'c')
    noteAfter(500, 'c')
    noteAfter(900, 'c')
    expect(reports).toEqual([['a'], ['a', 'b'], ['c', 'a'], ['c']])
  })
})
