import { describe, expect, it } from 'vitest'
import {
  afterFailure,
  afterNothing,
  afterSuccess,
  ask,
  type Circuit,
  CLOSED,
  closedForMs,
  pause,
} from '#src/attest/screen/breaker.ts'

const NOW = 1_000_000
const fail = (circuit: Circuit, times: number, nowMs = NOW): Circuit =>
  Array.from({ length: times }).reduce<Circuit>((one) => afterFailure(one, nowMs), circuit)

describe('the circuit breaker', () => {
  it('opens with the fifth failure in a row, and not with five that a success interrupts', () => {
    expect(ask(fail(CLOSED, 4), NOW).waitMs).toBe(0)
    expect(ask(fail(CLOSED, 5), NOW).waitMs).toBe(15_000)
    expect(ask(fail(afterSuccess(fail(CLOSED, 4), NOW), 4), NOW).waitMs).toBe(0)
    expect(ask(afterFailure(CLOSED, NOW, true), NOW).waitMs).toBe(15_000)
  })

  it('lets one call through after its pause, and the others when that one has ended', () => {
    const open = fail(CLOSED, 5)
    expect(ask(open, NOW + 14_999)).toEqual({ circuit: open, waitMs: 1 })
    const first = ask(open, NOW + 15_000)
    expect(first.waitMs).toBe(0)
    expect(ask(first.circuit, NOW + 15_000).waitMs).toBe(2_000)
    expect(ask(afterNothing(first.circuit), NOW + 15_000).waitMs).toBe(0)
    expect(ask(afterSuccess(first.circuit, NOW + 15_000), NOW + 15_000)).toEqual({ circuit: CLOSED, waitMs: 0 })
  })

  it('doubles its pauses up to five minutes', () => {
    let circuit = fail(CLOSED, 5)
    let nowMs = NOW
    const pauses: number[] = []
    for (let round = 0; round < 7; round += 1) {
      pauses.push(closedForMs(circuit, nowMs))
      nowMs += closedForMs(circuit, nowMs)
      circuit = afterFailure(ask(circuit, nowMs).circuit, nowMs)
    }
    expect(pauses).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000])
  })

  it('ignores failures of calls that began before it opened', () => {
    const open = fail(CLOSED, 5)
    expect(ask(fail(open, 20, NOW + 1_000), NOW + 1_000).waitMs).toBe(14_000)
  })

  it('keeps a requested pause, whatever a call brings that began before', () => {
    const after = afterSuccess(pause(CLOSED, NOW, 60_000), NOW + 1_000)
    expect(ask(after, NOW + 1_000).waitMs).toBe(59_000)
    const probe = ask(after, NOW + 60_000)
    expect(probe.waitMs).toBe(0)
    expect(afterSuccess(probe.circuit, NOW + 60_500)).toBe(CLOSED)
    expect(ask(afterSuccess(fail(CLOSED, 5), NOW + 1_000), NOW + 1_000).waitMs).toBe(14_000)
  })

  it('pauses as long as requested, and no shorter than its own pause', () => {
    expect(ask(pause(CLOSED, NOW, 17_000), NOW).waitMs).toBe(17_000)
    expect(ask(pause(fail(CLOSED, 5), NOW, 1_000), NOW).waitMs).toBe(15_000)
    expect(pause(CLOSED, NOW, 17_000).failures).toBe(0)
  })
})
