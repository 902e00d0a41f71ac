import type { AuditAction } from '#src/catalogue/audit.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Environment } from '#src/platform/ids.ts'

export type ActorKind = 'key' | 'session' | 'operator' | 'service'

export interface NewAuditEntry {
  accountId: string
  id: string
  /** Null for what concerns the whole account. */
  environment: Environment | null
  action: AuditAction
  actorKind: ActorKind
  actorId: string
  ip: string | null
  userAgent: string | null
  requestId: string | null
  subjectId: string | null
  /** JSON. */
  before: string | null
  after: string | null
}

export interface AuditEntry extends Omit<NewAuditEntry, 'accountId' | 'before' | 'after'> {
  at: Date
  before: unknown
  after: unknown
}

export interface AuditFilter extends TimeRange {
  /** Entries of any of these. */
  actions?: readonly AuditAction[] | undefined
  actorId?: string | undefined
  subjectId?: string | undefined
  environment?: Environment | undefined
}

export async function insertAuditEntries(tx: Tx, entries: readonly NewAuditEntry[]): Promise<void> {
  const column = <Name extends keyof NewAuditEntry>(name: Name) => entries.map((entry) => entry[name])
  await tx.query(
    `INSERT INTO audit_entries (account_id, id, environment, action, actor_kind, actor_id, ip, user_agent, request_id,
       subject_id, before, after)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::text[], $11::jsonb[], $12::jsonb[])`,
    [
      column('accountId'),
      column('id'),
      column('environment'),
      column('action'),
      column('actorKind'),
      column('actorId'),
      column('ip'),
      column('userAgent'),
      column('requestId'),
      column('subjectId'),
      column('before'),
      column('after'),
    ],
  )
}

const ENTRY = `id, at, environment, action, actor_kind AS "actorKind", actor_id AS "actorId", ip, user_agent AS "userAgent",
  request_id AS "requestId", subject_id AS "subjectId", before, after`

interface EntryRange {
  limit: number
  /** Exclusive. */
  before?: string | undefined
  above?: string | undefined
}

/** Newest first below an id; oldest first above one. */
export async function findAuditEntries(tx: Tx, filter: AuditFilter, range: EntryRange): Promise<AuditEntry[]> {
  const { conditions, values } = conditionsOf(filter)
  if (range.before !== undefined) conditions.push(`id < $${values.push(range.before)}`)
  if (range.above !== undefined) conditions.push(`id > $${values.push(range.above)}`)
  return tx.adhoc<AuditEntry>(
    `SELECT ${ENTRY} FROM audit_entries WHERE ${conditions.join(' AND ')}
     ORDER BY id ${range.above === undefined ? 'DESC' : 'ASC'} LIMIT $${values.push(range.limit)}`,
    values,
  )
}

export async function findAuditEntry(tx: Tx, id: string): Promise<AuditEntry | undefined> {
  const [row] = await tx.query<AuditEntry>(`SELECT ${ENTRY} FROM audit_entries WHERE id = $1`, [id])
  return row
}

export async function countEntries(tx: Tx, filter: AuditFilter): Promise<number> {
  const { conditions, values } = conditionsOf(filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`audit_entries WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

/**
 * Deletes entries of an account from before that time, and returns how many. In a system transaction: requests, which
 * run in the tenant role, can't delete any.
 */
export async function purgeAuditEntries(
  tx: Tx,
  past: { accountId: string; environment: Environment; before: Date; idsBefore: string; limit: number },
): Promise<number> {
  const gone = await tx.query(
    `DELETE FROM audit_entries WHERE account_id = $1 AND id = ANY(ARRAY(
       SELECT id FROM audit_entries
       WHERE account_id = $1 AND id < $2 AND at < $3 AND coalesce(environment, 'live') = $4 ORDER BY id LIMIT $5))
     RETURNING 1`,
    [past.accountId, past.idsBefore, past.before, past.environment, past.limit],
  )
  return gone.length
}

function conditionsOf(filter: AuditFilter): { conditions: string[]; values: unknown[] } {
  const conditions = ['true']
  const values: unknown[] = []
  const equal = (column: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${column} = $${values.push(value)}`)
  }
  if (filter.actions !== undefined) conditions.push(conditionOfAny(values, 'action', filter.actions))
  equal('actor_id', filter.actorId)
  equal('subject_id', filter.subjectId)
  equal('environment', filter.environment)
  const range = filter
  conditions.push(...conditionsOfRange(values, { type: 'aud', time: 'at' }, range))
  return { conditions, values }
}
