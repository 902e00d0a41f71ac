// Mutations of short texts: headers, ids, cursors, URLs, query strings.

import type { Dice } from './random.ts'

const PIECES = [
  '',
  ' ',
  '\t',
  '"',
  '""',
  '\\',
  ',',
  ',,',
  ';',
  ';q=',
  '=',
  '==',
  '&',
  '#',
  '?',
  '/',
  '//',
  '..',
  '.',
  ':',
  '@',
  '%',
  '%0',
  '%00',
  '%ff',
  '%c0%80',
  '%ed%a0%80',
  '%E2%80%AE',
  '+',
  '*',
  '-',
  '--',
  '_',
  '0',
  '-0',
  '1e9',
  '99999999999999999999',
  '4294967296',
  '0x7f.1',
  '2130706433',
  '017700000001',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '127.1',
  'localhost',
  '169.254.169.254',
  '。',
  '①②⑦',
  'ⓛocalhost',
  '\u202E',
  '\u200B',
  '\uFEFF',
  'ß',
  'İ',
  '\u0000',
  '\r',
  '\n',
  '\r\nX-Injected: 1',
  '\x7f',
  '\x80',
  '\xff',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  '[object Object]',
  "' OR 1=1 --",
]

/** One of the seeds after one to four changes; in latin1 and beyond, with controls. */
export function mutateText(seeds: readonly string[], dice: Dice, maxLength = 16_000): string {
  let text = dice.pick(seeds)
  for (let left = 1 + dice.below(4); left > 0; left -= 1) text = change(text, dice, seeds)
  return text.slice(0, maxLength)
}

function change(text: string, dice: Dice, seeds: readonly string[]): string {
  const at = dice.below(text.length + 1)
  const to = at + dice.below(text.length - at + 1)
  switch (dice.below(10)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + text.slice(to)
    case 2:
      return text.slice(0, to) + text.slice(at)
    case 3:
      return text.slice(0, at) + dice.pick(PIECES) + text.slice(to)
    case 4:
      return text.slice(0, at) + String.fromCharCode(dice.below(dice.pick([0x80, 0x100, 0xd800]))) + text.slice(at + 1)
    case 5:
      return text.slice(0, at) + dice.pick(seeds).slice(dice.below(8))
    case 6:
      return (
        text.slice(0, at) +
        dice.pick([...PIECES, text.slice(at, to)]).repeat(dice.pick([2, 50, 4_000])) +
        text.slice(to)
      )
    case 7:
      return dice.once(2) ? text.toUpperCase() : encodeURI(text.toWellFormed())
    case 8:
      return [...text.slice(0, 2_000)].reverse().join('')
    default:
      return text.slice(0, at) + dice.pick(PIECES) + text.slice(at)
  }
}
