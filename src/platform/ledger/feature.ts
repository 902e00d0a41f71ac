import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { LEDGER_SEQUENCE } from './append.ts'
import { createCheckpointer } from './checkpoints.ts'
import { SEALED_FACTS } from './record.ts'
import { checkpointRetention, type LedgerRetentionDeps, ledgerRetention } from './retention.ts'

// A log that begins to grow has its first checkpoint soon; later ones a minute after the one before.
const CHECKPOINTS_EVERY_MS = 10_000

export type LedgerFeature = ReturnType<typeof ledgerFeature>

/** The tables of the decision ledger. Who records decisions has them from `Platform.ledger`. */
export function ledgerFeature(
  p: Pick<Platform, 'db' | 'now' | 'log' | 'signingKeys'>,
  accounts: LedgerRetentionDeps['accounts'],
) {
  return defineFeature(
    {
      name: 'ledger',
      data: [
        { table: 'decisions', key: ['id'] },
        {
          table: 'decision_facts',
          key: ['decision_id'],
          unexported: 'sealed: the explanation of a decision shows them',
        },
        { table: 'ledger_pending', key: ['decision_id'], unexported: 'internal: entries on their way to the log' },
        { table: 'ledger_leaves', key: ['position'] },
        { table: 'ledger_nodes', key: ['level', 'position'], unexported: 'internal: computed from the leaves' },
        { table: 'ledger_heads', key: [], unexported: 'internal: computed from the leaves' },
        { table: 'ledger_checkpoints', key: ['size'] },
      ],
      sealed: [SEALED_FACTS],
      sequences: [LEDGER_SEQUENCE],
      tasks: [{ name: 'ledger checkpoints', everyMs: CHECKPOINTS_EVERY_MS, start: () => createCheckpointer(p) }],
      retention: [ledgerRetention({ ...p, accounts }), checkpointRetention(p)],
    },
    {},
  )
}
