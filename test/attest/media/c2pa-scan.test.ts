import { describe, expect, it } from 'vitest'
import { MAX_FRAGMENT_BOXES, MAX_PARTS, scanForC2pa } from '#src/attest/media/c2pa-scan.ts'
import { MAX_FRAGMENTS } from '#src/attest/video/limits.ts'

const BOX_TYPE = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex')
const JPEG = Buffer.from('ffd8', 'hex')
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const END = Buffer.from('ffd9', 'hex')
const FTYP = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'))
const VIDEO = box('ftyp', Buffer.from('isom\0\0\0\0isomiso5'))
const FRAGMENT = join(box('styp'), box('sidx', Buffer.alloc(36)), box('moof', Buffer.alloc(80)), box('mdat', PNG))

describe('a manifest is found in', () => {
  it.each<[string, Buffer]>([
    ['first in a JPEG', join(JPEG, segment(0xeb, packet()), END)],
    ['behind other segments', join(JPEG, segment(0xe0), segment(0xe1, Buffer.alloc(60_000)), segment(0xeb, packet()))],
    ['behind fill bytes and a bare marker', join(JPEG, bytes(0xff, 0xff, 0xff, 0x01), segment(0xeb, packet()))],
    ['in a long box', join(JPEG, segment(0xeb, packet('c2pa', true)))],
    ['in a PNG', join(PNG, chunk('IHDR', 13), chunk('caBX', 40), chunk('IDAT', 9), chunk('IEND'))],
    [
      'behind the data of a PNG, where it does not belong',
      join(PNG, chunk('IHDR', 13), chunk('IDAT', 9), chunk('caBX', 40)),
    ],
    ['last in a WebP', riff('VP8X', 10, 'VP8 ', 33, 'C2PA', 50)],
    ['in a HEIC', join(FTYP, box('meta', Buffer.alloc(90)), box('uuid', BOX_TYPE, Buffer.alloc(20)))],
    ['behind a box with a long size', join(FTYP, longBox('mdat', 5_000), box('uuid', BOX_TYPE))],
    ['in a box with a long size', join(FTYP, longBox('uuid', 60, BOX_TYPE))],
    ['behind the fragments of a video', join(VIDEO, box('moov'), ...many(FRAGMENT), box('uuid', BOX_TYPE))],
    ['in a TIFF, little-endian', tiff('II', [[256, 272, 0xcd41]])],
    ['in the second directory of a TIFF, big-endian', tiff('MM', [[256], [272, 0xcd41]])],
  ])('%s', (_, file) => expect(scan(file)).toBe('present'))
})

describe('no manifest is found in', () => {
  it.each<[string, Buffer]>([
    ['in a JPEG without', join(JPEG, segment(0xe0), segment(0xda, Buffer.alloc(10)), END)],
    ['in a JPEG with a box of another kind', join(JPEG, segment(0xeb, packet('json')), END)],
    ['in a JPEG with another APP11', join(JPEG, segment(0xeb, Buffer.alloc(50, 'c2pa')), END)],
    ['in the data of a picture', join(JPEG, segment(0xda), segment(0xeb, packet()))],
    ['in a PNG without', join(PNG, chunk('IHDR', 13), chunk('IDAT', 99), chunk('IEND'))],
    ['in the text of a PNG', join(PNG, chunk('tEXt', Buffer.from('caBX')), chunk('IEND'))],
    ['in a WebP without', riff('VP8 ', 33)],
    ['in a HEIC with a box of another kind', join(FTYP, box('uuid', Buffer.alloc(16, 7)))],
    ['in a box that is not at the top', join(FTYP, box('moov', box('uuid', BOX_TYPE)))],
    ['behind a box that ends the file', join(FTYP, bytes(0, 0, 0, 0), Buffer.from('mdat'), box('uuid', BOX_TYPE))],
    ['in a video with more fragments than other boxes are allowed', join(VIDEO, box('moov'), ...many(FRAGMENT))],
    ['in a TIFF without', tiff('II', [[256, 272]])],
    ['in a JPEG that is cut', join(JPEG, segment(0xeb, packet()).subarray(0, 20))],
    [
      'in a WebM',
      Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701', 'hex'),
    ],
  ])('%s', (_, file) => expect(scan(file)).toBe('absent'))

  it.each([Buffer.alloc(0), Buffer.from('GIF89a'), Buffer.alloc(5_000, 0xff)])(
    'a file of unknown format: %j',
    (file) => {
      expect(scan(file)).toBe('unknown_format')
    },
  )
})

