// Tests of the checker for programs that pull events: as in checker.test.ts, each violation is made by hand and must be found.

import { describe, expect, it } from 'vitest'
import { check } from '../../faults/check.ts'
import type { ConsumerFacts } from '../../faults/consumers.ts'
import { sampleEvidence } from '../../faults/sample.ts'

const SABOTAGES: { what: string; does(consumers: ConsumerFacts): void }[] = [
  { what: 'an event that an answer left out', does: ({ pulled }) => void first(pulled).positions.shift() },
  {
    what: 'an event that an answer has twice',
    does: ({ pulled }) => void first(pulled).positions.unshift(first(pulled).positions[0] ?? 0),
  },
  {
    what: 'a position that went back',
    does: ({ pulled }) => void pulled.push({ ...first(pulled), after: 0, nextAfter: 0, positions: [] }),
  },
  {
    what: 'an event that no reader was given',
    does: ({ pulled }) => {
      const last = pulled.pop()
      expect(last?.positions.length).toBeGreaterThan(0)
    },
  },
  {
    what: 'two readers that moved the consumer from one position',
    does: ({ moved }) => void moved.push({ ...first(moved) }),
  },
  {
    what: 'an event that was shown to a revoked key',
    does: ({ waited }) => {
      for (const one of waited) if (one.isGuest) one.sawEvent = true
    },
  },
]

describe('the checker for consumers', () => {
  it('finds nothing in a run without violations', async () => {
    expect(await check(sampleEvidence())).toEqual([])
  })

  it.each(SABOTAGES)('finds $what', async ({ does }) => {
    const evidence = sampleEvidence()
    does(evidence.consumers)
    const found = await check(evidence)
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual(['I12'])
  })
})

function first<Item>(items: readonly Item[]): Item {
  const [item] = items
  if (item === undefined) throw new Error('the sample has none')
  return item
}
