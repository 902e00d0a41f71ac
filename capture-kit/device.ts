// A capture device: a key that never leaves it, a certificate for that key, and one signature per capture. The
// signature covers the bundle's canonical form (RFC 8785), so sender and verifier agree on the bytes without sending
// them twice.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Authority } from './authority.ts'
import type { VideoManifest } from './video.ts'

export interface Gps {
  /** Degrees, WGS 84. */
  lat: number
  lng: number
  accuracy_m: number
  /** True when the system reports a mock provider as the source of the position. */
  mock: boolean
}

export interface Biometric {
  gated: boolean
  method?: 'face' | 'fingerprint' | 'passcode'
}

/** The signed part. Field names are those of the API. */
export interface Bundle {
  version: 1
  /** ISO 8601, UTC, milliseconds. */
  captured_at: string
  /** SHA-256 of the photo's bytes as the camera wrote them, hex. */
  sensor_hash: string
  gps?: Gps
  biometric?: Biometric
  device_id?: string
  session_nonce?: string
  /** For a video: its chunks, and the chain over them. */
  video_manifest?: VideoManifest
}

export interface BundleSignature {
  alg: 'ES256'
  /** base64url of r||s, 64 bytes (RFC 7518 3.4). */
  value: string
}

export interface ClaimDetails {
  /** The insurer's claim number: captures with one reference belong to one claim. */
  reference?: string
  loss_location?: { lat: number; lng: number }
  loss_at?: string
  line?: string
}

/** Bytes sent earlier by `POST /v1/media`, base64 in the body itself, or the chunks sent to a session. */
export type Media = { media_id: string } | { content_type: string; data: string } | { capture_session_id: string }

/** The body of `POST /v1/claims/attest`, and one line of `POST /v1/claims/batches`. */
export interface AttestBody {
  external_id?: string
  claim?: ClaimDetails
  media_type: 'image' | 'video'
  media: Media
  bundle?: Bundle
  certificate_chain?: string[]
  signature?: BundleSignature
  /** The assertion of the bundle by the device's App Attest key, base64 of CBOR. */
  assertion?: string
}

export interface Capture {
  /** The photo or video as the camera wrote it: the device signs its hash. */
  photo: Uint8Array
  capturedAt: Date
  media: Media
  gps?: Gps | undefined
  biometric?: Biometric | undefined
  deviceId?: string | undefined
  sessionNonce?: string | undefined
  /** Set when the capture is a video. */
  videoManifest?: VideoManifest | undefined
  claim?: ClaimDetails | undefined
  externalId?: string | undefined
}

export interface Device {
  name: string
  publicKey: KeyObject
  /** DER: leaf, then intermediate. */
  chain: Buffer[]
  sign(bundle: Bundle): BundleSignature
  capture(capture: Capture): AttestBody
  /** The private key included: store it where only its owner can read it. */
  export(): DeviceFile
}

export interface DeviceFile {
  name: string
  privateKey: string
  /** base64 of DER: leaf, then intermediate. */
  chain: string[]
}

export interface DeviceOptions {
  authority: Authority
  name: string
  now: () => Date
  /** When the certificate begins; by default 30 days before now. It must be valid at the time of each capture. */
  notBefore?: Date
}

const DAY_MS = 86_400_000
const LIFE_YEARS = 3

/** Creates a key and has the authority certify it. */
export async function createDevice({ authority, name, now, notBefore }: DeviceOptions): Promise<Device> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const notAfter = new Date(now())
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + LIFE_YEARS)
  const chain = await authority.issue({
    publicKey,
    subject: name,
    notBefore: notBefore ?? new Date(now().getTime() - 30 * DAY_MS),
    notAfter,
  })
  return assemble(name, privateKey, chain)
}

/** @throws when the file's key can't be read. */
export function openDevice(file: DeviceFile): Device {
  return assemble(
    file.name,
    createPrivateKey(file.privateKey),
    file.chain.map((der) => Buffer.from(der, 'base64')),
  )
}

/** The bytes that a bundle's signature covers: UTF-8 of its RFC 8785 form. */
export function signedBytes(bundle: Bundle): Buffer {
  return Buffer.from(canonicalize(bundle) ?? '', 'utf8')
}

export function inlineMedia(photo: Uint8Array, contentType: string): Media {
  return { content_type: contentType, data: Buffer.from(photo).toString('base64') }
}

function assemble(name: string, privateKey: KeyObject, chain: Buffer[]): Device {
  return {
    name,
    publicKey: createPublicKey(privateKey),
    chain,
    sign: (bundle) => signWith(privateKey, bundle),
    capture(capture) {
      const bundle = bundleOf(capture)
      return {
        ...(capture.externalId === undefined ? {} : { external_id: capture.externalId }),
        ...(capture.claim === undefined ? {} : { claim: capture.claim }),
        media_type: capture.videoManifest === undefined ? 'image' : 'video',
        media: capture.media,
        bundle,
        certificate_chain: chain.map((der) => der.toString('base64')),
        signature: signWith(privateKey, bundle),
      }
    },
    export: () => ({
      name,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      chain: chain.map((der) => der.toString('base64')),
    }),
  }
}

// A fact that the device doesn't have is left out: with `null` the bundle and its signature would differ.
function bundleOf(capture: Capture): Bundle {
  const { photo, capturedAt, gps, biometric, deviceId, sessionNonce, videoManifest } = capture
  return {
    version: 1,
    captured_at: capturedAt.toISOString(),
    sensor_hash: createHash('sha256').update(photo).digest('hex'),
    ...(gps === undefined ? {} : { gps }),
    ...(biometric === undefined ? {} : { biometric }),
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
    ...(sessionNonce === undefined ? {} : { session_nonce: sessionNonce }),
    ...(videoManifest === undefined ? {} : { video_manifest: videoManifest }),
  }
}

function signWith(privateKey: KeyObject, bundle: Bundle): BundleSignature {
  const value = sign('sha256', signedBytes(bundle), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return { alg: 'ES256', value: value.toString('base64url') }
}
