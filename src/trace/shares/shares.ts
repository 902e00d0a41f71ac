// Shares as the account makes and ends them. All shares of a trace mask the same neurons at any time: those that any of them
// masks. A share that has ended masks on, because its graph may have been kept.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { lockExclusive, type SubjectLock, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { again, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { findTrace, noTrace, type TraceRow } from '../canaries/traces.ts'
import {
  checkPrompt,
  checkWanted,
  masksIn,
  type NewShareRequest,
  refuseBypass,
  refuseRevealing,
  refuseUnlike,
} from './beside.ts'
import { type EndedRequest, endRequestsOfShare } from './disclosure-rows.ts'
import { type Manifest, maskedNodes, neuronOf } from './graph.ts'
import type { FindManifest } from './manifests.ts'
import {
  countShares,
  findShare,
  findShares,
  findSharesOf,
  insertShare,
  revokeShare,
  type ShareRow,
  type ShareStatus,
} from './rows.ts'
import { resolveMask } from './rule.ts'
import { countViews, findViews, hasGraphViews, type ShareViewRow } from './view-rows.ts'

const TOKEN_BYTES = 32
const SALT_BYTES = 16

export type SharesDeps = Pick<Platform, 'db' | 'now' | 'pager' | 'ledger'> & { findManifest: FindManifest }

/** The lock of all shares whose masks belong together. A view takes it shared, so that it sees every mask made before it. */
export function lockOfShares(
  scope: Scope,
  { id, modelVersionId }: Pick<TraceRow, 'id' | 'modelVersionId'>,
): SubjectLock {
  return subjectLock(scope, 'shares', modelVersionId ?? id)
}

interface EndedShare {
  shareId: string
  ended: readonly EndedRequest[]
  at: Date
}

/** A share with who made and who ended it. */
export type ShownShare = WithActors<ShareRow, 'createdBy' | 'revokedBy'>
const ACTORS = ['createdBy', 'revokedBy'] as const

export type Shares = ReturnType<typeof createShares>

