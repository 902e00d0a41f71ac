// Readers of what others write in many forms: times of EXIF, source types, addresses that proxies pass on. Half of the cases
// write a known value in one of these forms, so that the right answer is known; the others are mutated texts.

import { isIP } from 'node:net'
import { MAX_ZONE_MS, readExifTime } from '#src/attest/media/exif-time.ts'
import { isGenerated, kindOfSource, nameOfType } from '#src/attest/media/source-type.ts'
import { createClientAddress, isListed } from '#src/platform/http/client-address.ts'
import { mutateText } from './mutate-text.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'

const LIMIT = { kind: 'thread', ms: 100 } as const
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** What is read, and what it must be read as; without `expected` it only must be read consistently. */
interface Written<Input, Value> {
  input: Input
  expected?: Value
}

/** Half of the cases are written, half mutated. */
function forms<Input, Value>(
  described: Pick<Parser, 'name' | 'source' | 'refusals'>,
  makers: { write(dice: Dice): Written<Input, Value>; mutate(dice: Dice): Input },
  run: (written: Written<Input, Value>) => string,
): Parser {
  return {
    ...described,
    limit: LIMIT,
    make: (dice) => Buffer.from(JSON.stringify(dice.once(2) ? makers.write(dice) : { input: makers.mutate(dice) })),
    run: (input) => run(JSON.parse(input.toString())),
  }
}

export function formParsers(): Parser[] {
  return [
    forms(
      { name: 'EXIF time', source: 'attest/media/exif-time', refusals: ['none', 'unreadable'] },
      { write: writeTime, mutate: mutateTime },
      readTime,
    ),
    forms(
      { name: 'digital source type', source: 'attest/media/source-type', refusals: ['other'] },
      { write: writeType, mutate: (dice) => mutateText(TYPES, dice).toWellFormed() },
      readType,
    ),
    forms(
      { name: 'X-Forwarded-For', source: 'platform/http/client-address', refusals: ['proxy'] },
      { write: writeHops, mutate: (dice) => [mutateText(HOPS, dice, 4_000).toWellFormed()] },
      readHops,
    ),
  ]
}

// EXIF times.

type Tags = [dateTimeOriginal: string, subSec: string | null, offset: string | null]

const EXIF_TIMES = [
  '2026:06:01 24:00:00',
  '2026/06/01 12:00:60',
  '2026-06-01T12:00:00.123456789+02:00',
  '2026.06.01 12:05 PM',
  '    :  :     :  :  ',
  '0000:00:00 00:00:00',
]

/** A time and its zone, in one of the forms of cameras and programs. */
function writeTime(dice: Dice): Written<Tags, number> {
  const minutes = dice.below(2) * dice.pick([-12 * 60, -210, 60, 120, 345, 14 * 60])
  const millis = dice.below(1_000)
  const local = Date.UTC(1990 + dice.below(60), dice.below(12), 1 + dice.below(28), dice.below(24), dice.below(60))
  const second = dice.below(60)
  const parts = new Date(local).toISOString()
  const separator = dice.pick([':', '-', '/', '.'])
  const hour = Number(parts.slice(11, 13))
  const isHalf = dice.once(4)
  // Phones that count hours from 1 to 24 write the first one as 24.
  const shown = isHalf ? hour % 12 || 12 : hour === 0 && dice.once(2) ? 24 : hour
  const [hours, tail] = [String(shown).padStart(dice.pick([1, 2]), '0'), String(second).padStart(2, '0')]
  const isSplit = dice.once(2)
  const fraction = String(millis).padStart(3, '0')
  const half = isHalf ? dice.pick([' ', '']) + dice.pick(hour < 12 ? ['AM', 'am'] : ['PM', 'pm']) : ''
  const sign = minutes < 0 ? '-' : '+'
  const clock = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((one) => String(one).padStart(2, '0'))
  const zone = sign + clock.join(dice.pick([':', '']))
  const isOwnZone = dice.once(2)
  const date = parts.slice(0, 10).replaceAll('-', separator)
  const time = `${hours}:${parts.slice(14, 16)}:${tail}${isSplit ? '' : `.${fraction}`}${half}`
  return {
    input: [
      `${date}${dice.pick([' ', '  ', 'T'])}${time}${isOwnZone ? zone : ''}`,
      isSplit ? fraction : null,
      // The tag is not read where the time says its own zone.
      isOwnZone ? dice.pick([null, zone, '+09:00']) : zone,
    ],
    expected: local + second * SECOND + millis - minutes * MINUTE,
  }
}

function mutateTime(dice: Dice): Tags {
  const text = (seeds: string[]) => mutateText(seeds, dice, 300).toWellFormed()
  return [
    text(EXIF_TIMES),
    dice.once(2) ? text(['120', '5']) : null,
    dice.once(2) ? text(['+02:00', 'Z', '-1130']) : null,
  ]
}

