// The graph of an attribution job, as its manifest is stored: sealed, compressed, and deleted after 30 days. A share outlives it,
// and shows the readings alone from then on.

import { Failure } from '#src/failure.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Scope } from '#src/platform/ids.ts'
import { notReady } from '../jobs/jobs.ts'
import { loadManifest } from '../jobs/manifests.ts'
import { findTraceJob } from '../jobs/rows.ts'
import type { Manifest } from './graph.ts'

/** It is parsed for every view, by the process that answers: about 10 ms a megabyte. A graph pruned as by default has 1 to 3. */
export const MAX_GRAPH_BYTES = 16 * 1024 * 1024

/** The graph of a job that has succeeded. */
export interface FoundManifest {
  traceId: string
  /** undefined: it is not kept any more. */
  manifest: Manifest | undefined
}

/** undefined: there is no such job. @throws {Failure} `not_ready` for one without a manifest; `conflict` for too large a one. */
export type FindManifest = (scope: Scope, jobId: string) => Promise<FoundManifest | undefined>

export function createFindManifest({ db, sealer }: Pick<Platform, 'db' | 'sealer'>): FindManifest {
  return async (scope, jobId) => {
    const found = await db.tenant(scope, async (tx) => {
      const job = await findTraceJob(tx, jobId)
      if (job === undefined) return undefined
      if (job.status !== 'succeeded') throw notReady(`${jobId} has no graph`, job)
      if ((job.manifestBytes ?? 0) > MAX_GRAPH_BYTES) {
        throw new Failure('conflict', `The graph of ${jobId} has more than ${MAX_GRAPH_BYTES} bytes: prune it further.`)
      }
      return { job, bytes: await loadManifest(tx, sealer, jobId) }
    })
    if (found === undefined) return undefined
    const { job, bytes } = found
    // Written by this service, and unchanged: it was sealed.
    const manifest: Manifest | undefined = bytes && JSON.parse(bytes.toString())
    return { traceId: job.traceId, manifest }
  }
}
