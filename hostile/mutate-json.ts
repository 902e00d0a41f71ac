// Mutations of JSON with knowledge of its structure: members that are missing, unknown, too many, of another type or
// too deep, and text that parsers read differently.

import { mutateBytes } from './mutate-bytes.ts'
import type { Dice } from './random.ts'

/** Text that is written into the JSON unchanged. */
interface Raw {
  raw: string
}
type Node = null | boolean | number | string | Node[] | Raw | { members: [name: string, value: Node][] }

/** One of the seeds (JSON texts) after one to three changes of its structure, sometimes of its bytes too. */
export function mutateJson(seeds: readonly Buffer[], dice: Dice): Buffer {
  const root = { root: parse(dice.pick(seeds)) }
  for (let left = 1 + dice.below(3); left > 0; left -= 1) change(root, dice)
  const text = Buffer.from(write(root.root), 'utf8')
  return dice.once(5) ? mutateBytes([text, ...seeds], dice) : text
}

/** Returns lines: most of them mutated, in any order, with some empty or broken ones. */
export function mutateLines(seeds: readonly Buffer[], dice: Dice): Buffer {
  const lines = Array.from({ length: 1 + dice.below(4) }, () =>
    dice.once(4) ? dice.pick(seeds) : withoutBreaks(mutateJson(seeds, dice)),
  )
  const text = Buffer.concat(
    lines.flatMap((line) => [line, Buffer.from(dice.pick(['\n', '\n', '\r\n', '\n\n', ' \n']))]),
  )
  return dice.once(6) ? mutateBytes([text, ...seeds], dice) : text
}

