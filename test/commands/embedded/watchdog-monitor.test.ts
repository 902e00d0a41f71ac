import { describe, expect, it } from 'vitest'
import { monitorWatchdog } from '../../../commands/embedded/watchdog-monitor.ts'
import { until } from '../../support/until.ts'

describe('the monitor of a watchdog', () => {
  it('restores once for each death of the watchdog', async () => {
    let isAlive = true
    let restored = 0
    const monitor = monitorWatchdog({
      isWatched: () => isAlive,
      restore: async () => {
        restored += 1
        isAlive = true
      },
      checkEveryMs: 1,
    })
    for (const expected of [1, 2, 3]) {
      isAlive = false
      await until(() => restored === expected)
    }
    await monitor.stop()
    expect(restored).toBe(3)
  })

  it('reports why the server can’t be restored, and does not retry endlessly', async () => {
    let tried = 0
    const monitor = monitorWatchdog({
      isWatched: () => false,
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

  it('waits for a running restoration when it is stopped', async () => {
    let isDone = false
    let begun = () => {}
    const running = new Promise<void>((resolve) => {
      begun = resolve
    })
    const monitor = monitorWatchdog({
      isWatched: () => false,
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
