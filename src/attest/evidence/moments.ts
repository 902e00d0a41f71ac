// What happened to a claim, as a list: newest first, a page at a time. The packet has a timeline of its own, which is signed.

import { readActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type ActorView, actorIdOf } from '#src/platform/http/actor.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { findClaim } from '../claims/claim-rows.ts'

// In the order of what has one time: rows of one transaction do, and a result precedes its effects.
export const MOMENT_KINDS = [
  'claim.created',
  'attestation.accepted',
  'attestation.evaluated',
  'claim.provenance_updated',
  'claim.escalated',
  'screening.completed',
  'case.opened',
  'case.escalated',
  'case.proposed',
  'case.transitioned',
  'case.noted',
  'case.changed',
  'claim.erased',
] as const
export type MomentKind = (typeof MOMENT_KINDS)[number]

export interface Moment {
  at: Date
  kind: MomentKind
  subjectId: string
  by: ActorView | null
  details: Record<string, unknown>
}

interface MomentRow extends Omit<Moment, 'by'> {
  person: string | null
  keyId: string | null
  isActed: boolean
  place: string
}

export interface TimelineDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
}

export function createTimeline({ db, pager }: TimelineDeps) {
  /** @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`. */
  return async (scope: Scope, claimId: string, query: PageQuery): Promise<CountedPage<Moment>> => {
    checkId(claimId, 'clm', scope.environment)
    const list = { route: 'GET /v1/claims/:id/timeline', scope, query: { ...query, claimId } }
    return listPage({ db, pager }, list, {
      rows: async (tx, page) => {
        const [claim, rows] = await Promise.all([findClaim(tx, claimId), findMoments(tx, claimId, page)])
        if (claim === undefined) throw new Failure('not_found', `There is no claim ${claimId}.`)
        return rows
      },
      keyOf: ({ place }) => place,
      show: async (tx, rows) => {
        const actors = await readActors(
          tx,
          rows.map(({ person, keyId }) => keyId ?? person),
        )
        return rows.map(({ person, keyId, isActed, place: _place, ...moment }) => ({
          ...moment,
          by: isActed ? actors(actorIdOf({ person, keyId }), person) : null,
        }))
      },
    })
  }
}

const RESULT = `jsonb_build_object('risk_status', risk_status, 'risk_score', risk_score, 'provenance_status', provenance_status`

// `place` sorts as text: the time with all its digits, the rank of the kind, and what is unique within both.
const MOMENTS = `
  SELECT created_at AS at, 'claim.created' AS kind, id AS subject, '' AS key, '{}'::jsonb AS details,
    NULL AS person, NULL AS key_id, false AS is_acted FROM claims WHERE id = $1
  UNION ALL
  SELECT erased_at, 'claim.erased', id, '', '{}', NULL, NULL, false FROM claims WHERE id = $1 AND erased_at IS NOT NULL
  UNION ALL
  SELECT accepted_at, 'attestation.accepted', id, '', '{}', NULL, NULL, false FROM attestations WHERE claim_id = $1
  UNION ALL
  SELECT evaluated_at, 'attestation.evaluated', id, '', ${RESULT}, 'replaced_at', NULL), NULL, NULL, false
  FROM attestations WHERE claim_id = $1 AND evaluated_at IS NOT NULL
  UNION ALL
  SELECT earlier.evaluated_at, 'attestation.evaluated', attestations.id, seq::text, earlier.details, NULL, NULL, false
  FROM attestations CROSS JOIN LATERAL (
    SELECT evaluated_at, seq, ${RESULT}, 'replaced_at', to_char(replaced_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS details
    FROM attestation_results WHERE attestation_id = attestations.id ORDER BY seq DESC
  ) AS earlier WHERE claim_id = $1
  UNION ALL
  SELECT entry.at, 'case.' || kind, cases.id, lpad(seq::text, 10, '0'),
    jsonb_build_object('from', from_state, 'to', to_state, 'reason_code', entry.reason_code), actor, key_id, true
  FROM cases CROSS JOIN LATERAL (SELECT * FROM case_entries WHERE case_id = cases.id ORDER BY seq DESC) AS entry
  WHERE claim_id = $1
  UNION ALL
  SELECT created_at, type, coalesce(data ->> 'screening_id', claim_id), id, data - 'claim_id', NULL, NULL, false
  FROM events WHERE claim_id = $1 AND type IN ('claim.provenance_updated', 'claim.escalated', 'screening.completed')`

const RANKS = MOMENT_KINDS.map((kind, rank) => `WHEN '${kind}' THEN '${String.fromCharCode(97 + rank)}'`).join(' ')
const PLACED = `SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || CASE kind ${RANKS} END || subject || ' ' || key AS place
  FROM (${MOMENTS}) AS moments`

/** Newest first. A claim has few: all are read for each page. */
async function findMoments(
  tx: Tx,
  claimId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<MomentRow[]> {
  return tx.query<MomentRow>(
    `SELECT at, kind, subject AS "subjectId", details, person, key_id AS "keyId", is_acted AS "isActed", place
     FROM (${PLACED}) AS placed WHERE $2::text IS NULL OR place COLLATE "C" < $2 ORDER BY place COLLATE "C" DESC LIMIT $3`,
    [claimId, before ?? null, limit],
  )
}
