// The first bytes of media as programs write them: boxes before the brands, brands of any kind and order, and what makes a
// picture move.

import { type MediaType, SNIFF_BYTES, sniffType } from '#src/attest/media/sniff.ts'
import { isStill } from '#src/attest/media/still.ts'
import { chunk, withChunks } from '../test/attest/media/png.ts'
import { randomBytes } from './mutate-bytes.ts'
import { hold } from './parser.ts'
import type { Dice } from './random.ts'

const BRANDS = [
  ...['isom', 'iso6', 'mp41', 'mp42', 'avc1', 'M4V ', 'M4A ', '3gp5', 'qt  ', 'XAVC', 'MSNV', 'NDSC', 'crx ', 'f4v '],
  ...['heic', 'heix', 'hevc', 'msf1', 'mif1', 'miaf', 'avif', 'avis', '\0\0\0\0', '    ', 'zzzz', 'ftyp'],
]
const PADDING = ['free', 'skip', 'wide']

export function makeHead(dice: Dice, png: Buffer): Buffer {
  if (dice.once(4)) return makePng(dice, png)
  return Buffer.concat([makePadding(dice), makeBrands(dice), box('moov', randomBytes(dice, dice.below(40)))])
}

function makePadding(dice: Dice): Buffer {
  const sizes = Array.from({ length: dice.pick([0, 1, 2, 60]) }, () => dice.pick([0, 0, 8, 100, 2_000]))
  return Buffer.concat(sizes.map((size) => box(dice.pick(PADDING), Buffer.alloc(size))))
}

function makeBrands(dice: Dice): Buffer {
  const brands = Array.from({ length: dice.pick([0, 1, 3, 8, 300]) }, () => dice.pick(BRANDS))
  const whole = box('ftyp', Buffer.from(`${dice.pick(BRANDS)}\0\0\x02\0${brands.join('')}`, 'latin1'))
  // A size that is not that of the box.
  if (dice.once(6)) whole.writeUInt32BE(dice.pick([0, 1, 8, 15, 17, whole.length + 4, 2 ** 32 - 1]))
  return whole
}

/** The chunk of an animation before the picture, behind it, or not there. */
function makePng(dice: Dice, png: Buffer): Buffer {
  const acTL = chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))
  const some = () => chunk(dice.pick(['prVt', 'tEXt', 'gAMA']), randomBytes(dice, dice.pick([0, 4, 70])))
  const chunks = Array.from({ length: dice.below(4) }, () => (dice.once(3) ? acTL : some()))
  return withChunks(png, dice.once(2) ? { before: chunks } : { after: chunks })
}

/** What holds of every head: more bytes change nothing once it is recognised, nor do boxes that carry nothing. */
export function holdOneType(head: Buffer, type: MediaType | undefined): void {
  hold(sniffType(head.subarray(0, SNIFF_BYTES)) === type, 'the first bytes suffice')
  if (type === undefined) return
  const isStillSoFar = isStill(type, head)
  hold(isStillSoFar === undefined || isStillSoFar !== moves(type, head), 'what moves is not still')
  for (const more of [Buffer.alloc(64), box('ftyp', Buffer.from('avis\0\0\0\0'))]) {
    const longer = Buffer.concat([head, more])
    hold(sniffType(longer) === type, 'the type of a file does not change while it arrives')
    hold(isStillSoFar === undefined || isStill(type, longer) === isStillSoFar, 'nor does whether it moves')
  }
  const hasBoxes = /^(?:video\/(?:mp4|quicktime)|image\/(?:avif|heic))$/.test(type)
  const padded = Buffer.concat([box('free', Buffer.from('avis')), head])
  if (!hasBoxes || padded.length > SNIFF_BYTES) return
  hold(sniffType(padded) === type && isStill(type, padded) === isStillSoFar, 'free space in front says nothing')
}

const SEQUENCES: readonly string[] = ['msf1', 'hevc', 'hevx', 'hevm', 'hevs', 'avis']

/** Whether the head has the markers of an animation. No mutation makes them by chance. */
function moves(type: MediaType, head: Buffer): boolean {
  const [movie, picture] = [head.indexOf('acTL'), head.indexOf('IDAT')]
  if (type === 'image/png') return movie !== -1 && movie < picture
  if (type === 'image/webp') return head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0
  if (type !== 'image/heic' && type !== 'image/avif') return false
  const from = head.indexOf('ftyp') + 4
  const brands = head.toString('latin1', from, from + head.readUInt32BE(from - 8) - 8).match(/.{4}/gs) ?? []
  return brands.some((brand, index) => index !== 1 && SEQUENCES.includes(brand))
}

function box(type: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}
