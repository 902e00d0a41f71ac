// Whose C2PA signatures an account trusts beside those that the deployment names. They hold for what is judged from then on:
// results that are there stay as they are.

import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { type RootCaQuery as AnchorQuery, readCaCertificate } from './root-cas.ts'
import {
  type C2paAnchorRow,
  deleteC2paAnchor,
  findC2paAnchor,
  findC2paAnchors,
  insertC2paAnchor,
  lockC2paAnchors,
} from './rows.ts'

/** Every reading of a manifest takes all of them. */
export const MAX_C2PA_ANCHORS = 100

export interface C2paAnchorsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
}

export type C2paAnchors = ReturnType<typeof createC2paAnchors>

export function createC2paAnchors({ db, pager, now }: C2paAnchorsDeps) {
  return {
    /**
     * Registers a CA certificate (PEM, or base64 of DER). The same certificate again is the same anchor, under its first name.
     * @throws {Failure} `invalid_request` at `/certificate`; `conflict` beyond `MAX_C2PA_ANCHORS`.
     */
    async register(
      scope: Scope,
      request: { name: string; certificate: string },
      key?: IdempotencyKey,
    ): Promise<C2paAnchorRow> {
      const createdAt = now()
      const certificate = readCaCertificate(request.certificate, createdAt)
      const fingerprint = Buffer.from(certificate.fingerprint, 'hex')
      const register = async (tx: Tx) => {
        await lockC2paAnchors(tx, scope)
        const known = await findC2paAnchors(tx)
        const same = known.find((anchor) => anchor.fingerprint.equals(fingerprint))
        if (same !== undefined) return same
        if (known.length >= MAX_C2PA_ANCHORS) {
          throw new Failure('conflict', `At most ${MAX_C2PA_ANCHORS} anchors can be registered. Delete one first.`)
        }
        const anchor: C2paAnchorRow = {
          id: newId('cpa', scope.environment, createdAt.getTime()),
          name: request.name,
          certificate: certificate.der,
          fingerprint,
          notBefore: certificate.notBefore,
          notAfter: certificate.notAfter,
          createdAt,
        }
        await insertC2paAnchor(tx, scope, { ...anchor, subject: certificate.subject })
        return anchor
      }
      return db.tenant(scope, (tx) => once(tx, key, register, ({ id }) => id))
    },

    /**
     * Newest first.
     * @throws {Failure} `invalid_request` at `?cursor`.
     */
    async list(scope: Scope, query: AnchorQuery): Promise<Page<C2paAnchorRow> & { total_count?: number }> {
      const binding = { route: 'GET /v1/admin/c2pa-anchors', scope, query: { ...query } }
      const before = pager.decode(query.cursor, binding)
      const { created_gte: from, created_lt: until } = query
      const wanted = (await db.tenant(scope, findC2paAnchors))
        .filter(
          ({ createdAt }) =>
            (from === undefined || createdAt >= new Date(from)) && (until === undefined || createdAt < new Date(until)),
        )
        .toReversed()
      const rows = wanted.filter(({ id }) => before === undefined || id < before)
      const page = pager.page(rows.slice(0, query.limit + 1), query.limit, ({ id }) => id, binding)
      return query.include === undefined ? page : { ...page, total_count: wanted.length }
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<C2paAnchorRow> {
      checkId(id, 'cpa', scope.environment)
      const anchor = await db.tenant(scope, (tx) => findC2paAnchor(tx, id))
      if (anchor === undefined) throw notFound(id)
      return anchor
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async remove(scope: Scope, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(id, 'cpa', scope.environment)
      const remove = async (tx: Tx) => {
        if (!(await deleteC2paAnchor(tx, id))) throw notFound(id)
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => id))
    },
  }
}

function notFound(id: string): Failure {
  return new Failure('not_found', `No C2PA anchor ${id}.`)
}
