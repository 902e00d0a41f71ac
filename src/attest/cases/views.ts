import { z } from 'zod'
import { allowedFrom, REASON_CODES, STATES } from './machine.ts'
import { type CaseRow, type EntryRow, PRIORITIES } from './rows.ts'
import { dueOf, shifted } from './sla.ts'

const iso = z.iso.datetime()
export const stateView = z.enum(STATES).meta({ id: 'CaseStatus' })
export const reasonView = z.enum(REASON_CODES).meta({ id: 'CaseReason' })
export const priorityView = z.enum(PRIORITIES).meta({ id: 'CasePriority' })

export const caseView = z
  .object({
    case_id: z.string(),
    claim_id: z.string(),
    state: stateView,
    reason_code: reasonView.nullable().describe('Of the last transition.'),
    assignee: z.string().nullable(),
    priority: priorityView,
    due_at: iso
      .nullable()
      .describe('Of the review while the case is open, then of the decision; null once it is closed.'),
    overdue: z.boolean(),
    sla: z
      .object({
        review_due_at: iso,
        decision_due_at: iso.describe('While paused: when it would be due if the pause ended now.'),
        paused_at: iso.nullable(),
      })
      .meta({ id: 'CaseSla' }),
    fraud_suspected_by: z
      .string()
      .nullable()
      .describe(
        'The first actor who named suspected_fraud: as an API key stated it, or the id of a signed-in user. With four eyes another actor must deny the case for it.',
      ),
    allowed: z.array(stateView).describe('The states that the case can change to.'),
    version: z.number().int().describe('One more with each entry of the history.'),
    created_at: iso,
    updated_at: iso,
    closed_at: iso.nullable(),
    claim_changed_at: iso
      .nullable()
      .describe(
        'Of a closed case: when its claim came to stand otherwise than when it was closed. null once it is reopened.',
      ),
  })
  .meta({ id: 'Case' })

export type CaseView = z.infer<typeof caseView>

export const entryView = z
  .object({
    version: z.number().int().describe('Of the case, which this entry made.'),
    kind: z.enum(['opened', 'escalated', 'proposed', 'transitioned', 'noted', 'changed']).meta({ id: 'CaseEntryKind' }),
    at: iso,
    via: z.enum(['api_key', 'session', 'system']).meta({ id: 'CaseEntryVia' }),
    actor: z
      .string()
      .nullable()
      .describe('With an API key as the caller stated it, with a session its user; null for the service itself.'),
    key_id: z.string().nullable(),
    from: stateView.nullable(),
    to: stateView.nullable(),
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

export function toCaseView(row: CaseRow, now: Date): CaseView {
  const isClosed = row.closedAt !== null
  const dueAt = dueOf(row, row.state, isClosed, now)
  return {
    case_id: row.id,
    claim_id: row.claimId,
    state: row.state,
    reason_code: row.reasonCode,
    assignee: row.assignee,
    priority: row.priority,
    due_at: dueAt?.toISOString() ?? null,
    overdue: dueAt !== null && dueAt < now,
    sla: {
      review_due_at: row.reviewDueAt.toISOString(),
      decision_due_at: shifted(row, now).toISOString(),
      paused_at: row.pausedAt?.toISOString() ?? null,
    },
    fraud_suspected_by: row.fraudActor,
    allowed: allowedFrom(row.state),
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    closed_at: row.closedAt?.toISOString() ?? null,
    claim_changed_at: row.claimChangedAt?.toISOString() ?? null,
  }
}

export function toEntryView(row: EntryRow): z.infer<typeof entryView> {
  return {
    version: row.seq,
    kind: row.kind,
    at: row.at.toISOString(),
    via: row.keyId !== null ? 'api_key' : row.actor !== null ? 'session' : 'system',
    actor: row.actor,
    key_id: row.keyId,
    from: row.from,
    to: row.to,
    reason_code: row.reasonCode,
    note: row.note,
    note_erased_at: row.noteErasedAt?.toISOString() ?? null,
    changes: row.changes ?? [],
  }
}
