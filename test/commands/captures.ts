// Folders of captures in the form that insurers have, made by the capture kit.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createAuthority } from '../../capture-kit/authority.ts'
import { createClient } from '../../capture-kit/client.ts'
import { type AttestBody, createDevice, type Device } from '../../capture-kit/device.ts'
import { renderPhoto, withExif } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'

export interface Maker {
  device: Device
  /** A picture with its own bytes for each number. */
  photo(index: number): Buffer
  /** Without its media. */
  body(photo: Buffer, more?: Partial<AttestBody>): Omit<AttestBody, 'media'>
  /** Writes `<name>.jpg` and `<name>.json`. */
  write(directory: string, name: string, index: number, more?: Partial<AttestBody>): void
}

/** @param service Where the device is enrolled; without it, each capture is from an unknown device. */
export async function createMaker(service?: { baseUrl: string; key: string }): Promise<Maker> {
  const now = () => new Date()
  const authority = await createAuthority({ name: 'Insurer Phones', now })
  const device = await createDevice({ authority, name: 'Phone 1', now })
  if (service !== undefined) {
    const client = createClient({ url: service.baseUrl, key: service.key })
    await client.registerRoot(authority.name, authority.rootDer)
    await client.enroll(device.name, device.chain)
    await client.close()
  }
  const scene = await renderPhoto({ seed: 1, width: 96, height: 72, exif: null })
  const takenAt = new Date(Date.now() - 60_000)

  function photo(index: number): Buffer {
    return withExif(scene, {
      camera: CAMERAS[0],
      takenAt,
      utcOffsetMinutes: 0,
      hasOffset: true,
      exposureSeconds: 1 / (index + 1),
      iso: 50,
      imageId: index.toString(16).padStart(32, '0'),
    })
  }

  function body(bytes: Buffer, more: Partial<AttestBody> = {}) {
    const { media, ...rest } = device.capture({
      photo: bytes,
      capturedAt: takenAt,
      media: { media_id: '' },
      gps: { lat: 52.5163, lng: 13.3777, accuracy_m: 4.7, mock: false },
      biometric: { gated: true, method: 'face' },
    })
    return { ...rest, ...more }
  }

  return {
    device,
    photo,
    body,
    write(directory, name, index, more) {
      const bytes = photo(index)
      const path = join(directory, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(`${path}.jpg`, bytes)
      writeFileSync(`${path}.json`, JSON.stringify(body(bytes, more)))
    },
  }
}
