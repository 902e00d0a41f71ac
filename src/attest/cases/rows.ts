// Lock order: the claim before its case, as the settling of an attestation does.

import type { ClaimStanding } from '#src/attest/factors/judge.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { CaseReasonCode, CaseState } from './machine.ts'
import type { SlaClock } from './sla.ts'

export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof PRIORITIES)[number]

export interface CaseRow extends SlaClock {
  id: string
  claimId: string
  state: CaseState
  reasonCode: CaseReasonCode | null
  assignee: string | null
  priority: Priority
  /** Counts the entries of the history. */
  version: number
  fraudActor: string | null
  /** null: the session of `fraudActor`. */
  fraudKeyId: string | null
  createdAt: Date
  updatedAt: Date
  closedAt: Date | null
  /** When the claim's standing changed after the case was closed. */
  claimChangedAt: Date | null
}

export type CaseEntryKind = 'opened' | 'escalated' | 'proposed' | 'transitioned' | 'noted' | 'changed'

export interface Change {
  field: string
  from: string | null
  to: string | null
}

export interface NewEntry {
  kind: CaseEntryKind
  /** null: the service itself. */
  actor: string | null
  keyId: string | null
  from?: CaseState
  to?: CaseState
  reasonCode?: CaseReasonCode | null
  note?: string | null
  changes?: readonly Change[]
}

export interface EntryRow {
  seq: number
  kind: CaseEntryKind
  actor: string | null
  keyId: string | null
  from: CaseState | null
  to: CaseState | null
  reasonCode: CaseReasonCode | null
  note: string | null
  noteErasedAt: Date | null
  changes: Change[] | null
  at: Date
}

/** The members of a claim that its cases depend on. */
export interface ClaimFacts {
  id: string
  reference: string | null
  riskStatus: ClaimStanding['riskStatus'] | 'pending'
  riskScore: number | null
  provenanceStatus: string | null
  factorCodes: string[]
  /** Erased, or about to be. */
  isClosed: boolean
}

export const CASE = `id, claim_id AS "claimId", state, reason_code AS "reasonCode", assignee, priority, version,
  fraud_actor AS "fraudActor", fraud_key_id AS "fraudKeyId", review_due_at AS "reviewDueAt", decision_due_at AS "decisionDueAt", paused_at AS "pausedAt",
  created_at AS "createdAt", updated_at AS "updatedAt", closed_at AS "closedAt",
  claim_changed_at AS "claimChangedAt"`

export const ENTRY = `seq, kind, actor, key_id AS "keyId", from_state AS "from", to_state AS "to",
  reason_code AS "reasonCode", note, note_erased_at AS "noteErasedAt", changes, at`

const CLAIM_FACTS = `id, reference, risk_score AS "riskScore", risk_status AS "riskStatus", provenance_status AS "provenanceStatus",
  factor_codes AS "factorCodes", erasing_since IS NOT NULL AS "isClosed"`

export async function findCase(tx: Tx, id: string): Promise<CaseRow | undefined> {
  const [row] = await tx.query<CaseRow>(`SELECT ${CASE} FROM cases WHERE id = $1`, [id])
  return row
}

