import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import type { CasesFeature } from '../cases/feature.ts'
import { purgeReevaluations } from '../causes/rows.ts'
import type { HardwareFeature } from '../hardware/feature.ts'
import type { MediaFeature } from '../media/feature.ts'
import type { TrustFeature } from '../trust/feature.ts'
import { dryRunRoutes } from './dry-run-routes.ts'
import { createListApplier, type ListDeps } from './list.ts'
import { NOTES } from './notes.ts'
import { createReevaluate } from './reevaluate.ts'
import { createReevaluations } from './reevaluations.ts'
import { reevaluationRoutes } from './routes.ts'

export type ReevaluateFeature = ReturnType<typeof reevaluateFeature>

// As long as the events that it created.
const REEVALUATION_DAYS = 30
// The list itself is fetched every hour.
const APPLY_LIST_EVERY_MS = 10_000

type Below = Pick<ListDeps, 'accounts'> &
  Pick<MediaFeature, 'inspector' | 'c2pa'> &
  Pick<CasesFeature, 'openCase'> &
  Pick<HardwareFeature, 'revocations'> &
  Pick<TrustFeature, 'c2paAnchorsOf'>

/** Re-evaluates attestations when something that their results depend on becomes known. */
export function reevaluateFeature(p: Platform, { accounts, ...below }: Below) {
  const reevaluations = createReevaluations(p)
  return defineFeature(
    {
      name: 'reevaluate',
      data: [
        { table: 'reevaluations', key: ['id'] },
        {
          table: 'reevaluation_marks',
          key: ['attestation_id', 'reevaluation_id'],
          unexported: 'what a re-evaluation has yet to do; its result is in attestation_results',
        },
      ],
      routes: [...reevaluationRoutes(reevaluations, p.signingKeys), ...dryRunRoutes(reevaluations)],
      notes: NOTES,
      work: { reevaluate: () => createReevaluate({ ...p, ...below, signRecord: p.signingKeys.signRecord }) },
      tasks: [{ name: 'apply list', everyMs: APPLY_LIST_EVERY_MS, start: () => createListApplier({ ...p, accounts }) }],
      retention: [rowRule(p.db, 'reevaluations', REEVALUATION_DAYS, purgeReevaluations)],
    },
    { reevaluations },
  )
}
