import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHasher, type Hasher } from '#src/attest/duplicates/hasher.ts'
import { distanceOf, hashGreys, SIDE } from '#src/attest/duplicates/phash.ts'
import { RADIUS_BITS } from '#src/attest/duplicates/search.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { drawPicture, recompress } from './pictures.ts'

interface Vector {
  title: string
  /** 32 x 32 greys in base64. */
  greys: string
  hash: string
  contrast: number
}

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../vectors/media/phash.json', import.meta.url), 'utf8'),
).vectors
const CORPUS = process.env.CORPUS

let folder = ''
const decoder = createDecoder()
let hasher: Hasher
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phash-'))
  hasher = createHasher(decoder)
})
afterAll(async () => {
  await decoder.close()
  await rm(folder, { recursive: true })
})

let files = 0
async function hashOf(bytes: Buffer): Promise<string> {
  files += 1
  const path = join(folder, `${files}`)
  await writeFile(path, bytes)
  const inspection = await hasher.hash(path)
  if (!inspection.ok) throw new Error(inspection.detail)
  return inspection.value.hash
}

describe('the hash of a grey matrix', () => {
  it('equals the vectors', () => {
    expect(vectors.length).toBeGreaterThan(5)
    for (const { title, greys, hash, contrast } of vectors) {
      const found = hashGreys(Buffer.from(greys, 'base64'))
      expect(found.hash, title).toBe(hash)
      expect(found.contrast, title).toBeCloseTo(contrast, 3)
    }
  })

  it('equals its definition, computed without optimization', () => {
    for (const { title, greys, hash } of vectors) {
      const at = Buffer.from(greys, 'base64')
      const low: number[] = []
      for (let v = 0; v < 8; v += 1) {
        for (let u = 0; u < 8; u += 1) {
          let sum = 0
          for (const [index, grey] of at.entries()) {
            const [x, y] = [index % SIDE, Math.floor(index / SIDE)]
            sum += grey * Math.cos(((2 * x + 1) * u * Math.PI) / 64) * Math.cos(((2 * y + 1) * v * Math.PI) / 64)
          }
          low.push(sum * (u === 0 ? Math.sqrt(1 / SIDE) : Math.sqrt(2 / SIDE)) * (v === 0 ? 1 : Math.SQRT2))
        }
      }
      const sorted = low.toSorted((a, b) => a - b)
      const median = ((sorted[31] ?? 0) + (sorted[32] ?? 0)) / 2
      const bits = low.map((value) => (value > median ? '1' : '0')).join('')
      expect(BigInt(`0b${bits}`).toString(16).padStart(16, '0'), title).toBe(hash)
      // The median splits them in halves.
      expect(
        [...bits].filter((bit) => bit === '1'),
        title,
      ).toHaveLength(32)
    }
  })

  it('does not change with brightness, and is inverted for the negative', () => {
    const greys = Buffer.from(vectors[0]?.greys ?? '', 'base64').map((grey) => grey / 2)
    const { hash } = hashGreys(greys)
    expect(hashGreys(greys.map((grey) => grey + 60)).hash).toBe(hash)
    const negative = hashGreys(greys.map((grey) => 255 - grey)).hash
    expect(distanceOf(hash, negative)).toBeGreaterThan(58)
  })

  it('refuses input that is not 32 x 32', () => {
    for (const length of [0, 1_023, 1_025]) expect(() => hashGreys(new Uint8Array(length))).toThrow(RangeError)
  })

  it('counts differing bits', () => {
    expect(distanceOf('0000000000000000', 'ffffffffffffffff')).toBe(64)
    expect(distanceOf('8000000000000001', '0000000000000001')).toBe(1)
    expect(distanceOf('00000000000000ff', '00000000000000ff')).toBe(0)
  })
})

describe('the hash of a file', () => {
  const makeCopies = (photo: Buffer): Promise<[string, Buffer][]> =>
    Promise.all(
      Object.entries({
        'recompressed at 60': recompress(photo),
        'recompressed at 30': recompress(photo, 30),
        'half as large': sharp(photo).resize({ width: 160 }).jpeg().toBuffer(),
        'half as large again': sharp(photo).resize({ width: 640 }).jpeg().toBuffer(),
        WebP: sharp(photo).webp({ quality: 70 }).toBuffer(),
        PNG: sharp(photo).png().toBuffer(),
        AVIF: sharp(photo).avif({ quality: 50, effort: 0 }).toBuffer(),
        TIFF: sharp(photo).tiff().toBuffer(),
        'turned by its EXIF': sharp(photo).rotate(90).withMetadata({ orientation: 8 }).jpeg().toBuffer(),
      }).map(async ([title, bytes]): Promise<[string, Buffer]> => [title, await bytes]),
    )

  it('hardly differs for a copy, and differs in half of its bits for another picture', async () => {
    const originals: string[] = []
    for (let seed = 1; seed <= 6; seed += 1) {
      const photo = await drawPicture(seed)
      const hash = await hashOf(photo)
      originals.push(hash)
      for (const [title, copy] of await makeCopies(photo)) {
        expect(distanceOf(hash, await hashOf(copy)), `${seed} ${title}`).toBeLessThanOrEqual(RADIUS_BITS)
      }
    }
    for (let seed = 7; seed <= 40; seed += 1) originals.push(await hashOf(await drawPicture(seed)))
    const distances = originals
      .flatMap((one, index) => originals.slice(index + 1).map((other) => distanceOf(one, other)))
      .sort((a, b) => a - b)
    expect(distances[distances.length >> 1]).toBeGreaterThanOrEqual(28)
    expect(distances[distances.length >> 1]).toBeLessThanOrEqual(36)
    expect(distances[0]).toBeGreaterThan(RADIUS_BITS)
  })

  it('is refused for files without pixels, without naming a path', async () => {
    const photo = await drawPicture(1)
    for (const bytes of [Buffer.from('no picture'), photo.subarray(0, 400)]) {
      const path = join(folder, 'broken')
      await writeFile(path, bytes)
      const inspection = await hasher.hash(path)
      expect(inspection).toMatchObject({ ok: false, code: 'unreadable' })
      expect(JSON.stringify(inspection)).not.toContain(folder)
    }
    expect(await hasher.hash(join(folder, 'none'))).toMatchObject({ ok: false, code: 'missing' })
  })

  it.skipIf(CORPUS === undefined)('exists for real photos, and not for HEIC (without CORPUS: skipped)', async () => {
    const at = (name: string) => join(CORPUS ?? '', name)
    const photo = readFileSync(at('c2pa/sample1.webp'))
    const hash = await hashOf(photo)
    expect(distanceOf(hash, await hashOf(await recompress(photo, 40)))).toBeLessThanOrEqual(RADIUS_BITS)
    expect((await hasher.hash(at('c2pa/sample1.avif'))).ok).toBe(true)
    expect(await hasher.hash(at('exif/IMG_5195.HEIC'))).toMatchObject({ ok: false, code: 'unreadable' })
  })
})
