import { beforeEach, describe, expect, it } from 'vitest'
import { isOnThisMachine } from '#src/platform/db/config.ts'
import { readUse } from '#src/platform/priority.ts'
import { createShortage, createYielding } from '#src/platform/yielding.ts'

describe('a shortage of processors', () => {
  let nowMs: number
  let use: { ranMs: number; waitedMs: number } | undefined
  let isShort: () => boolean

  beforeEach(() => {
    nowMs = 1_000
    use = { ranMs: 500, waitedMs: 9_000 }
    isShort = createShortage({ read: () => use, now: () => nowMs })
    isShort()
  })

  const isShortAfter = (elapsedMs: number, { ranMs, waitedMs }: { ranMs: number; waitedMs: number }) => {
    nowMs += elapsedMs
    use = { ranMs: (use?.ranMs ?? 0) + ranMs, waitedMs: (use?.waitedMs ?? 0) + waitedMs }
    return isShort()
  }

  it.each([
    [true, 'waited for as long as it ran', { ranMs: 50, waitedMs: 50 }],
    [true, 'could hardly run', { ranMs: 0, waitedMs: 25 }],
    [false, 'waited for less than it ran', { ranMs: 51, waitedMs: 50 }],
    [false, 'waited for moments, and ran for less', { ranMs: 0, waitedMs: 24 }],
    [false, 'counts anew, because threads have ended', { ranMs: -100, waitedMs: -50 }],
  ])('is %s of a process that %s', (expected, _, change) => {
    expect(isShortAfter(250, change)).toBe(expected)
  })

  it('is judged as asked, of the time since the last look', () => {
    const looks: unknown[] = []
    const judged = createShortage({ read: () => use, isShort: (look) => looks.push(look) > 1, now: () => nowMs })
    const answers = [0, 250, 400].map((elapsedMs) => {
      nowMs += elapsedMs
      use = { ranMs: (use?.ranMs ?? 0) + 20, waitedMs: (use?.waitedMs ?? 0) + 30 }
      return judged()
    })
    expect(answers).toEqual([false, false, true])
    expect(looks).toEqual([
      { ranMs: 20, waitedMs: 30, elapsedMs: 250 },
      { ranMs: 20, waitedMs: 30, elapsedMs: 400 },
    ])
  })

  it('is looked at four times a second, and ends at the first look without one', () => {
    expect(isShortAfter(249, { ranMs: 0, waitedMs: 200 })).toBe(false)
    expect(isShortAfter(1, { ranMs: 0, waitedMs: 0 })).toBe(true)
    expect(isShortAfter(249, { ranMs: 100, waitedMs: 0 })).toBe(true)
    expect(isShortAfter(1, { ranMs: 0, waitedMs: 0 })).toBe(false)
  })

  it('says nothing when the last look was more than a second ago: the waits of an idle process add up', () => {
    expect(isShortAfter(1_001, { ranMs: 20, waitedMs: 100 })).toBe(false)
    expect(isShortAfter(1_000, { ranMs: 20, waitedMs: 100 })).toBe(true)
  })

  it('is none before the second look, and none where the system does not tell', () => {
    expect(createShortage({ read: () => use, now: () => nowMs })()).toBe(false)
    expect(isShortAfter(250, { ranMs: 0, waitedMs: 100 })).toBe(true)
    use = undefined
    nowMs += 250
    expect(isShort()).toBe(false)
  })

  it.runIf(process.platform === 'linux')('is computed from what the kernel tells of the threads', () => {
    const before = readUse()
    for (const until = performance.now() + 30; performance.now() < until; );
    expect((readUse()?.ranMs ?? 0) - (before?.ranMs ?? Number.NaN)).toBeGreaterThan(0)
  })
})

describe('work that leaves processors to others', () => {
  let nowMs: number
  let isShort: boolean
  let subscribed: ((ids: readonly string[]) => void)[]
  let yields: (account: string) => boolean

  beforeEach(() => {
    nowMs = 1_000
    isShort = true
    subscribed = []
    const channel = { subscribe: (onIds: (ids: readonly string[]) => void) => void subscribed.push(onIds) }
    yields = createYielding({ active: () => channel, isShort: () => isShort, now: () => nowMs })
  })

  const report = (...accounts: string[]) => subscribed.forEach((onIds) => void onIds(accounts))

  it('does so for two seconds after another account was reported to have requests', () => {
    expect(yields('bulk')).toBe(false)
    report('bulk', 'other')
    nowMs += 1_999
    expect(yields('bulk')).toBe(true)
    nowMs += 1
    expect(yields('bulk')).toBe(false)
  })

  it('does not while its own account alone has requests', () => {
    yields('bulk')
    report('bulk')
    expect(yields('bulk')).toBe(false)
    expect(yields('other')).toBe(true)
  })

  it('does not, and does not listen, while there are processors for all', () => {
    isShort = false
    expect(yields('bulk')).toBe(false)
    expect(subscribed).toEqual([])
    isShort = true
    yields('bulk')
    yields('bulk')
    expect(subscribed).toHaveLength(1)
  })

  it('takes others to have requests where nothing reports them', () => {
    expect(createYielding({ active: () => undefined, isShort: () => true })('bulk')).toBe(true)
  })
})

describe('the address of Postgres', () => {
  it.each([
    ['postgres://u:p@127.0.0.1:5432/d', true],
    ['postgres://u:p@localhost/d', true],
    ['postgresql://u:p@[::1]:5432/d', true],
    ['postgres://u:p@localhost/d?host=/run/postgresql', true],
    ['postgres://u:p@%2Frun%2Fpostgresql/d', true],
    ['postgres://u:p@localhost/d?host=db.example', false],
    ['postgres://u:p@10.0.0.5/d', false],
    ['postgres://u:p@postgres:5432/d', false],
    ['postgres://u:p@127.example/d', false],
  ])('%s: on this machine %s', (url, expected) => {
    expect(isOnThisMachine(url)).toBe(expected)
  })
})
