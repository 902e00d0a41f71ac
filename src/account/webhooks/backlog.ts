// Deliveries that wait for an endpoint: how many of them run, and what becomes of them when it takes no more. A million
// may wait, so they are cancelled in steps: the first in the transaction that ends the endpoint, and each job of the lane
// that still runs cancels the next.

import { type NewMail, sendMail } from '#src/account/mail/send.ts'
import { findTold } from '#src/account/usage/notice-rows.ts'
import { DIRECT_DELIVERIES_RATE } from '#src/catalogue/plans.ts'
import { QUEUES } from '#src/catalogue/queues.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { cancelQueued, dropLane, limitLane, releaseLanes, takeOneToken } from '#src/platform/jobs/lanes.ts'
import { laneOf } from './circuit.ts'
import type { DisabledReason, EndpointRow } from './rows.ts'

// Some tens of milliseconds.
const STEP_ROWS = 1_000

/** Makes dispatch keep to the settings of an endpoint. */
export async function limitDeliveries(
  tx: Tx,
  scope: Scope,
  { id, maxConcurrency, maxPerSecond }: Pick<EndpointRow, 'id' | 'maxConcurrency' | 'maxPerSecond'>,
): Promise<void> {
  // The cap of the queue holds without a row.
  const mostInFlight = maxConcurrency === QUEUES.deliver.laneCap ? null : maxConcurrency
  await limitLane(tx, scope, { queue: 'deliver', lane: id, mostInFlight, perSecond: maxPerSecond })
}

/**
 * For deliveries that go before all others, also while the circuit of their endpoint is open: these must stay few.
 * @throws {Failure} `rate_limited`.
 */
export async function admitDirect(tx: Tx, scope: Scope): Promise<void> {
  const lane = `${scope.accountId} direct`
  const waitMs = await takeOneToken(tx, scope, { queue: 'deliver', lane, ...DIRECT_DELIVERIES_RATE })
  if (waitMs === 0) return
  const { perSecond, burst } = DIRECT_DELIVERIES_RATE
  const seconds = Math.ceil(waitMs / 1_000)
  throw new Failure('rate_limited', {
    detail: `An account tests endpoints and sends deliveries again at most ${perSecond} times a second, and ${burst} times at once. Try again in ${seconds} s.`,
    members: { limit: 'direct_deliveries' },
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Cancels deliveries that wait for this endpoint, with their jobs, one step of them. */
export async function cancelWaiting(tx: Tx, endpointId: string): Promise<void> {
  // Their jobs must run, to cancel the rest.
  await releaseLanes(tx, 'deliver', [endpointId])
  const ids: string[] = []
  for (const isDirect of [false, true]) {
    const payloads = await cancelQueued(tx, 'deliver', laneOf(endpointId, { isDirect }), STEP_ROWS)
    ids.push(...payloads.flatMap((payload) => ('deliveryId' in payload ? [payload.deliveryId] : [])))
  }
  if (ids.length === 0) return
  await tx.query(
    `UPDATE deliveries SET status = 'cancelled', cancelled_at = now(), next_attempt_at = NULL
     WHERE id = ANY($1::text[]) AND status = 'pending'`,
    [ids],
  )
}

/** The same for an endpoint that was deleted. */
export async function cancelForDeleted(tx: Tx, endpointId: string): Promise<void> {
  await cancelWaiting(tx, endpointId)
  await dropLane(tx, 'deliver', endpointId)
}

/** Disables an endpoint, and tells the owners and admins of its account by mail. */
export async function disableEndpoint(
  tx: Tx,
  scope: Scope,
  { endpointId, reason }: { endpointId: string; reason: DisabledReason },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $2, disabled_at = now(), version = version + 1
     WHERE id = $1 AND status = 'enabled' RETURNING id`,
    [endpointId, reason],
  )
  await cancelWaiting(tx, endpointId)
  if (rows.length === 0) return false
  const mail: Omit<NewMail, 'recipient'> = { kind: 'webhook_endpoint_disabled', subjectId: endpointId, scope }
  for (const { email: recipient } of await findTold(tx)) await sendMail(tx, { ...mail, recipient })
  return true
}
