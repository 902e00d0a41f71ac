import { expect, it } from 'vitest'
import {
  nextSequencePauseMs,
  PAUSE_SEQUENCE_IDLE_MS,
  PAUSE_SEQUENCE_MS,
  type SequenceRound,
} from '#src/platform/sequence-interval.ts'

const IDLE: SequenceRound = { count: 0, isFull: false }

it('a sequence goes on at once while a round is full, and lets rows collect otherwise', () => {
  expect(nextSequencePauseMs(PAUSE_SEQUENCE_IDLE_MS, { count: 4_096, isFull: true })).toBe(0)
  expect(nextSequencePauseMs(0, { count: 3, isFull: false })).toBe(PAUSE_SEQUENCE_MS)
  expect(nextSequencePauseMs(PAUSE_SEQUENCE_IDLE_MS, { count: 1, isFull: false })).toBe(PAUSE_SEQUENCE_MS)
})

it('the pause of an idle sequence grows to half of what a row may wait', () => {
  const pauses: number[] = []
  for (let pause = 0, round = 0; round < 12; round += 1) {
    pause = nextSequencePauseMs(pause, IDLE)
    pauses.push(pause)
  }
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect(pauses[0]).toBe(PAUSE_SEQUENCE_MS)
  expect(pauses.at(-1)).toBe(1_000)
})
