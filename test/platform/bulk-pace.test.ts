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
