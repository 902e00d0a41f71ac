import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHasher } from '#src/attest/duplicates/hasher.ts'
import { withSource } from '#src/attest/media/byte-source.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { readImageFacts } from '#src/attest/media/exif.ts'
import {
  judgeHeader,
  MAX_DIRECTORIES,
  MAX_INFLATED_BYTES,
  MAX_METADATA_BYTES,
  MAX_PARTS,
} from '#src/attest/media/header.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { avifWith, directories, jpegWith, pngWith, segment, webpWith } from './headers.ts'

const MB = 1_000_000
const judge = (file: Uint8Array) => withSource(file, judgeHeader)
const packed = (bytes: number) => deflateSync(Buffer.alloc(bytes, 65), { level: 1 })
const bombs = () => {
  const bomb = zText(packed(50 * MB))
  return pngWith(Array.from({ length: 40 }, () => ['zTXt', bomb]))
}
const zText = (data: Uint8Array) => Buffer.concat([Buffer.from('Comment\0\0'), data])
const iText = (data: Uint8Array, isPacked = 1) =>
  Buffer.concat([Buffer.from(`XML:com.adobe.xmp\0${String.fromCharCode(isPacked)}\0en\0\0`), data])

describe('a header is not read', () => {
  it.each<[string, () => Promise<Buffer> | Buffer]>([
    ['of a PNG whose text becomes gigabytes', bombs],
    ['of a PNG with one text that is too long', () => pngWith([['zTXt', zText(packed(MAX_INFLATED_BYTES + 1))]])],
    [
      'of a PNG with many texts of a megabyte',
      () => pngWith(Array.from({ length: 20 }, () => ['iTXt', iText(packed(MB))])),
    ],
    ['of a PNG whose profile is a bomb', () => pngWith([['iCCP', zText(packed(50 * MB))]])],
    [
      'of a PNG whose texts break off behind what they took',
      () => pngWith(Array.from({ length: 20 }, () => ['zTXt', zText(packed(5 * MB).subarray(0, -9))])),
    ],
    ['of a PNG with too much plain text', () => pngWith([['tEXt', Buffer.alloc(MAX_METADATA_BYTES + 1, 'k\0')]])],
    [
      'of a PNG with chunks without end',
      () => pngWith(Array.from({ length: MAX_PARTS }, () => ['aaAa', Buffer.alloc(0)])),
    ],
    [
      'of a WebP with too many frames',
      () => webpWith(Array.from({ length: MAX_PARTS }, () => ['ANMF', Buffer.alloc(24)])),
    ],
    ['of a WebP with too large a profile', () => webpWith([['ICCP', Buffer.alloc(MAX_METADATA_BYTES + 2)]])],
    ['of a JPEG with segments without end', () => jpegWith(...Array.from({ length: MAX_PARTS }, () => segment(0xe1)))],
    [
      'of a JPEG that hides them behind stray bytes',
      () => jpegWith(segment(0xe0), Buffer.alloc(9, 1), ...Array.from({ length: MAX_PARTS }, () => segment(0xe1))),
    ],
    ['of a JPEG that begins with megabytes of nothing', () => jpegWith(Buffer.alloc(MB, 0xff))],
    ['of a TIFF with directories without end', () => directories(MAX_DIRECTORIES + 1)],
    ['of a TIFF whose directories share one large value', () => directories(50, MB)],
    ['of an AVIF whose items share their bytes', () => avifWith({ items: 10, extents: 30, bytes: MB })],
    ['of an AVIF that names its bytes without end', () => avifWith({ items: 1, extents: 4_097, bytes: 0 })],
    ['of what the library alone takes for a JPEG', async () => jpegWith(Buffer.alloc(9, 1))],
    ['of a BigTIFF', () => Buffer.concat([Buffer.from('II+\0\x08\0\0\0'), Buffer.alloc(20)])],
    ['of nothing', () => Buffer.alloc(0)],
    ['of a TIFF whose directories are a ring', () => directories(3, 0, true)],
  ])('%s', async (_, make) => {
    const file = await make()
    expect(judge(file)).toEqual(expect.any(String))
    const { format, exif } = await readImageFacts(file)
    expect({ format, exif }).toEqual({ format: null, exif: { state: 'unreadable', detail: judge(file) } })
  })
})

