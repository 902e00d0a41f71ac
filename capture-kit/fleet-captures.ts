// Turns a fleet's plan into devices, photos and request bodies. The tampering happens here, at the stage where it would
// happen in the field: after the camera, after the signature, or in the choice of the key.

import { createHash } from 'node:crypto'
import { type Authority, createAuthority } from './authority.ts'
import { type AttestBody, createDevice, type Device, type Media, signedBytes } from './device.ts'
import type { FleetPlan, PlannedCapture } from './fleet.ts'
import { withExif } from './photo.ts'
import { type AppAttestKey, enrollmentHash, type Vendor } from './vendor.ts'

export interface Shot {
  /** The uploaded photo. */
  photo: Buffer
  /** The photo that the camera took and hashed; another picture than `photo` when it was replaced afterwards. */
  original: Buffer
}

export interface Links {
  media: Media
  /** The account's ids of the plan's devices, by index; `undefined` for those it doesn't know. */
  deviceIds: readonly (string | undefined)[]
  /** Nonces of the plan's capture sessions, by their index. */
  nonces: readonly string[]
}

export interface Crew {
  /** The authority whose root the account must know. */
  authority: Authority
  /** Devices by the plan's index. Enroll those planned as enrolled or revoked, and revoke the latter. */
  devices: Device[]
  /**
   * The evidence that a device sends at its enrollment besides its chain, in the API's form; undefined for those that
   * send none. A device of the Secure Enclave asserts its captures from then on.
   */
  prove(device: number, challenge: string): Promise<Evidence | undefined>
  /** Writes new EXIF into one of `scenes`, JPEGs whose own EXIF is ignored. Takes about a millisecond. */
  shoot(capture: PlannedCapture, scenes: readonly [Uint8Array, ...Uint8Array[]]): Shot
  compose(capture: PlannedCapture, shot: Shot, links: Links): AttestBody
}

export type Evidence =
  | { format: 'android-key'; challenge: string; chain: string[] }
  | { format: 'apple-appattest'; challenge: string; object: string; app_attest_key_id: string }

interface CrewOptions {
  plan: FleetPlan
  now: () => Date
  /** The maker of the phones; needed where the plan has hardware. */
  vendor?: Vendor | undefined
}

export async function createCrew({ plan, now, vendor }: CrewOptions): Promise<Crew> {
  const authority = await createAuthority({ name: 'Rehearsal Phones', now })
  const stranger = await createAuthority({ name: 'Unknown Phones', now })
  const devices = await Promise.all(
    plan.devices.map(({ name, standing }) =>
      createDevice({ authority: standing === 'stranger' ? stranger : authority, name, now }),
    ),
  )
  const attestKeys = new Map<number, AppAttestKey>()
  const forger = await createDevice({ authority: stranger, name: 'Forger', now })

  return {
    authority,
    devices,
    async prove(index, challenge) {
      const hardware = plan.devices[index]?.hardware ?? 'none'
      const publicKey = devices[index]?.publicKey
      if (hardware === 'none' || publicKey === undefined) return undefined
      if (vendor === undefined) throw new TypeError('a fleet with hardware needs its vendor')
      const bytes = Buffer.from(challenge, 'base64url')
      if (hardware === 'secure_enclave') {
        // Every second phone has iOS 27.
        const form = index % 2 === 0 ? 'ios14' : 'ios27'
        const key = await vendor.attestApple({ clientDataHash: enrollmentHash(publicKey, bytes), form })
        attestKeys.set(index, key)
        const { object, keyId } = key
        return {
          format: 'apple-appattest',
          challenge,
          object: object.toString('base64'),
          app_attest_key_id: keyId.toString('base64'),
        }
      }
      // For biometric or passcode: as on most phones, the app states which one it was.
      const level = hardware === 'strongbox' ? 2 : 1
      const chain = await vendor.attestAndroid({ publicKey, challenge: bytes, level, userAuthType: 3 })
      return { format: 'android-key', challenge, chain: chain.map((der) => der.toString('base64')) }
    },
    shoot(capture, scenes) {
      const original = withExif(sceneOf(scenes, capture.scene), capture.exif)
      return { original, photo: capture.kind === 'wrong_hash' ? exchanged(capture, scenes) : original }
    },
    compose(capture, { original }, { media, deviceIds, nonces }) {
      const device = devices[capture.device]
      if (device === undefined) throw new RangeError(`the plan has no device ${capture.device}`)
      const body = device.capture({
        photo: original,
        capturedAt: capture.capturedAt,
        media,
        gps: capture.gps,
        biometric: capture.biometric,
        deviceId: deviceIds[capture.device],
        sessionNonce: nonceOf(capture, nonces),
        claim: capture.claim,
        externalId: capture.externalId,
      })
      if (capture.kind === 'no_manifest') return withoutManifest(body)
      const attestKey = attestKeys.get(capture.device)
      if (attestKey !== undefined && body.bundle !== undefined) {
        const hash = createHash('sha256').update(signedBytes(body.bundle)).digest()
        body.assertion = attestKey.assert(hash).toString('base64')
      }
      if (capture.kind === 'wrong_signer' && body.bundle !== undefined) {
        return { ...body, signature: forger.sign(body.bundle) }
      }
      return body
    },
  }
}

function sceneOf(scenes: readonly [Uint8Array, ...Uint8Array[]], scene: number): Uint8Array {
  return scenes[scene % scenes.length] ?? scenes[0]
}

// Another picture if there is one; with a single scene the EXIF still makes it another file.
function exchanged(capture: PlannedCapture, scenes: readonly [Uint8Array, ...Uint8Array[]]): Buffer {
  const exif = capture.exif === null ? null : { ...capture.exif, iso: capture.exif.iso + 1 }
  return withExif(sceneOf(scenes, capture.scene + 1), exif)
}

function nonceOf({ session }: PlannedCapture, nonces: readonly string[]): string | undefined {
  if (session === undefined) return undefined
  const nonce = nonces[session]
  if (nonce === undefined) throw new RangeError(`no nonce for session ${session}: open as many as the plan says`)
  return nonce
}

function withoutManifest({ bundle, certificate_chain, signature, ...rest }: AttestBody): AttestBody {
  return rest
}
