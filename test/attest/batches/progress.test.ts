import { expect, test } from 'vitest'
import { measureProgress } from '#src/attest/batches/progress.ts'

const createdAt = new Date('2026-11-20T10:00:00.000Z')
const after = (seconds: number) => new Date(createdAt.getTime() + seconds * 1_000)
const queued = (lines: number) => ({ status: 'queued' as const, riskStatus: null, lines, recent: 0 })
const passed = (lines: number, recent: number) => ({
  status: 'evaluated' as const,
  riskStatus: 'passed' as const,
  lines,
  recent,
})

test('progress counts lines by state and by risk', () => {
  const counts = [
    queued(5),
    passed(3, 0),
    { status: 'evaluated' as const, riskStatus: 'failed' as const, lines: 2, recent: 0 },
    { status: 'failed' as const, riskStatus: null, lines: 1, recent: 0 },
    { status: 'cancelled' as const, riskStatus: null, lines: 4, recent: 0 },
  ]
  expect(measureProgress(counts, { running: 2, createdAt, now: after(10) })).toEqual({
    counts: { queued: 3, running: 2, succeeded: 5, failed: 1, cancelled: 4 },
    settled: 10,
    risks: { passed: 3, review: 0, failed: 2 },
    ratePerSecond: null,
    estimatedFinishAt: null,
  })
})

test('the number of running lines never exceeds the number of queued ones', () => {
  const { counts } = measureProgress([queued(1)], { running: 3, createdAt, now: after(1) })
  expect(counts).toMatchObject({ queued: 0, running: 1 })
})

test('the rate is that of the last 30 seconds, or of the time since a younger batch began', () => {
  const old = measureProgress([queued(120), passed(900, 60)], { running: 0, createdAt, now: after(600) })
  expect(old).toMatchObject({ ratePerSecond: 2, estimatedFinishAt: after(660) })
  const young = measureProgress([queued(120), passed(60, 60)], { running: 0, createdAt, now: after(10) })
  expect(young).toMatchObject({ ratePerSecond: 6, estimatedFinishAt: after(30) })
  const justBegun = measureProgress([queued(10), passed(5, 5)], { running: 0, createdAt, now: after(-3) })
  expect(justBegun.ratePerSecond).toBe(5)
})

test('no finish time is given when no line ends or none is left', () => {
  expect(
    measureProgress([queued(1), passed(9, 0)], { running: 0, createdAt, now: after(99) }).estimatedFinishAt,
  ).toBeNull()
  expect(measureProgress([passed(9, 9)], { running: 0, createdAt, now: after(9) }).estimatedFinishAt).toBeNull()
})
