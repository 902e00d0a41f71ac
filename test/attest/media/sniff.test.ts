import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { judgeDimensions, MAX_PIXELS, MAX_SIDE, readDimensions } from '#src/attest/media/dimensions.ts'
import { MAX_METADATA_PIXELS, MAX_SIDE_PIXELS } from '#src/attest/media/sharp.ts'
import { isMediaType, MEDIA_TYPES, sniffType } from '#src/attest/media/sniff.ts'

interface Case {
  name: string
  head: string
  content_type: string | null
  width: number | null
  height: number | null
}

const cases = JSON.parse(readFileSync(new URL('../../../vectors/media/sniff.json', import.meta.url), 'utf8')) as Case[]

const sniff = (head: Uint8Array) => {
  const type = sniffType(head)
  return { type, sides: type === undefined ? undefined : readDimensions(type, head) }
}

describe('the content type detection', () => {
  for (const { name, head, content_type, width, height } of cases) {
    it(`recognizes ${name}`, () => {
      const found = sniff(Buffer.from(head, 'hex'))
      expect(found.type ?? null).toBe(content_type)
      expect(found.sides ?? { width: null, height: null }).toEqual({ width, height })
    })
  }

  it('never throws and never takes long, on truncated and changed files', () => {
    for (const { head, content_type } of cases) {
      const bytes = Buffer.from(head, 'hex')
      for (let length = 0; length < bytes.length; length += 1) {
        const { type } = sniff(bytes.subarray(0, length))
        if (type !== undefined) expect(type).toBe(content_type)
      }
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.nat(Math.max(bytes.length - 1, 0)), fc.nat(255)), { maxLength: 8 }),
          (changes) => {
            const changed = Buffer.concat([bytes, Buffer.alloc(64)])
            for (const [at, value] of changes) changed[at] = value
            const { type } = sniff(changed)
            if (type !== undefined)
              for (const any of Object.keys(MEDIA_TYPES)) if (isMediaType(any)) readDimensions(any, changed)
          },
        ),
        { numRuns: 50, seed: 1 },
      )
    }
  })

  it('ends on a quarter of a megabyte of the smallest steps', () => {
    const bytes = Buffer.alloc(262_144)
    const heads = [
      Buffer.concat([Buffer.from('ffd8', 'hex'), bytes.fill(Buffer.from('ffd0', 'hex'))]),
      Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(262_144, 0xff)]),
      Buffer.concat([Buffer.from('1a45dfa301000000000000ff', 'hex'), Buffer.alloc(262_144, 0x80)]),
      Buffer.concat([
        Buffer.from('000000186674797068656963000000006d69663168656963', 'hex'),
        Buffer.alloc(262_144, Buffer.from('0000000866726565', 'hex')),
      ]),
    ]
    for (const head of heads) sniff(head)
  })

  it('agrees with the names of real files and with the image library', async ({ skip }) => {
    const { CORPUS } = process.env
    if (CORPUS === undefined) return skip('CORPUS names no folder of real files')
    const expected = {
      jpg: 'image/jpeg',
      png: 'image/png',
      webp: 'image/webp',
      heic: 'image/heic',
      avif: 'image/avif',
      mp4: 'video/mp4',
    }
    for (const folder of ['exif', 'c2pa', 'ai-images']) {
      for (const name of await readdir(join(CORPUS, folder))) {
        const type = Object.entries(expected).find(([extension]) => name.toLowerCase().endsWith(`.${extension}`))?.[1]
        if (type === undefined) continue
        const bytes = await readFile(join(CORPUS, folder, name))
        const { type: found, sides } = sniff(bytes.subarray(0, 262_144))
        expect([name, found]).toEqual([name, type])
        if (!type.startsWith('image/')) continue
        const { width, height } = await sharp(bytes).metadata()
        expect([name, sides]).toEqual([name, { width, height }])
      }
    }
  })
})

describe('the limits of a side', () => {
  it('refuse too long sides and too many pixels, and nothing else', () => {
    for (const [width, height, isFine] of [
      [1, 1, true],
      [MAX_SIDE, 1, true],
      [16_000, 16_000, true],
      [MAX_SIDE + 1, 1, false],
      [1, MAX_SIDE + 1, false],
      [16_001, 16_000, false],
      [50_000, 50_000, false],
      [4_294_967_295, 4_294_967_295, false],
    ] as const) {
      expect(judgeDimensions({ width, height }) === undefined).toBe(isFine)
    }
    expect(16_000 * 16_000).toBe(MAX_PIXELS)
  })

  it('equal those of the image library, which must not be loaded to read them', () => {
    expect([MAX_SIDE, MAX_PIXELS]).toEqual([MAX_SIDE_PIXELS, MAX_METADATA_PIXELS])
  })
})
