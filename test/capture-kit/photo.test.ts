import exifr from 'exifr'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import type { ExifFacts } from '../../capture-kit/exif.ts'
import { readCameraFacts, renderPhoto, sniffContentType, withExif } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'

const SMALL = { width: 400, height: 300 }
const TAKEN_AT = new Date('2026-11-20T15:11:22.045Z')

const makeExif = (changes: Partial<ExifFacts> = {}): ExifFacts => ({
  camera: CAMERAS[0],
  takenAt: TAKEN_AT,
  utcOffsetMinutes: -330,
  hasOffset: true,
  gps: { lat: -33.856784, lng: 151.215297, altitudeMetres: 12.34 },
  exposureSeconds: 1 / 121,
  iso: 64,
  imageId: '0123456789abcdef0123456789abcdef',
  ...changes,
})

const readAll = async (photo: Buffer) =>
  exifr.parse(photo, { reviveValues: false, translateValues: false, gps: true, exif: true })

const pixelsOf = (photo: Buffer) => sharp(photo).raw().toBuffer()

test('a photo has the same bytes for the same seed, and shows another picture for another seed', async () => {
  const [first, again, other] = await Promise.all(
    [7, 7, 8].map((seed) => renderPhoto({ seed, ...SMALL, exif: makeExif() })),
  )
  expect(first?.equals(again ?? Buffer.alloc(0))).toBe(true)
  expect((await pixelsOf(first ?? Buffer.alloc(0))).equals(await pixelsOf(other ?? Buffer.alloc(0)))).toBe(false)
})

test('photos differ for a perceptual hash', async () => {
  const hashes = await Promise.all(
    Array.from({ length: 24 }, async (_, seed) => perceptualHash(await renderPhoto({ seed, ...SMALL, exif: null }))),
  )
  const distances = hashes.flatMap((left, index) => hashes.slice(index + 1).map((right) => distanceOf(left, right)))
  expect(Math.min(...distances)).toBeGreaterThan(6)
})

test('a photo has 12 megapixels by default', async () => {
  const { width, height, format } = await sharp(await renderPhoto({ seed: 1, exif: null })).metadata()
  expect({ width, height, format }).toEqual({ width: 4000, height: 3000, format: 'jpeg' })
})

test('a photo has the EXIF of a camera, as an independent reader parses it', async () => {
  const tags = await readAll(await renderPhoto({ seed: 1, ...SMALL, exif: makeExif() }))
  expect(tags).toMatchObject({
    Make: 'Apple',
    Model: 'iPhone 15 Pro',
    Orientation: 1,
    Software: '17.6.1',
    ModifyDate: '2026:11:20 09:41:22',
    DateTimeOriginal: '2026:11:20 09:41:22',
    CreateDate: '2026:11:20 09:41:22',
    SubSecTimeOriginal: '045',
    OffsetTimeOriginal: '-05:30',
    FNumber: 1.78,
    ISO: 64,
    FocalLength: 6.77,
    LensModel: CAMERAS[0].lens,
    ExifImageWidth: 400,
    ExifImageHeight: 300,
    ImageUniqueID: '0123456789abcdef0123456789abcdef',
    GPSLatitudeRef: 'S',
    GPSLongitudeRef: 'E',
    GPSAltitude: 12.34,
    GPSDateStamp: '2026:11:20',
    GPSTimeStamp: [15, 11, 22],
  })
  expect(tags.ExposureTime).toBeCloseTo(1 / 121, 10)
  expect(tags.latitude).toBeCloseTo(-33.856784, 7)
  expect(tags.longitude).toBeCloseTo(151.215297, 7)
})

test('positions are written without sixty minutes or seconds', async () => {
  const photo = await renderPhoto({ seed: 1, width: 8, height: 8, exif: null })
  for (const lat of [0, -0.000001, 59.999999999, 89.99999999, -90, 12.9999999, 1 / 3]) {
    const tags = await readAll(withExif(photo, makeExif({ gps: { lat, lng: -lat, altitudeMetres: -3 } })))
    const [, minutes, seconds] = tags.GPSLatitude
    expect(tags.latitude).toBeCloseTo(lat, 7)
    expect(tags.longitude).toBeCloseTo(-lat, 7)
    expect(minutes).toBeLessThan(60)
    expect(seconds).toBeLessThan(60)
    expect(tags.GPSAltitudeRef).toEqual(Uint8Array.of(1))
  }
})

test('a photo shows tampering on request: an editor, another clock, no EXIF', async () => {
  const photo = await renderPhoto({ seed: 1, ...SMALL, exif: null })
  expect((await sharp(photo).metadata()).exif).toBeUndefined()
  const edited = await readAll(
    withExif(photo, makeExif({ software: 'Adobe Photoshop 25.0 (Windows)', hasOffset: false })),
  )
  expect(edited.Software).toBe('Adobe Photoshop 25.0 (Windows)')
  expect(edited.OffsetTimeOriginal).toBeUndefined()
})

