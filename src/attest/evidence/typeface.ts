// The typefaces of a document. Untrusted texts come in every script. A character that the font can't draw must not
// vanish from the evidence, and must not change how the rest is read: it is written as its code point.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface Typeface {
  regular: string
  bold: string
  mono: string
  /** Whether the code point can be drawn, in written order. */
  draws(codePoint: number): boolean
}

// PDF 32000-1 annex D.2: the characters of the standard fonts beyond ASCII and Latin-1.
const WIN_ANSI = new Set([...'€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'].map((character) => character.codePointAt(0) ?? 0))

/** The standard PDF fonts: nothing to embed, but only western European letters. */
export const STANDARD: Typeface = {
  regular: 'Helvetica',
  bold: 'Helvetica-Bold',
  mono: 'Courier',
  draws: (point) => (point >= 0x20 && point <= 0x7e) || (point >= 0xa1 && point <= 0xff) || WIN_ANSI.has(point),
}

// Scripts written from left to right, one character after the other. Other scripts need joining, stacking or reordering
// rules, which a line of evidence must not depend on.
const PLAIN_RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0xa1, 0x2ff],
  [0x370, 0x482],
  [0x48a, 0x58f],
  [0x10a0, 0x10ff],
  [0x1e00, 0x1fff],
  [0x2010, 0x2015],
  [0x2018, 0x2027],
  [0x2030, 0x205e],
  [0x20a0, 0x20bf],
  [0x2100, 0x214f],
  [0x2190, 0x22ff],
]
const SOFT_HYPHEN = 0xad

/** The installed typeface, otherwise the standard PDF fonts. */
export function findTypeface(): Typeface {
  const folder = folderOf('dejavu-fonts-ttf/package.json')
  const files = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf', 'DejaVuSansMono.ttf'].map((name) => join(folder, 'ttf', name))
  const [regular = '', bold = '', mono = ''] = files
  if (folder === '' || !files.every((file) => existsSync(file))) return STANDARD
  return { regular, bold, mono, draws: isPlain }
}

function isPlain(point: number): boolean {
  return point !== SOFT_HYPHEN && PLAIN_RANGES.some(([first, last]) => point >= first && point <= last)
}

function folderOf(packageFile: string): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(packageFile))
  } catch {
    return ''
  }
}

/**
 * A text as it is printed: undrawable characters as `\u` and digits, and a backslash doubled, so that no text can
 * imitate this form. At most about `maxLength` characters, with the number of omitted ones.
 */
export function printable(text: string, { draws }: Pick<Typeface, 'draws'>, maxLength = 600): string {
  let set = ''
  let read = 0
  for (const character of text) {
    if (set.length >= maxLength) return `${set}… (${text.length - read} more)`
    set += setCharacter(character, draws)
    read += character.length
  }
  return set
}

function setCharacter(character: string, draws: Typeface['draws']): string {
  const point = character.codePointAt(0) ?? 0
  if (character === '\\') return '\\\\'
  if (character === '\u00a0') return ' '
  if (draws(point)) return character
  const digits = point.toString(16).toUpperCase()
  return point > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}
