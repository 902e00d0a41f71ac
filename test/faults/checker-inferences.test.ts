// Tests of the checker for inferences and locks: as in checker.test.ts, each violation is made by hand and must be found.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { check } from '../../faults/check.ts'
import type { InferenceFacts } from '../../faults/inferences.ts'
import { sampleEvidence } from '../../faults/sample.ts'

const trace = () => newId('trc', 'sandbox')

const SABOTAGES: { what: string; does(inferences: InferenceFacts): void }[] = [
  {
    what: 'an inference that was answered and is lost',
    does: ({ answered }) => {
      first(answered).traceId = trace()
    },
  },
  {
    what: 'a completion that was answered, of an inference that is stored as withheld',
    does: ({ traces }) => {
      first(traces).isWithheld = true
    },
  },
  {
    what: 'a repeat that ran the model again',
    does: ({ answered, traces, recorded }) => {
      const made = { ...first(traces.slice(1)), id: trace() }
      traces.push(made)
      recorded.push(made.id)
      first(answered.slice(2)).traceId = made.id
    },
  },
  { what: 'an inference without an entry', does: ({ recorded }) => void recorded.pop() },
  { what: 'an inference with two entries', does: ({ recorded }) => void recorded.push(first(recorded)) },
  { what: 'an entry of no inference', does: ({ recorded }) => void recorded.push(trace()) },
  { what: 'an inference that was not counted', does: ({ counted }) => void counted.pop() },
  { what: 'an inference that was counted twice', does: ({ counted }) => void counted.push(first(counted)) },
  { what: 'a count in the sandbox', does: ({ counted, traces }) => void counted.push(first(traces.slice(1)).id) },
  {
    what: 'a lock that was answered and is lost',
    does: ({ answered }) => {
      first(answered.slice(1)).lockId = 'lck'
    },
  },
  { what: 'a lock without an event', does: ({ lockEvents }) => void lockEvents.pop() },
  { what: 'a lock with two events', does: ({ lockEvents }) => void lockEvents.push(first(lockEvents)) },
  { what: 'a lock without an entry', does: ({ lockEntries }) => void lockEntries.pop() },
  {
    what: 'two live locks of one session',
    does: ({ locks, lockEntries, lockEvents }) => {
      locks.push({ ...first(locks), id: 'lck_2' })
      lockEntries.push('lck_2')
      lockEvents.push('lck_2')
    },
  },
]

describe('the checker for inferences', () => {
  it('finds nothing in a run without violations', async () => {
    expect(await check(sampleEvidence())).toEqual([])
  })

  it.each(SABOTAGES)('finds $what', async ({ does }) => {
    const evidence = sampleEvidence()
    does(evidence.inferences)
    const found = await check(evidence)
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual(['I10'])
  })
})

function first<T>(list: readonly T[]): T {
  const [one] = list
  if (one === undefined) throw new Error('the list is empty')
  return one
}