describe('relabelling a photo', () => {
  test('replaces the EXIF and leaves every pixel unchanged', async () => {
    const photo = await renderPhoto({ seed: 3, ...SMALL, exif: makeExif() })
    const relabelled = withExif(photo, makeExif({ takenAt: new Date(0), gps: undefined, orientation: 6 }))
    const tags = await readAll(relabelled)
    expect(tags).toMatchObject({ DateTimeOriginal: '1969:12:31 18:30:00', Orientation: 6 })
    expect(tags.latitude).toBeUndefined()
    expect((await pixelsOf(relabelled)).equals(await pixelsOf(photo))).toBe(true)
    expect(withExif(relabelled, makeExif()).equals(photo)).toBe(true)
  })

  test('keeps a colour profile', async () => {
    const photo = await sharp({ create: { ...SMALL, channels: 3, background: '#468' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer()
    expect((await sharp(withExif(photo, makeExif())).metadata()).icc).toEqual((await sharp(photo).metadata()).icc)
  })

  test('refuses input that is not a JPEG, however it is broken', async () => {
    const photo = await renderPhoto({ seed: 3, width: 16, height: 16, exif: null })
    const broken = [
      Buffer.alloc(0),
      Buffer.from('hello'),
      photo.subarray(0, 30),
      Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]),
    ]
    for (const bytes of broken) expect(() => withExif(bytes, null)).toThrow(TypeError)
  })

  test('refuses EXIF that does not fit into a segment', async () => {
    const photo = await renderPhoto({ seed: 3, width: 16, height: 16, exif: null })
    expect(() => withExif(photo, makeExif({ software: 'x'.repeat(70_000) }))).toThrow(RangeError)
  })
})

describe('reading a photo of the user', () => {
  const read = async (changes: Partial<ExifFacts>) =>
    readCameraFacts(await renderPhoto({ seed: 1, width: 16, height: 16, exif: makeExif(changes) }))

  test('reads time and place', async () => {
    expect(await read({})).toEqual({ capturedAt: TAKEN_AT, zone: 'written', gps: { lat: -33.856784, lng: 151.215297 } })
  })

  test('uses the zone of the GPS clock when none is written', async () => {
    expect(await read({ hasOffset: false })).toMatchObject({ capturedAt: TAKEN_AT, zone: 'gps' })
  })

  test('falls back to the zone of this machine', async () => {
    const { capturedAt, zone, gps } = await read({ hasOffset: false, gps: undefined, utcOffsetMinutes: 0 })
    expect(zone).toBe('machine')
    expect(gps).toBeUndefined()
    expect(capturedAt).toEqual(new Date(2026, 10, 20, 15, 11, 22, 45))
  })

  test('returns nothing where there is nothing, and never throws', async () => {
    const photo = await renderPhoto({ seed: 1, width: 16, height: 16, exif: makeExif() })
    const damaged = Buffer.from(photo)
    damaged.fill(0xff, 20, 300)
    for (const bytes of [Buffer.alloc(0), Buffer.from('text'), withExif(photo, null)]) {
      expect(await readCameraFacts(bytes)).toEqual({})
    }
    await readCameraFacts(damaged)
  })

  test('recognizes the types that can be attested by their first bytes', async () => {
    const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#468' } })
    const [jpeg, png, webp, tiff, avif] = await Promise.all([
      image.clone().jpeg().toBuffer(),
      image.clone().png().toBuffer(),
      image.clone().webp().toBuffer(),
      image.clone().tiff().toBuffer(),
      image.clone().avif().toBuffer(),
    ])
    const types = [jpeg, png, webp, tiff, avif, Buffer.from('GIF89a'), Buffer.alloc(0)].map(
      (bytes) => bytes && sniffContentType(bytes),
    )
    expect(types).toEqual(['image/jpeg', 'image/png', 'image/webp', 'image/tiff', 'image/avif', undefined, undefined])
    expect(sniffContentType(Buffer.from('\0\0\0\x18ftypheic', 'latin1'))).toBe('image/heic')
  })
})

// 64 bits of the DCT of a 32 x 32 thumbnail, each whether it is above the median.
async function perceptualHash(photo: Buffer): Promise<boolean[]> {
  const pixels = await sharp(photo).greyscale().resize(32, 32, { fit: 'fill' }).raw().toBuffer()
  const wave = (at: number, frequency: number) => Math.cos(((2 * at + 1) * frequency * Math.PI) / 64)
  const terms = Array.from({ length: 64 }, (_, term) =>
    pixels.reduce((sum, value, at) => sum + value * wave(at % 32, term % 8) * wave(at >> 5, term >> 3), 0),
  )
  const median = terms.slice(1).sort((left, right) => left - right)[31] ?? 0
  return terms.map((term) => term > median)
}

function distanceOf(left: boolean[], right: boolean[]): number {
  return left.filter((bit, at) => bit !== right[at]).length
}
