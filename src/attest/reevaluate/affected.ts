// Finds the attestations that a cause affects, in chunks. Only those with a result that is not erased: a pending first
// evaluation will see the cause anyway, and erased data can't be re-evaluated.

import type { ReevaluationRow } from '#src/attest/causes/rows.ts'
import { decodeFacts } from '#src/attest/factors/stored-facts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Judgement, judge } from '../factors/judge.ts'
import { RULES_VERSION } from '../factors/table.ts'
import { DEFAULT_POLICY, toPolicy } from '../policy/policy.ts'
import { findPolicy } from '../policy/rows.ts'
import { isSame } from './rejudge.ts'

export interface Chunk {
  /** The affected attestations. Evaluates results, so it is called between two transactions. */
  touched(): string[]
  /** How many attestations were examined. */
  looked: number
  cursor: string | null
  isAtEnd: boolean
}

const JUDGED = `status = 'evaluated' AND erased_at IS NULL`
const DEVICES = 100

export async function findTouched(tx: Tx, row: ReevaluationRow, limit: number): Promise<Chunk> {
  const { cause, subject, cursor } = row
  const next = { after: cursor ?? '', limit }
  if (cause === 'device_revoked') {
    return chunkOf(await signedBy(tx, String(subject.deviceId), sinceOf(row), next), limit)
  }
  if (cause === 'screening') return chunkOf(await showing(tx, String(subject.mediaSha256), next), limit)
  if (cause === 'requested') return chunkOf(await named(tx, textsOf(subject.attestationIds), next), limit)
  if (cause === 'revocation_list') return signedByListed(tx, textsOf(subject.serials), next)
  return judgedOtherwise(tx, Number(subject.version), next)
}

/** Page of at most `limit` rows, in the order of their ids. */
interface Next {
  /** The cursor of the chunk before; empty for the first. */
  after: string
  limit: number
}

interface Found {
  id: string
}

function chunkOf(found: readonly Found[], limit: number): Chunk {
  const ids = found.map(({ id }) => id)
  return { touched: () => ids, looked: ids.length, cursor: ids.at(-1) ?? null, isAtEnd: ids.length < limit }
}

// A revocation is never later than the request that created it (see wasRevoked).
function sinceOf({ subject: { effectiveAt }, createdAt }: ReevaluationRow): Date {
  const effective = new Date(String(effectiveAt))
  return effective < createdAt ? effective : createdAt
}

async function signedBy(tx: Tx, deviceId: string, since: Date, { after, limit }: Next): Promise<Found[]> {
  return tx.query<Found>(
    `SELECT id FROM (
       (SELECT id FROM attestations WHERE device_id = $1 AND id > $3 AND accepted_at >= $2 AND ${JUDGED} ORDER BY id LIMIT $4)
       UNION
       (SELECT id FROM attestations WHERE signer_id = $1 AND id > $3 AND accepted_at >= $2 AND ${JUDGED} ORDER BY id LIMIT $4)
     ) AS signed ORDER BY id LIMIT $4`,
    [deviceId, since, after, limit],
  )
}

async function showing(tx: Tx, sha256: string, { after, limit }: Next): Promise<Found[]> {
  return tx.query<Found>(
    `SELECT id FROM attestations
     WHERE media_id = ANY(ARRAY(SELECT id FROM media WHERE sha256 = decode($1, 'hex'))) AND id > $2 AND ${JUDGED}
     ORDER BY id LIMIT $3`,
    [sha256, after, limit],
  )
}

async function named(tx: Tx, ids: readonly string[] | null, { after, limit }: Next): Promise<Found[]> {
  return tx.query<Found>(
    `SELECT id FROM attestations WHERE id = ANY($1) AND id > $2 AND ${JUDGED} ORDER BY id LIMIT $3`,
    [ids ?? [], after, limit],
  )
}

// Devices in the order of their ids, a few at a time, with their attestations. The cursor is the last device before
// these, and the last of their attestations.
async function signedByListed(tx: Tx, serials: string[] | null, { after: cursor, limit }: Next): Promise<Chunk> {
  const [deviceCursor = '', after = ''] = cursor.split(' ')
  const devices = await tx.query<Found>(
    `SELECT id FROM devices WHERE id > $1 AND
       CASE WHEN $2::text[] IS NULL THEN attestation_serials <> '{}' OR past_serials <> '{}'
         ELSE attestation_serials && $2 OR past_serials && $2 END
     ORDER BY id LIMIT $3`,
    [deviceCursor, serials, DEVICES],
  )
  const deviceIds = devices.map(({ id }) => id)
  const found = await tx.query<Found>(
    `SELECT id FROM (
       (SELECT id FROM attestations WHERE device_id = ANY($1) AND id > $2 AND ${JUDGED} ORDER BY id LIMIT $3)
       UNION
       (SELECT id FROM attestations WHERE signer_id = ANY($1) AND id > $2 AND ${JUDGED} ORDER BY id LIMIT $3)
     ) AS signed ORDER BY id LIMIT $3`,
    [deviceIds, after, limit],
  )
  const { cursor: last, isAtEnd: areDone, ...chunk } = chunkOf(found, limit)
  const next = areDone ? `${deviceIds.at(-1) ?? ''} ` : `${deviceCursor} ${last ?? ''}`
  return { ...chunk, cursor: next, isAtEnd: areDone && devices.length < DEVICES }
}

/** A result with its facts, if it can be evaluated under another policy. */
export interface StoredResult extends Judgement {
  id: string
  /** Parsed. */
  facts: unknown
}

export const STORED_RESULT = `risk_status AS "riskStatus", risk_score AS "riskScore",
  provenance_status AS "provenanceStatus", hardware_tier AS "hardwareTier", rules_version AS "rulesVersion", factors,
  advisory_factors AS "advisoryFactors", observations, facts`

// Evaluating a chunk takes some milliseconds. That is cheaper than a job for each attestation of the account, of which a
// policy change affects few.
async function judgedOtherwise(tx: Tx, version: number, { after, limit }: Next): Promise<Chunk> {
  const newest = await findPolicy(tx)
  // The re-evaluation of the newer policy covers it.
  if (newest !== undefined && newest.version > version)
    return { touched: () => [], looked: 0, cursor: after, isAtEnd: true }
  const policy = toPolicy(newest?.policy ?? DEFAULT_POLICY, newest?.version ?? 0)
  const found = await tx.query<StoredResult>(
    `SELECT id, ${STORED_RESULT} FROM attestations WHERE id > $1 AND ${JUDGED} ORDER BY id LIMIT $2`,
    [after, limit],
  )
  const isTouched = (result: StoredResult) => {
    const other = judgeBy(result, policy)
    return other === undefined || !isSame(result, other)
  }
  return { ...chunkOf(found, limit), touched: () => found.filter(isTouched).map(({ id }) => id) }
}

/** The result under another policy; undefined where only the media can tell. */
export function judgeBy(
  { facts, rulesVersion }: StoredResult,
  policy: ReturnType<typeof toPolicy>,
): Judgement | undefined {
  if (rulesVersion !== RULES_VERSION) return undefined
  return judge({ ...decodeFacts(facts), policy })
}

function textsOf(value: unknown): string[] | null {
  return Array.isArray(value) ? value.map(String) : null
}
