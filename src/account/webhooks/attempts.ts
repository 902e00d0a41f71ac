// The statements of the deliver queue. An attempt takes its number and its start before the call, on the delivery's row;
// its own row is written when it ends. An attempt without an end is a call whose process died, and its receiver may have
// seen it: the next attempt writes its row, without finished_at. A transaction that changes an endpoint and its
// deliveries changes the endpoint first, so that two of them can't deadlock.

import type { Tx } from '#src/platform/db/database.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { DeliveryStatus, EndpointStatus } from './rows.ts'
import type { AttemptOutcome } from './statistics.ts'

export interface Begun {
  deliveryId: string
  /** Number of the attempt, from 1. */
  attempt: number
  /** The same since the delivery was last sent again: the schedule counts from there. */
  attemptOfRound: number
  startedAt: Date
  endpointId: string
  url: string
  sealedSecret: Buffer
  /** Secret before the last rotation, while it signs as well. */
  sealedPreviousSecret: Buffer | null
  /** When its row was written. */
  deliveryCreatedAt: Date
  eventId: string
  type: string
  createdAt: Date
  /** Data of the event, with its first delivery here; null in its other deliveries. */
  data: unknown
  /**
   * Whether a success changes the endpoint's row: it has failures to reset, or a time that is a minute old. Otherwise
   * the row stays untouched, or deliveries would queue for its lock.
   */
  isSuccessNews: boolean
}

/**
 * Takes the next attempt numbers, for deliveries that are due and whose endpoint is enabled, with a closed circuit or this
 * probe. The account, the only one that a tenant's transaction sees, must be neither suspended nor closed.
 */
export async function beginAttempts(tx: Tx, deliveryIds: readonly string[], maxAttempts: number): Promise<Begun[]> {
  // OFFSET 0 keeps each look-up by id from becoming a join: without statistics, a join reads all rows of the account
  // for each delivery. An event goes to many endpoints, and its data is sent once.
  return tx.query<Begun>(
    `WITH begun AS (
       UPDATE deliveries delivery SET attempts = delivery.attempts + 1, attempt_started_at = now(),
         interrupted_at = delivery.attempt_started_at
       WHERE delivery.id = ANY($1::text[]) AND delivery.status = 'pending'
         AND delivery.attempts - delivery.earlier_attempts < $2
         AND delivery.next_attempt_at <= now()
         AND EXISTS (SELECT FROM webhook_endpoints endpoint WHERE endpoint.id = delivery.endpoint_id
           AND endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL
           AND (endpoint.circuit_opened_at IS NULL OR endpoint.circuit_probe_id = delivery.id) OFFSET 0)
         AND NOT EXISTS (SELECT FROM accounts WHERE suspended_at IS NOT NULL OR closed_at IS NOT NULL)
       RETURNING delivery.id, delivery.account_id, delivery.environment, delivery.attempts, delivery.endpoint_id,
         delivery.attempts - delivery.earlier_attempts AS attempt_of_round, delivery.event_id, delivery.attempt_started_at,
         delivery.interrupted_at, delivery.created_at
     ), interrupted AS (
       INSERT INTO delivery_attempts (account_id, environment, delivery_id, attempt, started_at)
       SELECT account_id, environment, id, attempts - 1, interrupted_at FROM begun WHERE interrupted_at IS NOT NULL
       ON CONFLICT DO NOTHING
     )
     SELECT begun.id AS "deliveryId", begun.attempts AS attempt, begun.attempt_of_round AS "attemptOfRound",
       begun.attempt_started_at AS "startedAt", begun.endpoint_id AS "endpointId", begun.created_at AS "deliveryCreatedAt",
       endpoint.url,
       endpoint.sealed_secret AS "sealedSecret", endpoint.sealed_previous_secret AS "sealedPreviousSecret",
       endpoint.is_success_news AS "isSuccessNews",
       begun.event_id AS "eventId", event.type, event.created_at AS "createdAt", event.data
     FROM (SELECT *, row_number() OVER (PARTITION BY event_id) = 1 AS is_first FROM begun) AS begun
     CROSS JOIN LATERAL (SELECT url, sealed_secret,
         CASE WHEN previous_secret_expires_at > now() THEN sealed_previous_secret END AS sealed_previous_secret,
         consecutive_failures > 0 OR circuit_opened_at IS NOT NULL OR last_success_at IS NULL
         OR last_success_at < now() - interval '1 minute' AS is_success_news
       FROM webhook_endpoints WHERE id = begun.endpoint_id OFFSET 0) AS endpoint
     CROSS JOIN LATERAL (SELECT type, created_at, CASE WHEN begun.is_first THEN data END AS data
       FROM events WHERE id = begun.event_id OFFSET 0) AS event`,
    [deliveryIds, maxAttempts],
  )
}

