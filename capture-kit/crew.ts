// Turns a fleet's plan into devices, photos and bodies to submit. The tampering happens here, where it would happen in the
// field: after the camera, after the signature, or in the choice of the key.
import { type Authority, createAuthority } from './authority.ts'
import { type AttestBody, createDevice, type Device, type Media } from './device.ts'
import type { FleetPlan, PlannedCapture } from './fleet.ts'
import { withExif } from './photo.ts'

export interface Shot {
  /** What is uploaded. */
  photo: Buffer
  /** What left the camera and was hashed; another picture than `photo` when it was exchanged afterwards. */
  original: Buffer
}

export interface Links {
  media: Media
  /** Ids that the account gave to the plan's devices, by their index; `undefined` for those it doesn't know. */
  deviceIds: readonly (string | undefined)[]
  /** Nonces of the plan's capture sessions, by their index. */
  nonces: readonly string[]
}

export interface Crew {
  /** The authority whose root the account is to know. */
  authority: Authority
  /** By the plan's index. Enroll those that are planned as enrolled or revoked, and revoke the latter. */
  devices: Device[]
  /** Relabels one of `scenes`, JPEGs without regard to their EXIF. About a millisecond. */
  shoot(capture: PlannedCapture, scenes: readonly [Uint8Array, ...Uint8Array[]]): Shot
  compose(capture: PlannedCapture, shot: Shot, links: Links): AttestBody
}

export async function createCrew({ plan, now }: { plan: FleetPlan; now: () => Date }): Promise<Crew> {
  const authority = await createAuthority({ name: 'Rehearsal Phones', now })
  const stranger = await createAuthority({ name: 'Unknown Phones', now })
  const devices = await Promise.all(
    plan.devices.map(({ name, standing }) =>
      createDevice({ authority: standing === 'stranger' ? stranger : authority, name, now }),
    ),
  )
  const forger = await createDevice({ authority: stranger, name: 'Forger', now })

  return {
    authority,
    devices,
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

// Another picture where there is one; with a single scene the EXIF still makes it another file.
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
