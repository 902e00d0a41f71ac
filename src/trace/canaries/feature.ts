import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { keptByPlan, type LocksFeature, type Plans } from '../locks/feature.ts'
import type { ModelsFeature } from '../models/feature.ts'
import { createChecks, explainCheck } from './check.ts'
import { createReadInput } from './input.ts'
import { createKillSwitches, purgeKillSwitches } from './kill-switch.ts'
import { EVENTS, NOTES } from './notes.ts'
import { createCanaryPort } from './port.ts'
import { createPreview } from './preview.ts'
import { canaryRoutes } from './routes.ts'
import { createTraces } from './traces.ts'
import { createRecordTrip } from './trips.ts'

export type CanariesFeature = ReturnType<typeof canariesFeature>

/** Canary readings, the kill switch and what a trip does. */
export function canariesFeature(
  p: Platform,
  { models, locks, accounts }: Pick<ModelsFeature, 'models'> & Pick<LocksFeature, 'locks'> & { accounts: Plans },
) {
  const recordTrip = createRecordTrip(locks)
  const readInput = createReadInput({ ...p, models })
  const defaultModel = () => models.defaultId()
  const traces = createTraces(p)
  const checks = createChecks({ ...p, readInput, recordTrip, defaultModel })
  return defineFeature(
    {
      name: 'canaries',
      data: [
        { table: 'kill_switches', key: [] },
        { table: 'traces', key: ['id'] },
      ],
      routes: canaryRoutes({
        checks,
        killSwitches: createKillSwitches({ ...p, models }),
        ...createPreview(p),
        traces,
      }),
      notes: NOTES,
      events: EVENTS,
      retention: [
        keptByPlan(p, accounts, 'traces', oldRows({ table: 'traces', idType: 'trc', age: 'created_at' })),
        rowRule(p.db, 'kill_switches', null, purgeKillSwitches),
      ],
    },
    {
      checks,
      traces,
      recordTrip,
      port: createCanaryPort({ ...p, readInput, recordTrip, defaultModel }),
      explainers: { trace_check: explainCheck },
    },
  )
}
