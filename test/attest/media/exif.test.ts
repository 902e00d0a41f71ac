import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ExifFacts, readExif, readImageFacts } from '#src/attest/media/exif.ts'
import {
  createRandom,
  DATE,
  type Entry,
  MAKE,
  MODEL,
  number,
  OFFSET,
  SOFTWARE,
  SUBSEC,
  structure,
  text,
  withBlock,
} from './structure.ts'

const EMPTY = {
  state: 'read',
  dateTimeOriginal: null,
  subSec: null,
  offset: null,
  make: null,
  model: null,
  software: null,
} as const
const CAMERA: ExifFacts = {
  state: 'read',
  dateTimeOriginal: '2026:11:20 15:51:00',
  subSec: '054',
  offset: '+01:00',
  make: 'Google',
  model: 'Pixel 8a',
  software: 'HDR+ 1.0',
}
const IFD0 = [text(MAKE, 'Google'), text(MODEL, 'Pixel 8a'), text(SOFTWARE, 'HDR+ 1.0')]
const EXIF = [text(DATE, '2026:11:20 15:51:00'), text(OFFSET, '+01:00'), text(SUBSEC, '054')]
// The smallest file that libvips opens: one grey pixel, uncompressed, in the eight header bytes.
const PIXEL = [
  number(256, 1),
  number(257, 1),
  number(258, 8, 3),
  number(259, 1, 3),
  number(262, 1, 3),
  number(273, 0),
  number(277, 1, 3),
  number(278, 1),
  number(279, 1),
]

let folder: string
let plain: Buffer
let camera: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exif-'))
  plain = await blank().jpeg().toBuffer()
  camera = await cameraImage().jpeg().toBuffer()
})

afterAll(() => rm(folder, { recursive: true }))

const NOTHING = { sourceTypes: [], generators: [], manifestReference: null }

