// Orders and their signatures. The status of a row follows from its last act and the clock. Everything personal of an order is
// in its sealed content.

import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { DecidedSchedule } from '../prescribers/schedules.ts'
import type { DrugSchedule } from '../prescribers/substances.ts'
import type { SignatureAct, StatementVersion } from './content.ts'
import { ORDER_HOURS, type OrderStatus } from './state.ts'

/** What an edit replaces. Hashes are SHA-256 in base64url without padding. */
export interface OrderTerms {
  sealedContent: Buffer
  orderHash: string
  payloadHash: string | null
  schedule: DrugSchedule
  scheduleSource: DecidedSchedule['source']
  refills: number
  usState: string | null
}

export interface OrderRow extends OrderTerms {
  id: string
  prescriberId: string
  /** At the time of the statement. */
  status: OrderStatus
  /** Counts all changes. */
  version: number
  /** Counts edits. */
  revision: number
  authorizedAt: Date | null
  expiresAt: Date
  endedBy: string | null
  endedAt: Date | null
  endedReason: OrderEndReason | null
  decisionId: string | null
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

// Closed lists: a text would invite findings about patients into logs.
export const DECLINE_REASONS = ['dose', 'interaction', 'indication', 'duplicate', 'identity', 'other'] as const
export type DeclineReason = (typeof DECLINE_REASONS)[number]
export const CANCEL_REASONS = ['entered_in_error', 'replaced', 'no_longer_needed', 'other'] as const
export type CancelReason = (typeof CANCEL_REASONS)[number]
export type OrderEndReason = DeclineReason | CancelReason

export interface SignatureRow {
  orderId: string
  /** Of the order that was signed. */
  revision: number
  act: SignatureAct
  orderHash: string
  prescriberId: string
  userId: string
  passkeyId: string | null
  statementVersion: StatementVersion
  signedAt: Date
  voidedAt: Date | null
}

const hash = (column: string) => `rtrim(translate(encode(${column}, 'base64'), '+/', '-_'), '=')`

/** The same as `statusAt` of state.ts, for rows that are filtered by it. */
const STATUS = `CASE WHEN o.status IN ('draft', 'pending_cosign', 'authorized') AND o.expires_at <= clock_timestamp()
  THEN 'expired' ELSE o.status END`

const ORDER = `o.id, o.prescriber_id AS "prescriberId", o.sealed_content AS "sealedContent", ${hash('o.order_hash')} AS "orderHash",
  ${hash('o.payload_hash')} AS "payloadHash", o.schedule, o.schedule_source AS "scheduleSource", o.refills,
  o.us_state AS "usState", ${STATUS} AS status, o.version, o.revision, o.authorized_at AS "authorizedAt", o.expires_at AS "expiresAt",
  o.ended_by AS "endedBy", o.ended_at AS "endedAt", o.ended_reason AS "endedReason", o.decision_id AS "decisionId",
  o.created_by AS "createdBy", o.created_at AS "createdAt", o.updated_at AS "updatedAt"`

const SIGNATURE = `s.order_id AS "orderId", s.revision, s.act, ${hash('s.order_hash')} AS "orderHash",
  s.prescriber_id AS "prescriberId", s.user_id AS "userId", s.passkey_id AS "passkeyId",
  s.statement_version AS "statementVersion", s.signed_at AS "signedAt", s.voided_at AS "voidedAt"`

const bytes = (base64url: string) => Buffer.from(base64url, 'base64url')

export async function insertOrder(
  tx: Tx,
  { accountId, environment }: Scope,
  row: OrderTerms & { id: string; prescriberId: string; createdBy: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO orders (account_id, environment, id, prescriber_id, sealed_content, order_hash, payload_hash, schedule,
       schedule_source, refills, us_state, created_by, created_at, updated_at, expires_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, clock.at, clock.at, clock.at + make_interval(hours => $13)
     FROM clock_timestamp() AS clock (at)`,
    [accountId, environment, row.id, row.prescriberId, ...valuesOfTerms(row), row.createdBy, ORDER_HOURS],
  )
}

function valuesOfTerms(terms: OrderTerms): unknown[] {
  const { sealedContent, orderHash, payloadHash, schedule, scheduleSource, refills, usState } = terms
  const payload = payloadHash === null ? null : bytes(payloadHash)
  return [sealedContent, bytes(orderHash), payload, schedule, scheduleSource, refills, usState]
}

export async function findOrder(tx: Tx, { accountId, environment }: Scope, id: string): Promise<OrderRow | undefined> {
  const [row] = await tx.query<OrderRow>(
    `SELECT ${ORDER} FROM orders o WHERE o.account_id = $1 AND o.environment = $2 AND o.id = $3`,
    [accountId, environment, id],
  )
  return row
}

/** Holds the row until the end of the transaction. Read it afterwards, in a statement that sees what was waited for. */
export async function holdOrder(tx: Tx, { accountId, environment }: Scope, id: string): Promise<void> {
  await tx.query('SELECT FROM orders WHERE account_id = $1 AND environment = $2 AND id = $3 FOR UPDATE', [
    accountId,
    environment,
    id,
  ])
}

export async function lockOrder(tx: Tx, scope: Scope, id: string): Promise<OrderRow | undefined> {
  await holdOrder(tx, scope, id)
  return findOrder(tx, scope, id)
}

/** Prescribers, and the facts about them, do not change until the end of the transaction. In one order, against deadlocks. */
export async function sharePrescribers(
  tx: Tx,
  { accountId, environment }: Scope,
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    'SELECT FROM prescribers WHERE account_id = $1 AND environment = $2 AND id = ANY($3::text[]) ORDER BY id FOR SHARE',
    [accountId, environment, ids],
  )
}

export interface OrderFilter extends TimeRange {
  status: readonly OrderStatus[] | undefined
  prescriberId: string | undefined
  schedule: readonly DrugSchedule[] | undefined
}

const MATCHES = `o.account_id = $1 AND o.environment = $2 AND o.id >= $3 AND o.id < $4
  AND ($5::timestamptz IS NULL OR o.created_at >= $5) AND ($6::timestamptz IS NULL OR o.created_at < $6)
  AND ($7::text IS NULL OR o.prescriber_id = $7) AND ($8::text[] IS NULL OR o.schedule = ANY($8))
  AND ($9::text[] IS NULL OR ${STATUS} = ANY($9))`

function valuesOfFilter({ accountId, environment }: Scope, filter: OrderFilter, before?: string): unknown[] {
  const { from, to, prescriberId, schedule, status } = filter
  return [
    accountId,
    environment,
    ...boundsOfRange({ type: 'ord', environment }, { from, to }, before),
    from ?? null,
    to ?? null,
    prescriberId ?? null,
    schedule ?? null,
    status ?? null,
  ]
}

/** Newest first. */
export async function listOrders(
  tx: Tx,
  scope: Scope,
  filter: OrderFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<OrderRow[]> {
  return tx.query<OrderRow>(`SELECT ${ORDER} FROM orders o WHERE ${MATCHES} ORDER BY o.id DESC LIMIT $10`, [
    ...valuesOfFilter(scope, filter, before),
    limit,
  ])
}

export async function countOrders(tx: Tx, scope: Scope, filter: OrderFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`orders o WHERE ${MATCHES}`), valuesOfFilter(scope, filter))
  return row?.count ?? 0
}

/** Replaces the content, and voids the signatures. The caller holds the row. */
export async function editOrder(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
  terms: OrderTerms,
): Promise<void> {
  await Promise.all([
    tx.query(
      `UPDATE orders SET sealed_content = $4, order_hash = $5, payload_hash = $6, schedule = $7, schedule_source = $8,
         refills = $9, us_state = $10, status = 'draft', authorized_at = NULL, version = version + 1, revision = revision + 1,
         updated_at = clock_timestamp()
       WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [accountId, environment, id, ...valuesOfTerms(terms)],
    ),
    tx.query(
      `UPDATE order_signatures SET voided_at = clock_timestamp()
       WHERE account_id = $1 AND environment = $2 AND order_id = $3 AND voided_at IS NULL`,
      [accountId, environment, id],
    ),
  ])
}