/** Returns the seeds as the elements of one array. */
export function mutateArray(seeds: readonly Buffer[], dice: Dice): Buffer {
  const elements = Array.from({ length: 1 + dice.below(4) }, () =>
    dice.once(4) ? dice.pick(seeds) : mutateJson(seeds, dice),
  )
  const text = Buffer.from(`[${elements.join(dice.pick([',', ',', ' ,\n', ',,']))}]`)
  return dice.once(4) ? mutateBytes([text, ...seeds], dice) : text
}

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e-999',
  '1e-400',
  '-0.1e-399',
  '0e-999',
  '5e-324',
  '9007199254740993',
  '1e21',
  '1E400',
  '90.0000000001',
  '00',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(2_000)}`,
  '2147483648',
].map((raw) => ({ raw }))
const TEXTS: readonly Node[] = [
  '',
  ' ',
  '\u0000',
  '\u202Eabc',
  '\uFEFFa',
  '\u200B',
  'a\nb',
  '😀',
  'ﷺ'.repeat(300),
  'é',
  'e\u0301',
  '\uFFFF',
  '__proto__',
  'constructor',
  'null',
  '-1',
  "'; DROP TABLE claims; --",
  '%s%n',
  '../../etc/passwd',
  '=cmd()',
  '<script>',
  { raw: '"\\ud800"' },
  { raw: '"\\udc00\\ud800"' },
  { raw: '"\\u0000"' },
  { raw: '"\\x"' },
  { raw: '"\\u12"' },
  { raw: "'a'" },
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '2026-02-30T00:00:00Z',
  '2026-11-20T10:00:60Z',
  '2026-11-20T10:00:00.123456789123456789Z',
  '2026-11-20',
  'YQ==',
  'YQ',
  'YR==',
  '-_-_',
  'https://127.0.0.1/',
  'http://[::1]/',
  'file:///etc/passwd',
]

function hostile(dice: Dice): Node {
  switch (dice.below(8)) {
    case 0:
      return null
    case 1:
      return dice.once(2)
    case 2:
      return dice.pick(NUMBERS)
    case 3:
      return []
    case 4:
      return { members: [] }
    case 5:
      return 'a'.repeat(dice.pick([65, 256, 1_025, 70_000]))
    case 6:
      return nested(dice)
    default:
      return dice.pick(TEXTS)
  }
}

function nested(dice: Dice): Node {
  const depth = dice.pick([10, 31, 33, 1_000, 20_000])
  const [open, close] = dice.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ] as const)
  return { raw: open.repeat(depth) + (dice.once(4) ? '' : `1${close.repeat(depth)}`) }
}

type Holder = { root: Node }
interface Place {
  get(): Node
  set(value: Node): void
  remove?(): void
}

function change(holder: Holder, dice: Dice): void {
  const all = places(holder)
  const place = dice.pick(all)
  const node = place.get()
  switch (dice.below(9)) {
    case 0:
      place.remove?.()
      return
    case 1:
    case 2:
      place.set(hostile(dice))
      return
    case 3:
      place.set(structuredClone(dice.pick(all).get()))
      return
    case 4:
      place.set(dice.once(2) ? [node] : { members: [['value', node]] })
      return
    case 5:
      if (typeof node === 'string') place.set(mutateText(node, dice))
      else place.set(dice.pick(NUMBERS))
      return
    case 6:
      if (isObject(node)) addMembers(node, dice)
      return
    case 7:
      // A name twice: two parsers may use two different values.
      if (isObject(node) && node.members.length > 0) node.members.push([dice.pick(node.members)[0], hostile(dice)])
      return
    default:
      if (Array.isArray(node)) place.set(Array<Node>(dice.pick([9, 100, 3_000, 50_000])).fill(node[0] ?? hostile(dice)))
      else if (isObject(node) && node.members.length > 0) dice.pick(node.members)[0] = String(dice.pick(NAMES))
  }
}

const NAMES = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'a/b~c',
  '\u0000',
  'A'.repeat(5_000),
  'Media',
  'ｍedia',
  '\u202E',
]

function addMembers(node: { members: [string, Node][] }, dice: Dice): void {
  const count = dice.pick([1, 1, 1, 2_000])
  for (let index = 0; index < count; index += 1) {
    node.members.push([count === 1 ? dice.pick(NAMES) : `member${index}`, count === 1 ? hostile(dice) : index])
  }
}

function mutateText(text: string, dice: Dice): Node {
  const at = dice.below(text.length + 1)
  const piece = dice.pick(TEXTS)
  const middle = typeof piece === 'string' ? piece : '\u0000'
  switch (dice.below(4)) {
    case 0:
      return text.slice(0, at) + middle + text.slice(at)
    case 1:
      return text.slice(0, at)
    case 2:
      return text.repeat(dice.pick([2, 40]))
    default:
      return text.slice(0, at) + String.fromCharCode(dice.below(0xd800)) + text.slice(at + 1)
  }
}

function places(holder: Holder): Place[] {
  const found: Place[] = [
    {
      get: () => holder.root,
      set: (value) => {
        holder.root = value
      },
    },
  ]
  const walk = (node: Node): void => {
    // A value that was made huge is not walked through.
    if (found.length > 500) return
    if (Array.isArray(node)) {
      node.forEach((item, index) => {
        found.push({
          get: () => item,
          set: (value) => {
            node[index] = value
          },
          remove: () => void node.splice(index, 1),
        })
        walk(item)
      })
    } else if (isObject(node)) {
      for (const member of node.members) {
        found.push({
          get: () => member[1],
          set: (value) => {
            member[1] = value
          },
          remove: () => void node.members.splice(node.members.indexOf(member), 1),
        })
        walk(member[1])
      }
    }
  }
  walk(holder.root)
  return found
}

function isObject(node: Node): node is { members: [string, Node][] } {
  return typeof node === 'object' && node !== null && 'members' in node
}

function parse(text: Buffer): Node {
  const convert = (value: unknown): Node => {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null) return value as Node
    return { members: Object.entries(value).map(([name, member]) => [name, convert(member)]) }
  }
  return convert(JSON.parse(text.toString('utf8')))
}

const MAX_TEXT = 512 * 1024

// Repeated doubling ends where a body would be too large anyway.
function write(root: Node): string {
  let left = MAX_TEXT
  const one = (node: Node): string => {
    left -= 8
    if (left < 0) return '0'
    if (Array.isArray(node)) return `[${node.map(one).join(',')}]`
    if (typeof node === 'object' && node !== null) {
      if ('members' in node)
        return `{${node.members.map(([name, value]) => `${JSON.stringify(name)}:${one(value)}`).join(',')}}`
      left -= node.raw.length
      return node.raw
    }
    const text = JSON.stringify(node)
    left -= text.length
    return text
  }
  return one(root)
}

function withoutBreaks(json: Buffer): Buffer {
  return Buffer.from(json.toString('latin1').replaceAll('\n', ' '), 'latin1')
}
