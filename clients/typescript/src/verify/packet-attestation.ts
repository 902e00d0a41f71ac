// Checks one attestation of an evidence packet from the packet's own data: the signed result against the shown one, the sum of the
// points, and the device's signature with the key of its certificate.

import { FACTOR_POINTS } from '../generated/constants.ts'
import { decodeBase64url, encodeBase64url, encodeHex, utf8 } from './bytes.ts'
import { canonicalize } from './canonicalize.ts'
import { withoutCoordinates } from './coordinates.ts'
import { type CheckFinding, doubtsOf, finding, skipped, wordsOf } from './packet-findings.ts'
import type { Packet, PacketAttestation } from './packet-shape.ts'
import { isObject, type RecordKeys, verifyRecord } from './records.ts'
import { sha256 } from './sha256.ts'
import { isSignedBySpki } from './signatures.ts'
import type { Json } from './strict-json.ts'

const RESULT_TYP = 'attest-result+jwt'

interface Context {
  keys: RecordKeys
  /** The packet's own signature vouches for what it holds. */
  isVouched: boolean
}

export async function checkAttestation(
  one: PacketAttestation,
  packet: Packet,
  context: Context,
): Promise<CheckFinding[]> {
  return [
    ...(await checkResult(one, packet, context)),
    ...(await checkEarlier(one, packet, context)),
    ...(await checkBundle(one)),
  ]
}

async function checkResult(
  one: PacketAttestation,
  { about }: Packet,
  { keys, isVouched }: Context,
): Promise<CheckFinding[]> {
  const part = partOf(one)
  const { result } = one
  if (result === null) {
    return one.status === 'evaluated'
      ? [finding(part, 'result', false, 'its result is not there')]
      : [skipped(part, 'result', `it is ${one.status}`)]
  }
  const verdict = await verifyRecord(result.result_jws, keys)
  if (!verdict.isValid) return [finding(part, 'signed result', false, wordsOf(verdict.reason)), ...checkScore(one)]
  const payload = isObject(verdict.payload) ? verdict.payload : {}
  const shown: Record<string, unknown> = {
    account_id: about.account_id,
    environment: about.environment,
    attestation_id: one.attestation_id,
    claim_id: about.claim_id,
    media_sha256: one.media.sha256,
    bundle_sha256: one.bundle_sha256,
    accepted_at: one.accepted_at,
    evaluated_at: one.evaluated_at,
    rules_version: result.rules_version,
    provenance_status: result.provenance_status,
    risk_status: result.risk_status,
    risk_score: result.risk_score,
    hardware_tier: result.hardware_tier,
    factors: result.factors,
    advisory_factors: result.advisory_factors,
    observations: result.observations,
  }
  // An erasure removes positions from the shown result, in the unlikely case that it held one.
  const plain = (value: unknown) =>
    canonicalize(((one.erased_at === null ? value : withoutCoordinates(value)) as Json | undefined) ?? null)
  const differing = Object.keys(shown).filter((name) => plain(shown[name]) !== plain(payload[name]))
  const isOfPacket = verdict.typ === RESULT_TYP && verdict.environment === about.environment
  return [
    finding(part, 'signed result', isOfPacket, `it is a ${verdict.typ} of ${verdict.environment}`),
    finding(
      part,
      'result as signed',
      differing.length === 0,
      `differs from the signed result in ${differing.join(', ')}`,
    ),
    ...doubtsOf({ part, what: 'signed result', verdict, statedAt: payload.evaluated_at, isVouched }),
    ...checkScore(one),
  ]
}

function checkScore(one: PacketAttestation): CheckFinding[] {
  const { result } = one
  if (result === null) return []
  const part = partOf(one)
  const odd = result.factors.filter(({ code, points }) => FACTOR_POINTS[code] !== points).map(({ code }) => code)
  const sum = result.factors.reduce((total, factor) => total + factor.points, 0)
  const isSum = sum === result.risk_score
  return [
    finding(part, 'points', odd.length === 0, `other points than the table’s for ${odd.join(', ')}`),
    finding(part, 'score', isSum, `the points add up to ${sum}, the result says ${result.risk_score}`),
  ]
}

