// Tests of the checker for the decision ledger: as in checker.test.ts, each violation is made by hand and must be found.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { check } from '../../faults/check.ts'
import type { LedgerFacts } from '../../faults/ledger.ts'
import { sampleEvidence } from '../../faults/sample.ts'

const SABOTAGES: { what: string; does(ledgers: LedgerFacts): void }[] = [
  {
    what: 'a decision that was committed and is lost',
    does: ({ decided }) => void decided.push(newId('dec', 'sandbox')),
  },
  {
    what: 'a token that was executed twice',
    does: ({ executedTwice }) => void executedTwice.push(newId('jti', 'sandbox')),
  },
  {
    what: 'a decision without a leaf',
    does: ({ decisions }) => void decisions.push({ ...first(decisions), id: newId('dec', 'sandbox') }),
  },
  {
    what: 'a decision with two leaves',
    does: ({ leaves }) => void leaves.splice(1, 0, { ...first(leaves), position: 5 }),
  },
  {
    what: 'a decision that waits for its leaf for ever',
    does: (ledgers) => {
      ledgers.pending = 1
    },
  },
  {
    what: 'a leaf of another entry',
    does: ({ leaves }) => {
      first(leaves).hash = first(leaves.slice(1)).hash
    },
  },
  { what: 'a leaf that is lost', does: ({ leaves }) => void leaves.shift() },
  {
    what: 'a head of another tree',
    does: ({ heads }) => {
      first(heads).size = 4
    },
  },
  {
    what: 'a checkpoint of other leaves',
    does: ({ checkpoints }) => {
      first(checkpoints).size = 3
    },
  },
  {
    what: 'a checkpoint with another signature',
    does: ({ checkpoints }) => {
      const { jws } = first(checkpoints)
      first(checkpoints).jws = `${jws.slice(0, -8)}${jws.at(-8) === 'A' ? 'B' : 'A'}${jws.slice(-7)}`
    },
  },
  {
    what: 'an event without a position',
    does: ({ positions }) => {
      first(positions).position = null
    },
  },
  {
    what: 'a position that two events have',
    does: ({ positions }) => {
      first(positions).position = 2
    },
  },
]

describe('the checker of the ledger', () => {
  it('finds nothing in a run without violations', async () => {
    expect(await check(sampleEvidence())).toEqual([])
  })

  it.each(SABOTAGES)('finds $what', async ({ does }) => {
    const evidence = sampleEvidence()
    does(evidence.ledgers)
    // Programs that pull events miss one without its position, too.
    const findings = (await check(evidence)).filter(({ invariant }) => invariant !== 'I12')
    expect(new Set(findings.map(({ invariant }) => invariant))).toEqual(new Set(['I6']))
  })
})

function first<Value>(values: readonly Value[]): Value {
  const [value] = values
  if (value === undefined) throw new Error('the sample has none')
  return value
}
