import { createHash, randomBytes, randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLongStrings, LONG_STRING_BYTES } from '#src/platform/http/long-strings.ts'

const POINTER = '/media/data'
const BYTES = randomBytes(LONG_STRING_BYTES + 1_234)
const DATA = BYTES.toString('base64')

/** The body in chunks of these sizes, the last one repeated. */
function read(body: string | Buffer, ...sizes: number[]) {
  const bytes = Buffer.from(body)
  const long = createLongStrings()
  let size = sizes[0] ?? bytes.length
  for (let at = 0, index = 0; at < bytes.length; at += size, index += 1) {
    size = sizes[Math.min(index, sizes.length - 1)] ?? bytes.length
    long.push(bytes.subarray(at, at + size))
  }
  const rest = long.end()
  const [token] = long.taken.keys()
  const [taken] = long.taken.values()
  return { long, rest, token, bytes: taken === undefined ? undefined : Buffer.concat(taken.pieces), taken }
}
const placed = ({ long, rest }: ReturnType<typeof read>) => long.place(JSON.parse(rest.toString()), POINTER) as unknown
const withData = (data: string) => ({ media: { data }, n: 1, text: 'a "quoted\\" one \\' })

describe('long strings of a body', () => {
  it('are extracted and decoded, however the body is split', () => {
    const body = JSON.stringify(withData(DATA))
    const cuts = Array.from({ length: 40 }, () => Array.from({ length: 6 }, () => randomInt(1, 40_000)))
    for (const sizes of [[body.length], [1], [3], [7, 65_536], ...cuts]) {
      const found = read(body, ...sizes)
      expect(found.bytes?.equals(BYTES), String(sizes)).toBe(true)
      expect(found.taken?.sha256).toEqual(createHash('sha256').update(BYTES).digest())
      expect(found.taken?.byteLength).toBe(BYTES.length)
      expect(placed(found)).toEqual(withData(found.token ?? ''))
      expect(found.rest.length).toBeLessThan(300)
    }
  })

  it('may contain escapes that other languages write', () => {
    const bytes = Buffer.alloc(LONG_STRING_BYTES, 'ûïþÿ?>', 'latin1')
    const data = bytes.toString('base64')
    expect(data).toMatch(/\+.*\/|\/.*\+/)
    const spellings: [RegExp, string][] = [
      [/\//g, '\\/'],
      [/\+/g, '\\u002B'],
      [/[/]/g, '\\u002f'],
      [/=/g, '\\u003d'],
    ]
    for (const [pattern, spelling] of spellings) {
      const body = `{"media":{"data":"${data.replace(pattern, spelling)}"}}`
      for (const size of [body.length, 1_000, 4_097, 13]) {
        expect(read(body, size).bytes?.equals(bytes), `${spelling} ${size}`).toBe(true)
      }
    }
  })

  it('of any length are complete', () => {
    for (let more = 0; more < 9; more += 1) {
      const bytes = randomBytes(LONG_STRING_BYTES + more)
      expect(read(JSON.stringify(bytes.toString('base64')), 5_000).bytes?.equals(bytes), String(more)).toBe(true)
    }
  })

  it('that are not base64 are reported as invalid', () => {
    const middle = DATA.length / 2
    const changed = (text: string) => DATA.slice(0, middle) + text + DATA.slice(middle + text.length)
    const wrong = [
      changed('-'),
      changed('_'),
      changed(' '),
      changed('='),
      changed('ä'),
      changed('\\n'),
      changed('\\"'),
      changed('\\\\'),
      changed('\u0001'),
      `${DATA}A`,
      `${DATA.slice(0, -4)}A===`,
      `data:image/png;base64,${DATA}`,
      ' '.repeat(LONG_STRING_BYTES),
      '\\"'.repeat(LONG_STRING_BYTES),
    ]
    for (const [index, text] of wrong.entries()) {
      const found = read(`{"media":{"data":"${text}"}}`, 10_000)
      expect(found.taken, String(index)).toBeUndefined()
      expect(placed(found)).toEqual({ media: { data: '*' } })
    }
  })

  it('in other places are still too long, as values and as names', () => {
    const found = read(JSON.stringify({ media: [DATA], [DATA]: 1, reference: DATA }), 9_999)
    const value = placed(found) as { media: string[]; reference: string }
    expect(value.media[0]?.length).toBe(LONG_STRING_BYTES)
    expect(value.reference.length).toBe(LONG_STRING_BYTES)
    expect(Object.keys(value)).toHaveLength(3)
    expect(JSON.stringify(value)).not.toContain([...found.long.taken.keys()][0])
  })

  it('leave short ones, and text that is not JSON, unchanged', () => {
    const short = JSON.stringify(withData('A'.repeat(LONG_STRING_BYTES - 100)))
    for (const body of [short, '', '"', '{"a', 'nothing', '"\\', `{"a":${'"\\"'.repeat(50)}`]) {
      for (const size of [body.length || 1, 1, 10_007]) {
        const { rest, taken } = read(body, size)
        expect(rest.toString()).toBe(body)
        expect(taken).toBeUndefined()
      }
    }
  })

  it('are reported with their place in the body', () => {
    const body = JSON.stringify({ a: 1, media: { data: DATA }, b: 'x' })
    const { long, rest } = read(body, 30_000)
    expect(long.offsetOf(rest.indexOf('"a"'))).toBe(body.indexOf('"a"'))
    expect(long.offsetOf(rest.indexOf('"b"'))).toBe(body.indexOf('"b"'))
  })

  it('take linear time, whatever they contain', () => {
    for (const piece of ['\\"', '\\\\', '"",', 'A', '\\']) {
      const bestOf = (bytes: number) => {
        const body = Buffer.from(`["${piece.repeat(bytes / piece.length)}"]`)
        // The quickest of many: others that use the machine's caches slow a part of them down.
        const times = Array.from({ length: 12 }, () => {
          const startedAt = process.threadCpuUsage()
          read(body, 65_536)
          return process.threadCpuUsage(startedAt).user / 1_000
        })
        return Math.min(...times)
      }
      expect(bestOf(16_000_000) / Math.max(1, bestOf(2_000_000)), piece).toBeLessThan(32)
    }
  })
})
