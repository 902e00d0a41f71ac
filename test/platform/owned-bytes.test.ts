import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Failure } from '#src/failure.ts'
import { createFairBudget } from '#src/platform/fair-budget.ts'
import { readJson } from '#src/platform/http/body.ts'
import { createLongStrings, LONG_STRING_BYTES } from '#src/platform/http/long-strings.ts'
import { DEFAULT_MINIMUM_RATE } from '#src/platform/http/minimum-rate.ts'
import { freeBytes, joinBytes, partsOf } from '#src/platform/owned-bytes.ts'

const KIB = 1024
// Not of a pool of Node's: as the chunks of a body.
const ownBytes = (length: number) => Buffer.from(new Uint8Array(randomBytes(length)).buffer)

describe('bytes that are freed', () => {
  it('have no length afterwards', () => {
    const bytes = ownBytes(64 * KIB)
    freeBytes(bytes)
    expect(bytes.byteLength).toBe(0)
  })

  it('stay where others share their memory, or may', () => {
    const whole = ownBytes(64 * KIB)
    const part = whole.subarray(0, 32 * KIB)
    const small = Buffer.from('a slice of the pool')
    for (const bytes of [part, small]) {
      const before = Buffer.from(bytes)
      freeBytes(bytes)
      expect(bytes.equals(before)).toBe(true)
    }
    expect(whole.byteLength).toBe(64 * KIB)
  })

  it('are those of chunks that were joined, and not those of the only one', () => {
    const chunks = [ownBytes(64 * KIB), Buffer.from('rest'), ownBytes(16 * KIB)]
    const whole = Buffer.concat(chunks)
    expect(joinBytes(chunks).equals(whole)).toBe(true)
    expect(chunks.map(({ byteLength }) => byteLength)).toEqual([0, 4, 0])

    const only = ownBytes(64 * KIB)
    expect(joinBytes([only])).toBe(only)
    expect(only.byteLength).toBe(64 * KIB)
    expect(joinBytes([])).toHaveLength(0)
  })

  it('are those of a chunk in the middle of a long string, and of no chunk with anything else', () => {
    const data = randomBytes(3 * LONG_STRING_BYTES)
    const body = Buffer.from(JSON.stringify({ media: { data: data.toString('base64') }, text: 'after it' }))
    const long = createLongStrings()
    const chunks: Buffer[] = []
    for (let at = 0; at < body.length; at += LONG_STRING_BYTES) {
      const part = body.subarray(at, at + LONG_STRING_BYTES)
      const chunk = ownBytes(part.length)
      part.copy(chunk)
      chunks.push(chunk)
      long.push(chunk)
    }
    const kept = chunks.map(({ byteLength }) => byteLength > 0)
    expect(kept.at(0)).toBe(true)
    expect(kept.slice(2, -1)).toEqual(kept.slice(2, -1).map(() => false))
    expect(kept.length).toBeGreaterThan(3)
    expect(kept.at(-1)).toBe(true)

    const [taken] = long.taken.size > 0 ? [...long.taken.values()] : []
    const [token] = [...long.taken.keys()]
    expect(JSON.parse(long.end().toString())).toEqual({ media: { data: token }, text: 'after it' })
    expect(taken && Buffer.concat(taken.pieces).equals(data)).toBe(true)
    expect(chunks.every(({ byteLength }) => byteLength === 0 || byteLength < 16 * KIB)).toBe(true)
  })

  it('are all of a body that is refused', () => {
    const long = createLongStrings()
    const chunks = [`{"a":"${'A'.repeat(2 * LONG_STRING_BYTES)}","b":"`, 'A'.repeat(2 * LONG_STRING_BYTES)].map(
      (text) => {
        const chunk = ownBytes(text.length)
        chunk.write(text)
        long.push(chunk)
        return chunk
      },
    )
    const pieces = [...long.taken.values()].flatMap((one) => one.pieces)
    expect(pieces.some(({ byteLength }) => byteLength > 0)).toBe(true)
    long.discard()
    expect([...chunks, ...pieces].filter(({ byteLength }) => byteLength >= 16 * KIB)).toEqual([])
  })

  it('are those of a string that turns out at its end not to be base64', () => {
    const long = createLongStrings()
    const chunk = ownBytes(8 * 1024 * KIB)
    chunk.fill('A')
    chunk.write('"')
    long.push(chunk)
    const before = process.memoryUsage().arrayBuffers
    long.push(Buffer.from('*"'))
    expect(long.taken.size).toBe(0)
    expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(4 * 1024 * KIB)
  })

  it.each([
    ['is no JSON', '{"a":', 'invalid_json'],
    ['is longer than its account may send', '', 'service_unavailable'],
  ])('are those of a body that %s', async (_, end, code) => {
    const seen: Buffer[] = []
    const server = createServer(async (req, res) => {
      const hold = { ...createFairBudget(1).open('account'), take: () => end !== '' || seen.length < 2 }
      const tap = { chunk: (bytes: Buffer) => void seen.push(bytes), end: () => {} }
      const options = { maxBytes: 1024 * KIB, pace: DEFAULT_MINIMUM_RATE, hold, tap, maxValues: 10 }
      const error = await readJson(req, res, options).catch((reason: unknown) => reason)
      res.end((error as Failure).code)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: `"${'a'.repeat(512 * KIB)}"${end}`,
    })
    expect(await answer.text()).toBe(code)
    const kept = code === 'invalid_json' ? seen : seen.slice(0, 1)
    expect(kept.filter(({ byteLength }) => byteLength >= 16 * KIB)).toEqual([])
  })
})

it('gives bytes in parts', () => {
  const pieces = [randomBytes(10), randomBytes(4), randomBytes(1)]
  const parts = [...partsOf({ byteLength: 15, pieces }, 4)]
  expect(parts.map(({ byteLength }) => byteLength)).toEqual([4, 4, 2, 4, 1])
  expect(Buffer.concat(parts).equals(Buffer.concat(pieces))).toBe(true)
})
