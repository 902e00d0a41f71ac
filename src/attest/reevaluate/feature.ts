import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import { purgeReevaluations } from '../causes/rows.ts'
import { dryRunRoutes } from './dry-run-routes.ts'
import { createListApplier, type ListDeps } from './list.ts'
import { NOTES } from './notes.ts'
import { createReevaluations } from './reevaluations.ts'
import { reevaluationRoutes } from './routes.ts'
import { createWalk } from './walk.ts'

export type ReevaluateFeature = ReturnType<typeof reevaluateFeature>

// As long as the events that it created.
const REEVALUATION_DAYS = 30
const WALK_EVERY_MS = 1_000
// The list itself is fetched every hour.
const APPLY_LIST_EVERY_MS = 10_000

/** Re-evaluates attestations when something that their results depend on becomes known. */
export function reevaluateFeature(p: Platform, { accounts }: Pick<ListDeps, 'accounts'>) {
  const reevaluations = createReevaluations(p)
  return defineFeature(
    {
      name: 'reevaluate',
      routes: [...reevaluationRoutes(reevaluations), ...dryRunRoutes(reevaluations)],
      notes: NOTES,
      tasks: [
        { name: 'walk', everyMs: WALK_EVERY_MS, start: () => createWalk(p) },
        { name: 'apply list', everyMs: APPLY_LIST_EVERY_MS, start: () => createListApplier({ ...p, accounts }) },
      ],
      retention: [rowRule(p.db, 'reevaluations', REEVALUATION_DAYS, purgeReevaluations)],
    },
    { reevaluations },
  )
}