export interface DeliveryStanding {
  status: DeliveryStatus
  attempts: number
  /** Since it was last sent again. */
  attemptsOfRound: number
  /** Until the next attempt is due; 0 or less when it is. */
  waitMs: number
  endpointId: string
  /** Until the circuit of its endpoint may be probed; null while it is closed. */
  circuitMs: number | null
  /** A person asked for it. */
  isDirect: boolean
  endpointStatus: EndpointStatus
  isEndpointDeleted: boolean
  isAccountClosed: boolean
}

/** Why an attempt could not begin. */
export async function findStanding(tx: Tx, deliveryId: string): Promise<DeliveryStanding | undefined> {
  const [row] = await tx.query<DeliveryStanding>(
    `SELECT delivery.status, delivery.attempts, delivery.attempts - delivery.earlier_attempts AS "attemptsOfRound",
       delivery.is_direct AS "isDirect", endpoint.id AS "endpointId", endpoint.status AS "endpointStatus",
       CASE WHEN endpoint.circuit_opened_at IS NOT NULL
         THEN coalesce(extract(epoch FROM endpoint.circuit_until - now()) * 1000, 0)::float8 END AS "circuitMs",
       endpoint.deleted_at IS NOT NULL AS "isEndpointDeleted",
       EXISTS (SELECT FROM accounts WHERE closed_at IS NOT NULL) AS "isAccountClosed",
       coalesce(extract(epoch FROM delivery.next_attempt_at - now()) * 1000, 0)::float8 AS "waitMs"
     FROM deliveries delivery JOIN webhook_endpoints endpoint ON endpoint.id = delivery.endpoint_id
     WHERE delivery.id = $1`,
    [deliveryId],
  )
  return row
}

// When another attempt has begun meanwhile, it has written this one's row, without its end.
const OVERTAKEN = `ON CONFLICT (account_id, environment, delivery_id, attempt) DO UPDATE SET
  finished_at = excluded.finished_at, response_status = excluded.response_status, error = excluded.error,
  duration_ms = excluded.duration_ms, detail = excluded.detail, response_body = excluded.response_body`

type EndStatus = Exclude<DeliveryStatus, 'pending'>

export interface AttemptResult extends Pick<Begun, 'deliveryId' | 'attempt' | 'startedAt'> {
  responseStatus: number | null
  error: string | null
  durationMs: number
  log: AttemptLog
}

/**
 * Writes the row of an attempt that failed, and with it what follows: the end of the delivery, or the next attempt. Only
 * the latest attempt schedules the next: an attempt that was overtaken must not.
 */
export async function finishFailed(
  tx: Tx,
  result: AttemptResult,
  next: { end: EndStatus } | { delayMs: number },
): Promise<void> {
  const [end, delayMs] = 'end' in next ? [next.end, null] : [null, next.delayMs]
  await tx.query(
    `WITH delivery AS (
       UPDATE deliveries SET attempt_started_at = CASE WHEN attempts <> $2::int THEN attempt_started_at END,
         status = CASE WHEN status = 'pending' THEN coalesce($7::text, status) ELSE status END,
         failed_at = CASE WHEN status = 'pending' AND $7::text = 'failed' THEN now() ELSE failed_at END,
         cancelled_at = CASE WHEN status = 'pending' AND $7::text = 'cancelled' THEN now() ELSE cancelled_at END,
         next_attempt_at = CASE WHEN status <> 'pending' OR $7::text IS NOT NULL THEN NULL
           WHEN attempts = $2::int THEN now() + $8::float8 * interval '1 millisecond' ELSE next_attempt_at END
       WHERE id = $1 RETURNING account_id, environment, id
     )
     INSERT INTO delivery_attempts (account_id, environment, delivery_id, attempt, started_at, finished_at,
       response_status, error, duration_ms, detail, response_body)
     SELECT account_id, environment, id, $2::int, $3::timestamptz, now(), $4::int, $5::text, $6::int, $9::jsonb, $10::bytea
     FROM delivery
     ${OVERTAKEN}`,
    [
      result.deliveryId,
      result.attempt,
      result.startedAt,
      result.responseStatus,
      result.error,
      result.durationMs,
      end,
      delayMs,
      JSON.stringify(result.log.detail),
      result.log.responseBody,
    ],
  )
}

