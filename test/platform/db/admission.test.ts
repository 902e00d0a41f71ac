import { beforeEach, describe, expect, it } from 'vitest'
import { createAdmission } from '#src/platform/db/admission.ts'
import { isUnavailable } from '#src/platform/unavailable.ts'

// What still waits when a test ends must not be refused while a later file runs in this process.
const LONG_MS = 3_600_000

const turn = () => new Promise<void>((done) => setImmediate(done))

/** Admissions in the order in which they were given, each with its release. */
function makeHall(options: Partial<Parameters<typeof createAdmission>[0]> = {}) {
  const admission = createAdmission({ slots: 4, timeoutMs: LONG_MS, ...options })
  const entered: { name: string; leave: () => void }[] = []
  const enter = (name: string, account = name.charAt(0)) =>
    admission.enter(account).then((leave) => void entered.push({ name, leave }))
  const leave = async (name: string) => {
    const index = entered.findIndex((one) => one.name === name)
    entered.splice(index, 1)[0]?.leave()
    await turn()
  }
  return { admission, enter, leave, names: () => entered.map(({ name }) => name) }
}

describe('admission to a pool', () => {
  it('leaves one connection to the other accounts', async () => {
    const { admission, enter, names } = makeHall()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void enter(name)
    await turn()
    expect(names()).toEqual(['a1', 'a2', 'a3', 'b1'])
    expect(admission.waiting()).toBe(2)
  })

  it('serves accounts in turn, and each account in the order of its callers', async () => {
    const { enter, leave, names } = makeHall({ slots: 2, perAccount: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void enter(name)
    const order: string[] = []
    for (let step = 0; step < 7; step += 1) {
      await turn()
      const [first = ''] = names()
      order.push(first)
      await leave(first)
    }
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
  })

  it('skips an account that has its share, and returns to it later', async () => {
    const { enter, leave, names } = makeHall({ slots: 2 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void enter(name)
    await turn()
    expect(names()).toEqual(['a1', 'b1'])
    await leave('b1')
    expect(names()).toEqual(['a1', 'b2'])
    await leave('a1')
    expect(names()).toEqual(['b2', 'a2'])
  })

  it('releases a connection once, however often that is called', async () => {
    const admission = createAdmission({ slots: 1, timeoutMs: LONG_MS })
    const leave = await admission.enter('a')
    leave()
    leave()
    await admission.enter('a')
    const second = admission.enter('b')
    await turn()
    expect(admission.waiting()).toBe(1)
    void second
  })

  it('refuses a caller that waited for too long, and removes it from the queue', async () => {
    const { admission, enter, leave, names } = makeHall({ slots: 1, timeoutMs: 20 })
    await enter('a1')
    const error = await enter('a2').catch((reason: unknown) => reason)
    expect(isUnavailable(error)).toBe(true)
    expect(admission.waiting()).toBe(0)
    void enter('b1')
    await leave('a1')
    expect(names()).toEqual(['b1'])
  })
})

describe('admission in a process that yields', () => {
  let nowMs: number
  let isYielding: boolean
  let timers: { at: number; act: () => void }[]

  beforeEach(() => {
    nowMs = 1_000
    isYielding = true
    timers = []
  })

  const pass = async (durationMs: number) => {
    nowMs += durationMs
    const due = timers.filter(({ at }) => at <= nowMs)
    timers = timers.filter(({ at }) => at > nowMs)
    for (const { act } of due) act()
    await turn()
  }

  function makeYielding(slots = 4) {
    const hall = makeHall({
      slots,
      yields: (account) => isYielding && account !== 'x',
      now: () => nowMs,
      later: (delayMs, act) => void timers.push({ at: nowMs + delayMs, act }),
    })
    /** Transactions of 50 ms, one after the other. Returns how long the account waited before the last of them. */
    const transact = async (count: number) => {
      let waitedMs = 0
      for (let done = 0; done < count; done += 1) {
        void hall.enter('a')
        await turn()
        for (waitedMs = 0; !hall.names().includes('a'); waitedMs += 1) await pass(1)
        await pass(50)
        await hall.leave('a')
      }
      return waitedMs
    }
    return { ...hall, transact }
  }

  it('gives an account one connection at a time, and the rest of the pool to other accounts', async () => {
    const { enter, leave, names } = makeYielding()
    for (const name of ['a1', 'a2', 'b1', 'x1', 'x2']) void enter(name)
    await turn()
    expect(names()).toEqual(['a1', 'b1', 'x1', 'x2'])
    await leave('a1')
    expect(names()).toEqual(['b1', 'x1', 'x2', 'a2'])
  })

  it('gives an account that always has transactions a fifth of the time', async () => {
    const { transact } = makeYielding()
    await transact(200)
    expect((200 * 50) / (nowMs - 1_000)).toBeCloseTo(0.2, 1)
    expect(await transact(1)).toBe(200)
  })

  it('lets the transactions of a few single jobs follow each other, and has the next ones wait', async () => {
    const { transact } = makeYielding()
    expect(await transact(5)).toBe(0)
    expect(await transact(1)).toBeGreaterThan(0)
  })

  it('counts what an account took, also after a moment without any', async () => {
    const { transact } = makeYielding()
    await transact(6)
    await pass(210)
    expect(await transact(2)).toBeGreaterThan(150)
  })

  it('forgets it when the share has made up for it', async () => {
    const { transact } = makeYielding()
    await transact(1)
    expect(timers.map(({ at }) => at - nowMs)).toEqual([250])
    await pass(250)
    expect(timers).toEqual([])
  })

  it.each([
    ['its oldest caller has waited for a second', () => pass(1_000)],
    [
      'the process no longer yields',
      async () => {
        isYielding = false
      },
    ],
  ])('limits an account no longer when %s', async (_, change) => {
    const { enter, leave, names, transact } = makeYielding()
    await transact(6)
    for (const name of ['a1', 'a2', 'a3', 'x1']) void enter(name)
    await turn()
    expect(names()).toEqual(['x1'])
    timers = []
    await change()
    await leave('x1')
    expect(names()).toEqual(['a1', 'a2'])
    void enter('a4')
    await turn()
    expect(names()).toEqual(['a1', 'a2'])
    await leave('a1')
    expect(names()).toEqual(['a2', 'a3'])
  })

  it('admits a caller that has waited for a second, though no other call comes', async () => {
    const { enter, names } = makeYielding()
    for (const name of ['a1', 'a2', 'a3']) void enter(name)
    await pass(999)
    void enter('a4')
    await turn()
    expect(names()).toEqual(['a1'])
    await pass(1)
    expect(names()).toEqual(['a1', 'a2', 'a3'])
  })

  it('has no account pause for longer than a second, however much it took at once', async () => {
    const { enter, leave, names } = makeYielding(13)
    isYielding = false
    for (let count = 0; count < 12; count += 1) void enter(`a${count}`)
    await turn()
    nowMs += 50
    isYielding = true
    for (const name of names()) await leave(name)
    expect(Math.max(...timers.map(({ at }) => at - nowMs))).toBe(1_000)
  })

  it('serves those that waited before a new caller, at the call that finds the process yielding no longer', async () => {
    const { enter, names, transact } = makeYielding()
    await transact(6)
    void enter('a1')
    await turn()
    expect(names()).toEqual([])
    isYielding = false
    void enter('a2')
    await turn()
    expect(names()).toEqual(['a1', 'a2'])
  })
})
