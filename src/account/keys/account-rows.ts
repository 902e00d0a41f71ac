// What an account changes of its own row, in the tenant role.

import type { Product } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'

/** What an account may change of its row besides the plan. */
export interface AccountDetails {
  name: string
  products: Product[]
  /** Counts the changes of its name, plan and products. */
  version: number
}

const DETAILS = 'name, products, version'

export async function findDetails(tx: Tx): Promise<AccountDetails> {
  return onlyRow(await tx.query<AccountDetails>(`SELECT ${DETAILS} FROM accounts`))
}

/** No other transaction changes the account before this one ends. Foreign keys are not held up: the key of the row stays. */
export async function lockDetails(tx: Tx): Promise<AccountDetails> {
  return onlyRow(await tx.query<AccountDetails>(`SELECT ${DETAILS} FROM accounts FOR NO KEY UPDATE`))
}

export async function updateProducts(tx: Tx, products: readonly Product[]): Promise<AccountDetails> {
  return onlyRow(
    await tx.query<AccountDetails>(`UPDATE accounts SET products = $1, version = version + 1 RETURNING ${DETAILS}`, [
      products,
    ]),
  )
}

export async function renameAccount(tx: Tx, name: string): Promise<void> {
  await tx.query('UPDATE accounts SET name = $1, version = version + 1', [name])
}

export interface ClosureRow {
  accountId: string
  name: string
  closedAt: Date | null
  closedBy: string | null
  erasedAfter: Date | null
  erasedAt: Date | null
  suspendedAt: Date | null
}

/** Serialises changes of the closure: the second of two concurrent changes waits and sees the effect of the first. */
export async function lockClosure(tx: Tx): Promise<ClosureRow> {
  return onlyRow(await tx.query<ClosureRow>(`SELECT ${CLOSURE} FROM accounts FOR NO KEY UPDATE`))
}

export async function findClosure(tx: Tx): Promise<ClosureRow> {
  return onlyRow(await tx.query<ClosureRow>(`SELECT ${CLOSURE} FROM accounts`))
}

/** @param closedBy The user; null opens the account again. */
export async function setClosed(tx: Tx, closedBy: string | null, at: Date | null): Promise<ClosureRow> {
  return onlyRow(
    await tx.query<ClosureRow>(
      `UPDATE accounts SET closed_at = $1::timestamptz, closed_by = $2,
         reopened_at = CASE WHEN $1::timestamptz IS NULL THEN now() ELSE reopened_at END
       RETURNING ${CLOSURE}`,
      [at, closedBy],
    ),
  )
}

const CLOSURE = `id AS "accountId", name, closed_at AS "closedAt", closed_by AS "closedBy",
  erased_after AS "erasedAfter", erased_at AS "erasedAt", suspended_at AS "suspendedAt"`

function onlyRow<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error('the account of a request is not there')
  return row
}

// System role.

/**
 * Waits for transactions that have inserted rows of the account, and makes others wait that insert some. Not for long: a
 * bulk of the account may hold it for seconds, and the caller holds what other people wait for.
 * @throws a lock timeout, which is answered 503.
 */
export async function lockForClosure(
  tx: Tx,
  accountId: string,
): Promise<Pick<ClosureRow, 'closedAt' | 'erasedAfter' | 'suspendedAt'>> {
  const [before] = await tx.query<{ timeout: string }>(`SELECT current_setting('lock_timeout') AS timeout`)
  await setLockTimeout(tx, '200ms')
  // Unlike the locks of the other functions, this one conflicts with foreign keys to the account.
  const locked = await tx.query<ClosureRow>(
    `SELECT closed_at AS "closedAt", erased_after AS "erasedAfter", suspended_at AS "suspendedAt"
     FROM accounts WHERE id = $1 FOR UPDATE`,
    [accountId],
  )
  await setLockTimeout(tx, before?.timeout ?? '0')
  return onlyRow(locked)
}

async function setLockTimeout(tx: Tx, timeout: string): Promise<void> {
  await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [timeout])
}

/** Whether the account has a row in one of the tables. */
export async function hasContent(tx: Tx, tables: readonly string[], accountId: string): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>('SELECT has_rows($1, $2) AS found', [tables, accountId])
  return row?.found === true
}

/** Returns when it is erased. */
export async function closeInSystem(
  tx: Tx,
  { accountId, closedBy, at }: { accountId: string; closedBy: string; at: Date },
): Promise<Date> {
  const { erasedAfter } = onlyRow(
    await tx.query<{ erasedAfter: Date }>(
      `UPDATE accounts SET closed_at = $3, closed_by = $2 WHERE id = $1 RETURNING erased_after AS "erasedAfter"`,
      [accountId, closedBy, at],
    ),
  )
  return erasedAfter
}

export interface ClosedAccount {
  id: string
  erasedAfter: Date
}

/** Closed accounts that are not erased. An account that the operator suspended stays as it is until that ends. */
export async function findClosed(tx: Tx): Promise<ClosedAccount[]> {
  return tx.query(
    `SELECT id, erased_after AS "erasedAfter" FROM accounts
     WHERE closed_at IS NOT NULL AND erased_at IS NULL AND suspended_at IS NULL ORDER BY closed_at`,
  )
}

/**
 * The tables in an order in which rows can be deleted: those that refer to others come first. `early` holds the tables
 * named in `first` and those that refer to them.
 * @throws {Error} when tables refer to each other in a circle.
 */
export async function orderForErasure(
  tx: Tx,
  tables: readonly string[],
  first: readonly string[],
): Promise<{ early: string[]; late: string[] }> {
  const references = await tx.query<{ child: string; parent: string }>(
    `SELECT DISTINCT child.relname::text AS child, parent.relname::text AS parent FROM pg_constraint
     JOIN pg_class child ON child.oid = conrelid JOIN pg_class parent ON parent.oid = confrelid
     WHERE contype = 'f' AND conrelid <> confrelid AND child.relname = ANY($1) AND parent.relname = ANY($1)`,
    [tables],
  )
  const ordered: string[] = []
  for (let left = [...tables]; left.length > 0; left = left.filter((table) => !ordered.includes(table))) {
    const isFree = (table: string) => !references.some(({ child, parent }) => parent === table && left.includes(child))
    const free = left.filter(isFree)
    if (free.length === 0) throw new Error(`tables refer to each other in a circle: ${left.join(', ')}`)
    ordered.push(...free)
  }
  const early = new Set(first)
  // A set's iteration includes what is added meanwhile.
  for (const table of early) {
    for (const { child, parent } of references) if (parent === table) early.add(child)
  }
  return { early: ordered.filter((table) => early.has(table)), late: ordered.filter((table) => !early.has(table)) }
}

/** Deletes rows of an account whose `erased_after` is past: Postgres refuses any other. Returns how many. */
export async function eraseRows(tx: Tx, table: string, accountId: string, limit: number): Promise<number> {
  const [row] = await tx.query<{ gone: number }>('SELECT erase_closed_rows($1, $2, $3) AS gone', [
    table,
    accountId,
    limit,
  ])
  return row?.gone ?? 0
}

/** The last step: the row of the account remains without its name. */
export async function markAccountErased(tx: Tx, accountId: string): Promise<void> {
  await tx.query('SELECT finish_erasure($1)', [accountId])
}
