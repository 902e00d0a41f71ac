import { beforeEach, describe, expect, it } from 'vitest'
import { type Activity, createActivity } from '#src/platform/activity.ts'
import {
  type BulkPauses,
  createBulkPace,
  createBulkPauses,
  createBulkWork,
  inParts,
  SMALL_LINES,
} from '#src/platform/bulk-work.ts'

describe('bulk work', () => {
  let nowMs: number
  let activity: Activity
  let shared: BulkPauses
  let slept: number[]

  const now = () => nowMs
  const sleep = async (delayMs: number) => {
    slept.push(delayMs)
    nowMs += delayMs
  }
  const paceOf = (account: string, options = {}) =>
    createBulkPace(account, { activity, pauses: shared, now, sleep, ...options })

  beforeEach(() => {
    nowMs = 10_000
    slept = []
    activity = createActivity(now)
    shared = createBulkPauses({ now })
  })

  it('takes a third of the time while another account has requests', async () => {
    const pace = paceOf('bulk')
    activity.note('other')
    activity.note('bulk')
    nowMs += 100
    await pace.pause()
    activity.note('other')
    nowMs += 40
    await pace.pause()
    expect(slept).toEqual([200, 80])
  })

  it('has smaller parts while another account has requests', async () => {
    const pace = paceOf('bulk')
    const sizes: number[] = []
    for await (const part of inParts([Array(600).fill('line'), ['last']], pace)) {
      sizes.push(part.length)
      activity.note('other')
      nowMs += 20
    }
    expect(sizes).toEqual([250, 50, 50, 50, 50, 50, 50, 50, 1])
    expect(slept).toHaveLength(8)
  })

  it('gives each line once and in order', async () => {
    const lines = Array.from({ length: 777 }, (_, index) => index)
    activity.note('other')
    const given: number[] = []
    for await (const part of inParts([lines.slice(0, 333), [], lines.slice(333)], paceOf('bulk'))) given.push(...part)
    expect(given).toEqual(lines)
  })

  it('takes a fifth where processors are short, and with another account a tenth each', () => {
    const short = createBulkPauses({ now, isShort: () => true })
    expect([short.add('bulk', 40), short.add('more', 40)]).toEqual([160, 360])
  })

  it('of several accounts takes a third together', async () => {
    const until = { bulk: 0, more: 0, third: 0 }
    const begunAt = nowMs
    let workedMs = 0
    for (let part = 0; part < 60; part += 1) {
      const [account = ''] = Object.entries(until).sort((left, right) => left[1] - right[1])[0] ?? []
      nowMs = Math.max(nowMs, until[account as keyof typeof until])
      activity.note('other')
      const pace = paceOf(account)
      nowMs += 30
      workedMs += 30
      pace.end()
      until[account as keyof typeof until] = nowMs + shared.left(account)
    }
    expect(workedMs / (nowMs - begunAt)).toBeCloseTo(1 / 3, 1)
  })

  it('leaves nothing to an account whose bulk work ended a second ago', () => {
    shared.add('before', 100)
    nowMs += 1_201
    expect(shared.add('bulk', 100)).toBe(200)
    expect(shared.add('more', 50)).toBe(250)
  })

  it('pauses for half a second at most', () => {
    expect(shared.add('bulk', 3_000)).toBe(500)
    expect(shared.left('bulk')).toBe(500)
  })

  it('has pauses after its long parts alone, where that is asked for', async () => {
    const pace = paceOf('bulk', { minPartMs: 300, pauses: createBulkPauses({ now, maxPauseMs: 10_000 }) })
    for (const partMs of [299, 300, 8_000]) {
      nowMs += partMs
      activity.note('other')
      await pace.pause()
    }
    expect(slept).toEqual([600, 10_000])
  })

  it('has no pauses while only its own account has requests, or none has', async () => {
    const pace = paceOf('bulk')
    nowMs += 100
    await pace.pause()
    activity.note('bulk')
    activity.note('bulk')
    nowMs += 100
    await pace.pause()
    expect(slept).toEqual([])
  })

  it('has no pauses a second after the last request of another account', async () => {
    const pace = paceOf('bulk')
    activity.note('other')
    nowMs += 999
    await pace.pause()
    activity.note('bulk')
    nowMs += 2_000
    activity.note('bulk')
    await pace.pause()
    expect(slept).toEqual([500])
  })
})

describe('the turns of bulk transactions', () => {
  const open: PromiseWithResolvers<void>[] = []
  const begun: string[] = []
  let nowMs: number
  let bulkWork: ReturnType<typeof createBulkWork>
  let slept: number[]

  beforeEach(() => {
    open.length = 0
    begun.length = 0
    nowMs = 10_000
    slept = []
    const activity = { note() {}, follow() {}, isOtherActive: () => true }
    bulkWork = createBulkWork({
      connections: 4,
      pauses: createBulkPauses({ now: () => nowMs }),
      now: () => nowMs,
      activity,
      sleep: async (delayMs) => void slept.push(delayMs),
    })
  })

  const start = (account: string, lines: number) => {
    const end = Promise.withResolvers<void>()
    open.push(end)
    return bulkWork(account, lines, () => {
      begun.push(`${account} ${lines}`)
      return end.promise
    })
  }
  const settled = () => new Promise<void>((done) => setImmediate(done))

  it('has two large ones of different accounts at once, and a small one of a third account beside them', async () => {
    const all = [start('a', 10_000), start('a', 9_000), start('b', 1_000), start('c', 5_000), start('d', SMALL_LINES)]
    await settled()
    expect(begun).toEqual(['a 10000', 'b 1000', 'd 250'])
    open[2]?.resolve()
    await settled()
    expect(begun.slice(3)).toEqual(['c 5000'])
    for (const end of open) end.resolve()
    await Promise.all(all)
  })

  it('lets an account wait for what its last one took, and not the others', async () => {
    const first = start('a', 10)
    await settled()
    nowMs += 20
    open[0]?.resolve()
    await first
    open.push(Promise.withResolvers())
    await bulkWork('b', 10, async () => {})
    expect(slept).toEqual([])
    await bulkWork('a', 10, async () => {})
    expect(slept).toEqual([40])
  })
})
