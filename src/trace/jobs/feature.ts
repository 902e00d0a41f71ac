import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { ModelsFeature } from '../models/feature.ts'
import { createInterventions } from './interventions.ts'
import { createTraceJobs } from './jobs.ts'
import { MANIFEST_DAYS, SEALED_INPUTS, SEALED_MANIFESTS } from './manifests.ts'
import { EVENTS, NOTES } from './notes.ts'
import { traceJobRoutes } from './routes.ts'
import { findEndedTraceJobs } from './rows.ts'
import { createTraceWork } from './work.ts'

export type TraceJobsFeature = ReturnType<typeof traceJobsFeature>

/** Attributions of what a model said, and interventions. */
export function traceJobsFeature(p: Platform, { models }: Pick<ModelsFeature, 'models'>) {
  const waits = createPolledWaits({ db: p.db, reason: 'awaited attributions', find: findEndedTraceJobs })
  p.onClose(waits.close, 'waits for attributions')
  const traceJobs = createTraceJobs({ ...p, models, waits })
  const manifests = oldRows({ table: 'trace_manifests', idType: 'job', age: 'created_at' })
  return defineFeature(
    {
      name: 'jobs',
      routes: traceJobRoutes(traceJobs, createInterventions({ ...p, models })),
      notes: NOTES,
      events: EVENTS,
      work: { trace: () => createTraceWork({ ...p, models }) },
      // A job lives as long as its trace, which its foreign key sees to.
      retention: [rowRule(p.db, 'trace_manifests', MANIFEST_DAYS, manifests)],
      sealed: [SEALED_INPUTS, SEALED_MANIFESTS],
      data: [
        { table: 'trace_jobs', key: ['id'], secrets: ['sealed_input'] },
        {
          table: 'trace_manifests',
          key: ['id'],
          unexported: 'sealed, and kept for 30 days: GET /v1/trace/jobs/{id}/manifest shows them',
        },
      ],
    },
    { traceJobs },
  )
}
