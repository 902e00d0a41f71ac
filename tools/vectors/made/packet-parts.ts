// An honest evidence packet, and what the cases change of it.

import { createHash } from 'node:crypto'
import { PACKET_TYP, partDigests } from '#src/attest/evidence/digests.ts'
import type { EvidencePacket, PacketAttestation, SignedPacket } from '#src/attest/evidence/views.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { AUTHORITY_CERTIFICATE, DEVICE_CERTIFICATE, DEVICE_KEY, spkiOf } from './certificates.ts'
import { RECORD_KEYS, signRecord } from './records.ts'
import { rawSignature, signNumbers, type VectorKey } from './signing.ts'

export const ORIGINAL = Buffer.from('An original: the check compares its SHA-256, and reads nothing of it.')
export const ATTESTATION = 'att_test_01m812n8p2ec1th6tjk5cw6cak'
const DEVICE_ID = 'dev_test_01m812n8ggfzkbv1fwd60zgppf'
const CLAIM_ID = 'clm_test_01m812n8p3f4maxxceabpv7bf9'
const ACCOUNT_ID = 'acc_01m812etp7fvys0xetj94qs1sc'
const ISSUED_AT = '2026-11-20T13:00:00.000Z'
/** Before the doubt of the revoked key. */
export const EARLY = '2026-11-20T11:00:00.000Z'

export const hexDigest = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex')
const canonicalOf = (value: unknown) => canonicalize(JSON.parse(JSON.stringify(value)) as Json)

export type Result = NonNullable<PacketAttestation['result']>

export interface AttestationParts {
  id?: string
  bundle?: Record<string, unknown>
  media?: Partial<PacketAttestation['media']>
  mediaType?: 'image' | 'video'
  result?: Partial<Omit<Result, 'result_jws'>>
  /** Members of the signed result. */
  signed?: Parameters<typeof signRecord>[2] & { typ?: string; payload?: Record<string, unknown> }
  evaluatedAt?: string
  /** Signs the bundle. */
  key?: VectorKey
}

export const BUNDLE = {
  version: 1,
  captured_at: '2026-11-20T11:59:00.000Z',
  sensor_hash: hexDigest(ORIGINAL),
  device_id: DEVICE_ID,
  session_nonce: 'nvg6errTrxR26Qu8aL_FAyfViy63kr6VoVJ7ZtUPD-w',
  gps: { lat: 52.5163, lng: 13.3777, accuracy_m: 5 },
}

const FACTORS = [
  {
    code: 'hardware_backing_absent',
    points: 40,
    evidence: { compared: 'hardware tier', expected: 'tee', found: 'none' },
  },
] as unknown as Result['factors']

/** An attestation whose bundle is signed by the device, and whose result is signed by the service. */
export function makeAttestation(parts: AttestationParts = {}): PacketAttestation {
  const {
    id = ATTESTATION,
    bundle = BUNDLE,
    evaluatedAt = '2026-11-20T12:30:00.000Z',
    key = DEVICE_KEY,
    signed,
  } = parts
  const statement = canonicalOf(bundle)
  const media = {
    media_id: 'med_test_01m812n8kkerbt9tpzcg6f2v60',
    sha256: hexDigest(ORIGINAL),
    size: ORIGINAL.byteLength,
    content_type: 'image/jpeg',
    width: 640,
    height: 480,
    is_erased: false,
    ...parts.media,
  }
  const result = {
    observations: [],
    provenance_status: 'verified',
    risk_status: 'review',
    risk_score: 40,
    hardware_tier: 'none',
    rules_version: 'attest-rules/7',
    factors: FACTORS,
    advisory_factors: [],
    ...parts.result,
  }
  const attestation = {
    attestation_id: id,
    external_id: null,
    batch_id: null,
    device_id: DEVICE_ID,
    status: 'evaluated' as const,
    accepted_at: '2026-11-20T12:00:00.000Z',
    evaluated_at: evaluatedAt,
    erased_at: null,
    media,
    submission: {
      media_type: parts.mediaType ?? 'image',
      claim: { reference: 'CLM-2026-001' },
      bundle,
      signature: { alg: 'ES256', value: rawSignature(signNumbers(key, statement)).toString('base64url') },
    },
    bundle_sha256: createHash('sha256').update(statement).digest('base64url'),
    key: { source: 'certificate' as const, spki: spkiOf(DEVICE_KEY).toString('base64') },
    certificates: { source: 'submission' as const, chain: [DEVICE_CERTIFICATE, AUTHORITY_CERTIFICATE] },
    distance: null,
    found_later: [],
    earlier_results: [],
    failure: null,
  }
  const shown = resultPayload(attestation, result)
  const { typ = 'attest-result+jwt', payload, ...how } = signed ?? {}
  return { ...attestation, result: { ...result, result_jws: signRecord(typ, { ...shown, ...payload }, how) } }
}

