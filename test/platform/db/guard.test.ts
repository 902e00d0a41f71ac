import { describe, expect, it } from 'vitest'
import { guardKeeper } from '#src/platform/db/guard.ts'
import { until } from '../../support/until.ts'

describe('the guard of an embedded server', () => {
  it('restores once for each death of the watchdog', async () => {
    let isAlive = true
    let restored = 0
    const guard = guardKeeper({
      isKept: () => isAlive,
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
    await guard.stop()
    expect(restored).toBe(3)
  })

  it('reports why the server can’t be restored, and does not retry endlessly', async () => {
    let tried = 0
    const guard = guardKeeper({
      isKept: () => false,
      restore: async () => {
        tried += 1
        throw new Error(`the disk is full (${tried})`)
      },
      checkEveryMs: 1,
      tries: 3,
    })
    expect((await guard.lost).message).toBe('the disk is full (3)')
    await guard.stop()
    expect(tried).toBe(3)
  })

  it('waits for a running restoration when it is stopped', async () => {
    let isDone = false
    let begun = () => {}
    const running = new Promise<void>((resolve) => {
      begun = resolve
    })
    const guard = guardKeeper({
      isKept: () => false,
      restore: async () => {
        begun()
        await new Promise((done) => setImmediate(done))
        isDone = true
      },
      checkEveryMs: 1,
    })
    await running
    await guard.stop()
    expect(isDone).toBe(true)
  })
})