describe('containers', () => {
  test.each([
    ['jpeg', 'jpeg'],
    ['png', 'png'],
    ['webp', 'webp'],
    ['avif', 'avif'],
  ] as const)('reads EXIF out of %s, from bytes and from a file', async (encoder, format) => {
    const image = await cameraImage().toFormat(encoder).toBuffer()
    const path = join(folder, `camera.${encoder}`)
    await writeFile(path, image)
    expect(await readImageFacts(image)).toEqual({ format, width: 16, height: 12, exif: CAMERA, declared: NOTHING })
    expect(await readImageFacts(path)).toEqual({ format, width: 16, height: 12, exif: CAMERA, declared: NOTHING })
  })

  test.each(['II', 'MM'] as const)('reads a TIFF file of byte order %s', async (order) => {
    const image = structure({ ifd0: [...PIXEL, ...IFD0], exif: EXIF }, order)
    const path = join(folder, `camera-${order}.tiff`)
    await writeFile(path, image)
    expect(await readImageFacts(image)).toEqual({
      format: 'tiff',
      width: 1,
      height: 1,
      exif: CAMERA,
      declared: NOTHING,
    })
    expect(await readImageFacts(path)).toEqual({ format: 'tiff', width: 1, height: 1, exif: CAMERA, declared: NOTHING })
  })

  test.each(['jpeg', 'png', 'webp', 'avif', 'tiff'] as const)('finds no EXIF in a plain %s', async (encoder) => {
    expect(await readExif(await blank().toFormat(encoder).toBuffer())).toEqual({ state: 'missing' })
  })

  test.each([
    ['gif', () => blank().gif().toBuffer()],
    ['svg', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['text', async () => Buffer.from('no image')],
    ['nothing', async () => Buffer.alloc(0)],
  ])('opens no %s', async (_, make) => {
    const facts = await readImageFacts(await make())
    expect(facts).toMatchObject({ format: null, width: null, height: null, exif: { state: 'unreadable' } })
  })

  test('refuses sides above 30,000 and areas above 256 megapixels by the header', async () => {
    const png = await blank().png().toBuffer()
    expect(await readImageFacts(resized(png, 30_000, 8_000))).toMatchObject({
      width: 30_000,
      exif: { state: 'missing' },
    })
    expect(await readImageFacts(resized(png, 30_001, 1))).toMatchObject({
      width: 30_001,
      exif: { state: 'unreadable' },
    })
    expect(await readImageFacts(resized(png, 16_001, 16_000))).toMatchObject({
      width: null,
      exif: { state: 'unreadable' },
    })
  })

  test('report an error, not a factor, for a file that can not be opened', async () => {
    await expect(readExif(join(folder, 'nowhere.jpg'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('the EXIF block', () => {
  const readBlock = (given: Parameters<typeof structure>[0], order?: 'II' | 'MM') =>
    readExif(withBlock(plain, structure(given, order)))

  test.each(['II', 'MM'] as const)('is read in byte order %s', async (order) => {
    expect(await readBlock({ ifd0: IFD0, exif: EXIF }, order)).toEqual(CAMERA)
  })

  test('is read when it contains nothing that we use', async () => {
    expect(await readBlock({ ifd0: [], exif: [text(0x9286, 'a comment')] })).toEqual(EMPTY)
    expect(await readBlock({ ifd0: [text(SOFTWARE, '')] })).toEqual(EMPTY)
  })

  test.each([
    ['bytes', 1],
    ['text', 2],
    ['undefined', 7],
    ['the UTF-8 of EXIF 3.0', 129],
  ])('is read with text declared as %s', async (_, type) => {
    expect(await readBlock({ ifd0: [text(SOFTWARE, 'Kaméra', type)] })).toEqual({ ...EMPTY, software: 'Kaméra' })
  })

  test('is read with texts that fit into their entries', async () => {
    const exif = [
      { tag: SUBSEC, type: 2, value: Buffer.from('0540') },
      { tag: OFFSET, type: 2, value: Buffer.from('Z') },
    ]
    expect(await readBlock({ ifd0: [], exif })).toEqual({ ...EMPTY, subSec: '0540', offset: 'Z' })
  })

  test('is read by its first entry of a tag', async () => {
    expect(await readBlock({ ifd0: [text(SOFTWARE, 'first'), text(SOFTWARE, 'second')] })).toMatchObject({
      software: 'first',
    })
  })

  test('returns texts up to their first NUL', async () => {
    const ifd0 = [
      text(MAKE, 'NIKON\0 CORPORATION'),
      text(MODEL, '\0Adobe Photoshop'),
      text(SOFTWARE, 'V1\0'.repeat(20)),
    ]
    const exif = [text(DATE, '2026:11:20 15:51:00\0junk'), text(OFFSET, '+01:00\0\0\0-02'), text(SUBSEC, '05\x004')]
    expect(await readBlock({ ifd0, exif })).toEqual({
      state: 'read',
      dateTimeOriginal: '2026:11:20 15:51:00',
      subSec: '05',
      offset: '+01:00',
      make: 'NIKON',
      model: null,
      software: 'V1',
    })
  })

  test('returns texts without controls, of 256 characters at most, well-formed', async () => {
    const ifd0 = [
      text(MAKE, 'ab\u202Ec\r\n\x1b[31m'),
      text(MODEL, 'x'.repeat(60_000)),
      text(SOFTWARE, '\u{1F600}'.repeat(200)),
    ]
    const exif = await readBlock({ ifd0 })
    expect(exif).toMatchObject({ make: 'abc[31m', model: 'x'.repeat(256), software: '\u{1F600}'.repeat(128) })
  })

  const far: Entry = { tag: SOFTWARE, type: 2, value: 9_000 }
  test.each<[string, Buffer]>([
    ['runs over the end', structure({ ifd0: [{ ...text(SOFTWARE, 'HDR+ 1.0'), count: 500 }] })],
    ['begins outside', structure({ ifd0: [{ ...far, count: 40 }] })],
    ['begins at the end of the address space', structure({ ifd0: [{ ...far, value: 0xffffffff, count: 0xffffffff }] })],
    ['declares a gigabyte of numbers', structure({ ifd0: [{ tag: SOFTWARE, type: 3, value: 8, count: 0x3fffffff }] })],
    ['declares 32 GB of doubles', structure({ ifd0: [{ tag: SOFTWARE, type: 12, value: 8, count: 0xffffffff }] })],
    ['has an unknown type', structure({ ifd0: [{ tag: SOFTWARE, type: 0, value: 8 }] })],
    ['points to an EXIF directory outside', structure({ ifd0: IFD0, exifAt: 60_000 })],
    ['points to an EXIF directory in its header', structure({ ifd0: IFD0, exifAt: 4, trailer: Buffer.alloc(200) })],
    ['points by something that is no pointer', structure({ ifd0: [number(0x8769, 8, 3)], trailer: Buffer.alloc(200) })],
    ['is a HEIC file', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x08meta', 'latin1')],
    ['is a JPEG file', Buffer.from('ffd8ffe1000845786966', 'hex')],
    ['is a BigTIFF', Buffer.from('49492b0008000000100000000000000000', 'hex')],
    ['has no byte order', Buffer.concat([Buffer.from('XX'), structure({ ifd0: IFD0 }, 'MM').subarray(2)])],
    ['has another magic number', Buffer.concat([Buffer.from('MM\0+'), structure({ ifd0: IFD0 }, 'MM').subarray(4)])],
    ['has 1,001 entries', structure({ ifd0: Array.from({ length: 1_001 }, () => number(256, 1)) })],
    ['is no structure', Buffer.from('hello, adjuster')],
    ['is empty', Buffer.alloc(0)],
  ])('that %s is unreadable', async (_, block) => {
    const before = process.memoryUsage()
    expect(await readExif(withBlock(plain, block))).toMatchObject({ state: 'unreadable', detail: expect.any(String) })
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(16e6)
  })

  test('that points to itself is read once', async () => {
    expect(await readBlock({ ifd0: IFD0, exifAt: 8 })).toEqual({
      ...EMPTY,
      make: 'Google',
      model: 'Pixel 8a',
      software: 'HDR+ 1.0',
    })
  })

  test('truncated anywhere is unreadable or has fewer values, and none that differ', async () => {
    const block = structure({ ifd0: IFD0, exif: EXIF })
    for (let length = 0; length < block.length; length++) {
      const exif = await readExif(withBlock(plain, block.subarray(0, length)))
      expect(exif.state).toBe('unreadable')
    }
  })
})

describe('hostile bytes', () => {
  test('end each of 200 seeded mutations of a camera JPEG in a defined state', async () => {
    const states = new Map<string, number>()
    for (let seed = 1; seed <= 200; seed++) {
      const { state } = checked(await readExif(mutated(camera, seed, 360)))
      states.set(state, (states.get(state) ?? 0) + 1)
    }
    // A set of mutations that all end alike would prove little.
    expect(states.size).toBe(3)
  })

  test('end each of 1,000 seeded mutations of a TIFF file in a defined state', async () => {
    const image = structure({ ifd0: [...PIXEL, ...IFD0], exif: EXIF, trailer: Buffer.from('SECRET'.repeat(50)) })
    for (let seed = 1; seed <= 1_000; seed++) checked(await readExif(mutated(image, seed, image.length)))
  })
})

function blank() {
  return sharp({ create: { width: 16, height: 12, channels: 3, background: '#345' } })
}

function cameraImage() {
  return blank().withExif({
    IFD0: { Make: 'Google', Model: 'Pixel 8a', Software: 'HDR+ 1.0' },
    IFD2: { DateTimeOriginal: '2026:11:20 15:51:00', SubSecTimeOriginal: '054', OffsetTimeOriginal: '+01:00' },
  })
}

/** The PNG with other sides in its header and the matching checksum. */
function resized(png: Buffer, width: number, height: number): Buffer {
  const bytes = Buffer.from(png)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
  return bytes
}

/** Overwrites up to eight bytes among the first `reach`; truncates some files, or inserts a piece of themselves. */
function mutated(image: Buffer, seed: number, reach: number): Buffer {
  const random = createRandom(seed)
  const bytes = Buffer.from(image)
  const extremes = [0, 1, 0x7f, 0x80, 0xff, random(256)]
  for (let changes = 1 + random(8); changes > 0; changes--)
    bytes[random(reach)] = extremes[random(extremes.length)] ?? 0
  if (random(5) === 0) return bytes.subarray(0, random(bytes.length))
  if (random(5) > 0) return bytes
  const from = random(reach)
  const at = random(reach)
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(from, from + random(64)), bytes.subarray(at)])
}

function checked(exif: ExifFacts): ExifFacts {
  for (const value of Object.values(exif)) {
    if (value !== null && (value.length > 256 || /\p{Cc}/u.test(value) || !value.isWellFormed())) {
      throw new Error(`not bounded, clean or well-formed: ${JSON.stringify(value)}`)
    }
  }
  return exif
}
