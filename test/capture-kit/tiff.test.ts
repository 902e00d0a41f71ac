// TIFF and DNG captures of a phone with iOS 27, from its key to the result, over HTTP and through the processes.

import { createHash } from 'node:crypto'
import exifr from 'exifr'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthority } from '../../capture-kit/authority.ts'
import { type Client, createClient } from '../../capture-kit/client.ts'
import { createDevice, type Device, signedBytes } from '../../capture-kit/device.ts'
import type { ExifFacts } from '../../capture-kit/exif.ts'
import { readCameraFacts, sniffContentType } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'
import { renderDng, renderTiff } from '../../capture-kit/tiff-photo.ts'
import { type AppAttestKey, enrollmentHash } from '../../capture-kit/vendor.ts'
import { fetchAgain } from '../support/again.ts'
import { type System, startSystem } from '../support/system.ts'

const PLACE = { lat: 51.5007, lng: -0.1246 }
const FORMATS = [
  ['a TIFF', renderTiff],
  ['a DNG', renderDng],
] as const

function exifAt(takenAt: Date, changes: Partial<ExifFacts> = {}): ExifFacts {
  const gps = { ...PLACE, altitudeMetres: 15 }
  const camera = CAMERAS[0]
  return { camera, takenAt, utcOffsetMinutes: 60, hasOffset: true, gps, exposureSeconds: 0.01, iso: 50, ...changes }
}

describe('a TIFF written by the kit', () => {
  it.each(FORMATS)('as %s is read by other libraries', async (_, render) => {
    const takenAt = new Date('2026-11-20T15:11:22.045Z')
    const photo = await render({ seed: 1, width: 64, height: 48, exif: exifAt(takenAt) })
    expect(sniffContentType(photo)).toBe('image/tiff')
    expect(await readCameraFacts(photo)).toEqual({ capturedAt: takenAt, zone: 'written', gps: PLACE })
    expect(await sharp(photo).metadata()).toMatchObject({ format: 'tiff', width: 64, height: 48 })
    expect(await exifr.parse(Buffer.from(photo), ['Model', 'Software'])).toEqual({
      Model: CAMERAS[0].model,
      Software: CAMERAS[0].firmware,
    })
  })
})

describe('a capture over HTTP', () => {
  let system: System
  let client: Client
  let device: Device
  let deviceId: string
  let attestKey: AppAttestKey

  beforeAll(async () => {
    system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest'] })
    client = createClient({ url: system.baseUrl, key: system.key })
    const now = () => new Date()
    const authority = await createAuthority({ name: 'Raw Phones', now })
    device = await createDevice({ authority, name: 'Phone 1', now })
    await client.registerRoot(authority.name, authority.rootDer)
    const challenge = await client.openChallenge()
    const clientDataHash = enrollmentHash(device.publicKey, Buffer.from(challenge, 'base64url'))
    attestKey = await system.vendor.attestApple({ clientDataHash, form: 'ios27' })
    const enrolled = await client.enroll(device.name, device.chain, {
      format: 'apple-appattest',
      challenge,
      object: attestKey.object.toString('base64'),
      app_attest_key_id: attestKey.keyId.toString('base64'),
    })
    expect(enrolled.hardware_tier).toBe('secure_enclave')
    deviceId = enrolled.device_id
  })
  afterAll(async () => {
    await client?.close()
    await system?.close()
  })

  async function capture(photo: Buffer, capturedAt: Date) {
    const { media_id, content_type } = await client.upload(photo, 'image/tiff')
    expect(content_type).toBe('image/tiff')
    const [session] = await client.openSessions(1)
    const body = device.capture({
      photo,
      capturedAt,
      media: { media_id },
      gps: { ...PLACE, accuracy_m: 5, mock: false },
      biometric: { gated: true, method: 'face' },
      deviceId,
      sessionNonce: session?.session_nonce,
      claim: { reference: 'RAW-1', loss_location: PLACE },
    })
    if (body.bundle === undefined) throw new Error('the device signed nothing')
    const hash = createHash('sha256').update(signedBytes(body.bundle)).digest()
    const { attestation_id } = await client.attest({ ...body, assertion: attestKey.assert(hash).toString('base64') }, 0)
    return { ...(await client.getAttestation(attestation_id, 30)), mediaId: media_id }
  }

  it.each(FORMATS)('of %s that is honest raises nothing', async (_, render) => {
    const takenAt = new Date()
    const photo = await render({ seed: takenAt.getTime(), width: 320, height: 240, exif: exifAt(takenAt) })
    const result = await capture(photo, takenAt)
    expect(result).toMatchObject({
      status: 'succeeded',
      risk_score: 0,
      provenance_status: 'verified',
      hardware_tier: 'secure_enclave',
      factors: [],
      advisory_factors: [{ code: 'c2pa_absent' }],
      rules_version: 'attest-rules/7',
    })
    const thumbnail = await fetchAgain(`${system.baseUrl}/v1/media/${result.mediaId}/thumbnail`, {
      headers: { authorization: `Bearer ${system.key}` },
    })
    expect([thumbnail.status, thumbnail.headers.get('content-type')]).toEqual([200, 'image/webp'])
  })

  it.each(FORMATS)(
    'of %s that was edited, and of another time, raises both',
    { timeout: 60_000 },
    async (_, render) => {
      const takenAt = new Date()
      const exif = exifAt(new Date(takenAt.getTime() - 3 * 3_600_000), { software: 'ACDSee Ultimate 2021' })
      const result = await capture(await render({ seed: 7, width: 64, height: 48, exif }), takenAt)
      expect(result.factors).toEqual([])
      expect(result.advisory_factors).toMatchObject([
        { code: 'exif_timestamp_mismatch', evidence: { utc_offset: '+01:00' } },
        { code: 'exif_editor_trace', evidence: { editor: 'ACDSee' } },
        { code: 'c2pa_absent' },
      ])
    },
  )
})
