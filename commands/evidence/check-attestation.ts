// Checks one attestation of an evidence packet from the packet's own data: the signed result against the shown one, the
// sum of the points, the device's signature with the key of its certificate, the certificates against each other, the
// original file, and the chain of a video.

import { withoutCoordinates } from '#src/attest/claims/coordinates.ts'
import { jsonOf } from '#src/attest/evidence/digests.ts'
import type { EvidencePacket, PacketAttestation } from '#src/attest/evidence/views.ts'
import { FACTORS } from '#src/attest/factors/table.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { type Certificate, parseCertificate } from '#src/platform/crypto/x509.ts'
import type { CheckOptions } from './check.ts'
import { checkVideo } from './check-video.ts'
import { type CheckFinding, doubtsOf, finding, isRecord, skipped, verifyStrictly, wordsOf } from './findings.ts'

const RESULT_TYP = 'attest-result+jwt'

interface Context {
  keys: KeySet
  /** The packet's own signature vouches for what it holds. */
  isVouched: boolean
  findMedia: CheckOptions['findMedia']
  openMedia: CheckOptions['openMedia']
}

export async function checkAttestation(
  one: PacketAttestation,
  packet: EvidencePacket,
  { keys, isVouched, findMedia, openMedia }: Context,
): Promise<CheckFinding[]> {
  return [
    ...(await checkResult(one, packet, { keys, isVouched })),
    ...(await checkEarlier(one, packet, { keys, isVouched })),
    ...(await checkBundle(one)),
    ...checkCertificates(one, packet),
    checkMedia(one, findMedia),
    ...(await checkVideo(one, openMedia)),
  ]
}

type Trusted = Pick<Context, 'keys' | 'isVouched'>