export interface Delivered extends Omit<AttemptResult, 'error'> {
  responseStatus: number
}

/** Writes the rows of attempts that ended in a 2xx, and ends their deliveries. */
export async function finishDelivered(tx: Tx, results: readonly Delivered[]): Promise<void> {
  // Each delivery occurs once. Found by a list and not by a join: a table without statistics would be read whole. No row
  // of a delivery's latest attempt exists yet, so that its INSERT needs no ON CONFLICT, which costs more.
  const overtaken = await tx.query<{ at: number }>(
    `WITH delivery AS (
       UPDATE deliveries SET next_attempt_at = NULL,
         status = CASE WHEN status = 'pending' THEN 'delivered' ELSE status END,
         delivered_at = CASE WHEN status = 'pending' THEN now() ELSE delivered_at END,
         attempt_started_at = CASE WHEN attempts <> ($2::int[])[array_position($1::text[], id)] THEN attempt_started_at END
       WHERE id = ANY($1::text[])
       RETURNING account_id, environment, id, attempts, array_position($1::text[], id) AS at
     ), attempt AS (
       INSERT INTO delivery_attempts (account_id, environment, delivery_id, attempt, started_at, finished_at,
         response_status, duration_ms, detail, response_body)
       SELECT account_id, environment, id, attempts, ($3::timestamptz[])[at], now(), ($4::int[])[at], ($5::int[])[at],
         ($6::jsonb[])[at], ($7::bytea[])[at]
       FROM delivery WHERE attempts = ($2::int[])[at]
     )
     SELECT at FROM delivery WHERE attempts <> ($2::int[])[at]`,
    [
      results.map(({ deliveryId }) => deliveryId),
      results.map(({ attempt }) => attempt),
      results.map(({ startedAt }) => startedAt),
      results.map(({ responseStatus }) => responseStatus),
      results.map(({ durationMs }) => durationMs),
      results.map(({ log }) => JSON.stringify(log.detail)),
      results.map(({ log }) => log.responseBody),
    ],
  )
  for (const { at } of overtaken) {
    const result = results[at - 1]
    if (result !== undefined) await finishOvertaken(tx, result)
  }
}

async function finishOvertaken(tx: Tx, result: Delivered): Promise<void> {
  await tx.query(
    `INSERT INTO delivery_attempts (account_id, environment, delivery_id, attempt, started_at, finished_at,
       response_status, duration_ms, detail, response_body)
     SELECT account_id, environment, id, $2::int, $3::timestamptz, now(), $4::int, $5::int, $6::jsonb, $7::bytea
     FROM deliveries WHERE id = $1 FOR KEY SHARE
     ${OVERTAKEN}`,
    [
      result.deliveryId,
      result.attempt,
      result.startedAt,
      result.responseStatus,
      result.durationMs,
      JSON.stringify(result.log.detail),
      result.log.responseBody,
    ],
  )
}

export async function endDelivery(tx: Tx, deliveryId: string, status: Exclude<EndStatus, 'delivered'>): Promise<void> {
  await tx.query(
    `UPDATE deliveries SET status = $2::text, next_attempt_at = NULL,
       failed_at = CASE WHEN $2::text = 'failed' THEN now() END,
       cancelled_at = CASE WHEN $2::text = 'cancelled' THEN now() END
     WHERE id = $1 AND status = 'pending'`,
    [deliveryId, status],
  )
}

/** Undoes a failure that was ours and not the receiver's. */
export async function reopenDelivery(tx: Tx, deliveryId: string): Promise<void> {
  await tx.query(
    `UPDATE deliveries SET status = 'pending', failed_at = NULL, next_attempt_at = now() WHERE id = $1 AND status = 'failed'`,
    [deliveryId],
  )
}

/** What the statistics of its endpoint count of an attempt. */
export function outcomeOf(
  {
    endpointId,
    startedAt,
    deliveryCreatedAt,
    attempt,
    attemptOfRound,
  }: Pick<Begun, 'endpointId' | 'startedAt' | 'deliveryCreatedAt' | 'attempt' | 'attemptOfRound'>,
  { isDelivered, durationMs }: Pick<AttemptOutcome, 'isDelivered' | 'durationMs'>,
): AttemptOutcome {
  // What is sent again days later says nothing of how fast events arrive.
  const isSentAgain = attempt !== attemptOfRound
  const arrivalMs = isSentAgain ? null : startedAt.getTime() + durationMs - deliveryCreatedAt.getTime()
  return { endpointId, isDelivered, durationMs, arrivalMs }
}
