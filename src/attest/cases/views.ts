import { z } from 'zod'
import type { Role } from '#src/catalogue/access.ts'
import { type ActorsOf, actorIdOf, actorTypeOf, actorView } from '#src/platform/http/actor.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { claimRiskStatusView } from '../judgement-views.ts'
import { optionsOf, REASON_CODES, STATES } from './machine.ts'
import { type CaseRow, type ClaimFacts, type EntryRow, PRIORITIES } from './rows.ts'
import { dueOf, shifted } from './sla.ts'

const iso = timestampView
export const statusView = z.enum(STATES).meta({ id: 'CaseStatus' })
export const reasonView = z.enum(REASON_CODES).meta({ id: 'CaseReason' })
export const priorityView = z.enum(PRIORITIES).meta({ id: 'CasePriority' })

const optionView = z
  .object({
    to: statusView,
    reason_codes: z.array(reasonView).describe('Allowed reason codes: give one of them; empty: give none.'),
    needs_note: z
      .boolean()
      .describe('true: a note is required whatever the reason. The reason `other` always needs a note.'),
    needs_assignee: z
      .boolean()
      .describe(
        'The case has no assignee: an API key names an assignee; a session that names none assigns its own user.',
      ),
    needs_second_person: z.boolean().describe('`suspected_fraud` takes two persons: the first proposes it.'),
  })
  .meta({ id: 'CaseOption' })

export const caseView = z
  .object({
    case_id: z.string(),
    claim_id: z.string(),
    claim_reference: z.string().nullable(),
    risk_status: claimRiskStatusView.describe('Risk status of the claim.'),
    risk_score: z.number().int().nullable().describe('Risk score of the claim.'),
    status: statusView,
    reason_code: reasonView.nullable().describe('Reason of the last transition.'),
    assignee: z.string().nullable().describe('The `user_id` of a member, or the label that an API key gave.'),
    assignee_label: z.string().nullable().describe('The e-mail address of the member, or the label.'),
    priority: priorityView,
    due_at: iso
      .nullable()
      .describe('Due date of the review while the case is open, then of the decision; null once the case is closed.'),
    overdue: z.boolean(),
    sla: z
      .object({
        review_due_at: iso,
        decision_due_at: iso.describe(
          'Due date of the decision. While the case is paused: the date if the pause ended now.',
        ),
        paused_at: iso.nullable(),
      })
      .meta({ id: 'CaseSla' }),
    fraud_suspected_by: actorView
      .nullable()
      .describe('First person who named suspected_fraud. With four eyes, another person must deny the case for it.'),
    allowed: z
      .array(optionView)
      .describe('Statuses that the case can change to now, for its claim and for the caller.'),
    version: z.number().int().describe('Grows by one with each entry of the history.'),
    created_at: iso,
    updated_at: iso,
    closed_at: iso.nullable(),
    claim_changed_at: iso
      .nullable()
      .describe(
        'When the claim of a closed case changed its standing after the closing. null once the case is reopened.',
      ),
  })
  .meta({ id: 'Case' })

export type CaseView = z.input<typeof caseView>

export const entryView = z
  .object({
    version: z.number().int().describe('Version of the case that this entry created.'),
    kind: z.enum(['opened', 'escalated', 'proposed', 'transitioned', 'noted', 'changed']).meta({ id: 'CaseEntryKind' }),
    at: iso,
    by: actorView,
    from: statusView.nullable(),
    to: statusView.nullable(),
    reason_code: reasonView.nullable(),
    note: z.string().nullable(),
    note_erased_at: iso.nullable().describe('When the note was erased with its claim.'),
    changes: z.array(
      z
        .object({ field: z.string(), from: z.string().nullable(), to: z.string().nullable() })
        .meta({ id: 'CaseChange' }),
    ),
  })
  .meta({ id: 'CaseEntry' })

export interface CaseSurroundings {
  now: Date
  claim: ClaimFacts
  actors: ActorsOf
  /** The caller's role. */
  role: Role
  isFourEyes: boolean
}

/** The ids in a case that `ReadActors` must read. */
export function actorIdsOf({ assignee, fraudActor, fraudKeyId }: CaseRow): (string | null)[] {
  return [isUserId(assignee) ? assignee : null, fraudKeyId ?? fraudActor]
}

export function toCaseView(row: CaseRow, { now, claim, actors, role, isFourEyes }: CaseSurroundings): CaseView {
  const isClosed = row.closedAt !== null
  const dueAt = dueOf(row, row.state, isClosed, now)
  const { assignee, fraudActor, fraudKeyId } = row
  return {
    case_id: row.id,
    claim_id: row.claimId,
    claim_reference: claim.reference,
    risk_status: claim.riskStatus,
    risk_score: claim.riskScore,
    status: row.state,
    reason_code: row.reasonCode,
    assignee,
    assignee_label: isUserId(assignee) ? actors(assignee).label : assignee,
    priority: row.priority,
    due_at: dueAt?.toISOString() ?? null,
    overdue: dueAt !== null && dueAt < now,
    sla: {
      review_due_at: row.reviewDueAt.toISOString(),
      decision_due_at: shifted(row, now).toISOString(),
      paused_at: row.pausedAt?.toISOString() ?? null,
    },
    fraud_suspected_by:
      fraudActor === null ? null : actors(actorIdOf({ person: fraudActor, keyId: fraudKeyId }), fraudActor),
    allowed: optionsOf(row, role, { claim, isFourEyes }).map((option) => ({
      to: option.to,
      reason_codes: option.reasonCodes,
      needs_note: option.needsNote,
      needs_assignee: option.needsAssignee,
      needs_second_person: option.needsSecondPerson,
    })),
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    closed_at: row.closedAt?.toISOString() ?? null,
    claim_changed_at: row.claimChangedAt?.toISOString() ?? null,
  }
}

/** Whether an assignee is a member, and no label. */
export function isUserId(assignee: string | null): assignee is string {
  return assignee !== null && actorTypeOf(assignee) === 'user'
}

export type EntryView = z.input<typeof entryView>

export function toEntryView(row: EntryRow, actors: ActorsOf): EntryView {
  return {
    version: row.seq,
    kind: row.kind,
    at: row.at.toISOString(),
    by: actors(actorIdOf({ person: row.actor, keyId: row.keyId }), row.actor),
    from: row.from,
    to: row.to,
    reason_code: row.reasonCode,
    note: row.note,
    note_erased_at: row.noteErasedAt?.toISOString() ?? null,
    changes: row.changes ?? [],
  }
}
