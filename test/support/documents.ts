// Documents of one origin, which look alike at a glance and are different documents: invoices of one letterhead, a form
// filled in, identity cards, screenshots of one app. The same kind and seed give the same SVG.

import { createRequire } from 'node:module'
import sharp from 'sharp'

export const DOCUMENT_KINDS = ['invoice', 'form', 'card', 'screenshot'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

type Roll = (below: number) => number
type Draw = (roll: Roll) => { width: number; height: number; body: string }

const FONTS = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSerif-Italic', 'DejaVuSansMono']
let fonts: Promise<unknown> | undefined

/** The document as a scanner or a screen gives it. */
export async function drawDocument(kind: DocumentKind, seed: number): Promise<Buffer> {
  fonts ??= loadFonts()
  await fonts
  const { width, height, body } = DRAWS[kind](rollFrom(seed * 7 + DOCUMENT_KINDS.indexOf(kind)))
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans">${body}</svg>`
  return sharp(Buffer.from(svg)).flatten({ background: '#fff' }).jpeg({ quality: 90 }).toBuffer()
}

// A font file that was used for a text is known to SVG too, so a machine without these fonts draws the same pictures.
async function loadFonts(): Promise<void> {
  const { resolve } = createRequire(import.meta.url)
  for (const font of FONTS) {
    const fontfile = resolve(`dejavu-fonts-ttf/ttf/${font}.ttf`)
    await sharp({ text: { text: 'x', fontfile } })
      .raw()
      .toBuffer()
  }
}

// The generator of Numerical Recipes, a few steps in: neighbouring seeds differ.
function rollFrom(seed: number): Roll {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES = [
  'Mara Lindner',
  'Jo Okafor',
  'Ana Ruiz',
  'Petra van Dijk',
  'Li Wei',
  'Tom Ashdown',
  'Ines Costa',
  'Emil Novak',
  'Sofia Rossi',
  'Max Brandt',
]
const STREETS = [
  'Mill Lane',
  'Harbour Street',
  'Oak Avenue',
  'Station Road',
  'King Street',
  'Am Markt',
  'Rue du Port',
  'Calle Mayor',
]
const TOWNS = ['1011 AB Amsterdam', '10115 Berlin', '75011 Paris', '28013 Madrid', '20121 Milano', '1050 Brussels']
const ITEMS = [
  'Front bumper, painted',
  'Left headlight',
  'Windscreen with sensor',
  'Wheel alignment',
  'Bonnet',
  'Rear door, right',
  'Labour, body shop',
  'Labour, paint',
  'Small parts',
  'Rental car, per day',
  'Towing',
  'Door mirror',
  'Battery',
  'Brake discs, front axle',
  'Tyres, set of four',
  'Calibration of cameras',
]

const pick = <Item>(roll: Roll, items: readonly Item[]): Item => items[roll(items.length)] as Item
const digits = (roll: Roll, count: number) => Array.from({ length: count }, () => roll(10)).join('')
type Place = readonly [x: number, y: number]
const text = ([x, y]: Place, size: number, content: string, more = '') =>
  `<text x="${x}" y="${y}" font-size="${size}" ${more}>${content}</text>`
const box = ([x, y]: Place, [width, height]: Place, fill: string, more = '') =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}" ${more}/>`
const several = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join('')
const dateOf = (roll: Roll) => `${1 + roll(28)}.${1 + roll(12)}.20${24 + roll(3)}`

const DRAWS: Record<DocumentKind, Draw> = {
  invoice(roll) {
    const lines = 2 + roll(8)
    let total = 0
    const body =
      box([0, 0], [1240, 190], '#163a5f') +
      text([90, 120], 62, 'Example Garage', 'fill="#fff" font-weight="bold"') +
      text([760, 90], 24, 'Industrial Estate 14', 'fill="#fff"') +
      text([760, 125], 24, 'Tel. 030 555 0142', 'fill="#fff"') +
      text([90, 330], 26, pick(roll, NAMES)) +
      text([90, 366], 26, `${pick(roll, STREETS)} ${1 + roll(140)}`) +
      text([90, 402], 26, pick(roll, TOWNS)) +
      text([90, 540], 40, `Invoice ${digits(roll, 6)}`, 'font-weight="bold"') +
      text([860, 540], 26, `Date ${dateOf(roll)}`) +
      box([90, 600], [1060, 44], '#d8e0e8') +
      text([105, 631], 24, 'Item') +
      text([990, 631], 24, 'Amount') +
      several(lines, (index) => {
        const cents = 2_000 + roll(90_000)
        total += cents
        const y = 690 + index * 48
        return text([105, y], 24, pick(roll, ITEMS)) + text([990, y], 24, (cents / 100).toFixed(2))
      }) +
      box([90, 710 + lines * 48], [1060, 2], '#222') +
      text([700, 760 + lines * 48], 28, `Total EUR ${(total / 100).toFixed(2)}`, 'font-weight="bold"') +
      box([90, 1600], [1060, 2], '#888') +
      text([90, 1640], 20, 'Example Garage Ltd, IBAN NL00 EXMP 0123 4567 89, payable within 14 days')
    return { width: 1240, height: 1754, body }
  },
  form(roll) {
    const labels = ['Name', 'Policy number', 'Date of loss', 'Place', 'Vehicle', 'Registration', 'Driver', 'Witness']
    const words = [
      'hit',
      'the',
      'kerb',
      'while',
      'parking',
      'a',
      'van',
      'reversed',
      'into',
      'my',
      'car',
      'at',
      'traffic',
      'lights',
      'hail',
      'broke',
      'window',
    ]
    const values = [
      pick(roll, NAMES),
      digits(roll, 9),
      dateOf(roll),
      pick(roll, TOWNS),
      pick(roll, ['Astra', 'Golf', 'Clio', 'Corolla']),
      digits(roll, 6),
      pick(roll, NAMES),
      pick(roll, NAMES),
    ]
    const body =
      text([90, 120], 48, 'Notice of loss', 'font-weight="bold"') +
      text([90, 165], 22, 'Please fill in all fields in block letters.') +
      several(labels.length, (index) => {
        const [x, y] = [90 + (index % 2) * 540, 230 + Math.floor(index / 2) * 120]
        return (
          text([x, y], 22, labels[index] ?? '') +
          box([x, y + 14], [510, 60], '#fff', 'stroke="#333" stroke-width="2"') +
          text(
            [x + 14, y + 56],
            30,
            values[index] ?? '',
            'font-family="DejaVu Serif" font-style="italic" fill="#1b2f8a"',
          )
        )
      }) +
      several(10, (index) => {
        const y = 760 + index * 48
        return (
          box([90, y], [30, 30], '#fff', 'stroke="#333" stroke-width="2"') +
          text([140, y + 25], 22, `Damage to part ${index + 1}`) +
          (roll(2) === 0 ? text([92, y + 28], 34, 'X', 'fill="#1b2f8a"') : '')
        )
      }) +
      box([90, 1270], [1060, 300], '#fff', 'stroke="#333" stroke-width="2"') +
      several(2 + roll(5), (index) =>
        text(
          [110, 1315 + index * 44],
          28,
          Array.from({ length: 4 + roll(6) }, () => pick(roll, words)).join(' '),
          'font-family="DejaVu Serif" font-style="italic" fill="#1b2f8a"',
        ),
      )
    return { width: 1240, height: 1754, body }
  },
  card(roll) {
    const [skin, hair, back] = [
      pick(roll, ['#f1c8a5', '#8d5a3a', '#d9a27a', '#5b3a26']),
      pick(roll, ['#2b1d12', '#7a4a20', '#d8b45a', '#999']),
      pick(roll, ['#dfe6ea', '#c8d2d8']),
    ]
    const [width, hairHeight] = [78 + roll(30), 60 + roll(90)]
    const body =
      box([0, 0], [1012, 638], '#e6eef2') +
      several(
        40,
        (index) =>
          `<path d="M0 ${index * 17} Q 500 ${index * 17 - 60} 1012 ${index * 17}" stroke="#c3d6df" fill="none" stroke-width="2"/>`,
      ) +
      box([0, 0], [1012, 96], '#2c5d7c') +
      text([40, 65], 44, 'IDENTITY CARD', 'fill="#fff" font-weight="bold"') +
      box([50, 140], [280, 360], back) +
      `<ellipse cx="190" cy="${300 - hairHeight / 3}" rx="${width + 12}" ry="${hairHeight + 40}" fill="${hair}"/><ellipse cx="190" cy="320" rx="${width}" ry="${105 + roll(20)}" fill="${skin}"/>` +
      `<circle cx="${158 + roll(6)}" cy="305" r="9"/><circle cx="${218 + roll(6)}" cy="305" r="9"/><rect x="${160 + roll(15)}" y="${365 + roll(15)}" width="${40 + roll(25)}" height="8" fill="#8b3a3a"/>` +
      box([80, 430], [220, 70], pick(roll, ['#20304a', '#6b2a2a', '#2e5a35', '#444', '#c9a23a'])) +
      several(4, (index) => {
        const [label, value] = [
          ['Surname', pick(roll, NAMES)],
          ['Date of birth', dateOf(roll)],
          ['Number', `${pick(roll, ['L', 'T', 'C'])}${digits(roll, 8)}`],
          ['Valid until', dateOf(roll)],
        ][index] as [string, string]
        return (
          text([380, 180 + index * 90], 20, label, 'fill="#456"') +
          text([380, 218 + index * 90], 34, value, 'font-weight="bold"')
        )
      }) +
      text([50, 570], 30, `IDUTO${digits(roll, 9)}${'&lt;'.repeat(12)}`, 'font-family="DejaVu Sans Mono"') +
      text(
        [50, 612],
        30,
        `${digits(roll, 7)}F${digits(roll, 7)}UTO${'&lt;'.repeat(8)}${digits(roll, 1)}`,
        'font-family="DejaVu Sans Mono"',
      )
    return { width: 1012, height: 638, body }
  },
  screenshot(roll) {
    const messages = [
      'Your parcel is on its way',
      'Can you send me the photos of the damage?',
      'I will call you back in the afternoon',
      'Thanks!',
      'The repair takes three days',
      'Offer attached',
      'When did it happen?',
      'On the car park, yesterday evening',
      'OK',
    ]
    let y = 190
    const body =
      box([0, 0], [1080, 2160], '#f3f4f6') +
      box([0, 0], [1080, 150], '#0b6e4f') +
      text([40, 45], 28, `${roll(24)}:${10 + roll(50)}`, 'fill="#fff"') +
      text([140, 115], 44, pick(roll, NAMES), 'fill="#fff"') +
      `<circle cx="80" cy="100" r="40" fill="${pick(roll, ['#e9c46a', '#e76f51', '#8ecae6', '#b5838d'])}"/>` +
      several(6 + roll(9), () => {
        const content = pick(roll, messages)
        const [width, isOwn, height] = [80 + content.length * 21, roll(2) === 0, 84 + roll(2) * 50]
        const x = isOwn ? 1040 - width : 40
        const at = y
        y += height + 36
        return (
          box([x, at], [width, height], isOwn ? '#d6f5dd' : '#fff', 'rx="22"') + text([x + 30, at + 54], 32, content)
        )
      }) +
      box([0, 2030], [1080, 130], '#fff') +
      text([60, 2110], 34, 'Message', 'fill="#999"')
    return { width: 1080, height: 2160, body }
  },
}
