// What attempts say of their endpoint: runs of failures, and its circuit. All of it is one row in Postgres, so that every
// worker sees the same circuit. While a circuit is open, dispatch holds the endpoint's lane (platform/jobs/lanes.ts).

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { holdLane, releaseLanes } from '#src/platform/jobs/lanes.ts'
import { CIRCUIT_WINDOW_MS, type CircuitState, PROBE_MS } from './circuit.ts'

/** SQL on `webhook_endpoints`: the circuit of an endpoint that works. */
export const CLOSED_CIRCUIT = `circuit_failures = 0, circuit_since = NULL, circuit_opened_at = NULL, circuit_openings = 0,
  circuit_until = NULL, circuit_probe_id = NULL, circuit_probe_at = NULL`

/** Resets runs of failures, and closes circuits. Rows are locked in the order of their ids, so that two transactions can't deadlock. */
export async function recordSuccesses(tx: Tx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  const locked = await tx.query<{ id: string; isOpen: boolean }>(
    `SELECT id, circuit_opened_at IS NOT NULL AS "isOpen" FROM webhook_endpoints
     WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
    [endpointIds],
  )
  await tx.query(
    `UPDATE webhook_endpoints SET consecutive_failures = 0, first_failure_at = NULL, last_success_at = now(), ${CLOSED_CIRCUIT}
     WHERE id = ANY($1::text[])`,
    [endpointIds],
  )
  await releaseLanes(
    tx,
    'deliver',
    locked.filter(({ isOpen }) => isOpen).map(({ id }) => id),
  )
}

export interface FailureRun extends CircuitState {
  consecutiveFailures: number
  firstFailureAt: Date
  now: Date
  /** false: it was disabled or deleted meanwhile. */
  isLive: boolean
}

/**
 * A run of failures begins again with the end of a suspension or a closure, during which the endpoint could not succeed.
 * @param url Where the attempt went.
 * @returns undefined when the endpoint has another address by now, of which the failure says nothing.
 */
export async function recordFailure(
  tx: Tx,
  { endpointId, deliveryId, url }: { endpointId: string; deliveryId: string; url: string },
): Promise<FailureRun | undefined> {
  const [run] = await tx.query<FailureRun>(
    `UPDATE webhook_endpoints SET consecutive_failures = consecutive_failures + 1,
       first_failure_at = CASE WHEN first_failure_at IS NULL THEN now()
         ELSE (SELECT greatest(first_failure_at, suspension_ended_at, reopened_at) FROM accounts) END,
       circuit_failures = CASE WHEN circuit_since > now() - $3::float8 * interval '1 millisecond'
         THEN circuit_failures + 1 ELSE 1 END,
       circuit_since = CASE WHEN circuit_since > now() - $3::float8 * interval '1 millisecond'
         THEN circuit_since ELSE now() END
     WHERE id = $1 AND url = $4
     RETURNING consecutive_failures AS "consecutiveFailures", first_failure_at AS "firstFailureAt", now() AS now,
       circuit_failures AS failures, circuit_opened_at IS NOT NULL AS "isOpen", circuit_openings AS openings,
       coalesce(circuit_probe_id = $2, false) AS "isProbe", status = 'enabled' AND deleted_at IS NULL AS "isLive"`,
    [endpointId, deliveryId, CIRCUIT_WINDOW_MS, url],
  )
  return run
}

/** Parks the deliveries to the endpoint, after the failure that `recordFailure` recorded in the same transaction. */
export async function openCircuit(tx: Tx, scope: Scope, endpointId: string, openMs: number): Promise<void> {
  await tx.query(
    `UPDATE webhook_endpoints SET circuit_opened_at = coalesce(circuit_opened_at, now()), circuit_openings = circuit_openings + 1,
       circuit_until = now() + $2::float8 * interval '1 millisecond', circuit_probe_id = NULL, circuit_probe_at = NULL
     WHERE id = $1`,
    [endpointId, openMs],
  )
  await holdLane(tx, scope, { queue: 'deliver', lane: endpointId, delayMs: openMs })
}

/**
 * Makes a delivery the probe of an open circuit: when the time has come, or at once for a direct one. false while another
 * delivery is the probe.
 */
export async function takeProbe(
  tx: Tx,
  { endpointId, deliveryId, isDirect }: { endpointId: string; deliveryId: string; isDirect: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE webhook_endpoints SET circuit_probe_id = $2, circuit_probe_at = now()
     WHERE id = $1 AND circuit_opened_at IS NOT NULL AND (circuit_until <= now() OR $3)
       AND (circuit_probe_id IS NULL OR circuit_probe_at < now() - $4::float8 * interval '1 millisecond')
     RETURNING id`,
    [endpointId, deliveryId, isDirect, PROBE_MS],
  )
  return rows.length === 1
}

/** Forgets its failures: for an endpoint that is enabled again, or has another address. */
export async function rearm(tx: Tx, endpointId: string): Promise<void> {
  await tx.query(
    `UPDATE webhook_endpoints SET consecutive_failures = 0, first_failure_at = NULL, ${CLOSED_CIRCUIT} WHERE id = $1`,
    [endpointId],
  )
  await releaseLanes(tx, 'deliver', [endpointId])
}
