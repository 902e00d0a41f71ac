// Mutations of DER with knowledge of its structure: other tags, wrong lengths, elements that are missing, doubled,
// borrowed or nested deeply; the lengths around them are corrected, so that a parser gets that far.

import { mutateBytes, randomBytes } from './mutate-bytes.ts'
import type { Dice } from './random.ts'

interface Element {
  tag: number
  children?: Element[]
  content: Buffer
  /** Writes the length differently than it should be. */
  lie?: (length: number) => Buffer
}

const MAX_BYTES = 64 * 1024

/** One of the seeds (DER) after one to three changes of its structure, sometimes of its bytes too. */
export function mutateDer(seeds: readonly Buffer[], dice: Dice): Buffer {
  const root = read(dice.pick(seeds))
  const holder: Element = { tag: 0, children: root, content: Buffer.alloc(0) }
  for (let left = 1 + dice.below(3); left > 0; left -= 1) change(holder, dice, seeds)
  const bytes = Buffer.concat((holder.children ?? []).map((child) => write(child, 0))).subarray(0, MAX_BYTES)
  return dice.once(4) ? mutateBytes([bytes, ...seeds], dice, MAX_BYTES) : bytes
}

const TAGS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x17, 0x18, 0x30, 0x31, 0x80, 0xa0, 0xa3, 0xbf, 0x1f, 0x00, 0xff,
]

const LIES: readonly ((length: number) => Buffer)[] = [
  (length) => Buffer.from([0x81, length & 0xff]),
  (length) => Buffer.from([0x84, 0, 0, (length >> 8) & 0xff, length & 0xff]),
  (length) => lengthOf(length + 1),
  (length) => lengthOf(Math.max(0, length - 1)),
  () => Buffer.from([0x80]),
  () => Buffer.from([0x84, 0xff, 0xff, 0xff, 0xff]),
  () => Buffer.from([0x84, 0x7f, 0xff, 0xff, 0xff]),
  () => Buffer.from([0x88, 0, 0, 0, 0, 0, 0, 0, 1]),
  () => Buffer.from([0xff]),
]

const CONTENTS: readonly ((dice: Dice) => Buffer)[] = [
  () => Buffer.alloc(0),
  () => Buffer.from([0]),
  () => Buffer.from([0xff]),
  () => Buffer.alloc(16 * 1024, 0xff),
  () => Buffer.alloc(12 * 1024, 0x81),
  () => Buffer.from('99991231235959Z'),
  () => Buffer.from('00000000000000Z'),
  () => Buffer.from('500101000000+9999'),
  () => Buffer.from('a\0b\nCN=Other, O=\u202E'),
  (dice) => randomBytes(dice, dice.below(64)),
]

function change(holder: Element, dice: Dice, seeds: readonly Buffer[]): void {
  const all = everyParent(holder)
  if (all.length === 0) return
  const siblings = dice.pick(all).children ?? []
  const index = dice.below(siblings.length)
  const element = siblings[index]
  if (element === undefined) return
  switch (dice.below(10)) {
    case 0:
      siblings.splice(index, 1)
      return
    case 1:
      siblings.splice(index, 0, ...Array<Element>(dice.pick([1, 1, 40, 400])).fill(element))
      return
    case 2:
      element.tag = dice.pick(TAGS)
      return
    case 3:
      element.lie = dice.pick(LIES)
      return
    case 4: {
      const others = everyParent({ tag: 0, children: read(dice.pick(seeds)), content: Buffer.alloc(0) })
      siblings[index] = dice.pick(others.flatMap(({ children = [] }) => children).concat(element))
      return
    }
    case 5:
      delete element.children
      element.content = dice.pick(CONTENTS)(dice)
      return
    case 6:
      siblings[index] = nest(element, dice)
      return
    case 7:
      if (element.children !== undefined) element.children.push(...element.children.slice(dice.below(4)))
      else element.content = mutateBytes([element.content, Buffer.from([0])], dice, 32 * 1024)
      return
    case 8: {
      // An identifier that is as long as a certificate may be.
      const identifiers = all.flatMap(({ children = [] }) => children).filter(({ tag }) => tag === 0x06)
      // Its last arc ends, or has to be read to the end of the bytes.
      const content = Buffer.alloc(dice.pick([0, 1, 65, 15_000]), dice.pick([0x81, 0x01, 0xff]))
      if (content.length > 0 && !dice.once(3)) content[content.length - 1] = 1
      if (identifiers.length > 0) dice.pick(identifiers).content = content
      return
    }
    default:
      if (element.children === undefined) element.content = mutateBytes([element.content], dice, 32 * 1024)
      else element.children.reverse()
  }
}

function nest(element: Element, dice: Dice): Element {
  let inner = write(element, 0)
  for (let left = dice.pick([1, 8, 300]); left > 0; left -= 1) {
    inner = Buffer.concat([Buffer.from([dice.once(2) ? 0x30 : 0xa0]), lengthOf(inner.length), inner])
  }
  return { tag: 0x30, content: inner }
}

function everyParent(root: Element): Element[] {
  const found: Element[] = []
  const walk = (element: Element): void => {
    if (element.children === undefined || element.children.length === 0 || found.length > 300) return
    found.push(element)
    for (const child of element.children) walk(child)
  }
  walk(root)
  return found
}

// Reads as far as the bytes can be parsed: the remaining bytes of a broken element are its content.
function read(bytes: Buffer, depth = 0): Element[] {
  const elements: Element[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0
    const count = first < 0x80 ? 0 : first & 0x7f
    if (count > 4 || at + 2 + count > bytes.length) break
    const length = count === 0 ? first : bytes.readUIntBE(at + 2, count)
    const from = at + 2 + count
    if (from + length > bytes.length) break
    const content = Buffer.from(bytes.subarray(from, from + length))
    const isConstructed = (tag & 0x20) !== 0 && depth < 20
    elements.push({ tag, content, ...(isConstructed ? { children: read(content, depth + 1) } : {}) })
    at = from + length
  }
  return elements
}

function write({ tag, children, content, lie = lengthOf }: Element, depth: number): Buffer {
  const isWritten = children !== undefined && depth < 24
  const inner = isWritten ? Buffer.concat(children.map((child) => write(child, depth + 1))) : content
  const bounded = inner.subarray(0, MAX_BYTES)
  return Buffer.concat([Buffer.from([tag]), lie(bounded.length), bounded])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  if (length < 0x100) return Buffer.from([0x81, length])
  if (length < 0x10000) return Buffer.from([0x82, length >> 8, length & 0xff])
  return Buffer.from([0x83, length >> 16, (length >> 8) & 0xff, length & 0xff])
}
