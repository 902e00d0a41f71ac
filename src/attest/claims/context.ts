// The facts about who signed a capture, and with what. Rows are read in the transaction; certificates and signatures
// are checked after it, because no CPU work belongs between BEGIN and COMMIT.

import { type CaptureSession, findSessionsOf } from '#src/attest/captures/rows.ts'
import { type DeviceRow, findDeviceBySpki, findDevicesByIds } from '#src/attest/devices/rows.ts'
import type { Facts } from '#src/attest/factors/facts.ts'
import { findCas } from '#src/attest/trust/rows.ts'
import { isP256Spki, verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import { type Certificate, checkChain, parseCertificate, parseChain } from '#src/platform/crypto/x509.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { canonicalBundle } from './canonical-bundle.ts'
import { type HardwareContext, hardwareFacts } from './hardware-facts.ts'
import type { SubmittedRow } from './rows.ts'
import type { Bundle, Submission } from './submission.ts'

type CaptureFacts = Pick<Facts, 'bundle' | 'signature' | 'chain' | 'device' | 'session'>

export interface CaptureContext {
  /** The device whose key signed, whatever device the bundle names. */
  keyOwnerId: string | null
  /** What the registry says of the device, without its hardware facts. */
  device: Facts['device']
  /** Verifies certificates and signatures; reads and writes rows only through its context. */
  judgeCapture(context: HardwareContext): Promise<CaptureFacts>
}

/** One context per submission, in order. */
export async function loadContext(tx: Tx, submitted: readonly SubmittedRow[]): Promise<CaptureContext[]> {
  const named = submitted.flatMap(({ submission: { bundle } }) => bundle?.device_id ?? [])
  const nonces = submitted.flatMap(({ submission: { bundle } }) => bundle?.session_nonce ?? [])
  // Sent together: the connection pipelines the queries.
  const [devices, roots, sessions] = await Promise.all([
    named.length === 0 ? [] : findDevicesByIds(tx, [...new Set(named)]),
    findCas(tx, 'root_cas'),
    findSessionsOf(tx, nonces),
  ])
  const known: Known = {
    devices: new Map(devices.map((device) => [device.id, device])),
    sessions: new Map(sessions.map((session) => [session.nonce, session])),
    anchors: certificatesOf(roots.map(({ certificate }) => certificate)),
  }
  return Promise.all(submitted.map((one) => loadOne(tx, one, known)))
}

/** Rows that submissions loaded together may share. */
interface Known {
  devices: ReadonlyMap<string, DeviceRow>
  sessions: ReadonlyMap<string, CaptureSession>
  anchors: readonly Certificate[]
}

async function loadOne(tx: Tx, { id, submission, acceptedAt }: SubmittedRow, known: Known): Promise<CaptureContext> {
  const { bundle } = submission
  if (bundle === undefined) {
    return {
      keyOwnerId: null,
      device: null,
      judgeCapture: async () => ({ bundle: null, signature: null, chain: null, device: null, session: null }),
    }
  }
  const sent = sentChain(submission)
  const leaf = sent[0]
  const devices = await findSigning(tx, known.devices.get(bundle.device_id ?? ''), leaf)
  const device = deviceFacts(bundle, leaf, devices, acceptedAt)

  return {
    keyOwnerId: devices.signing?.id ?? null,
    device,
    async judgeCapture(context) {
      const key = leaf?.spki ?? devices.named?.spki
      return {
        bundle: bundleFacts(bundle),
        signature: await signatureFacts(submission, bundle, key, leaf === undefined ? 'device' : 'certificate'),
        chain: chainFacts(sent, devices.signing, known.anchors, new Date(bundle.captured_at)),
        device: await withHardware(device, devices, submission, id, context),
        session: sessionFacts(bundle, await ownSession(known.sessions.get(bundle.session_nonce ?? ''), context), id),
      }
    },
  }
}

interface Devices {
  /** The device that the bundle names. */
  named: DeviceRow | undefined
  /** The device whose key the submitted certificate holds; without a certificate, the named device. */
  signing: DeviceRow | undefined
}

function sentChain({ certificate_chain: encoded }: Submission): Certificate[] {
  const chain = parseChain((encoded ?? []).map((der) => Buffer.from(der, 'base64')))
  // Accept refused unreadable chains. A chain beyond limits that were tightened since proves nothing.
  return chain.ok ? chain.certificates : []
}

// The device id in a bundle is a claim; the key that signs is a fact. A revoked phone must not pass for an unknown one
// by naming another device. An honest capture takes one query.
async function findSigning(tx: Tx, named: DeviceRow | undefined, leaf: Certificate | undefined): Promise<Devices> {
  if (leaf === undefined || named?.spkiDigest.equals(leaf.spkiDigest)) return { named, signing: named }
  return { named, signing: await findDeviceBySpki(tx, leaf.spkiDigest) }
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
  spki: Buffer | undefined,
  keySource: 'certificate' | 'device',
): Promise<Facts['signature']> {
  if (spki === undefined) return { isValid: false, code: 'no_key', keySource: null }
  if (!isP256Spki(spki)) return { isValid: false, code: 'unsupported_key', keySource }
  if (signature === undefined) return { isValid: false, code: 'malformed', keySource }
  const data = Buffer.from(canonicalBundle(bundle))
  const isValid = await verifyEcdsaP256({ spki, data, signature: Buffer.from(signature.value, 'base64url') })
  return { isValid, code: isValid ? 'valid' : 'mismatch', keySource }
}

function chainFacts(
  sent: readonly Certificate[],
  device: DeviceRow | undefined,
  anchors: readonly Certificate[],
  at: Date,
): Facts['chain'] {
  const chain = sent.length > 0 ? [...sent] : certificatesOf(device?.certificateChain ?? [])
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

function certificatesOf(ders: readonly Buffer[]): Certificate[] {
  return ders.flatMap((der) => {
    const parsed = parseCertificate(der)
    return parsed.ok ? [parsed.certificate] : []
  })
}

function deviceFacts(
  bundle: Bundle,
  leaf: Certificate | undefined,
  { named, signing }: Devices,
  acceptedAt: Date,
): Facts['device'] {
  const isRevoked = signing !== undefined && wasRevoked(signing, acceptedAt)
  const isNamed = bundle.device_id === undefined || signing?.id === bundle.device_id
  if (signing === undefined || !(isNamed || isRevoked)) {
    return {
      id: bundle.device_id ?? null,
      state: 'not_enrolled',
      why: whyUnknown(bundle, leaf, named),
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

async function withHardware(
  device: Facts['device'],
  { signing }: Devices,
  submission: Submission,
  attestationId: string,
  context: HardwareContext,
): Promise<Facts['device']> {
  if (signing === undefined || device === null || device.state === 'not_enrolled') return device
  return { ...device, hardware: await hardwareFacts(signing, submission, attestationId, context) }
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

// Two captures were sent with one nonce, and the capture that had consumed it was cancelled.
async function ownSession(
  session: CaptureSession | undefined,
  { useNonce }: HardwareContext,
): Promise<CaptureSession | undefined> {
  return session === undefined || session.consumedBy !== null ? session : useNonce(session.nonce)
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
