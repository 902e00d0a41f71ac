import { beforeEach, describe, expect, it } from 'vitest'
import { type Activity, type BulkPace, createActivity, createBulkPace } from '#src/platform/bulk-pace.ts'

describe('bulk work', () => {
  let nowMs: number
  let activity: Activity
  let pace: BulkPace
  let pauses: number[]

  beforeEach(() => {
    nowMs = 10_000
    pauses = []
    activity = createActivity(() => nowMs)
    const sleep = async (delayMs: number) => {
      pauses.push(delayMs)
      nowMs += delayMs
    }
    pace = createBulkPace('bulk', { activity, now: () => nowMs, sleep })
  })

  const workFor = async (durationMs: number) => {
    nowMs += durationMs
    await pace.pause()
  }

  it('takes a third of the time while another account has requests', async () => {
    activity.note('other')
    activity.note('bulk')
    await workFor(100)
    activity.note('other')
    await workFor(40)
    expect(pauses).toEqual([200, 80])
  })

  it('has pauses after its long parts alone, where that is asked for', async () => {
    activity.note('other')
    const sleep = async (delayMs: number) => void pauses.push(delayMs)
    pace = createBulkPace('bulk', { minPartMs: 300, maxPauseMs: 10_000, activity, now: () => nowMs, sleep })
    for (const partMs of [299, 300, 8_000]) {
      nowMs += partMs
      activity.note('other')
      await pace.pause()
    }
    expect(pauses).toEqual([600, 10_000])
  })

  it('has no pauses while only its own account has requests, or none has', async () => {
    await workFor(100)
    activity.note('bulk')
    activity.note('bulk')
    await workFor(100)
    expect(pauses).toEqual([])
  })

  it('has no pauses a second after the last request of another account', async () => {
    activity.note('other')
    await workFor(999)
    activity.note('bulk')
    nowMs += 2_000
    activity.note('bulk')
    await workFor(100)
    expect(pauses).toEqual([250])
  })
})

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
