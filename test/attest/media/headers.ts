// Small images with arbitrary headers, for the code that reads headers.

import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

type Chunk = [type: string, data: Uint8Array]

/** Eight pixels square, with these chunks before the picture. */
export function pngWith(chunks: readonly Chunk[]): Buffer {
  const size = Buffer.from('0000000800000008', 'hex')
  const header: Chunk = ['IHDR', Buffer.concat([size, Buffer.from([8, 2, 0, 0, 0])])]
  const data: Chunk = ['IDAT', deflateSync(Buffer.alloc(8 * 25))]
  const all: Chunk[] = [header, ...chunks, data, ['IEND', Buffer.alloc(0)]]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...all.flatMap(pngChunk)])
}

function pngChunk([type, data]: Chunk): Uint8Array[] {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return [u32be(data.length), named, u32be(crc32(named))]
}

/** With these chunks behind the picture. */
export async function webpWith(chunks: readonly Chunk[]): Promise<Buffer> {
  const plain = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#456' } })
    .webp()
    .toBuffer()
  // The image has an ICC profile, EXIF and XMP.
  const extended = Buffer.from('2c00000007000007 0000'.replace(' ', ''), 'hex')
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    ...riffChunk(['VP8X', extended]),
    plain.subarray(12),
    ...chunks.flatMap(riffChunk),
  ])
  return Buffer.concat([Buffer.from('RIFF'), u32le(body.length), body])
}

function riffChunk([type, data]: Chunk): Uint8Array[] {
  return [Buffer.from(type, 'latin1'), u32le(data.length), data, Buffer.alloc(data.length % 2)]
}

/** With these bytes behind its first marker. */
export async function jpegWith(...parts: Uint8Array[]): Promise<Buffer> {
  const plain = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#456' } })
    .jpeg()
    .toBuffer()
  return Buffer.concat([plain.subarray(0, 2), ...parts, plain.subarray(2)])
}

export function segment(marker: number, bytes = 8): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes + 2, 2)
  return Buffer.concat([head, Buffer.alloc(bytes)])
}

/** A TIFF of so many directories, each of which names the same XMP of `shared` bytes. */
export function directories(count: number, shared = 0, isRing = false): Buffer {
  // Width, height, bits, compression, photometric, strip, samples, rows, bytes.
  const plain = [
    [256, 1],
    [257, 1],
    [258, 8],
    [259, 1],
    [262, 1],
    [273, 8],
    [277, 1],
    [278, 1],
    [279, 1],
  ]
  const bytes = 2 + (plain.length + 1) * 12 + 4
  const from = 10 + shared
  const file = Buffer.alloc(from + count * bytes)
  file.write('II*\0', 'latin1')
  file.writeUInt32LE(from, 4)
  for (let index = 0; index < count; index += 1) {
    let at = from + index * bytes
    file.writeUInt16LE(plain.length + 1, at)
    at += 2
    for (const [tag = 0, value = 0] of plain) at = writeEntry(file, at, { tag, type: 3, count: 1, value })
    at = writeEntry(file, at, { tag: 700, type: 1, count: shared, value: 10 })
    file.writeUInt32LE(index < count - 1 ? at + 4 : isRing ? from : 0, at)
  }
  return file
}

/** An AVIF of so many items besides its picture, each of which names the same `bytes` so many times. */
export async function avifWith({
  items,
  extents,
  bytes,
}: Record<'items' | 'extents' | 'bytes', number>): Promise<Buffer> {
  const plain = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#456' } })
    .avif({ effort: 0 })
    .toBuffer()
  const picture = boxOf(plain, 'mdat').subarray(8)
  const ids = Array.from({ length: items }, (_, index) => index + 2)
  const headerAt = (dataAt: number) => {
    const place = (id: number, count: number, at: number, length: number) => [
      u16be(id, 0, 0, count),
      ...Array.from({ length: count }, () => Buffer.concat([u32be(at), u32be(length)])),
    ]
    const iloc = box(
      'iloc',
      u32be(1 << 24),
      Buffer.from([0x44, 0]),
      u16be(items + 1),
      ...place(1, 1, dataAt, picture.length),
      ...ids.flatMap((id) => place(id, extents, dataAt + picture.length, bytes)),
    )
    const item = (id: number, type: string) => box('infe', u32be(2 << 24), u16be(id, 0), Buffer.from(`${type}\0`))
    const iinf = box('iinf', u32be(0), u16be(items + 1), item(1, 'av01'), ...ids.map((id) => item(id, 'Exif')))
    const iref = box('iref', u32be(0), ...ids.map((id) => box('cdsc', u16be(id, 1, 1))))
    const iprp = box('iprp', boxOf(plain, 'ipco'), boxOf(plain, 'ipma'))
    const hdlr = box('hdlr', u32be(0), u32be(0), Buffer.from('pict'), Buffer.alloc(13))
    const meta = box('meta', u32be(0), hdlr, box('pitm', u32be(0), u16be(1)), iloc, iinf, iref, iprp)
    return Buffer.concat([box('ftyp', Buffer.from('avif\0\0\0\0mif1avif')), meta])
  }
  const { length } = headerAt(0)
  return Buffer.concat([headerAt(length + 8), box('mdat', picture, Buffer.alloc(bytes))])
}

function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([u32be(body.length + 8), Buffer.from(type), body])
}

function boxOf(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type) - 4
  return file.subarray(at, at + file.readUInt32BE(at))
}

function u16be(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index)
  return bytes
}

interface Entry {
  tag: number
  type: number
  count: number
  value: number
}

/** Returns where the next one begins. */
function writeEntry(file: Buffer, at: number, { tag, type, count, value }: Entry): number {
  file.writeUInt16LE(tag, at)
  file.writeUInt16LE(type, at + 2)
  file.writeUInt32LE(count, at + 4)
  file.writeUInt32LE(value, at + 8)
  return at + 12
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
