// Settings that an account writes as one document, such as its policy. An answer has the document in an envelope, and a
// change sends it back whole: with the version that it replaces, so that nobody undoes a change that they have not read.

import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type ActorView, actorView } from './actor.ts'
import { type Reply, reply } from './endpoint.ts'
import { parseIfMatch } from './request-headers.ts'
import { asWritten, timestampView } from './views.ts'

export interface StoredDocument<Document> {
  /** 0: the defaults, which nobody has set. */
  version: number
  /** SHA-256 of the document's canonical JSON (RFC 8785), hex. */
  digest: string
  changedAt: Date | null
  changedBy: ActorView | null
  document: Document
}

/** What is known of a version besides its document. */
export const versionMembers = {
  version: z.number().int().describe('0: the defaults, before anything was set.'),
  digest: z.string().describe('SHA-256 of the canonical JSON (RFC 8785) of the document, hex.'),
  changed_at: timestampView.nullable().describe('null: the defaults.'),
  changed_by: actorView.nullable().describe('null: the defaults.'),
}

/** The members of an envelope. @param document The schema of requests. */
export function documentMembers<Document extends z.ZodType>(document: Document) {
  return { ...versionMembers, document: asWritten(document) }
}

export function toVersionView({ version, digest, changedAt, changedBy }: Omit<StoredDocument<unknown>, 'document'>) {
  return { version, digest, changed_at: changedAt?.toISOString() ?? null, changed_by: changedBy }
}

export function toDocumentView<Document>(stored: StoredDocument<Document>) {
  return { ...toVersionView(stored), document: stored.document }
}

/** For a path with `:version`. */
export const versionParams = z.object({
  version: z.string().meta({ description: 'Its number.', pattern: '^[0-9]{1,9}$' }),
})

/** @throws {Failure} `not_found`. */
export function parseVersion(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new Failure('not_found', 'There is no such version: it is a whole number.')
  return Number(text)
}

/** An answer with a version of something that can be overwritten: its ETag goes into `If-Match`. */
export function replyVersion<View extends { version: number }>(view: View): Reply<View> {
  return reply(200, view, { ETag: `"${view.version}"` })
}

export function digestOf(document: unknown): string {
  return sha256(canonicalize(document as Json)).toString('hex')
}

/**
 * The versions that a change may replace; undefined for `*`, which is any.
 * @throws {Failure} `precondition_required` without the header (RFC 6585 3), `invalid_request`.
 */
export function requireIfMatch(header: string | undefined): number[] | undefined {
  if (header !== undefined) return parseIfMatch(header)
  throw new Failure('precondition_required', 'If-Match is missing: send the ETag of the version to replace, or *.')
}

/** @throws {Failure} `precondition_failed` when the current version is not among the expected ones. */
export function checkVersion(expected: readonly number[] | undefined, { version }: { version: number }): void {
  if (expected === undefined || expected.includes(version)) return
  throw new Failure('precondition_failed', {
    detail: `The current version is ${version}: read it again before you replace it.`,
    members: { version },
    headers: { ETag: `"${version}"` },
  })
}

/** Of two concurrent changes of a document the second waits, and sees the effect of the first. */
export async function lockDocument(tx: Tx, name: string, { accountId, environment }: Scope): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`${name} ${accountId} ${environment}`])
}
