// The trust anchors of an account and environment. A root that is deleted is gone: devices stay, but captures that lead to
// it raise cert_unknown_ca from then on.

import { decodeBase64 } from '#src/attest/devices/enrollment.ts'
import {
  deleteRootCa,
  findAnchors,
  findRootCa,
  insertRootCa,
  lockRootCas,
  type RootCaRow,
} from '#src/attest/devices/rows.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { judgeIssuer } from '#src/platform/crypto/chain-rules.ts'
import { type Certificate, parseCertificate } from '#src/platform/crypto/x509.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'

/** Every judgement of a capture reads all of them. */
export const MAX_ROOT_CAS = 100

export interface RootCaQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
  /** ISO 8601, like `created_lt`. */
  created_gte?: string | undefined
  created_lt?: string | undefined
}

export interface RootCasDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
}

export type RootCas = ReturnType<typeof createRootCas>

export function createRootCas({ db, pager, now }: RootCasDeps) {
  return {
    /**
     * Registers a CA certificate (PEM, or base64 of DER) as trust anchor. It need not be self-signed. The same certificate
     * again is the same root, under its first name.
     * @throws {Failure} `invalid_request` at `/certificate`; `conflict` beyond `MAX_ROOT_CAS`.
     */
    async register(
      scope: Scope,
      request: { name: string; certificate: string },
      key?: IdempotencyKey,
    ): Promise<RootCaRow> {
      const createdAt = now()
      const certificate = readCaCertificate(request.certificate, createdAt)
      const fingerprint = Buffer.from(certificate.fingerprint, 'hex')
      const register = async (tx: Tx) => {
        await lockRootCas(tx, scope)
        const known = await findAnchors(tx)
        const same = known.find((root) => root.fingerprint.equals(fingerprint))
        if (same !== undefined) return same
        if (known.length >= MAX_ROOT_CAS) {
          throw new Failure('conflict', `At most ${MAX_ROOT_CAS} root CAs can be registered. Delete one first.`)
        }
        const root: RootCaRow = {
          id: newId('rca', scope.environment, createdAt.getTime()),
          name: request.name,
          certificate: certificate.der,
          fingerprint,
          notBefore: certificate.notBefore,
          notAfter: certificate.notAfter,
          createdAt,
        }
        await insertRootCa(tx, scope, { ...root, subject: certificate.subject })
        return root
      }
      return db.tenant(scope, (tx) => once(tx, key, register, ({ id }) => id))
    },

    /**
     * Newest first.
     * @throws {Failure} `invalid_request` at `?cursor`.
     */
    async list(scope: Scope, query: RootCaQuery): Promise<Page<RootCaRow> & { total_count?: number }> {
      const binding = { route: 'GET /v1/admin/root-cas', scope, query: { ...query } }
      const before = pager.decode(query.cursor, binding)
      const roots = await db.tenant(scope, findAnchors)
      const wanted = roots.filter(isCreatedWithin(query)).toReversed()
      const rows = wanted.filter(({ id }) => before === undefined || id < before)
      const page = pager.page(rows.slice(0, query.limit + 1), query.limit, ({ id }) => id, binding)
      return query.include === undefined ? page : { ...page, total_count: wanted.length }
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<RootCaRow> {
      checkId(id, 'rca', scope.environment)
      const root = await db.tenant(scope, (tx) => findRootCa(tx, id))
      if (root === undefined) throw notFound(id)
      return root
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async remove(scope: Scope, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(id, 'rca', scope.environment)
      const remove = async (tx: Tx) => {
        if (!(await deleteRootCa(tx, id))) throw notFound(id)
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => id))
    },
  }
}

function isCreatedWithin({ created_gte: from, created_lt: before }: RootCaQuery): (root: RootCaRow) => boolean {
  return ({ createdAt }) =>
    (from === undefined || createdAt >= new Date(from)) && (before === undefined || createdAt < new Date(before))
}

function notFound(id: string): Failure {
  return new Failure('not_found', `No root CA ${id}.`)
}

const POINTER = '/certificate'

/**
 * One CA certificate, as PEM or base64 of DER, that can be an anchor from now on.
 * @throws {Failure} `invalid_request` at `/certificate`.
 */
export function readCaCertificate(text: string, now: Date): Certificate {
  const parsed = parseCertificate(decodeCertificate(text))
  if (!parsed.ok) throw invalidField(POINTER, parsed.code, parsed.detail)
  const { certificate } = parsed
  // Its start may lie ahead, so that a new root is in place before the first device of it.
  const at = certificate.notBefore > now ? certificate.notBefore : now
  const obstacle = judgeIssuer(certificate, { intermediates: 0, at, isAnchor: true })
  if (obstacle?.code === 'not_a_ca') throw invalidField(POINTER, 'not_a_ca', 'is not a CA certificate')
  if (obstacle !== undefined) throw invalidField(POINTER, obstacle.code, obstacle.detail)
  return certificate
}

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

function decodeCertificate(text: string): Buffer {
  if (!text.includes('-----BEGIN')) {
    const der = decodeBase64(text)
    if (der !== undefined) return der
    throw invalidField(
      POINTER,
      'invalid_base64',
      'must be PEM, or base64 (RFC 4648 section 4) of DER without line breaks',
    )
  }
  if (text.includes('PRIVATE KEY-----')) {
    throw invalidField(
      POINTER,
      'private_key',
      'holds a private key. It was not stored, but it has travelled: consider it lost',
    )
  }
  // What tools print around the block (the subject in clear text) may stay.
  const [, block = '', ...others] = text.split(BEGIN)
  if (others.length > 0) throw invalidField(POINTER, 'too_many', 'must hold one certificate')
  const end = block.indexOf(END)
  const der = end === -1 ? undefined : decodeBase64(block.slice(0, end).replaceAll(/\s/g, ''))
  if (der === undefined) throw invalidField(POINTER, 'invalid_base64', 'is not a whole PEM block of one certificate')
  return der
}
