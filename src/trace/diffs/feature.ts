import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { keptByPlan, type Plans } from '../locks/feature.ts'
import type { ModelsFeature } from '../models/feature.ts'
import { createDiffs } from './diffs.ts'
import { evalSetRoutes } from './eval-set-routes.ts'
import { createEvalSets, SEALED_PROMPTS } from './eval-sets.ts'
import { EVENTS, NOTES } from './notes.ts'
import { diffRoutes } from './routes.ts'
import { findEndedDiffs } from './rows.ts'
import { createDiff } from './run.ts'

export type DiffsFeature = ReturnType<typeof diffsFeature>

/** Diffs of two model versions, and the prompts that they are measured with. */
export function diffsFeature(p: Platform, { models, accounts }: Pick<ModelsFeature, 'models'> & { accounts: Plans }) {
  const evalSets = createEvalSets(p)
  const waits = createPolledWaits({ db: p.db, reason: 'awaited diffs', find: findEndedDiffs })
  p.onClose(waits.close, 'waits for diffs')
  const diffs = createDiffs({ ...p, models, evalSets, waits })
  return defineFeature(
    {
      name: 'diffs',
      data: [
        { table: 'eval_sets', key: ['id'], secrets: ['sealed_prompts'] },
        { table: 'model_diffs', key: ['id'] },
        {
          table: 'diff_checkpoints',
          key: ['diff_id'],
          unexported: 'what a running diff has measured so far; its report is in model_diffs',
        },
      ],
      sealed: [SEALED_PROMPTS],
      routes: [...diffRoutes(diffs), ...evalSetRoutes(evalSets)],
      notes: NOTES,
      events: EVENTS,
      work: { diff: () => createDiff({ ...p, models, evalSets }) },
      retention: [
        keptByPlan(p, accounts, 'model_diffs', oldRows({ table: 'model_diffs', idType: 'dif', age: 'created_at' })),
        rowRule(p.db, 'eval_sets', null, oldRows({ table: 'eval_sets', idType: 'evs', age: 'created_at' })),
      ],
    },
    { diffs },
  )
}
