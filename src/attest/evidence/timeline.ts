// The events of a claim, in order. Pure.

import type { CaseRow, EntryRow } from '../cases/rows.ts'
import type { ListedClaim } from '../claims/claim-rows.ts'
import type { ClaimEvidence } from '../claims/claims.ts'
import type { EarlierRow, EventRow } from './rows.ts'
import type { EvidencePacket } from './views.ts'

type Moment = EvidencePacket['timeline']['moments'][number]

export const MAX_EVENTS = 500

// Attestations and case histories already show these events.
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set(['attestation.created', 'case.status_changed'])

export function timelineOf({
  claim,
  attestations,
  earlier,
  cases,
  entries,
  events,
}: {
  claim: ListedClaim
  attestations: readonly ClaimEvidence[]
  earlier: readonly EarlierRow[]
  cases: readonly CaseRow[]
  entries: readonly (EntryRow & { caseId: string })[]
  events: readonly EventRow[]
}): EvidencePacket['timeline'] {
  const told = events.slice(0, MAX_EVENTS).filter(({ type }) => !TOLD_ELSEWHERE.has(type))
  const moments: Moment[] = [
    { at: claim.createdAt.toISOString(), kind: 'claim.created', subject: claim.id, detail: {} },
    ...attestations.flatMap(momentsOf),
    ...earlier.map((one) => ({
      at: one.evaluatedAt.toISOString(),
      kind: 'attestation.replaced',
      subject: one.attestationId,
      detail: {
        risk_status: one.riskStatus,
        risk_score: one.riskScore,
        provenance_status: one.provenanceStatus,
        replaced_at: one.replacedAt.toISOString(),
      },
    })),
    ...entries
      .filter(({ caseId }) => cases.some(({ id }) => id === caseId))
      .map((entry) => ({
        at: entry.at.toISOString(),
        kind: `case.${entry.kind}`,
        subject: entry.caseId,
        detail: { from: entry.from, to: entry.to, reason_code: entry.reasonCode, actor: entry.actor },
      })),
    ...told.map(({ type, data, createdAt }) => {
      const { claim_id: _claim, ...detail } = data
      return { at: createdAt.toISOString(), kind: type, subject: claim.id, detail }
    }),
    ...(claim.erasedAt === null
      ? []
      : [{ at: claim.erasedAt.toISOString(), kind: 'claim.erased', subject: claim.id, detail: {} }]),
  ]
  return { moments: moments.sort(byTime), omitted: Math.max(0, events.length - MAX_EVENTS) }
}

function momentsOf(row: ClaimEvidence): Moment[] {
  const capturedAt = row.submission.bundle?.captured_at
  const evaluated = row.evaluatedAt?.toISOString()
  return [
    ...(capturedAt === undefined
      ? []
      : [{ at: new Date(capturedAt).toISOString(), kind: 'capture.claimed', subject: row.id, detail: {} }]),
    { at: row.acceptedAt.toISOString(), kind: 'attestation.accepted', subject: row.id, detail: {} },
    ...(evaluated === undefined
      ? []
      : [
          {
            at: evaluated,
            kind: 'attestation.evaluated',
            subject: row.id,
            detail: {
              risk_status: row.riskStatus,
              risk_score: row.riskScore,
              provenance_status: row.provenanceStatus,
            },
          },
        ]),
  ]
}

// Rows of one transaction have the same millisecond but still an order: a result precedes its effects.
const KINDS = [
  'capture.claimed',
  'claim.created',
  'attestation.accepted',
  'attestation.replaced',
  'attestation.evaluated',
  'claim.provenance_updated',
  'claim.escalated',
]

// Equal kinds are ordered by subject, so that the order is stable.
function byTime(a: Moment, b: Moment): number {
  const rank = (kind: string) => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length)
  const order = (one: Moment) => `${one.at} ${rank(one.kind)} ${one.kind} ${one.subject}`
  return order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0
}