describe('the scan of a file, whatever it declares', () => {
  const empty = box('free')
  it.each<[string, Buffer, string]>([
    ['segments without end', join(JPEG, ...many(segment(0xe1)), segment(0xeb, packet())), 'too_many_parts'],
    ['chunks without end', join(PNG, ...many(chunk('tEXt')), chunk('caBX')), 'too_many_parts'],
    ['boxes without end', join(FTYP, ...many(empty), box('uuid', BOX_TYPE)), 'too_many_parts'],
    ['boxes of a video without end', join(VIDEO, ...many(empty), box('uuid', BOX_TYPE)), 'too_many_parts'],
    ['fragments of an image without end', join(FTYP, ...many(FRAGMENT), box('uuid', BOX_TYPE)), 'too_many_parts'],
    [
      'fragments without end',
      join(VIDEO, Buffer.alloc(8 * (MAX_FRAGMENT_BOXES + MAX_PARTS), box('moof'))),
      'too_many_parts',
    ],
    ['the data of a large PNG', join(PNG, chunk('IHDR', 13), ...many(chunk('IDAT'))), 'absent'],
    ['fill bytes without end', join(JPEG, Buffer.alloc(100_000, 0xff)), 'too_many_parts'],
    ['a directory that is its own next', loop(), 'too_many_parts'],
    [
      'a box as large as the world',
      join(FTYP, Buffer.from('00000001', 'hex'), Buffer.from('mdat'), Buffer.alloc(8, 0xff)),
      'absent',
    ],
    ['a size that goes back', join(FTYP, bytes(0, 0, 0, 4), Buffer.from('free'), box('uuid', BOX_TYPE)), 'absent'],
  ])('walks %s in few reads', (_, file, state) => {
    const reads: number[] = []
    expect(scan(file, (length) => reads.push(length))).toBe(state)
    expect(reads.length).toBeLessThanOrEqual(2 * MAX_PARTS)
    expect(reads.reduce((sum, length) => sum + length, 0)).toBeLessThan(8 * 1024 * 1024)
  })

  it('reads as many fragments as a video may have, of up to four boxes each', () => {
    expect(MAX_FRAGMENT_BOXES).toBeGreaterThanOrEqual(4 * MAX_FRAGMENTS)
  })

  it('takes few reads for an ordinary photo of 20 MB', () => {
    const photo = join(
      JPEG,
      segment(0xe0),
      segment(0xe1, Buffer.alloc(30_000)),
      segment(0xdb),
      segment(0xda),
      Buffer.alloc(20e6),
    )
    const reads: number[] = []
    scan(photo, (length) => reads.push(length))
    expect(reads.length).toBeLessThan(5)
  })
})

function scan(file: Buffer, onRead: (length: number) => void = () => {}): string {
  return scanForC2pa({
    size: file.length,
    read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > file.length) throw new Error('it reads only what is there')
      onRead(length)
      return file.subarray(offset, offset + length)
    },
  }).state
}

function join(...parts: Buffer[]): Buffer {
  return Buffer.concat(parts)
}

function many(part: Buffer): Buffer[] {
  return Array.from({ length: MAX_PARTS + 1 }, () => part)
}

function bytes(...values: number[]): Buffer {
  return Buffer.from(values)
}

function segment(marker: number, body: Buffer = Buffer.alloc(4)): Buffer {
  return join(bytes(0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 0xff), body)
}

/** 'JP', instance 1, packet 1, then a superbox whose description has this content type. */
function packet(kind = 'c2pa', isLong = false): Buffer {
  const length = isLong ? u32(1) : u32(100)
  const long = isLong ? Buffer.alloc(8) : Buffer.alloc(0)
  const description = [u32(30), Buffer.from('jumd'), Buffer.from(kind), Buffer.alloc(18)]
  return join(Buffer.from('JP'), bytes(0, 1, 0, 0, 0, 1), length, Buffer.from('jumb'), long, ...description)
}

function chunk(type: string, body: Buffer | number = 0): Buffer {
  const data = typeof body === 'number' ? Buffer.alloc(body) : body
  return join(u32(data.length), Buffer.from(type), data, Buffer.alloc(4))
}

function riff(...parts: (string | number)[]): Buffer {
  const chunks: Buffer[] = []
  for (let index = 0; index < parts.length; index += 2) {
    const length = Number(parts[index + 1])
    const size = Buffer.alloc(4)
    size.writeUInt32LE(length)
    chunks.push(Buffer.from(String(parts[index])), size, Buffer.alloc(length + (length % 2)))
  }
  return join(Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBP'), ...chunks)
}

function box(type: string, ...body: Buffer[]): Buffer {
  return join(u32(8 + join(...body).length), Buffer.from(type), ...body)
}

function longBox(type: string, length: number, body: Buffer = Buffer.alloc(0)): Buffer {
  return join(u32(1), Buffer.from(type), u32(0), u32(16 + length), body, Buffer.alloc(length - body.length))
}

function tiff(order: 'II' | 'MM', directories: number[][]): Buffer {
  const short = (value: number) => numberOf(order, 2, value)
  const long = (value: number) => numberOf(order, 4, value)
  let at = 8
  const parts = directories.map((tags, index) => {
    at += 2 + tags.length * 12 + 4
    const entries = tags.map((tag) => join(short(tag), short(7), long(4), long(0)))
    return join(short(tags.length), ...entries, long(index === directories.length - 1 ? 0 : at))
  })
  return join(Buffer.from(order), short(42), long(8), ...parts)
}

function loop(): Buffer {
  const file = tiff('MM', [[256], [272]])
  file.writeUInt32BE(8, file.length - 4)
  return file
}

function numberOf(order: 'II' | 'MM', length: number, value: number): Buffer {
  const made = Buffer.alloc(length)
  if (order === 'II') made.writeUIntLE(value, 0, length)
  else made.writeUIntBE(value, 0, length)
  return made
}

function u32(value: number): Buffer {
  return numberOf('MM', 4, value)
}
