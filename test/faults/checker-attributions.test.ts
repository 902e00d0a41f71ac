// Tests of the checker for attribution jobs and diffs: as in checker.test.ts, each violation is made by hand and must be found.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import type { AttributionFacts } from '../../faults/attributions.ts'
import { check } from '../../faults/check.ts'
import { sampleEvidence } from '../../faults/sample.ts'

const job = () => newId('job', 'live')

const SABOTAGES: { what: string; does(facts: AttributionFacts): unknown }[] = [
  {
    what: 'a job that was accepted and is lost',
    does: ({ answered }) => answered.push({ request: 'lost', id: job() }),
  },
  {
    what: 'a repeat that made another job',
    does: ({ answered, works }) => {
      first(answered).id = works[1]?.id ?? ''
    },
  },
  {
    what: 'a job that failed',
    does: ({ works }) => {
      first(works).state = 'failed'
    },
  },
  {
    what: 'a job without a manifest',
    does: ({ works }) => {
      first(works).results = 0
    },
  },
  {
    what: 'a job with two manifests',
    does: ({ works }) => {
      first(works).results = 2
    },
  },
  { what: 'an end without an event', does: ({ events }) => events.shift() },
  { what: 'an end with two events', does: ({ events }) => events.push(first(events)) },
  {
    what: 'an event with another hash',
    does: ({ events }) => {
      first(events).hash = 'other'
    },
  },
  { what: 'an event of no job', does: ({ events }) => events.push({ ...first(events), id: job() }) },
  { what: 'a job that was not counted', does: ({ counted }) => counted.pop() },
  { what: 'a job that was counted twice', does: ({ counted }) => counted.push(first(counted)) },
  { what: 'a count in the sandbox', does: ({ counted, works }) => counted.push(works[1]?.id ?? '') },
  { what: 'a manifest with other bytes', does: ({ shown }) => shown.push({ ...first(shown), sha256: 'other' }) },
  { what: 'a manifest that is not shown', does: ({ shown }) => shown.shift() },
]

describe('the checker for attribution jobs and diffs', () => {
  it.each(SABOTAGES)('finds $what', async ({ does }) => {
    const evidence = sampleEvidence()
    expect(await check(evidence)).toEqual([])
    does(evidence.attributions)
    const found = await check(evidence)
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual(['I11'])
  })
})

function first<Item>(list: readonly Item[]): Item {
  const [one] = list
  if (one === undefined) throw new Error('the list is empty')
  return one
}