function readTime({ input: [dateTimeOriginal, subSec, offset], expected }: Written<Tags, number>): string {
  const time = readExifTime({ dateTimeOriginal, subSec, offset })
  hold(expected === undefined || time.state === 'read', `a form that cameras write is read: ${dateTimeOriginal}`)
  if (time.state === 'none') hold(!/[1-9]/.test(dateTimeOriginal), 'what says nothing has no digit but 0')
  if (time.state !== 'read') return time.state
  hold(expected === undefined || time.timeMs === expected, `${dateTimeOriginal} is the time that was written`)
  hold(Number.isSafeInteger(time.timeMs), 'a time is a number')
  // Behind the second 59 comes the leap second, which the text does not show.
  const shown = Date.parse(time.offset === null ? `${time.text}Z` : time.text)
  hold([0, SECOND].includes(time.timeMs - shown), 'the text is the time')
  if (time.offset !== null) {
    const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(time.offset) ?? []
    hold(sign !== undefined && (Number(hours) * 60 + Number(minutes)) * MINUTE <= MAX_ZONE_MS, 'a zone that there is')
    hold(time.unreadableOffset === null, 'a zone is read or not')
  }
  return 'accepted'
}

// Digital source types.

const NAMES = [
  'trainedAlgorithmicMedia',
  'compositeSynthetic',
  'digitalCapture',
  'screenCapture',
  'digitalArt',
  'empty',
]
const TYPES = NAMES.flatMap((name) => [`http://cv.iptc.org/newscodes/digitalsourcetype/${name}`, `digsrctype:${name}`])

function writeType(dice: Dice): Written<string, string> {
  const name = dice.pick(NAMES)
  const spelled = dice.pick([name, name.toLowerCase(), name.toUpperCase()])
  const vocabulary = `${dice.pick(['http', 'https', 'HTTP'])}://${dice.pick(['cv.iptc.org', 'CV.IPTC.ORG'])}/newscodes/${dice.pick(['digitalsourcetype', 'DigitalSourceType'])}`
  const forms = [
    spelled,
    `digsrctype:${spelled}`,
    `${vocabulary}/${spelled}${dice.pick(['', '/', '//', '?lang=en', '/?lang=en', '#', '/#top'])}`,
    `${vocabulary}${dice.pick(['', '/'])}#${spelled}`,
    `${vocabulary}?lang=en#${spelled}`,
  ]
  return { input: dice.pick(['', ' ', '\n']) + dice.pick(forms) + dice.pick(['', ' ']), expected: name }
}

function readType({ input, expected }: Written<string, string>): string {
  const name = nameOfType(input)
  const kind = kindOfSource(input, null)
  hold(expected === undefined || name === expected, `${input} names ${expected}`)
  hold(nameOfType(name) === name && kindOfSource(name, null) === kind, 'a name names itself')
  // An edit by a model is not less than a part of one.
  if (kind === 'generated')
    hold(isGenerated(kindOfSource(input, 'c2pa.edited')), 'what a model made stays so in an edit')
  return kind === 'other' ? 'other' : 'accepted'
}

// X-Forwarded-For.

const PROXY = '10.0.0.1'
const TRUSTED = ['10.0.0.0/8', '2001:db8:1::/48']
const CLIENTS = ['203.0.113.7', '198.51.100.1', '2001:db8::7', '2001:db8:2::']
const PROXIES = ['10.0.0.9', '10.255.255.255', '2001:db8:1::9']
const HOPS = [
  '203.0.113.7, 10.0.0.2',
  '"[2001:db8::7]:443", 10.0.0.2:80',
  '::ffff:203.0.113.7',
  'unknown, _hidden',
  '203.0.113.7:1, [::1',
  Array<string>(40).fill('10.0.0.3').join(', '),
]
const addressOf = createClientAddress(TRUSTED)

/** A client behind trusted proxies, behind what the client itself sent: that may be anything. */
function writeHops(dice: Dice): Written<string[], string> {
  const form = (address: string) => {
    const port = dice.once(2) ? `:${dice.below(65_536)}` : ''
    const plain =
      isIP(address) === 6
        ? dice.pick([`[${address}]${port}`, `[${address}]`, address, address.toUpperCase()])
        : dice.pick([`${address}${port}`, `[::ffff:${address}]${port}`, `::ffff:${address}`])
    return dice.pick([plain, ` ${plain} `, `"${plain}"`])
  }
  const client = dice.pick(CLIENTS)
  const sent = Array.from({ length: dice.below(3) }, () =>
    mutateText(HOPS, dice, 200).toWellFormed().replaceAll('\n', ''),
  )
  const passed = [client, ...Array.from({ length: dice.below(4) }, () => dice.pick(PROXIES))].map(form)
  const hops = [...sent, ...passed]
  // Each proxy may begin a line of its own.
  const cut = dice.below(hops.length)
  return { input: [hops.slice(0, cut), hops.slice(cut)].flatMap((part) => part.join(',') || []), expected: client }
}

function readHops({ input: lines, expected }: Written<string[], string>): string {
  const read = (headers: string[]) =>
    addressOf({ headersDistinct: { 'x-forwarded-for': headers }, socket: { remoteAddress: PROXY } } as never)
  const address = read(lines)
  hold(isIP(address) !== 0, 'a caller has an address')
  hold(expected === undefined || address === expected, `${lines.join(' | ')} comes from ${expected}`)
  if (isListed(address, TRUSTED)) return 'proxy'
  hold(read(['192.0.2.66', ...lines]) === address, 'a line that the caller adds changes nothing')
  hold(read([`192.0.2.66,${lines.join(',')}`]) === address, 'nor do hops before those of the proxies')
  return 'accepted'
}