/** What the service signs of a result. */
export function resultPayload(
  one: Pick<PacketAttestation, 'attestation_id' | 'media' | 'bundle_sha256' | 'accepted_at' | 'evaluated_at'>,
  { result_jws: _, signing_key_revoked: __, ...result }: Omit<Result, 'result_jws'> & { result_jws?: string },
) {
  return {
    account_id: ACCOUNT_ID,
    environment: 'sandbox',
    attestation_id: one.attestation_id,
    claim_id: CLAIM_ID,
    media_sha256: one.media.sha256,
    bundle_sha256: one.bundle_sha256,
    accepted_at: one.accepted_at,
    evaluated_at: one.evaluated_at,
    ...result,
  }
}

const CLAIM = {
  claim_id: CLAIM_ID,
  reference: 'CLM-2026-001',
  line: null,
  loss_location: null,
  loss_at: null,
  advisory_codes: [],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:30:00.000Z',
  erased_at: null,
}

/** The packet of these attestations; the claim has their highest score. */
export function makePacket(attestations: PacketAttestation[] = [makeAttestation()]): EvidencePacket {
  const results = attestations.flatMap(({ result }) => result ?? [])
  const codes = new Set(results.flatMap(({ factors }) => factors.map(({ code }) => code)))
  const { subject, serial, not_before, not_after, fingerprint } = DEVICE_CERTIFICATE
  const packet = {
    about: {
      version: 'evidence-packet/1',
      packet_id: 'evp_85882951a43662a5a22cd747ffbe53cd',
      issued_at: ISSUED_AT,
      account_id: ACCOUNT_ID,
      environment: 'sandbox',
      claim_id: CLAIM_ID,
      keys_at: 'https://api.example.com/.well-known/jwks.json',
      attestations: {
        total: attestations.length,
        included: attestations.length,
        is_complete: true,
        next_cursor: null,
      },
      statement: `This packet holds all ${attestations.length} attestations of the claim.`,
    },
    claim: {
      ...CLAIM,
      risk_status: 'review',
      risk_score: results.length === 0 ? null : Math.max(...results.map(({ risk_score }) => risk_score)),
      provenance_status: results[0]?.provenance_status ?? null,
      factor_codes: [...codes],
    },
    attestations,
    devices: [
      {
        device_id: DEVICE_ID,
        name: 'Vector Device',
        status: 'enrolled',
        hardware_tier: 'none',
        hardware: null,
        certificate: { subject, serial, not_before, not_after, fingerprint },
        spki_sha256: hexDigest(spkiOf(DEVICE_KEY)),
        enrolled_at: '2026-11-20T10:00:00.000Z',
        expires_at: not_after,
        revoked_at: null,
        revoke_effective_at: null,
        revoke_reason: null,
        spki: spkiOf(DEVICE_KEY).toString('base64'),
      },
    ],
    cases: [],
    timeline: {
      moments: [{ at: '2026-11-20T12:00:00.000Z', kind: 'claim.created', subject: CLAIM_ID, detail: {} }],
      omitted: 0,
    },
    keys: [{ ...RECORD_KEYS.sandbox.jwk }],
  }
  // The view is of literals, and the keys are made.
  return packet as unknown as EvidencePacket
}

interface PacketSignature {
  typ?: string
  how?: Parameters<typeof signRecord>[2]
  /** Members of what is signed in place of the true ones. */
  claims?: (claims: Record<string, unknown>) => Record<string, unknown>
}

/** Signs a packet as the service does. */
export function signPacket(
  packet: EvidencePacket,
  { typ = PACKET_TYP, how, claims = (same) => same }: PacketSignature = {},
): SignedPacket {
  const { packet_id, claim_id, account_id, environment, issued_at } = packet.about
  const packet_sha256 = hexDigest(canonicalOf(packet))
  const ids = { packet_id, claim_id, account_id, environment, issued_at }
  const iat = Date.parse(issued_at) / 1_000
  const signed = claims({ ...ids, packet_sha256, parts: partDigests(packet), iat })
  return { object: 'evidence_packet', packet, packet_sha256, signature: signRecord(typ, signed, how) }
}
