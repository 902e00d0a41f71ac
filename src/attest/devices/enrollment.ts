// Checks a certificate chain at enrollment: turns the caller's request into a row, or into a list of errors. No I/O;
// the clock and the trust anchors are arguments.

import type { FieldError } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { type Certificate, CHAIN_LIMITS, checkChain, parseChain } from '#src/platform/crypto/x509.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import {
  type EvidenceContext,
  type HardwareEvidence,
  judgeEvidence,
  type NewEvidence,
  NO_TRUST,
} from '../hardware/evidence.ts'
import { decodeStrictBase64 } from '../trust/certificates.ts'
import type { NewDevice } from './rows.ts'

export interface EnrollRequest {
  name?: string | undefined
  /** Base64 (RFC 4648 section 4) of DER, leaf first. */
  certificate_chain: string[]
  attestation?: HardwareEvidence | undefined
}

export type Enrollment =
  | { isAccepted: true; device: NewDevice; evidence: NewEvidence | undefined }
  | { isAccepted: false; errors: FieldError[] }

interface EnrollmentContext {
  scope: Scope
  anchors: readonly Certificate[]
  now: Date
  /** Trusted vendors. Default: none. */
  hardware?: Pick<EvidenceContext, 'trust' | 'revocations'>
}

/**
 * Whether the chain leads from a P-256 device key to a registered root, now; and what the evidence sent with it proves.
 */
export function judgeEnrollment(request: EnrollRequest, context: EnrollmentContext): Enrollment {
  const { scope, anchors, now, hardware = { trust: NO_TRUST, revocations: 'never_fetched' } } = context
  const { maxCertificates } = CHAIN_LIMITS
  const { certificate_chain: encoded } = request
  // Checked before any is decoded: the number alone suffices.
  if (encoded.length > maxCertificates) {
    return refuse(
      '/certificate_chain',
      'too_many',
      `has ${encoded.length} certificates, at most ${maxCertificates} are read`,
    )
  }
  const ders: Buffer[] = []
  const errors: FieldError[] = []
  for (const [index, text] of encoded.entries()) {
    const der = decodeStrictBase64(text)
    if (der === undefined)
      errors.push({ pointer: `/certificate_chain/${index}`, code: 'invalid_base64', detail: BASE64 })
    else ders.push(der)
  }
  if (errors.length > 0) return { isAccepted: false, errors }

  const parsed = parseChain(ders)
  if (!parsed.ok) {
    const pointer = parsed.code === 'too_many' ? '/certificate_chain' : `/certificate_chain/${parsed.index}`
    return refuse(pointer, parsed.code, parsed.detail)
  }
  const { certificates: chain } = parsed
  const [leaf] = chain
  if (leaf === undefined) return refuse('/certificate_chain', 'too_few', 'must hold the device certificate')
  if (leaf.keyAlgorithm !== 'ec-p256') {
    return refuse(
      '/certificate_chain/0',
      'unsupported_key',
      `has a key that is ${leaf.keyAlgorithm}: captures are signed with P-256`,
    )
  }
  // A key that may issue certificates can enroll any number of devices, so it must not be in a phone.
  if (leaf.isCa) return refuse('/certificate_chain/0', 'is_a_ca', 'is a CA certificate, not that of a device')

  if (anchors.length === 0) {
    return refuse(
      '/certificate_chain',
      'unknown_ca',
      'leads to no root CA: none is registered yet (POST /v1/admin/root-cas)',
    )
  }
  const verdict = checkChain({ chain, anchors, at: now })
  if (!verdict.isTrusted) return refuse('/certificate_chain', verdict.code, `is not trusted: ${verdict.detail}`)
  const { attestation } = request
  const evidence = attestation && {
    challenge: attestation.challenge,
    verdict: judgeEvidence(attestation, leaf.spki, { ...hardware, environment: scope.environment, at: now }),
  }
  return { isAccepted: true, device: deviceOf(leaf, { request, chain, scope, now }), evidence }
}

/** A revoked key stays revoked, whatever certificate it comes with. */
export function revokedKey(deviceId: string): FieldError {
  const detail = `the key belongs to ${deviceId}, which is revoked: a device comes back with a new key`
  return { pointer: '/certificate_chain/0', code: 'device_revoked', detail }
}

const BASE64 =
  'must be base64 in the alphabet of RFC 4648 section 4 (A-Z a-z 0-9 + /), padded with =, without line breaks'

function refuse(pointer: string, code: FieldErrorCode, detail: string): Enrollment {
  return { isAccepted: false, errors: [{ pointer, code, detail }] }
}

function deviceOf(
  leaf: Certificate,
  { request, chain, scope, now }: { request: EnrollRequest; chain: readonly Certificate[]; scope: Scope; now: Date },
): NewDevice {
  return {
    id: newId('dev', scope.environment, now.getTime()),
    name: request.name ?? null,
    spki: leaf.spki,
    spkiDigest: leaf.spkiDigest,
    // The parser's own copies, so that intermediates shared by a whole fleet are held once.
    certificateChain: chain.map(({ der }) => der),
    certificateSubject: leaf.subject,
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
  }
}