async function checkEarlier(
  one: PacketAttestation,
  { about }: Packet,
  { keys, isVouched }: Context,
): Promise<CheckFinding[]> {
  const findings: CheckFinding[] = []
  const part = partOf(one)
  for (const earlier of one.earlier_results) {
    const verdict = await verifyRecord(earlier.result_jws, keys)
    const payload = verdict.isValid && isObject(verdict.payload) ? verdict.payload : {}
    const isSame =
      verdict.isValid &&
      verdict.typ === RESULT_TYP &&
      verdict.environment === about.environment &&
      payload.attestation_id === one.attestation_id &&
      payload.risk_score === earlier.risk_score &&
      payload.risk_status === earlier.risk_status &&
      payload.provenance_status === earlier.provenance_status &&
      payload.evaluated_at === earlier.evaluated_at
    findings.push(
      finding(part, 'earlier result', isSame, `that of ${String(earlier.evaluated_at)} is not as it was signed`),
      ...doubtsOf({ part, what: 'earlier result', verdict, statedAt: payload.evaluated_at, isVouched }),
    )
  }
  return findings
}

async function checkBundle(one: PacketAttestation): Promise<CheckFinding[]> {
  const part = partOf(one)
  const { bundle, signature } = one.submission
  if (one.erased_at !== null)
    return [skipped(part, 'statement', 'its positions were erased, and with them what was signed')]
  if (bundle === undefined || bundle === null)
    return [
      finding(part, 'statement', one.bundle_sha256 === null, 'there is a digest of a statement, and no statement'),
    ]
  const canonical = utf8(canonicalize(bundle))
  const isDigest = encodeBase64url(sha256(canonical)) === one.bundle_sha256
  const isValid = one.key !== null && (await isSignedByDevice(one.key.spki, signature, canonical))
  const isRefused = one.result?.factors.some(({ code }) => code === 'signature_invalid') ?? false
  const digest = finding(part, 'statement digest', isDigest, 'the statement is not the one that was judged')
  // A signature that was found invalid must still be invalid: then the finding is confirmed.
  if (one.result === null) return [digest, finding(part, 'device signature', isValid, 'does not verify')]
  return [
    digest,
    finding(
      part,
      isRefused ? 'device signature (found invalid)' : 'device signature',
      isValid !== isRefused,
      isRefused ? 'it verifies, though it was found to be invalid' : 'it does not verify with the key of the device',
    ),
  ]
}

// Devices sign in DER (RFC 3279 2.2.3), or r and s; Web Crypto verifies r and s.
async function isSignedByDevice(
  spki: string,
  signature: Json | undefined,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const value = isObject(signature) ? signature.value : undefined
  const bytes = typeof value === 'string' ? decodeAny(value) : undefined
  const key = decodeAny(spki)
  if (bytes === undefined || key === undefined) return false
  return isP256(key) && isSignedBySpki(key, rawOf(bytes) ?? bytes, data)
}

function decodeAny(base64: string): Uint8Array<ArrayBuffer> | undefined {
  return decodeBase64url(base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
}

// RFC 5480: id-ecPublicKey, secp256r1, an uncompressed point. Other encodings of the same key, which libraries read too, are refused.
const P256_SPKI = '3059301306072a8648ce3d020106082a8648ce3d03010703420004'

function isP256(spki: Uint8Array): boolean {
  return spki.length === 91 && encodeHex(spki.subarray(0, P256_SPKI.length / 2)) === P256_SPKI
}

/** r and s of 32 bytes each, from a DER sequence of two integers that are not negative; undefined for any other bytes. */
export function rawOf(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined
  const raw = new Uint8Array(64)
  let at = 2
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    const integer = der.subarray(at + 2, at + 2 + length)
    const first = integer[0] ?? 0
    const isPadded = first === 0 && (integer[1] ?? 0) >= 0x80
    const digits = isPadded ? integer.subarray(1) : integer
    const isShortest = isPadded || (first > 0 && first < 0x80)
    if (der[at] !== 0x02 || !isShortest || digits.length > 32) return undefined
    raw.set(digits, end - digits.length)
    at += 2 + length
  }
  return at === der.length ? raw : undefined
}

function partOf({ attestation_id }: PacketAttestation): string {
  return `attestations/${attestation_id}`
}
