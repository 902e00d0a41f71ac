import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { beforeAll, describe, expect, test } from 'vitest'
import { readExif } from '#src/attest/media/exif.ts'
import { chunk, profileText, RAW_PROFILES, rawProfile, withChunks } from './png.ts'
import { DATE, MAKE, OFFSET, SOFTWARE, structure, text } from './structure.ts'

const BLOCK = structure({
  ifd0: [text(MAKE, 'Google'), text(SOFTWARE, 'Adobe Photoshop 25.0')],
  exif: [text(DATE, '2026:11:20 15:51:00'), text(OFFSET, '+01:00')],
})
const OTHER = structure({ ifd0: [text(SOFTWARE, 'HDR+ 1.0')] })
const PREFIXED = Buffer.concat([Buffer.from('Exif\0\0'), BLOCK])
const FOUND = {
  state: 'read',
  make: 'Google',
  software: 'Adobe Photoshop 25.0',
  dateTimeOriginal: '2026:11:20 15:51:00',
  offset: '+01:00',
}

let png: Buffer
beforeAll(async () => {
  const pixels = { create: { width: 16, height: 12, channels: 3, background: '#888' } } as const
  png = await sharp(pixels).png().toBuffer()
})

describe('EXIF of a PNG is read', () => {
  test('from its chunk, before the picture and behind it', async () => {
    expect(await readExif(withChunks(png, { before: [chunk('eXIf', BLOCK)] }))).toMatchObject(FOUND)
    expect(await readExif(withChunks(png, { after: [chunk('eXIf', BLOCK)] }))).toMatchObject(FOUND)
    expect(await readExif(withChunks(png, { after: [chunk('eXIf', PREFIXED)] }))).toMatchObject(FOUND)
  })

  test.each(RAW_PROFILES)('from a raw profile in %s, before the picture and behind it', async (kind) => {
    for (const block of [BLOCK, PREFIXED]) {
      const profile = rawProfile(kind, profileText('exif', block))
      expect(await readExif(withChunks(png, { before: [profile] }))).toMatchObject(FOUND)
      expect(await readExif(withChunks(png, { after: [profile] }))).toMatchObject(FOUND)
    }
    const app1 = rawProfile(kind, profileText('app1', PREFIXED), 'Raw profile type APP1')
    expect(await readExif(withChunks(png, { before: [app1] }))).toMatchObject(FOUND)
  })

  test('from its chunk rather than a profile, in any order', async () => {
    const profile = rawProfile('zTXt', profileText('exif', BLOCK))
    const own = chunk('eXIf', OTHER)
    for (const file of [
      { before: [profile], after: [own] },
      { before: [own], after: [profile] },
    ]) {
      expect(await readExif(withChunks(png, file))).toMatchObject({ software: 'HDR+ 1.0' })
    }
  })

  test('behind a profile that holds XMP, and texts of other names', async () => {
    const xmp = rawProfile('zTXt', profileText('app1', Buffer.from('<x:xmpmeta/>')), 'Raw profile type APP1')
    const others = [rawProfile('tEXt', profileText('exif', OTHER), 'Raw profile type exif2'), xmp]
    const profile = rawProfile('zTXt', profileText('exif', BLOCK))
    expect(await readExif(withChunks(png, { before: [...others, profile] }))).toMatchObject(FOUND)
    expect(await readExif(withChunks(png, { before: others }))).toEqual({ state: 'missing' })
  })

  test.each([
    ['a line of text', '# end of profile\n'],
    ['NULs', '\0\0\0\0'],
    ['more digits', '00ff00ff\n'],
    ['another profile', profileText('exif', OTHER)],
    ['half a byte', '0'],
    ['bytes of no encoding', '\xff\xfe\x80'],
  ])('from a raw profile that is followed by %s', async (_, rest) => {
    for (const kind of RAW_PROFILES) {
      const profile = rawProfile(kind, `${profileText('exif', BLOCK)}${rest}`)
      expect(await readExif(withChunks(png, { before: [profile] }))).toMatchObject(FOUND)
      expect(await readExif(withChunks(png, { after: [profile] }))).toMatchObject(FOUND)
    }
  })

  test('from a compressed raw profile whose stream is followed by other bytes', async () => {
    const packed = deflateSync(Buffer.from(profileText('exif', BLOCK), 'latin1'))
    const content = [Buffer.from('Raw profile type exif\0\0'), packed, Buffer.from('more')]
    expect(await readExif(withChunks(png, { after: [chunk('zTXt', Buffer.concat(content))] }))).toMatchObject(FOUND)
  })

  test('from the first place that can be read', async () => {
    const damaged = rawProfile('tEXt', '\nexif\n  4\nxyzw1234\n')
    const profile = rawProfile('zTXt', profileText('exif', BLOCK))
    const tooLong = chunk('eXIf', Buffer.alloc(600 * 1024))
    expect(await readExif(withChunks(png, { after: [damaged, profile] }))).toMatchObject(FOUND)
    expect(await readExif(withChunks(png, { after: [tooLong, profile] }))).toMatchObject(FOUND)
    expect(await readExif(withChunks(png, { after: [tooLong, chunk('eXIf', BLOCK)] }))).toMatchObject(FOUND)
  })

  test('of a file whose data is in thousands of chunks', async () => {
    const empty = Array.from({ length: 20_000 }, () => chunk('prVt', Buffer.alloc(40)))
    expect(await readExif(withChunks(png, { after: [...empty, chunk('eXIf', BLOCK)] }))).toMatchObject(FOUND)
  })
})

describe('an unreadable raw profile is reported, and costs little', () => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024, 0x30), { level: 9 })
  test.each([
    ['no hexadecimal digits', rawProfile('tEXt', '\nexif\n  4\nxyzw1234\n')],
    ['fewer digits than it declares', rawProfile('tEXt', profileText('exif', BLOCK, BLOCK.length + 1))],
    ['a length beyond the bound', rawProfile('tEXt', '\nexif\n 9999999\n00\n')],
    ['no header', rawProfile('tEXt', 'nothing of this kind')],
    ['no data', rawProfile('tEXt', '')],
    ['a damaged stream', chunk('zTXt', Buffer.concat([Buffer.from('Raw profile type exif\0\0'), randomBytes(99)]))],
    ['64 MB once it is inflated', chunk('zTXt', Buffer.concat([Buffer.from('Raw profile type exif\0\0'), bomb]))],
    ['no texts before its own', chunk('iTXt', Buffer.from('Raw profile type exif\0\x01\0'))],
    ['2 MB', rawProfile('tEXt', profileText('exif', Buffer.alloc(1024 * 1024)))],
  ])('%s', async (_, profile) => {
    const file = withChunks(png, { after: [profile] })
    const startedAt = performance.now()
    expect(await readExif(file)).toEqual({ state: 'unreadable', detail: expect.any(String) })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('as an eXIf chunk behind the picture that is too long, or is not EXIF', async () => {
    for (const content of [Buffer.alloc(600 * 1024), Buffer.from('no TIFF header')]) {
      const file = withChunks(png, { after: [chunk('eXIf', content)] })
      expect(await readExif(file)).toMatchObject({ state: 'unreadable' })
    }
  })

  test('but a truncated file has none', async () => {
    const file = withChunks(png, { after: [chunk('eXIf', BLOCK)] })
    const at = file.indexOf('eXIf')
    for (const length of [at - 4, at, at + 4, at + 40]) {
      expect(await readExif(file.subarray(0, length))).toEqual({ state: 'missing' })
    }
  })
})
