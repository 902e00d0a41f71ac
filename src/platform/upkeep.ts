import { SEALED_SIGNING_KEYS } from './crypto/signing-key-rows.ts'
import type { Feature, Platform } from './feature.ts'
import { purgeIdempotencyKeys } from './http/idempotency.ts'
import { purgeDeadJobs, purgeSettledJobs, purgeSilentWorkers } from './jobs/retention.ts'
import { purgeSamples, SAMPLE_EVERY_MS, sampleQueues } from './jobs/samples.ts'
import { HOUR_MS } from './retention.ts'

const MINUTE_MS = 60_000

/** What the platform's own tables need: retention, and their sealed values. */
export function platformFeature({ db, store }: Pick<Platform, 'db' | 'store'>): Feature {
  const perMinute = { per: 'deployment', everyMs: MINUTE_MS } as const
  return {
    name: 'platform',
    sealed: [SEALED_SIGNING_KEYS],
    data: [
      { table: 'jobs', key: ['id'], unexported: 'internal: what a job is about shows its state' },
      {
        table: 'idempotency_keys',
        key: ['key_digest', 'route'],
        unexported: 'internal: hashes of requests of the last 24 hours',
      },
    ],
    tasks: [{ name: 'queue samples', everyMs: SAMPLE_EVERY_MS, start: () => () => sampleQueues(db) }],
    retention: [
      { ...perMinute, what: 'jobs', purge: () => purgeSettledJobs(db) },
      { ...perMinute, what: 'workers', purge: () => purgeSilentWorkers(db) },
      { ...perMinute, what: 'queue_samples', purge: () => purgeSamples(db) },
      { ...perMinute, what: 'idempotency_keys', purge: () => purgeIdempotencyKeys(db) },
      { per: 'deployment', what: 'broken_uploads', everyMs: HOUR_MS, purge: () => store.sweep() },
      {
        per: 'tenant',
        what: 'dead_jobs',
        everyMs: HOUR_MS,
        days: null,
        purge: (scope, before) => purgeDeadJobs(db, scope, before),
      },
    ],
  }
}
