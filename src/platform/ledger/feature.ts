import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { SEALED_FACTS } from './record.ts'
import { type LedgerRetentionDeps, ledgerRetention } from './retention.ts'

export type LedgerFeature = ReturnType<typeof ledgerFeature>

/** The tables of the decision ledger. Who records decisions has them from `Platform.ledger`. */
export function ledgerFeature(p: Pick<Platform, 'db' | 'now'>, accounts: LedgerRetentionDeps['accounts']) {
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
      retention: [ledgerRetention({ ...p, accounts })],
    },
    {},
  )
}
