// The hardware facts of one capture: what was verified of its device, whether the vendor's list still allows it, and
// whether the device's App Attest key signed this bundle.

import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import { type CaptureSession, consumeNonces, findSessionsOf } from '../captures/rows.ts'
import type { DeviceRow } from '../devices/rows.ts'
import type { AssertionFacts, DeviceHardware } from '../factors/facts.ts'
import { verifyAssertion } from '../hardware/apple.ts'
import { findRevocation, type RevocationSnapshot } from '../hardware/revocations.ts'
import { holdUncancelled } from './cancelled-rows.ts'
import { canonicalBundle } from './canonical-bundle.ts'
import type { Bundle, Submission } from './submission.ts'

/** The counter of a valid assertion. */
export interface CounterUse {
  deviceId: string
  /** SHA-256 of the App Attest key. */
  keyDigest: Buffer
  counter: number
}

export interface HardwareContext {
  revocations: RevocationSnapshot
  now: Date
  /** Takes the counter for this attestation; returns its owner. */
  useCounter(use: CounterUse): Promise<string>
  /** Takes for this attestation a nonce that a cancelled capture has returned; returns its owner. */
  useNonce(nonce: string): Promise<CaptureSession | undefined>
}

export async function hardwareFacts(
  device: DeviceRow,
  { bundle, assertion }: Submission,
  attestationId: string,
  context: HardwareContext,
): Promise<DeviceHardware | null> {
  const { evidence, attestationSerials } = device
  if (evidence === null) return null
  const { facts, reasons } = evidence
  const android = facts?.format === 'android-key' ? facts : undefined
  return {
    reasons: reasons.map(({ code }) => code),
    serials: attestationSerials,
    revocation: findRevocation(attestationSerials, context.revocations, context.now),
    userGate: android?.userGate ?? null,
    authTimeoutSeconds: android?.authTimeoutSeconds ?? null,
    assertion: bundle === undefined ? null : await assertionFacts(device, bundle, assertion, attestationId, context),
  }
}

async function assertionFacts(
  { id, attestKey, attestCounter, evidence }: DeviceRow,
  bundle: Bundle,
  assertion: string | undefined,
  attestationId: string,
  { useCounter }: HardwareContext,
): Promise<AssertionFacts | null> {
  if (attestKey === null) return null
  if (assertion === undefined) return { state: 'missing', counter: null, usedBy: null }
  const appId = evidence?.facts?.format === 'apple-appattest' ? evidence.facts.appId : null
  const verdict = await verifyAssertion({
    assertion: Buffer.from(assertion, 'base64'),
    spki: attestKey,
    appId: appId ?? '',
    clientDataHash: sha256(canonicalBundle(bundle)),
    counterAbove: attestCounter ?? 0,
  })
  if (!verdict.isValid) return { state: verdict.code, counter: verdict.counter, usedBy: null }
  const { counter } = verdict
  // Only a valid signature uses up a counter; otherwise anyone could exhaust the counters of a device.
  const owner = await useCounter({ deviceId: id, keyDigest: sha256(attestKey), counter })
  if (owner === attestationId) return { state: 'valid', counter, usedBy: null }
  return { state: 'counter_reused', counter, usedBy: owner }
}

/**
 * Takes a free counter for an attestation and returns its owner: the attestation that was verified first keeps it, in
 * whatever order workers finish. A repeated call returns the same.
 * @throws {STALE_JOB} when the attestation was cancelled: its counter would never be returned.
 */
export async function takeCounter(tx: Tx, scope: Scope, use: CounterUse, attestationId: string): Promise<string> {
  const { deviceId, keyDigest, counter } = use
  if (!(await holdUncancelled(tx, attestationId))) throw STALE_JOB
  await tx.query(
    `INSERT INTO assertion_counters (account_id, environment, device_id, key_digest, counter, attestation_id)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT ON CONSTRAINT assertion_counters_pkey DO NOTHING`,
    [scope.accountId, scope.environment, deviceId, keyDigest, counter, attestationId],
  )
  // A separate statement: it sees the row that a concurrent transaction committed while ours waited for it.
  const [row] = await tx.query<{ owner: string }>(
    `SELECT attestation_id AS owner FROM assertion_counters WHERE device_id = $1 AND key_digest = $2 AND counter = $3`,
    [deviceId, keyDigest, counter],
  )
  if (row === undefined) throw new Error('a counter that was just taken has no owner')
  return row.owner
}

/**
 * The same for a free nonce: accepting a capture consumes its nonce, so a free one was returned by a cancelled capture.
 */
export async function takeNonce(
  tx: Tx,
  nonce: string,
  attestationId: string,
  now: Date,
): Promise<CaptureSession | undefined> {
  if (!(await holdUncancelled(tx, attestationId))) throw STALE_JOB
  await consumeNonces(tx, [{ nonce, attestationId }], now)
  return (await findSessionsOf(tx, [nonce]))[0]
}
