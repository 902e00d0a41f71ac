import { describe, expect, it } from 'vitest'
import { watchHeartbeat } from '../../commands/heartbeat.ts'

const SILENT_AFTER_MS = 60_000

// A watch whose clock only the test moves.
function setUp() {
  let nowMs = 0
  // The share of the processor that the child gets, while it wants all of it.
  let share = 1
  let check = async () => {}
  const seen = { asked: 0, silent: 0, stopped: 0 }
  const heartbeat = watchHeartbeat({
    ask: () => {
      seen.asked += 1
    },
    onSilent: () => {
      seen.silent += 1
    },
    silentAfterMs: SILENT_AFTER_MS,
    usableMs: async (elapsedMs) => elapsedMs * share,
    now: () => nowMs,
    every: (_, callback) => {
      check = callback
      return () => {
        seen.stopped += 1
        check = async () => {}
      }
    },
  })
  const pass = async (ms: number) => {
    nowMs += ms
    await check()
  }
  const passSlowly = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10_000) await pass(10_000)
  }
  const starve = (least: number) => {
    share = least
  }
  return { heartbeat, pass, passSlowly, starve, seen }
}

describe('the heartbeat of a process', () => {
  it('reports once that the process does not answer', async () => {
    const { passSlowly, seen } = setUp()
    await passSlowly(SILENT_AFTER_MS - 10_000)
    expect(seen.silent).toBe(0)
    await passSlowly(10 * SILENT_AFTER_MS)
    expect(seen).toMatchObject({ silent: 1, stopped: 1 })
  })

  it('spares a process that answers late', async () => {
    const { heartbeat, passSlowly, seen } = setUp()
    for (let round = 0; round < 10; round += 1) {
      await passSlowly(SILENT_AFTER_MS - 10_000)
      heartbeat.answered()
    }
    expect(seen.silent).toBe(0)
  })

  it('spares a process that was suspended together with its supervisor', async () => {
    const { heartbeat, pass, passSlowly, seen } = setUp()
    await passSlowly(20_000)
    // A laptop that slept for a night, and again before the answer came.
    await pass(8 * 3_600_000)
    await pass(3_600_000)
    expect(seen.silent).toBe(0)
    heartbeat.answered()
    await passSlowly(SILENT_AFTER_MS - 10_000)
    expect(seen.silent).toBe(0)
  })

  it('spares a process that gets hardly any processor time, and reports it when it has had the whole time', async () => {
    const { passSlowly, starve, seen } = setUp()
    starve(0.05)
    await passSlowly(19 * SILENT_AFTER_MS)
    expect(seen.silent).toBe(0)
    await passSlowly(2 * SILENT_AFTER_MS)
    expect(seen.silent).toBe(1)
  })

  it('counts nothing where the answer comes while the processor time is read', async () => {
    let check = async () => {}
    const read = Promise.withResolvers<number>()
    let isSilent = false
    const heartbeat = watchHeartbeat({
      ask: () => {},
      onSilent: () => {
        isSilent = true
      },
      silentAfterMs: SILENT_AFTER_MS,
      usableMs: () => read.promise,
      every: (_, callback) => {
        check = callback
        return () => {}
      },
    })
    const checked = check()
    heartbeat.answered()
    read.resolve(SILENT_AFTER_MS)
    await checked
    expect(isSilent).toBe(false)
  })
})
