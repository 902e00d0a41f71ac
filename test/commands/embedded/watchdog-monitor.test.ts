import { describe, expect, it } from 'vitest'
import { monitorWatchdog } from '../../../commands/embedded/watchdog-monitor.ts'
import { until } from '../../support/until.ts'

// No watchdog is silent for so long in a test.
const NEVER_MS = 1e9

describe('the monitor of a watchdog', () => {
  it('restores once for each death of the watchdog', async () => {
    let pulse: number | undefined = 1
    const restored: unknown[] = []
    const monitor = monitorWatchdog({
      pulse: () => pulse,
      restore: async (last) => {
        restored.push(last)
        pulse = 1
      },
      silentAfterMs: NEVER_MS,
      checkEveryMs: 1,
    })
    for (const expected of [1, 2, 3]) {
      pulse = undefined
      await until(() => restored.length === expected)
    }
    await monitor.stop()
    expect(restored).toEqual([undefined, undefined, undefined])
  })

  it('restores once for a watchdog that is silent, and spares one whose pulse comes late', async () => {
    let [pulse, checks] = [0, 0]
    const restored: unknown[] = []
    const monitor = monitorWatchdog({
      pulse() {
        checks += 1
        // In every ninth check another one, then never again, and after it was restored in every check.
        if (checks <= 90 ? checks % 9 === 0 : restored.length > 0) pulse += 1
        return pulse
      },
      restore: async (last) => void restored.push(last),
      silentAfterMs: 10,
      checkEveryMs: 1,
    })
    await until(() => checks > 150)
    await monitor.stop()
    expect(restored).toEqual([10])
  })

  it('spares a watchdog that gets no processor time', async () => {
    let checks = 0
    let restored = 0
    const monitor = monitorWatchdog({
      pulse() {
        checks += 1
        return 1
      },
      restore: async () => {
        restored += 1
      },
      silentAfterMs: 10,
      usableMs: async () => 0,
      checkEveryMs: 1,
    })
    await until(() => checks > 100)
    await monitor.stop()
    expect(restored).toBe(0)
  })

  it('reports why the server can’t be restored, and does not retry endlessly', async () => {
    let tried = 0
    const monitor = monitorWatchdog({
      pulse: () => undefined,
      silentAfterMs: NEVER_MS,
      restore: async () => {
        tried += 1
        throw new Error(`the disk is full (${tried})`)
      },
      checkEveryMs: 1,
      tries: 3,
    })
    expect((await monitor.lost).message).toBe('the disk is full (3)')
    await monitor.stop()
    expect(tried).toBe(3)
  })

  it('aborts a restoration when it is stopped, and loses nothing', async () => {
    const begun = Promise.withResolvers<void>()
    let isLost = false
    const monitor = monitorWatchdog({
      pulse: () => undefined,
      silentAfterMs: NEVER_MS,
      restore: (_, signal) => {
        begun.resolve()
        return new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)))
      },
      checkEveryMs: 1,
      tries: 1,
    })
    void monitor.lost.then(() => {
      isLost = true
    })
    await begun.promise
    await monitor.stop()
    expect(isLost).toBe(false)
  })

  it('waits for a running restoration when it is stopped', async () => {
    let isDone = false
    let begun = () => {}
    const running = new Promise<void>((resolve) => {
      begun = resolve
    })
    const monitor = monitorWatchdog({
      pulse: () => undefined,
      silentAfterMs: NEVER_MS,
      restore: async () => {
        begun()
        await new Promise((done) => setImmediate(done))
        isDone = true
      },
      checkEveryMs: 1,
    })
    await running
    await monitor.stop()
    expect(isDone).toBe(true)
  })
})
