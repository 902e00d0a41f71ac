import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readImageFacts } from '#src/attest/media/exif.ts'
import { makeAvif } from './avif.ts'
import { chunk, withChunks } from './png.ts'
import { type Service, startService } from './service.ts'

const still = sharp({ create: { width: 16, height: 12, channels: 3, background: '#345' } })
const PNG = await still.clone().png().toBuffer()
const WEBP = await still.clone().webp().toBuffer()
const FRAMES = Buffer.concat(['#345', '#543'].map((background) => pixels(background)))
const ANIMATED_WEBP = await sharp(FRAMES, { raw: { width: 16, height: 24, channels: 3, pageHeight: 12 } })
  .webp({ loop: 0, delay: [100, 100] })
  .toBuffer()
const ACTL = chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))
const LONG = chunk('prVt', Buffer.alloc(300 * 1024))

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe('an animated picture is refused with the reason', () => {
  it.each([
    ['PNG', 'image/png', () => withChunks(PNG, { before: [ACTL] })],
    ['PNG, which says so behind a long chunk', 'image/png', () => withChunks(PNG, { before: [LONG, ACTL] })],
    ['WebP', 'image/webp', () => ANIMATED_WEBP],
    ['HEIC of a sequence', 'image/heic', () => boxes('hevc', 'heic', 'mif1')],
    ['HEIC of a structural brand for sequences', 'image/heic', () => boxes('msf1', 'hevc')],
    ['AVIF', 'image/avif', () => makeAvif({ brands: ['avis', 'avif', 'mif1'] })],
  ] as const)('%s', async (_, type, make) => {
    const bytes = await make()
    const { status, json } = await service.post(bytes, { 'content-type': type })
    expect(status).toBe(400)
    expect(json.errors).toMatchObject([{ code: 'unreadable_media', detail: expect.stringContaining('animated') }])
    expect(await readImageFacts(bytes)).toMatchObject({
      format: null,
      exif: { state: 'unreadable', detail: expect.stringContaining('animated') },
    })
  })

  it('WebP whose header does not announce its frames', async () => {
    const hidden = Buffer.from(ANIMATED_WEBP)
    hidden.writeUInt8(hidden.readUInt8(20) & ~0x02, 20)
    expect(await readImageFacts(hidden)).toMatchObject({ exif: { detail: expect.stringContaining('animated') } })
  })
})

it.each([
  ['PNG', 'image/png', PNG],
  ['PNG with long chunks before its picture', 'image/png', withChunks(PNG, { before: [LONG] })],
  ['PNG with the chunk of an animation behind its picture', 'image/png', withChunks(PNG, { after: [ACTL] })],
  ['WebP', 'image/webp', WEBP],
  [
    'WebP with an extended header',
    'image/webp',
    await still
      .clone()
      .withExif({ IFD0: { Make: 'A' } })
      .webp()
      .toBuffer(),
  ],
])('a still %s is accepted', async (_, type, bytes) => {
  const { status, json } = await service.post(bytes, { 'content-type': type })
  expect({ status, width: json.width, height: json.height }).toEqual({ status: 200, width: 16, height: 12 })
})

function boxes(...brands: string[]): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(12 + 4 * brands.length)
  head.write(`ftyp${brands[0]}`, 4, 'latin1')
  return Buffer.concat([head.subarray(0, 12), Buffer.alloc(4), Buffer.from(brands.slice(1).join(''), 'latin1')])
}

function pixels(background: string): Buffer {
  const [red, green, blue] = [...background.slice(1)].map((digit) => Number.parseInt(digit, 16) * 17)
  return Buffer.concat(Array.from({ length: 16 * 12 }, () => Buffer.from([red ?? 0, green ?? 0, blue ?? 0])))
}
