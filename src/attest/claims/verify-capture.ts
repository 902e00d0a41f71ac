// The facts about who signed a capture, and with what, from rows that are loaded. Nothing is read or written here, and
// the time is an argument: the same rows give the same facts.

import type { CaptureSession } from '#src/attest/captures/rows.ts'
import type { DeviceRow } from '#src/attest/devices/rows.ts'
import type { Facts } from '#src/attest/factors/facts.ts'
import { isP256Spki, verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import { type Certificate, checkChain, parseCertificate } from '#src/platform/crypto/x509.ts'
import { type CounterUse, type RevocationsAt, verifyHardware } from './hardware-facts.ts'
import { canonicalBundle, prepareBundle } from './record.ts'
import type { Bundle, Submission } from './submission.ts'
import type { SubmittedRow } from './submission-rows.ts'

/** What the service knows of a capture's signer. */
export interface CaptureContext {
  /** The device whose key signed, whatever device the bundle names. */
  keyOwnerId: string | null
  /** What the registry says of the device, without its hardware facts. */
  device: Facts['device']
  /** The certificates that were sent, leaf first. */
  sent: readonly Certificate[]
  /** The device that the bundle names. */
  named: DeviceRow | undefined
  /** The device whose key the submitted certificate holds; without a certificate, the named device. */
  signing: DeviceRow | undefined
  /** Capture session of the bundle's nonce. */
  session: CaptureSession | undefined
  anchors: readonly Certificate[]
}

export type CaptureFacts = Pick<Facts, 'bundle' | 'signature' | 'chain' | 'device' | 'session'>

export interface VerifiedCapture {
  facts: CaptureFacts
  /** To be taken for this attestation, with `markCounterReused` when another has taken it. */
  counterUse: CounterUse | undefined
}

const UNSIGNED: CaptureFacts = { bundle: null, signature: null, chain: null, device: null, session: null }

/** Verifies certificates and signatures. */
export async function verifyCapture(
  { id, submission }: Pick<SubmittedRow, 'id' | 'submission'>,
  context: CaptureContext,
  revocations: RevocationsAt,
): Promise<VerifiedCapture> {
  const { bundle } = submission
  if (bundle === undefined) return { facts: UNSIGNED, counterUse: undefined }
  await prepareBundle(bundle)
  const signature = await signatureFacts(submission, bundle, context)
  const chain = chainFacts(context, new Date(bundle.captured_at))
  const { device, counterUse } = await withHardware(context, submission, revocations)
  const session = sessionFacts(bundle, context.session, id)
  return { facts: { bundle: bundleFacts(bundle), signature, chain, device, session }, counterUse }
}

/** The facts of a capture that was verified for an earlier result. What the bundle says is read again. */
export function verifiedBefore(
  { submission: { bundle } }: Pick<SubmittedRow, 'submission'>,
  { signature, chain, device, session }: Omit<CaptureFacts, 'bundle'>,
): CaptureFacts {
  if (bundle === undefined) return UNSIGNED
  return { bundle: bundleFacts(bundle), signature, chain, device, session }
}

/** The facts of a capture whose assertion has a counter that the attestation `usedBy` took first. */
export function markCounterReused(facts: CaptureFacts, usedBy: string): CaptureFacts {
  const { device } = facts
  if (!device?.hardware?.assertion) return facts
  const assertion = { ...device.hardware.assertion, state: 'counter_reused' as const, usedBy }
  return { ...facts, device: { ...device, hardware: { ...device.hardware, assertion } } }
}

/** What the registry says of the device, without its hardware facts. */
export function deviceFacts(
  bundle: Bundle,
  { sent, named, signing }: Pick<CaptureContext, 'sent' | 'named' | 'signing'>,
  acceptedAt: Date,
): Facts['device'] {
  const isRevoked = signing !== undefined && wasRevoked(signing, acceptedAt)
  const isNamed = bundle.device_id === undefined || signing?.id === bundle.device_id
  if (signing === undefined || !(isNamed || isRevoked)) {
    return {
      id: bundle.device_id ?? null,
      state: 'not_enrolled',
      why: whyUnknown(bundle, sent[0], named),
      revokedAt: null,
      revokeEffectiveAt: null,
      hardwareTier: 'none',
    }
  }
  const { id, revokedAt, revokeEffectiveAt, provenTier: hardwareTier } = signing
  const known = { id, revokedAt, revokeEffectiveAt, hardwareTier }
  if (isRevoked) return { ...known, state: 'revoked', why: 'revoked' }
  if (new Date(bundle.captured_at) > signing.notAfter) return { ...known, state: 'expired', why: 'certificate_lapsed' }
  return { ...known, state: 'enrolled', why: 'enrolled' }
}

/** Returns the certificates that can be parsed. */
export function certificatesOf(ders: readonly Buffer[]): Certificate[] {
  return ders.flatMap((der) => {
    const parsed = parseCertificate(der)
    return parsed.ok ? [parsed.certificate] : []
  })
}

/**
 * The chain that the device had at that time: a renewal replaces it, and captures from before may arrive after it. The
 * present one where no other was valid then.
 */
export function chainAt(
  { certificateChain, formerChains }: Pick<DeviceRow, 'certificateChain' | 'formerChains'>,
  at: Date,
): Certificate[] {
  const present = certificatesOf(certificateChain)
  const wasValid = ([leaf]: Certificate[]) => leaf !== undefined && leaf.notBefore <= at && at <= leaf.notAfter
  if (formerChains.length === 0 || wasValid(present)) return present
  const former = formerChains.map((text) => certificatesOf(text.split(',').map((der) => Buffer.from(der, 'base64'))))
  return former.find(wasValid) ?? present
}

function bundleFacts(bundle: Bundle): Facts['bundle'] {
  const { gps, biometric } = bundle
  return {
    capturedAt: new Date(bundle.captured_at),
    sensorHash: bundle.sensor_hash.toLowerCase(),
    gps: gps ? { lat: gps.lat, lng: gps.lng, accuracyMetres: gps.accuracy_m, isMock: gps.mock ?? false } : null,
    biometric: biometric ? { isGated: biometric.gated, method: biometric.method ?? null } : null,
    deviceId: bundle.device_id ?? null,
    sessionNonce: bundle.session_nonce ?? null,
  }
}

async function signatureFacts(
  { signature }: Submission,
  bundle: Bundle,
  { sent: [leaf], named }: CaptureContext,
): Promise<Facts['signature']> {
  const spki = leaf?.spki ?? named?.spki
  const keySource = leaf === undefined ? 'device' : 'certificate'
  if (spki === undefined) return { isValid: false, code: 'no_key', keySource: null }
  if (!isP256Spki(spki)) return { isValid: false, code: 'unsupported_key', keySource }
  if (signature === undefined) return { isValid: false, code: 'malformed', keySource }
  const data = Buffer.from(canonicalBundle(bundle))
  const isValid = await verifyEcdsaP256({ spki, data, signature: Buffer.from(signature.value, 'base64url') })
  return { isValid, code: isValid ? 'valid' : 'mismatch', keySource }
}

function chainFacts({ sent, signing, anchors }: CaptureContext, at: Date): Facts['chain'] {
  const chain = sent.length > 0 ? [...sent] : signing === undefined ? [] : chainAt(signing, at)
  const subject = chain[0]?.subject ?? null
  if (chain.length === 0) {
    return {
      isTrusted: false,
      code: 'no_chain',
      detail: 'no certificate was sent, and none is enrolled',
      anchor: null,
      subject,
    }
  }
  const verdict = checkChain({ chain, anchors, at })
  if (verdict.isTrusted) return { isTrusted: true, code: null, detail: null, anchor: verdict.anchor, subject }
  return { isTrusted: false, code: verdict.code, detail: verdict.detail, anchor: null, subject }
}

async function withHardware(
  { device, signing }: CaptureContext,
  submission: Submission,
  revocations: RevocationsAt,
): Promise<{ device: Facts['device']; counterUse: CounterUse | undefined }> {
  if (signing === undefined || device === null || device.state === 'not_enrolled') {
    return { device, counterUse: undefined }
  }
  const { hardware, counterUse } = await verifyHardware(signing, submission, revocations)
  return { device: { ...device, hardware }, counterUse }
}

// A key that does not belong to the device says nothing about the device.
function whyUnknown(bundle: Bundle, leaf: Certificate | undefined, named: DeviceRow | undefined): string {
  if (bundle.device_id === undefined) return leaf === undefined ? 'no_device' : 'unknown_key'
  return named === undefined ? 'unknown_id' : 'key_differs'
}

// A phone lost today must not condemn captures accepted before, however late a worker evaluates them.
function wasRevoked({ revokedAt, revokeEffectiveAt }: DeviceRow, acceptedAt: Date): boolean {
  return [revokedAt, revokeEffectiveAt].some((since) => since !== null && acceptedAt >= since)
}

function sessionFacts(bundle: Bundle, session: CaptureSession | undefined, attestationId: string): Facts['session'] {
  const nonce = bundle.session_nonce
  if (nonce === undefined) return null
  if (session === undefined) {
    return {
      nonce,
      state: 'unknown',
      issuedAt: null,
      expiresAt: null,
      consumedBy: null,
      deviceId: null,
      claimReference: null,
    }
  }
  const { issuedAt, expiresAt, deviceId, claimReference, consumedBy } = session
  const state = consumedBy === attestationId ? 'accepted' : 'reused'
  return { nonce, state, issuedAt, expiresAt, deviceId, claimReference, consumedBy }
}