it('a JPEG with endless segments between its scans is not decoded', async () => {
  const photo = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#456' } })
    .jpeg({ progressive: true })
    .toBuffer()
  // Behind the first scan's header and data: the second begins.
  const at = photo.indexOf('ffda', photo.indexOf('ffda', 0, 'hex') + 2, 'hex')
  const within = (count: number) =>
    Buffer.concat([
      photo.subarray(0, at),
      ...Array.from({ length: count }, () => segment(0xe1, 300)),
      photo.subarray(at),
    ])
  const judgeDecoded = (file: Buffer) => withSource(file, (source) => judgeHeader(source, { isDecoded: true }))
  expect(judgeDecoded(within(MAX_PARTS))).toBe('the header has more than 1000 parts')
  expect(judgeDecoded(within(900))).toBeUndefined()
  expect(judge(within(MAX_PARTS))).toBeUndefined()
  // Data after the end of the picture, such as the film of a moving photo, is not part of it.
  const film = Array.from({ length: MAX_PARTS }, () => segment(0xe1))
  expect(judgeDecoded(Buffer.concat([photo, ...film]))).toBeUndefined()
})

describe('a header is read', () => {
  it.each<[string, () => Promise<Buffer> | Buffer]>([
    [
      'of a PNG with long prompts and a profile',
      () =>
        pngWith([
          ['iCCP', zText(packed(2 * MB))],
          ['zTXt', zText(packed(9 * MB))],
          ['iTXt', iText(Buffer.alloc(MB, 65), 0)],
          ['tEXt', Buffer.from('k\0v')],
        ]),
    ],
    ['of a PNG with a text that is damaged', () => pngWith([['zTXt', zText(Buffer.from('no stream'))]])],
    ['of a JPEG with 50 MB of segments', () => jpegWith(...Array.from({ length: 800 }, () => segment(0xe2, 65_000)))],
    [
      'of a JPEG with fill bytes, a bare marker and stray bytes',
      () => jpegWith(Buffer.from([0xff, 0xff, 0xff, 0x01, 1, 2, 3, 0xff, 0x00])),
    ],
    ['of a WebP with XMP', () => webpWith([['XMP ', Buffer.alloc(MB, 65)]])],
    ['of an AVIF with items of their own', () => avifWith({ items: 1, extents: 1, bytes: MB })],
    ['of a TIFF with pages', () => directories(100)],
  ])('%s', async (_, make) => {
    const file = await make()
    expect(judge(file)).toBeUndefined()
    expect((await readImageFacts(file)).format).toEqual(expect.any(String))
  })

  it('of every format', async () => {
    const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#456' } })
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'tiff'] as const) {
      const file = await picture.clone().toFormat(format).toBuffer()
      for (let length = 32; length <= file.length; length += 7) expect(judge(file.subarray(0, length))).toBeUndefined()
    }
  })
})

describe('every caller that opens an image', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'header-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('is protected from such a header: inspection, thumbnail and hash', async () => {
    const path = join(folder, 'bomb.png')
    await writeFile(path, bombs())
    const inspector = createInspector()
    const decoder = createDecoder()
    const hasher = createHasher(decoder)
    const [inspected, ...others] = await Promise.all([
      inspector.inspect(path),
      decoder.thumbnail(path, 32),
      hasher.hash(path),
    ])
    const detail = 'the header holds too much text and too many profiles'
    expect(inspected).toMatchObject({ ok: true, value: { format: null, exif: { state: 'unreadable', detail } } })
    expect(others).toEqual([
      { ok: false, code: 'unreadable', detail },
      { ok: false, code: 'unreadable', detail },
    ])
    await inspector.close()
    await decoder.close()
  })
})
