// The texts of an inference: read by the person who reviews a lock, and erased before their time. An erasure reaches whatever
// holds the words: the texts that `retain` kept, the manifests of attribution jobs, and the jobs that would write another.

import { recordAudit } from '#src/account/audit/record.ts'
import { rowWithActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { again, type IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, noSuch } from '#src/platform/ids.ts'
import { cancelJobs } from '#src/platform/jobs/backlog.ts'
import {
  eraseTextUntil,
  findTrace,
  type ShownTrace,
  type TracedInference,
  type TraceRow,
  type Traces,
} from '../canaries/traces.ts'
import { eraseTraceContent, loadTraceContent, type TraceContent } from '../inferences/contents.ts'
import { eraseManifestsOf } from '../jobs/rows.ts'

export interface KeptTexts {
  trace: TraceRow & { inference: TracedInference }
  content: TraceContent
}

export interface ErasureOptions {
  /** For the log. */
  requestId: string
  key: IdempotencyKey | undefined
}

export type TraceTexts = ReturnType<typeof createTraceTexts>

interface TraceTextsDeps extends Pick<Platform, 'db' | 'sealer' | 'now' | 'log'> {
  traces: Pick<Traces, 'get'>
}

export function createTraceTexts({ db, sealer, now, log, traces }: TraceTextsDeps) {
  /**
   * Returns whether there was anything to erase. A job that is about to end waits for this transaction, or this one for it.
   * @throws {Failure} `not_found`.
   */
  async function eraseAll(tx: Tx, acting: Acting, id: string): Promise<boolean> {
    // First, so that erasures of one trace wait for each other.
    if (!(await eraseTextUntil(tx, id))) throw noSuch(id)
    const jobs = await eraseManifestsOf(tx, id, now())
    await cancelJobs(tx, jobs.cancelled)
    const hadContent = await eraseTraceContent(tx, id)
    if (!hadContent && jobs.cancelled.length === 0 && jobs.manifests === 0) return false
    const after = { manifests: jobs.manifests, jobs_cancelled: jobs.cancelled.length }
    await recordAudit(tx, acting, { action: 'trace_texts.erased', subjectId: id, after })
    return true
  }

  return {
    find: traces.get,

    /**
     * Each read is an entry of the audit log.
     * @throws {Failure} `not_found`, `text_not_kept`, `environment_mismatch`.
     */
    async read(acting: Acting, id: string): Promise<KeptTexts> {
      checkId(id, 'trc', acting.environment)
      return db.tenant(acting, async (tx) => {
        const [trace, content] = await Promise.all([getOwned(findTrace(tx, id), id), loadTraceContent(tx, sealer, id)])
        if (trace.inference === null || content === undefined) throw noTexts(id)
        await recordAudit(tx, acting, { action: 'trace_texts.read', subjectId: id })
        return { trace: { ...trace, inference: trace.inference }, content }
      })
    },

    /** Erases them permanently. Idempotent. @throws {Failure} `not_found` for the trace; `environment_mismatch`. */
    async erase(acting: Acting, id: string, { requestId, key }: ErasureOptions): Promise<ShownTrace> {
      checkId(id, 'trc', acting.environment)
      note({ trace: id })
      const { trace, isErased } = await db.tenant(acting, (tx) =>
        again(tx, key, async () => {
          const isErased = await eraseAll(tx, acting, id)
          const trace = await getOwned(findTrace(tx, id), id)
          return { trace: await rowWithActors(tx, trace, ['createdBy']), isErased }
        }),
      )
      if (isErased) {
        const { accountId: account, environment, principal } = acting
        log.info(
          { account, environment, trace: id, actor: actorOf(principal).id, requestId },
          'texts of a trace erased',
        )
      }
      return trace
    },
  }
}

function noTexts(id: string): Failure {
  return new Failure(
    'text_not_kept',
    `${id} keeps no texts: it was run without retain=text, they are erased, or their time is over.`,
  )
}