async function checkResult(
  one: PacketAttestation,
  { about }: EvidencePacket,
  { keys, isVouched }: Trusted,
): Promise<CheckFinding[]> {
  const part = partOf(one)
  const { result } = one
  if (result === null) {
    const isAwaited = one.status !== 'evaluated'
    return [
      isAwaited
        ? skipped(part, 'result', `it is ${one.status}`)
        : finding(part, 'result', false, 'its result is not there'),
    ]
  }
  const verdict = await verifyStrictly(result.result_jws, keys)
  if (!verdict.isValid) return [finding(part, 'signed result', false, wordsOf(verdict.reason)), ...checkScore(one)]
  const payload = isRecord(verdict.payload) ? verdict.payload : {}
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
  const plain = (value: unknown) => canonicalize(jsonOf(one.erased_at === null ? value : withoutCoordinates(value)))
  const differing = Object.keys(shown).filter((name) => plain(shown[name]) !== plain(payload[name]))
  return [
    finding(
      part,
      'signed result',
      verdict.typ === RESULT_TYP && verdict.environment === about.environment,
      `it is a ${verdict.typ} of ${verdict.environment}`,
    ),
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

function checkScore({ attestation_id, result }: PacketAttestation): CheckFinding[] {
  if (result === null) return []
  const part = `attestations/${attestation_id}`
  const points: Record<string, number> = FACTORS
  const odd = result.factors.filter(({ code, points: given }) => points[code] !== given).map(({ code }) => code)
  const sum = result.factors.reduce((total, factor) => total + factor.points, 0)
  return [
    finding(part, 'points', odd.length === 0, `other points than the table’s for ${odd.join(', ')}`),
    finding(
      part,
      'score',
      sum === result.risk_score,
      `the points add up to ${sum}, the result says ${result.risk_score}`,
    ),
  ]
}

async function checkEarlier(
  one: PacketAttestation,
  { about }: EvidencePacket,
  { keys, isVouched }: Trusted,
): Promise<CheckFinding[]> {
  const findings: CheckFinding[] = []
  for (const earlier of one.earlier_results) {
    const verdict = await verifyStrictly(earlier.result_jws, keys)
    const payload = verdict.isValid && isRecord(verdict.payload) ? verdict.payload : {}
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
      finding(partOf(one), 'earlier result', isSame, `that of ${earlier.evaluated_at} is not as it was signed`),
      ...doubtsOf({ part: partOf(one), what: 'earlier result', verdict, statedAt: payload.evaluated_at, isVouched }),
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
  const canonical = Buffer.from(canonicalize(jsonOf(bundle)))
  const isDigest = sha256Base64url(canonical) === one.bundle_sha256
  const value = Buffer.from(signature?.value ?? '', 'base64url')
  const isValid =
    one.key !== null &&
    (await verifyEcdsaP256({ spki: Buffer.from(one.key.spki, 'base64'), data: canonical, signature: value }))
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

function checkCertificates(one: PacketAttestation, { devices }: EvidencePacket): CheckFinding[] {
  const part = partOf(one)
  const { source, chain } = one.certificates
  if (chain.length === 0) return [skipped(part, 'certificates', 'there are none')]
  const read = chain.map(({ der }) => parseCertificate(Buffer.from(der, 'base64')))
  const certificates = read.flatMap((parsed) => (parsed.ok ? [parsed.certificate] : []))
  if (certificates.length !== chain.length) return [finding(part, 'certificates', false, 'one of them can not be read')]
  const isStated = chain.every((stated, index) => isAsStated(stated, certificates[index]))
  const broken = certificates.findIndex((certificate, index) => !isSignedByOne(certificate, certificates, index))
  const device = devices.find(({ device_id }) => device_id === one.device_id)
  const key = source === 'submission' ? certificates[0]?.spki.toString('base64') : device?.spki
  const isOwnKey = one.key === null || key === undefined || one.key.spki === key
  const isRefused = one.result?.factors.some(({ code }) => code === 'cert_unknown_ca') ?? false
  return [
    finding(part, 'certificates', isStated, 'what is said of one of them is not what it says'),
    finding(part, 'signing key', isOwnKey, 'it is not the key of the first certificate'),
    isRefused
      ? skipped(part, 'certificate chain', 'it was found to lead to no known authority')
      : finding(
          part,
          'certificate chain',
          broken === -1,
          `certificate ${broken + 1} is not signed by any other of the chain`,
        ),
  ]
}

function isAsStated(stated: PacketAttestation['certificates']['chain'][number], one: Certificate | undefined): boolean {
  return (
    one !== undefined &&
    one.der.toString('base64') === stated.der &&
    one.subject === stated.subject &&
    one.issuer === stated.issuer &&
    one.serialNumberHex === stated.serial &&
    one.fingerprint === stated.fingerprint &&
    one.notBefore.toISOString() === stated.not_before &&
    one.notAfter.toISOString() === stated.not_after
  )
}

// The last one leads to a root, which may be missing.
function isSignedByOne(certificate: Certificate, all: readonly Certificate[], index: number): boolean {
  const issuers = all.filter((other) => other !== certificate && other.subject === certificate.issuer)
  if (issuers.length === 0) return index > 0 || all.length === 1
  return issuers.some((issuer) => certificate.x509.verify(issuer.publicKey))
}

function checkMedia({ media, attestation_id }: PacketAttestation, findMedia: CheckOptions['findMedia']): CheckFinding {
  const part = `attestations/${attestation_id}`
  if (findMedia === undefined) return skipped(part, 'original', 'no originals were given (--media)')
  if (media.is_erased) return skipped(part, 'original', 'it was erased')
  const found = findMedia({ sha256: media.sha256, size: media.size, mediaId: media.media_id })
  const detail =
    found === 'differs' ? 'a file of its name or size has another fingerprint' : 'no file there has its fingerprint'
  return finding(part, 'original', found === 'found', detail)
}

function partOf({ attestation_id }: PacketAttestation): string {
  return `attestations/${attestation_id}`
}
