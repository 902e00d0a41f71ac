// Captures as phones send them: an enrolled device with a chain of two certificates, photos with EXIF, signed bundles.

import { createAuthority } from '../capture-kit/authority.ts'
import { type Client, createClient } from '../capture-kit/client.ts'
import { type AttestBody, createDevice, type Device } from '../capture-kit/device.ts'
import { renderPhoto, withExif } from '../capture-kit/photo.ts'
import { CAMERAS, PLACES } from '../capture-kit/stock.ts'

export interface Captures {
  client: Client
  device: Device
  deviceId: string
  /** The root certificate of the authority that certified the device. */
  rootDer: Buffer
  /** Uploads `count` photos and signs a bundle for each. */
  take(count: number): Promise<AttestBody[]>
}

export interface Photographer {
  device: Device
  /** The i-th photo; each has different bytes. */
  shoot(index: number): { photo: Buffer; capturedAt: Date }
}

/** About 3.5 MB, as 12 megapixels of a phone are; `isSmall` for benchmarks that don't read the photos. */
export async function createPhotographer({ isSmall = false } = {}): Promise<Photographer & { rootDer: Buffer }> {
  const now = () => new Date()
  const authority = await createAuthority({ name: 'Bench Phones', now })
  const device = await createDevice({ authority, name: 'Bench 1', now })
  const size = isSmall ? { width: 96, height: 72 } : { width: 4_000, height: 3_000 }
  const scene = await renderPhoto({ seed: 7, ...size, quality: 95, exif: null })
  const [camera] = CAMERAS
  const capturedAt = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000)
  return {
    device,
    rootDer: authority.rootDer,
    shoot(index) {
      const photo = withExif(scene, {
        camera,
        takenAt: capturedAt,
        utcOffsetMinutes: PLACES[0].utcOffsetMinutes,
        hasOffset: true,
        exposureSeconds: 1 / 60,
        iso: 64,
        imageId: index.toString(16).padStart(32, '0'),
      })
      return { photo, capturedAt }
    },
  }
}

export async function createCaptures(
  { port, key }: { port: number; key: string },
  { isSmall = false } = {},
): Promise<Captures> {
  const { device, rootDer, shoot } = await createPhotographer({ isSmall })
  const client = createClient({ url: `http://127.0.0.1:${port}`, key, connections: 4 })
  await client.registerRoot('Bench', rootDer)
  const { device_id: deviceId } = await client.enroll(device.name, device.chain)
  let taken = 0
  const takeOne = async (): Promise<AttestBody> => {
    taken += 1
    const { photo, capturedAt } = shoot(taken)
    const { media_id } = await client.upload(photo, 'image/jpeg')
    const { lat, lng } = PLACES[0]
    return device.capture({
      photo,
      capturedAt,
      media: { media_id },
      gps: { lat, lng, accuracy_m: 5, mock: false },
      biometric: { gated: true, method: 'face' },
      deviceId,
      claim: { reference: `bench-${taken}`, loss_location: { lat, lng }, line: 'auto' },
      externalId: `bench-${taken}`,
    })
  }
  return {
    client,
    device,
    deviceId,
    rootDer,
    async take(count) {
      const bodies: AttestBody[] = []
      for (let done = 0; done < count; done += 4) {
        bodies.push(...(await Promise.all(Array.from({ length: Math.min(4, count - done) }, takeOne))))
      }
      return bodies
    },
  }
}

let names = 0

/** The same capture under new names, so that it is another submission: neither name is part of the signed bundle. */
export function renamed(body: AttestBody): AttestBody {
  names += 1
  return { ...body, external_id: `again-${names}`, claim: { ...body.claim, reference: `again-${names}` } }
}
