import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLongStrings, LONG_STRING_BYTES } from '#src/platform/http/long-strings.ts'
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
  })
})

it('gives bytes in parts', () => {
  const pieces = [randomBytes(10), randomBytes(4), randomBytes(1)]
  const parts = [...partsOf({ byteLength: 15, pieces }, 4)]
  expect(parts.map(({ byteLength }) => byteLength)).toEqual([4, 4, 2, 4, 1])
  expect(Buffer.concat(parts).equals(Buffer.concat(pieces))).toBe(true)
})
