// CA certificates that an account and environment trusts, in one registry per purpose. Deleting one changes no existing
// result; later evaluations run without it.

import { recordAudit } from '#src/account/audit/record.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { readCaCertificate } from './certificates.ts'
import { type CaRow, type CaTable, deleteCa, findCa, findCas, insertCa, lockCas } from './rows.ts'

/** Per registry: every evaluation of a capture reads all of them. */
export const MAX_CAS = 100

export interface CaQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
  /** ISO 8601, like `created_lt`. */
  created_gte?: string | undefined
  created_lt?: string | undefined
}

export interface CaRegistryDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
}

export interface CaPurpose {
  table: CaTable
  idType: 'rca' | 'cpa'
  path: string
  noun: string
  /** In the audit log. */
  actions: { added: 'root_ca.added' | 'c2pa_anchor.added'; removed: 'root_ca.removed' | 'c2pa_anchor.removed' }
}

/** CAs that device certificates may lead to. Captures that lead to none raise cert_unknown_ca. */
export const ROOT_CAS: CaPurpose = {
  table: 'root_cas',
  idType: 'rca',
  path: '/v1/admin/root-cas',
  noun: 'root CA',
  actions: { added: 'root_ca.added', removed: 'root_ca.removed' },
}

/** CAs that signers of C2PA manifests may lead to, in addition to the deployment's. */
export const C2PA_ANCHORS: CaPurpose = {
  table: 'c2pa_anchors',
  idType: 'cpa',
  path: '/v1/admin/c2pa-anchors',
  noun: 'C2PA anchor',
  actions: { added: 'c2pa_anchor.added', removed: 'c2pa_anchor.removed' },
}

export type CaRegistry = ReturnType<typeof createCaRegistry>

export function createCaRegistry(
  { db, pager, now }: CaRegistryDeps,
  { table, idType, path, noun, actions }: CaPurpose,
) {
  const notFound = (id: string) => new Failure('not_found', `No ${noun} ${id}.`)

  return {
    /**
     * Registers a CA certificate (PEM, or base64 of DER). It need not be self-signed. The same certificate again is the
     * same row, with its first name.
     * @throws {Failure} `invalid_request` at `/certificate`; `limit_reached` beyond `MAX_CAS`.
     */
    async register(
      scope: Acting,
      request: { name: string; certificate: string },
      key?: IdempotencyKey,
    ): Promise<CaRow> {
      const createdAt = now()
      const { der, subject, notBefore, notAfter, ...read } = readCaCertificate(request.certificate, createdAt)
      const fingerprint = Buffer.from(read.fingerprint, 'hex')
      const register = async (tx: Tx) => {
        await lockCas(tx, scope, table)
        const known = await findCas(tx, table)
        const same = known.find((row) => row.fingerprint.equals(fingerprint))
        if (same !== undefined) return same
        if (known.length >= MAX_CAS) {
          throw new Failure('limit_reached', {
            detail: `At most ${MAX_CAS} ${noun}s can be registered. Delete one first.`,
            members: { maximum: MAX_CAS },
          })
        }
        const id = newId(idType, scope.environment, createdAt.getTime())
        const row: CaRow = { id, name: request.name, certificate: der, fingerprint, notBefore, notAfter, createdAt }
        await insertCa(tx, scope, table, { ...row, subject })
        await recordAudit(tx, scope, { action: actions.added, subjectId: id, after: auditedOf(row) })
        return row
      }
      return db.tenant(scope, (tx) => once(tx, key, register, ({ id }) => id))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: CaQuery): Promise<CountedPage<CaRow>> {
      const read = async (tx: Tx) => (await findCas(tx, table)).filter(isCreatedWithin(query)).toReversed()
      const list = { route: `GET ${path}`, scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, { before, limit }) =>
          (await read(tx)).filter(({ id }) => before === undefined || id < before).slice(0, limit),
        count: async (tx) => (await read(tx)).length,
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<CaRow> {
      checkId(id, idType, scope.environment)
      const row = await db.tenant(scope, (tx) => findCa(tx, table, id))
      if (row === undefined) throw notFound(id)
      return row
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async remove(scope: Acting, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(id, idType, scope.environment)
      const remove = async (tx: Tx) => {
        const gone = await deleteCa(tx, table, id)
        if (gone === undefined) throw notFound(id)
        await recordAudit(tx, scope, { action: actions.removed, subjectId: id, before: auditedOf(gone) })
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => id))
    },
  }
}

function auditedOf({ name, fingerprint }: CaRow) {
  return { name, fingerprint_sha256: fingerprint.toString('hex') }
}

function isCreatedWithin({ created_gte: from, created_lt: before }: CaQuery): (row: CaRow) => boolean {
  return ({ createdAt }) =>
    (from === undefined || createdAt >= new Date(from)) && (before === undefined || createdAt < new Date(before))
}
