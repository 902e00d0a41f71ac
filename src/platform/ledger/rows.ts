// SQL of decisions, for what is written and read in the scope of an account.

import type { DecisionKind } from '#src/catalogue/decisions.ts'
import { type CutPage, readCut } from '#src/platform/db/cut-pages.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { EntrySubjects } from './entry.ts'

export interface NewDecisionRow {
  id: string
  kind: DecisionKind
  at: Date
  reason: string | null
  subjects: EntrySubjects
  /** Canonical JSON. */
  entry: string
  entrySha256: Buffer
  sealedFacts: Buffer | null
}

export interface DecisionFilter {
  /** Any of them. */
  kinds?: readonly DecisionKind[] | undefined
  /** Any of them. */
  reasons?: readonly string[] | undefined
  subjects?: { readonly [Name in keyof EntrySubjects]?: string | undefined } | undefined
  /** Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

export interface DecisionRow {
  id: string
  entry: string
  entrySha256: Buffer
}

/** Sent together: one round trip. A decision has few rows, and arrays would cost more than a statement for each. */
export async function insertDecisions(tx: Tx, scope: Scope, rows: readonly NewDecisionRow[]): Promise<void> {
  await Promise.all(rows.map((row) => insertDecision(tx, scope, row)))
}

async function insertDecision(tx: Tx, { accountId, environment }: Scope, row: NewDecisionRow): Promise<void> {
  const { id, kind, at, reason, subjects, entry, entrySha256, sealedFacts } = row
  const copies = SUBJECTS.map(([name]) => subjects[name])
  const values = [accountId, environment, id, kind, at, reason, entry, entrySha256, ...copies]
  await (sealedFacts === null ? tx.query(INSERT, values) : tx.query(INSERT_WITH_FACTS, [...values, sealedFacts]))
}

/** The columns that the filters of lists compare. */
export const SUBJECT_COLUMNS = {
  subjectId: 'subject_id',
  jti: 'jti',
  agentId: 'agent_id',
  agentSessionId: 'agent_session_id',
  deviceId: 'device_id',
  mandateId: 'mandate_id',
  scheduleId: 'schedule_id',
  traceId: 'trace_id',
  matchedRuleId: 'matched_rule_id',
} as const satisfies Record<keyof EntrySubjects, string>

const SUBJECTS = Object.entries(SUBJECT_COLUMNS) as [keyof EntrySubjects, string][]

const ENTRY = `INSERT INTO decisions (account_id, environment, id, kind, at, reason, entry, entry_sha256,
    ${SUBJECTS.map(([, column]) => column).join(', ')})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ${SUBJECTS.map((_, index) => `$${index + 9}`).join(', ')})`
const FACTS = `INSERT INTO decision_facts (account_id, environment, decision_id, sealed_facts)
  VALUES ($1, $2, $3, $${SUBJECTS.length + 9})`
const PENDING = `INSERT INTO ledger_pending (account_id, environment, decision_id, entry_sha256) VALUES ($1, $2, $3, $8)`

const INSERT = `WITH entry AS (${ENTRY}) ${PENDING}`
const INSERT_WITH_FACTS = `WITH entry AS (${ENTRY}), facts AS (${FACTS}) ${PENDING}`

export async function findSealedFacts(tx: Tx, decisionId: string): Promise<Buffer | null> {
  const [row] = await tx.query<{ sealedFacts: Buffer }>(
    `SELECT sealed_facts AS "sealedFacts" FROM decision_facts WHERE decision_id = $1`,
    [decisionId],
  )
  return row?.sealedFacts ?? null
}

interface Page {
  limit: number
  /** Size of entries and sealed facts together. */
  maxBytes: number
  /** Exclusive: the last of the page before. */
  after?: string | undefined
  isNewestFirst?: boolean | undefined
}

/** With the sealed facts, if there are any. Oldest first unless the page says otherwise. */
export async function listInOrder(
  tx: Tx,
  scope: Scope,
  filter: DecisionFilter,
  { after, limit, maxBytes, isNewestFirst = false }: Page,
): Promise<CutPage<DecisionRow & { sealedFacts: Buffer | null }>> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [follows, order] = isNewestFirst ? ['<', 'id DESC'] : ['>', 'id']
  if (after !== undefined) conditions.push(`id ${follows} $${values.push(after)}`)
  const select = `SELECT id, entry, entry_sha256 AS "entrySha256", facts.sealed AS "sealedFacts",
      octet_length(entry) + coalesce(octet_length(facts.sealed), 0) AS bytes
    FROM decisions LEFT JOIN LATERAL (
      SELECT sealed_facts AS sealed FROM decision_facts WHERE decision_id = decisions.id) facts ON true
    WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT $${values.push(limit)}`
  return readCut(tx.adhoc, { select, order, values, maxBytes })
}

/** Conditions on `decisions` and their values. */
export function conditionsOf(
  { environment }: Scope,
  filter: DecisionFilter,
): { conditions: string[]; values: unknown[] } {
  const conditions = ['true']
  const values: unknown[] = []
  if (filter.kinds !== undefined) conditions.push(conditionOfAny(values, 'kind', filter.kinds))
  if (filter.reasons !== undefined) conditions.push(conditionOfAny(values, 'reason', filter.reasons))
  for (const [name, column] of SUBJECTS) {
    const value = filter.subjects?.[name]
    if (value !== undefined) conditions.push(`${column} = $${values.push(value)}`)
  }
  // The two indexes that hold subjects: that of tokens, and that of all others.
  const { subjectId } = filter.subjects ?? {}
  if (subjectId?.startsWith('jti_') === true) conditions.push(`jti = $${values.push(subjectId)}`)
  else if (subjectId !== undefined) conditions.push('subject_id IS DISTINCT FROM jti')
  conditions.push(...conditionsOfRange(values, { type: 'dec', environment, time: 'at' }, filter))
  return { conditions, values }
}
