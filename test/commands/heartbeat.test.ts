import { describe, expect, it } from 'vitest'
import { watchHeartbeat } from '../../commands/heartbeat.ts'

const SILENT_AFTER_MS = 60_000

// A watch whose clock only the test moves.
function setUp() {
  let nowMs = 0
  let check = () => {}
  const seen = { asked: 0, silent: 0, stopped: 0 }
  const heartbeat = watchHeartbeat({
    ask: () => {
      seen.asked += 1
    },
    onSilent: () => {
      seen.silent += 1
    },
    silentAfterMs: SILENT_AFTER_MS,
    now: () => nowMs,
    every: (_, callback) => {
      check = callback
      return () => {
        seen.stopped += 1
        check = () => {}
      }
    },
  })
  const pass = (ms: number) => {
    nowMs += ms
    check()
  }
  const passSlowly = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10_000) pass(10_000)
  }
  return { heartbeat, pass, passSlowly, seen }
}

describe('the heartbeat of a process', () => {
  it('reports once that the process does not answer', () => {
    const { passSlowly, seen } = setUp()
    passSlowly(SILENT_AFTER_MS - 10_000)
    expect(seen.silent).toBe(0)
    passSlowly(10 * SILENT_AFTER_MS)
    expect(seen).toMatchObject({ silent: 1, stopped: 1 })
  })

  it('spares a process that answers late', () => {
    const { heartbeat, passSlowly, seen } = setUp()
    for (let round = 0; round < 10; round += 1) {
      passSlowly(SILENT_AFTER_MS - 10_000)
      heartbeat.answered()
    }
    expect(seen.silent).toBe(0)
  })

  it('spares a process that was suspended together with its supervisor', () => {
    const { heartbeat, pass, passSlowly, seen } = setUp()
    passSlowly(20_000)
    // A laptop that slept for a night, and again before the answer came.
    pass(8 * 3_600_000)
    pass(3_600_000)
    expect(seen.silent).toBe(0)
    heartbeat.answered()
    passSlowly(SILENT_AFTER_MS - 10_000)
    expect(seen.silent).toBe(0)
  })
})