/** Adds a signature and the status that it leads to. The caller holds the row. */
export async function insertSignature(
  tx: Tx,
  { accountId, environment }: Scope,
  signature: Omit<SignatureRow, 'signedAt' | 'voidedAt'>,
  status: OrderStatus,
): Promise<void> {
  await Promise.all([
    tx.query(
      `INSERT INTO order_signatures (account_id, environment, order_id, revision, act, order_hash, prescriber_id, user_id,
         passkey_id, statement_version, signed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp())`,
      [
        accountId,
        environment,
        signature.orderId,
        signature.revision,
        signature.act,
        bytes(signature.orderHash),
        signature.prescriberId,
        signature.userId,
        signature.passkeyId,
        signature.statementVersion,
      ],
    ),
    tx.query(
      `UPDATE orders SET status = $4, version = version + 1, updated_at = clock_timestamp(),
         authorized_at = CASE WHEN $4 = 'authorized' THEN clock_timestamp() END
       WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [accountId, environment, signature.orderId, status],
    ),
  ])
}

/** Declines or cancels. The caller holds the row. */
export async function endOrder(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
  { status, by, reason }: { status: 'declined' | 'cancelled'; by: string; reason: OrderEndReason },
): Promise<void> {
  await tx.query(
    `UPDATE orders SET status = $4, ended_by = $5, ended_reason = $6, version = version + 1,
       ended_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id, status, by, reason],
  )
}

/**
 * Marks an order as executed by a decision of verify, in the caller's transaction. Of two at once, one is answered true: the
 * statement waits for the row of the other.
 * @param at Time of the decision, by Postgres's clock.
 */
export async function markExecuted(
  tx: Tx,
  { accountId, environment }: Scope,
  orderId: string,
  { decisionId, at }: { decisionId: string; at: Date },
): Promise<boolean> {
  const marked = await tx.query(
    `UPDATE orders SET status = 'executed', decision_id = $4, version = version + 1, ended_at = $5, updated_at = $5
     WHERE account_id = $1 AND environment = $2 AND id = $3 AND status = 'authorized' AND expires_at > $5 RETURNING 1`,
    [accountId, environment, orderId, decisionId, at],
  )
  return marked.length === 1
}

/** Signatures of some orders, also those that were voided, in the order in which they were made. */
export async function findSignatures(
  tx: Tx,
  { accountId, environment }: Scope,
  orderIds: readonly string[],
): Promise<SignatureRow[]> {
  return tx.query<SignatureRow>(
    `SELECT ${SIGNATURE} FROM order_signatures s
     WHERE s.account_id = $1 AND s.environment = $2 AND s.order_id = ANY($3::text[]) ORDER BY s.order_id, s.signed_at`,
    [accountId, environment, orderIds],
  )
}

/** National Provider Identifiers of prescribers, by their ids. */
export async function readNpis(
  tx: Tx,
  { accountId, environment }: Scope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; npi: string }>(
    'SELECT id, npi FROM prescribers WHERE account_id = $1 AND environment = $2 AND id = ANY($3::text[])',
    [accountId, environment, ids],
  )
  return new Map(rows.map(({ id, npi }) => [id, npi]))
}
