import { describe, expect, it } from 'vitest'
import { createWatchdog } from '#src/platform/jobs/watchdog.ts'

const STUCK_AFTER_MS = 60_000
const CHECK_EVERY_MS = 5_000

// A watchdog whose clock only the test moves, and an engine whose count answers when the test says so.
function setUp() {
  let nowMs = 0
  let usableMs = 0
  const counts: ((waiting: number) => void)[] = []
  const said: string[] = []
  const watchdog = createWatchdog({
    queue: 'attest',
    stuckAfterMs: STUCK_AFTER_MS,
    checkEveryMs: CHECK_EVERY_MS,
    countWaiting: () => new Promise((resolve) => counts.push(resolve)),
    onStuck: (reason) => said.push(reason),
    now: () => nowMs,
    usable: () => usableMs,
  })
  const pass = (ms: number, share = 1) => {
    nowMs += ms
    usableMs += ms * share
  }
  const answer = (waiting: number) => counts.splice(0).forEach((resolve) => void resolve(waiting))
  const check = async (waiting: number) => {
    const checked = watchdog.check()
    answer(waiting)
    await checked
  }
  const checkFor = async (ms: number, waiting: number, share = 1) => {
    for (let passed = 0; passed < ms; passed += CHECK_EVERY_MS) {
      pass(CHECK_EVERY_MS, share)
      await check(waiting)
    }
  }
  return { watchdog, pass, answer, check, checkFor, said }
}

describe('the watchdog of a worker', () => {
  it('reports the worker as stuck once when jobs have waited for the whole time', async () => {
    const { watchdog, checkFor, said } = setUp()
    await checkFor(STUCK_AFTER_MS, 1)
    expect(watchdog.reason()).toBeUndefined()
    await checkFor(3 * CHECK_EVERY_MS, 1)
    expect(watchdog.reason()).toMatch(/attest jobs wait/)
    expect(said).toHaveLength(1)
  })

  it('spares a worker whose jobs arrived at the end of an idle time', async () => {
    const { watchdog, checkFor, check, pass } = setUp()
    await checkFor(10 * STUCK_AFTER_MS, 0)
    pass(CHECK_EVERY_MS)
    await check(60)
    expect(watchdog.reason()).toBeUndefined()
    await checkFor(STUCK_AFTER_MS - CHECK_EVERY_MS, 60)
    expect(watchdog.reason()).toBeUndefined()
  })

  it('spares a worker that finished a job while the engine counted', async () => {
    const { watchdog, pass, answer, checkFor } = setUp()
    await checkFor(STUCK_AFTER_MS, 1)
    pass(CHECK_EVERY_MS)
    const checked = watchdog.check()
    watchdog.progressed()
    answer(1)
    await checked
    expect(watchdog.reason()).toBeUndefined()
    await checkFor(STUCK_AFTER_MS, 1)
    expect(watchdog.reason()).toBeUndefined()
  })

  it('does not count the time in which the process was suspended', async () => {
    const { watchdog, pass, check, checkFor } = setUp()
    await checkFor(2 * CHECK_EVERY_MS, 1)
    pass(100 * STUCK_AFTER_MS)
    await check(1)
    expect(watchdog.reason()).toBeUndefined()
  })

  it('counts for a worker that gets a tenth of a processor the tenth of the time that it had', async () => {
    const { watchdog, checkFor } = setUp()
    await checkFor(9 * STUCK_AFTER_MS, 1, 0.1)
    expect(watchdog.reason()).toBeUndefined()
    await checkFor(2 * STUCK_AFTER_MS, 1, 0.1)
    expect(watchdog.reason()).toMatch(/attest jobs wait/)
  })

  it('does not count the time in which no job waited or the engine was unavailable', async () => {
    const { watchdog, checkFor } = setUp()
    for (let round = 0; round < 4; round += 1) {
      await checkFor(STUCK_AFTER_MS - CHECK_EVERY_MS, 1)
      await checkFor(CHECK_EVERY_MS, 0)
    }
    expect(watchdog.reason()).toBeUndefined()
    const away = createWatchdog({
      queue: 'attest',
      stuckAfterMs: 0,
      checkEveryMs: CHECK_EVERY_MS,
      countWaiting: () => Promise.reject(new Error('away')),
      onStuck: () => {},
    })
    await away.check()
    expect(away.reason()).toBeUndefined()
  })

  it('sends one count at a time', async () => {
    const { watchdog, pass, answer, said } = setUp()
    const first = watchdog.check()
    for (let passed = 0; passed < 3 * STUCK_AFTER_MS; passed += CHECK_EVERY_MS) {
      pass(CHECK_EVERY_MS)
      await watchdog.check()
    }
    answer(1)
    await first
    expect(said).toEqual([])
  })
})
