// What evidence proved about a device. The column hardware_tier holds the tier as proven; the tier that counts now also
// depends on the vendor's list of revoked keys, and is computed at each read.

import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { type KeptEvidence, keptOf } from '../hardware/evidence.ts'
import {
  isEvidenceCounted,
  lookUpRevocation,
  type Revocation,
  type RevocationSnapshot,
} from '../hardware/revocations.ts'
import type { EvidenceVerdict, HardwareTier } from '../hardware/verdict.ts'
import { entriesOfWritten } from './history-rows.ts'

export interface HardwareColumns {
  /** What the evidence proved. `currentHardwareOf` says what counts. */
  provenTier: HardwareTier
  evidence: KeptEvidence | null
  attestationSerials: string[]
  /** The App Attest key that signs assertions (DER SubjectPublicKeyInfo). */
  attestKey: Buffer | null
  attestCounter: number | null
}

export const HARDWARE = `hardware_tier AS "provenTier", hardware AS evidence,
  attestation_serials AS "attestationSerials", attest_key AS "attestKey", attest_counter AS "attestCounter"`

export interface CurrentHardware {
  hardwareTier: HardwareTier
  revocation: Revocation
}

/** What the proof is worth by the current list. */
export function currentHardwareOf(
  { provenTier, attestationSerials }: Pick<HardwareColumns, 'provenTier' | 'attestationSerials'>,
  revocations: RevocationSnapshot,
  now: Date,
): CurrentHardware {
  const revocation = lookUpRevocation(attestationSerials, revocations, now)
  return { hardwareTier: isEvidenceCounted(revocation) ? provenTier : 'none', revocation }
}

/** The same as a condition on rows; appends its parameters to `values`. */
export function tierCondition(tier: HardwareTier, revocations: RevocationSnapshot, values: unknown[]): string {
  const place = `$${values.push(tier)}`
  if (revocations === 'off') return `hardware_tier = ${place}`
  const doubt =
    revocations === 'never_fetched'
      ? `attestation_serials <> '{}'`
      : `attestation_serials && $${values.push([...revocations.entries.keys()])}::text[]`
  return tier === 'none' ? `(hardware_tier = ${place} OR ${doubt})` : `(hardware_tier = ${place} AND NOT ${doubt})`
}

export interface StoredVerdict {
  /** SHA-256 of the device's SubjectPublicKeyInfo. */
  spkiDigest: Buffer
  verdict: EvidenceVerdict
}

/**
 * Stores verdicts for devices that have none, and returns the ids of those. Only a refresh replaces an existing one.
 */
export async function adoptVerdicts(
  tx: Tx,
  acting: Acting,
  verdicts: readonly StoredVerdict[],
  at: Date,
): Promise<string[]> {
  if (verdicts.length === 0) return []
  // The verdicts are one JSON object, not a table to join: a planner without statistics would compare every pair of
  // rows.
  const byDigest = Object.fromEntries(
    verdicts.map(({ spkiDigest, verdict }) => [spkiDigest.toString('hex'), columnsOf(verdict, at)]),
  )
  const values: unknown[] = [verdicts.map(({ spkiDigest }) => spkiDigest), JSON.stringify(byDigest)]
  const entries = entriesOfWritten(acting, { at, ...ATTESTED }, values)
  const adopted = await tx.query<{ id: string }>(
    `WITH written AS (
       UPDATE devices SET ${SET("$2::jsonb -> encode(spki_digest, 'hex')")}
       WHERE spki_digest = ANY($1::bytea[]) AND hardware IS NULL AND revoked_at IS NULL
       RETURNING account_id, environment, id, hardware_tier, hardware
     ) ${entries} RETURNING device_id AS id`,
    values,
  )
  return adopted.map(({ id }) => id)
}

/** False when the device is gone or revoked. */
export async function replaceVerdict(
  tx: Tx,
  acting: Acting,
  deviceId: string,
  { verdict, at }: { verdict: EvidenceVerdict; at: Date },
): Promise<boolean> {
  const values: unknown[] = [deviceId, JSON.stringify(columnsOf(verdict, at))]
  const entries = entriesOfWritten(acting, { at, ...ATTESTED }, values)
  const replaced = await tx.query(
    `WITH written AS (
       UPDATE devices SET ${SET('$2::jsonb')},
         past_serials = ARRAY(SELECT DISTINCT unnest(past_serials || attestation_serials) ORDER BY 1)
       WHERE id = $1 AND revoked_at IS NULL RETURNING account_id, environment, id, hardware_tier, hardware
     ) ${entries} RETURNING 1`,
    values,
  )
  return replaced.length === 1
}

const ATTESTED = {
  kind: "'attested'",
  detail: `jsonb_build_object('proven_tier', hardware_tier, 'format', hardware -> 'format',
    'reasons', jsonb_path_query_array(hardware, '$.reasons[*].code'))`,
}

const SET = (source: string) => `hardware_tier = ${source} ->> 'tier', hardware = ${source} -> 'evidence',
  attestation_serials = ARRAY(SELECT jsonb_array_elements_text(${source} -> 'serials')),
  attest_key = decode(${source} ->> 'attestKey', 'base64'), attest_counter = (${source} ->> 'attestCounter')::bigint`

function columnsOf(verdict: EvidenceVerdict, at: Date) {
  return {
    tier: verdict.provenTier,
    evidence: keptOf(verdict, at),
    serials: verdict.serials,
    attestKey: verdict.attestKey?.spki.toString('base64') ?? null,
    attestCounter: verdict.attestKey?.counter ?? null,
  }
}
