// Mutations of bytes without knowledge of their format.

import type { Dice } from './random.ts'

const MAX_BYTES = 256 * 1024
// Where counters overflow and signs change.
const NUMBERS = [
  0, 1, 2, 4, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
]
const MARKS = [
  '\0',
  '\r\n',
  '\n',
  '\xc0\x80',
  '\xed\xa0\x80',
  '\xe2\x80\xae',
  '\xef\xbb\xbf',
  '\xff\xfe',
  '%00',
  '\x1b[2J',
]

/** One of the seeds after one to four changes. */
export function mutateBytes(seeds: readonly Buffer[], dice: Dice, maxBytes = MAX_BYTES): Buffer {
  let bytes: Buffer = Buffer.from(dice.pick(seeds))
  for (let left = dice.once(2) ? 1 : 1 + dice.below(4); left > 0; left -= 1)
    bytes = dice.pick(CHANGES)(bytes, dice, seeds)
  return bytes.subarray(0, maxBytes)
}

type Change = (bytes: Buffer, dice: Dice, seeds: readonly Buffer[]) => Buffer

const CHANGES: readonly Change[] = [
  flipBits,
  flipBits,
  setBytes,
  writeNumber,
  writeNumber,
  writeNumber,
  (bytes, dice) => bytes.subarray(0, dice.below(bytes.length + 1)),
  (bytes, dice) => bytes.subarray(dice.below(bytes.length + 1)),
  (bytes, dice) => without(bytes, rangeOf(bytes, dice)),
  duplicate,
  repeat,
  (bytes, dice) => insert(bytes, dice.below(bytes.length + 1), Buffer.from(dice.pick(MARKS), 'latin1')),
  (bytes, dice) => insert(bytes, dice.below(bytes.length + 1), randomBytes(dice, 1 + dice.below(32))),
  splice,
]

function flipBits(bytes: Buffer, dice: Dice): Buffer {
  for (let left = 1 + dice.below(8); left > 0 && bytes.length > 0; left -= 1) {
    const at = dice.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8))
  }
  return bytes
}

function setBytes(bytes: Buffer, dice: Dice): Buffer {
  const [from, to] = rangeOf(bytes, dice)
  return bytes.fill(dice.pick([0, 0x20, 0x7f, 0x80, 0xff]), from, to)
}

// A length, a count or an offset, at any position. Half of the time near the front, where headers are.
function writeNumber(bytes: Buffer, dice: Dice): Buffer {
  const size = dice.pick([1, 2, 4])
  if (bytes.length < size) return bytes
  const most = bytes.length - size
  const at = dice.once(2) ? dice.below(Math.min(most, 256) + 1) : dice.below(most + 1)
  const known = bytes.readUIntBE(at, size)
  const value = dice.once(3) ? known + dice.pick([-1, 1, -4, 8]) : dice.pick(NUMBERS)
  const fitting = ((value % 2 ** (8 * size)) + 2 ** (8 * size)) % 2 ** (8 * size)
  if (dice.once(2)) bytes.writeUIntBE(fitting, at, size)
  else bytes.writeUIntLE(fitting, at, size)
  return bytes
}

function duplicate(bytes: Buffer, dice: Dice): Buffer {
  const [from, to] = rangeOf(bytes, dice)
  return insert(bytes, dice.once(2) ? to : dice.below(bytes.length + 1), bytes.subarray(from, to))
}

function repeat(bytes: Buffer, dice: Dice): Buffer {
  const [from, to] = rangeOf(bytes, dice, 64)
  const times = Math.min(dice.pick([4, 64, 1_000, 20_000]), Math.floor(MAX_BYTES / Math.max(1, to - from)))
  return insert(bytes, to, Buffer.concat(Array<Buffer>(times).fill(Buffer.from(bytes.subarray(from, to)))))
}

function splice(bytes: Buffer, dice: Dice, seeds: readonly Buffer[]): Buffer {
  const other = dice.pick(seeds)
  return Buffer.concat([bytes.subarray(0, dice.below(bytes.length + 1)), other.subarray(dice.below(other.length + 1))])
}

function rangeOf(bytes: Buffer, dice: Dice, most = bytes.length): [from: number, to: number] {
  const from = dice.below(bytes.length + 1)
  const longest = Math.min(most, bytes.length - from, dice.pick([4, 64, 4_096, most]))
  return [from, from + dice.below(longest + 1)]
}

function without(bytes: Buffer, [from, to]: [number, number]): Buffer {
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
}

function insert(bytes: Buffer, at: number, part: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)])
}

export function randomBytes(dice: Dice, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => dice.below(256)))
}