export function createShares({ db, now, pager, ledger, findManifest }: SharesDeps) {
  /**
   * @throws {Failure} `environment_mismatch`, `not_found` for the trace and the job; `invalid_request` for a mask without a
   * job, and at what the graph lacks; `conflict` where another share of the trace shows another graph, or would lose its say.
   */
  async function create(
    acting: Acting,
    wanted: NewShareRequest,
    key?: IdempotencyKey,
  ): Promise<{ share: ShownShare; token: string }> {
    checkId(wanted.traceId, 'trc', acting.environment)
    if (wanted.jobId !== undefined) checkId(wanted.jobId, 'job', acting.environment)
    checkWanted(wanted, now())
    const trace = await db.tenant(acting, (tx) => findTrace(tx, wanted.traceId))
    if (trace === undefined) throw noTrace(wanted.traceId)
    if (wanted.scopeKind === 'model_version' && trace.modelVersionId === null) {
      throw invalidField('/scope_kind', 'conflict', 'must be trace: the trace is of no model of the service')
    }
    const graph = await graphOf(acting, wanted)
    checkPrompt(wanted, graph)
    const named =
      graph === undefined ? [] : resolveMask(graph, { nodeIds: wanted.maskedNodeIds, rule: wanted.maskRule })
    const masks = wanted.scopeKind === 'trace' ? named : [...new Set(named.map(neuronOf))]
    // A neuron of the model version is masked at each of its positions.
    const own = graph === undefined ? [] : maskedNodes(graph, new Set(masks))
    const token = randomBytes(TOKEN_BYTES).toString('base64url')

    const insert = async (tx: Tx): Promise<ShareRow> => {
      const at = now()
      const before = await findSharesOf(tx, { traceId: trace.id, modelVersionId: trace.modelVersionId })
      refuseUnlike(wanted, trace, before)
      const inherited = graph === undefined ? [] : masksIn(graph, before)
      const inheritedIds = new Set(inherited.flatMap(({ nodeIds }) => [...nodeIds]))
      if (wanted.disclosureMode === 'auto') refuseBypass(before, inherited)
      if (wanted.revealsPrompt) refuseRevealing(before, inherited)
      const added = own.filter((id) => !inheritedIds.has(id))
      const ofTrace = before.filter(({ traceId }) => traceId === trace.id).map(({ id }) => id)
      const id = newId('shr', acting.environment, at.getTime())
      noteForLog({ trace: trace.id, share: id })
      await insertShare(tx, acting, {
        id,
        name: wanted.name ?? null,
        traceId: trace.id,
        jobId: wanted.jobId ?? null,
        modelVersionId: trace.modelVersionId,
        scopeKind: wanted.scopeKind,
        masks,
        maskedNodeIds: [...new Set([...inheritedIds, ...own])].toSorted(),
        maskRule: wanted.maskRule ?? null,
        maskSalt: randomBytes(SALT_BYTES),
        reveals: [...wanted.reveals],
        revealsPrompt: wanted.revealsPrompt,
        disclosureMode: wanted.disclosureMode,
        shownBefore: added.length > 0 && (await hasGraphViews(tx, ofTrace)) ? added.length : 0,
        tokenHash: sha256(token),
        createdBy: actorOf(acting.principal).id,
        createdAt: at,
        expiresAt: wanted.expiresAt,
      })
      await recordAudit(tx, acting, {
        action: 'share.created',
        subjectId: id,
        after: {
          trace_id: trace.id,
          job_id: wanted.jobId ?? null,
          masked: own.length,
          disclosure_mode: wanted.disclosureMode,
          reveals_prompt: wanted.revealsPrompt,
        },
      })
      return getShare(tx, id)
    }
    const share = await db.tenant(acting, async (tx) => {
      await lockExclusive(tx, [lockOfShares(acting, trace)])
      return shown(tx, await once(tx, key, insert, ({ id }) => id))
    })
    return { share, token }
  }

  /** What a grant showed ends with its share: an entry each, as where the grant itself ends. */
  async function recordGrants(tx: Tx, acting: Acting, { shareId, ended, at }: EndedShare): Promise<void> {
    const entries = ended
      .filter(({ before }) => before === 'granted')
      .map(({ id, status }) => ({
        kind: 'disclosure' as const,
        at,
        // One whose time was over before is what the clock would have written down.
        actor: status === 'revoked' ? actorOf(acting.principal) : ('service' as const),
        subject: id,
        reason: `disclosure_${status}`,
        valid: null,
        inputs: { share_id: shareId },
      }))
    await ledger.recordMany(tx, acting, entries)
  }

  async function graphOf(scope: Scope, { jobId, traceId }: NewShareRequest): Promise<Manifest | undefined> {
    if (jobId === undefined) return undefined
    const found = await findManifest(scope, jobId)
    if (found === undefined) throw new Failure('not_found', `There is no attribution job ${jobId}.`)
    if (found.traceId !== traceId) throw invalidField('/job_id', 'conflict', 'is a job of another trace')
    if (found.manifest === undefined) throw new Failure('not_found', `The graph of ${jobId} is not kept any more.`)
    return found.manifest
  }

  return {
    create,

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownShare> {
      checkId(id, 'shr', scope.environment)
      return db.tenant(scope, async (tx) => shown(tx, await getShare(tx, id)))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`; `environment_mismatch`. */
    async list(
      scope: Scope,
      query: ListQuery & { status?: readonly ShareStatus[] | undefined; trace_id?: string | undefined },
    ): Promise<CountedPage<ShownShare>> {
      const { status: statuses, trace_id: traceId } = query
      if (traceId !== undefined) checkId(traceId, 'trc', scope.environment)
      const filter = { statuses, traceId, at: now(), ...createdBetween(query) }
      const list = { route: 'GET /v1/trace/shares', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findShares(tx, scope, filter, page),
        count: (tx) => countShares(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ACTORS),
      })
    },

    /**
     * Ends a share and every grant of it, from the next view on. What has ended stays as it is.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async revoke(acting: Acting, id: string, key?: IdempotencyKey): Promise<ShownShare> {
      checkId(id, 'shr', acting.environment)
      noteForLog({ share: id })
      return db.tenant(acting, (tx) =>
        again(tx, key, async () => {
          const at = now()
          const by = actorOf(acting.principal).id
          if (statusIsActive(await getShare(tx, id), at) && (await revokeShare(tx, id, by, at))) {
            const ended = await endRequestsOfShare(tx, id, at)
            const after = { requests_ended: ended.length }
            await recordAudit(tx, acting, { action: 'share.revoked', subjectId: id, after })
            await recordGrants(tx, acting, { shareId: id, ended, at })
          }
          return shown(tx, await getShare(tx, id))
        }),
      )
    },

    /** The log of views, newest first. @throws {Failure} as `list`, and `not_found`. */
    async views(
      scope: Scope,
      shareId: string,
      query: ListQuery & { request_id?: string | undefined },
    ): Promise<CountedPage<ShareViewRow>> {
      checkId(shareId, 'shr', scope.environment)
      const { request_id: requestId } = query
      if (requestId !== undefined) checkId(requestId, 'dsr', scope.environment)
      const filter = { shareId, requestId, ...createdBetween(query) }
      const list = { route: `GET /v1/trace/shares/${shareId}/views`, scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          await getShare(tx, shareId)
          return findViews(tx, scope, filter, page)
        },
        count: (tx) => countViews(tx, scope, filter),
      })
    },
  }
}

export async function getShare(tx: Tx, id: string): Promise<ShareRow> {
  const share = await findShare(tx, id)
  if (share === undefined) throw noShareOfId(id)
  return share
}

export function noShareOfId(id: string): Failure {
  return new Failure('not_found', `There is no share ${id}.`)
}

const shown = (tx: Tx, share: ShareRow): Promise<ShownShare> => rowWithActors(tx, share, ACTORS)

function statusIsActive({ revokedAt, expiresAt }: ShareRow, at: Date): boolean {
  return revokedAt === null && expiresAt > at
}