export async function findClaimFacts(tx: Tx, ids: readonly string[]): Promise<Map<string, ClaimFacts>> {
  const rows = await tx.query<ClaimFacts>(`SELECT ${CLAIM_FACTS} FROM claims WHERE id = ANY($1::text[])`, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

export async function lockClaim(tx: Tx, id: string): Promise<ClaimFacts | undefined> {
  const [row] = await tx.query<ClaimFacts>(`SELECT ${CLAIM_FACTS} FROM claims WHERE id = $1 FOR NO KEY UPDATE`, [id])
  return row
}

/** Locks a case and its claim until the transaction ends: of two adjusters the second sees the changes of the first. */
export async function lockCase(tx: Tx, id: string): Promise<{ row: CaseRow; claim: ClaimFacts } | undefined> {
  const [[claim], [row]] = await Promise.all([
    tx.query<ClaimFacts>(
      `SELECT ${CLAIM_FACTS} FROM claims WHERE id = (SELECT claim_id FROM cases WHERE id = $1) FOR NO KEY UPDATE`,
      [id],
    ),
    tx.query<CaseRow>(`SELECT ${CASE} FROM cases WHERE id = $1 FOR NO KEY UPDATE`, [id]),
  ])
  return row === undefined || claim === undefined ? undefined : { row, claim }
}

export async function findOpenCase(tx: Tx, claimId: string): Promise<string | undefined> {
  const [row] = await tx.query<{ id: string }>('SELECT id FROM cases WHERE claim_id = $1 AND closed_at IS NULL', [
    claimId,
  ])
  return row?.id
}

export type NewCase = Pick<CaseRow, 'id' | 'claimId' | 'assignee' | 'priority'> & SlaClock & { openedAt: Date }

/** @throws unique_violation when the claim has an open case. */
export async function insertCase(tx: Tx, scope: Scope, row: NewCase, entry: NewEntry): Promise<void> {
  const { reviewDueAt, decisionDueAt, openedAt } = row
  await Promise.all([
    tx.query(
      `INSERT INTO cases (account_id, environment, id, claim_id, assignee, priority, review_due_at, decision_due_at, due_at,
         created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7, $9, $9)`,
      [
        scope.accountId,
        scope.environment,
        row.id,
        row.claimId,
        row.assignee,
        row.priority,
        reviewDueAt,
        decisionDueAt,
        openedAt,
      ],
    ),
    insertEntry(tx, scope, { caseId: row.id, seq: 1 }, entry),
  ])
}

/** Writes the case with the history entry of the change. `row.version` is the entry's number. */
export async function saveCase(tx: Tx, scope: Scope, row: CaseRow, entry: NewEntry): Promise<void> {
  await Promise.all([
    tx.query(
      `UPDATE cases SET state = $2, reason_code = $3, assignee = $4, priority = $5, version = $6, fraud_actor = $7,
         review_due_at = $8, decision_due_at = $9, paused_at = $10, closed_at = $11, updated_at = $12, fraud_key_id = $13,
         due_at = CASE WHEN $11::timestamptz IS NOT NULL THEN NULL WHEN $2 = 'open' THEN $8::timestamptz
           ELSE $9::timestamptz END, claim_changed_at = CASE WHEN $11::timestamptz IS NOT NULL THEN claim_changed_at END
       WHERE id = $1`,
      [
        row.id,
        row.state,
        row.reasonCode,
        row.assignee,
        row.priority,
        row.version,
        row.fraudActor,
        row.reviewDueAt,
        row.decisionDueAt,
        row.pausedAt,
        row.closedAt,
        row.updatedAt,
        row.fraudKeyId,
      ],
    ),
    insertEntry(tx, scope, { caseId: row.id, seq: row.version }, entry),
  ])
}

async function insertEntry(
  tx: Tx,
  { accountId, environment }: Scope,
  { caseId, seq }: { caseId: string; seq: number },
  entry: NewEntry,
): Promise<void> {
  await tx.query(
    `INSERT INTO case_entries (account_id, environment, case_id, seq, kind, actor, key_id, from_state, to_state,
       reason_code, note, changes, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, clock_timestamp())`,
    [
      accountId,
      environment,
      caseId,
      seq,
      entry.kind,
      entry.actor,
      entry.keyId,
      entry.from ?? null,
      entry.to ?? null,
      entry.reasonCode ?? null,
      entry.note ?? null,
      entry.changes === undefined ? null : JSON.stringify(entry.changes),
    ],
  )
}

/** Newest first. */
export async function findCaseEntries(
  tx: Tx,
  caseId: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<EntryRow[]> {
  return tx.query<EntryRow>(
    `SELECT ${ENTRY}
     FROM case_entries WHERE case_id = $1 AND ($2::int IS NULL OR seq < $2) ORDER BY seq DESC LIMIT $3`,
    [caseId, before ?? null, limit],
  )
}

/** Deletes the notes of a claim's cases; that there was one, its author and its time stay. */
export async function eraseNotes(tx: Tx, claimId: string): Promise<void> {
  await tx.query(
    `UPDATE case_entries SET note = NULL, note_erased_at = now()
     WHERE note IS NOT NULL AND case_id = ANY(ARRAY(SELECT id FROM cases WHERE claim_id = $1))`,
    [claimId],
  )
}

export interface CaseFilter extends TimeRange {
  /** null: cases without one. */
  assignee?: string | null | undefined
  /** Any of these; the same for the other lists. */
  states?: readonly CaseState[] | undefined
  priorities?: readonly Priority[] | undefined
  reasonCodes?: readonly CaseReasonCode[] | undefined
  claimId?: string | undefined
  dueFrom?: Date | undefined
  dueBefore?: Date | undefined
  isOverdue?: boolean | undefined
  isClaimChanged?: boolean | undefined
}

/** A filter with the time at which `dueBefore` and `isOverdue` are judged. */
export type CaseFilterAt = CaseFilter & { now: Date }

export const CASE_ORDERS = ['created', 'due'] as const

/** Open cases have a due date: by it, the list has no others. A paused case is at its date before the pause. */
export interface CaseOrder {
  by: (typeof CASE_ORDERS)[number]
  direction: 'asc' | 'desc'
}

export type ListedCase = CaseRow & { dueAt: Date | null }

export async function findCases(
  tx: Tx,
  scope: Scope,
  filter: CaseFilterAt,
  {
    order,
    after,
    limit,
  }: { order: CaseOrder; after: { id: string; dueAt: Date | undefined } | undefined; limit: number },
): Promise<ListedCase[]> {
  const { where, values } = conditionsOf(scope, filter)
  const direction = order.direction === 'asc' ? 'ASC' : 'DESC'
  const beyond = order.direction === 'asc' ? '>' : '<'
  if (order.by === 'due') where.push('due_at IS NOT NULL')
  if (after !== undefined && order.by === 'due') {
    where.push(`(due_at, id) ${beyond} ($${values.push(after.dueAt)}::timestamptz, $${values.push(after.id)}::text)`)
  } else if (after !== undefined) where.push(`id ${beyond} $${values.push(after.id)}`)
  const columns = order.by === 'due' ? `due_at ${direction}, id ${direction}` : `id ${direction}`
  return tx.adhoc<ListedCase>(
    `SELECT ${CASE}, due_at AS "dueAt" FROM cases WHERE ${where.join(' AND ')}
     ORDER BY ${columns} LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countCases(tx: Tx, scope: Scope, filter: CaseFilterAt): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`cases WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, filter: CaseFilterAt): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  if (filter.assignee === null) where.push('assignee IS NULL')
  else add((p) => `assignee = ${p}`, filter.assignee)
  const addAny = (column: string, wanted: readonly string[] | undefined) => {
    if (wanted !== undefined) where.push(conditionOfAny(values, column, wanted))
  }
  addAny('state', filter.states)
  addAny('priority', filter.priorities)
  addAny('reason_code', filter.reasonCodes)
  add((p) => `claim_id = ${p}`, filter.claimId)
  add((p) => `(claim_changed_at IS NOT NULL) = ${p}`, filter.isClaimChanged)
  where.push(...conditionsOfRange(values, { type: 'cas', environment }, filter))
  add((p) => `due_at >= ${p}::timestamptz`, filter.dueFrom)
  if (filter.dueBefore !== undefined) {
    const due = `$${values.push(filter.dueBefore)}::timestamptz`
    const at = `$${values.push(filter.now)}::timestamptz`
    // sla.ts: a pause delays the date by its duration.
    where.push(`due_at < ${due} AND (paused_at IS NULL OR due_at + greatest(${at} - paused_at, interval '0') < ${due})`)
  }
  if (filter.isOverdue !== undefined) {
    const at = `$${values.push(filter.now)}::timestamptz`
    const overdue = `due_at < ${at} AND (paused_at IS NULL OR due_at < paused_at)`
    where.push(filter.isOverdue ? overdue : `(${overdue}) IS NOT TRUE`)
  }
  return { where, values }
}
