import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonError } from '#client/verify/strict-json.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize, canonicalizeInSlices, type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { readVectors } from '../../../tools/vectors/file.ts'

const LIMITS = { maxBytes: 65_536, maxDepth: 32 }
const SEED = 20_261_120

it('parses the accepted vectors as JSON.parse does', () => {
  for (const { input } of readVectors<{ json: string }>('canonical/accepted').cases) {
    expect(parse(input.json)).toEqual(JSON.parse(input.json))
  }
})

describe('limits', () => {
  it('refuse one byte more than allowed, before parsing', () => {
    const bytes = Buffer.from('"1234"')
    expect(parseJson(bytes, { maxBytes: 6, maxDepth: 0 })).toBe('1234')
    expect(() => parseJson(bytes, { maxBytes: 5, maxDepth: 0 })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    )
  })

  it('count containers as depth', () => {
    expect(parseJson(Buffer.from('1'), { maxBytes: 9, maxDepth: 0 })).toBe(1)
    expect(() => parseJson(Buffer.from('[]'), { maxBytes: 9, maxDepth: 0 })).toThrow(Failure)
  })

  it('end a megabyte of brackets at the limit', () => {
    const failure = refusalOf(Buffer.alloc(1_000_000, '['), { maxBytes: 2_000_000, maxDepth: 1_000 })
    expect(failure.errors).toMatchObject([{ code: 'too_deep' }])
  })

  // Quadratic work takes hours here, and the test's own time-out ends it: no clock is read, the machines are noisy.
  it('give any two megabytes an answer', () => {
    const hostile = ['"\\u0041', '1,', '{"a":', '0', '\\', ' '].map((text) => text.repeat(2e6 / text.length))
    hostile.push(
      `1.${'0'.repeat(2e6)}1e30`,
      `1${'0'.repeat(2e6)}.0e1`,
      `"${'\\u0041'.repeat(3e5)}`,
      `[${'1e21,'.repeat(3e5)}1]`,
    )
    for (const text of hostile) {
      expect(() => parseJson(Buffer.from(text), { maxBytes: 3e6, maxDepth: 32 })).not.toThrow(RangeError)
    }
  })

  it('keep a hostile key out of the pointer', () => {
    const failure = refusalOf(Buffer.from(`{"a":{"${'k'.repeat(5_000)}":tru}}`))
    expect(failure.errors).toMatchObject([{ pointer: '/a', code: 'malformed' }])
  })
})

describe('objects', () => {
  it('have __proto__ as an ordinary member', () => {
    const parsed = parse('{"__proto__":{"isAdmin":true}}') as Record<string, Json>
    expect(Object.keys(parsed)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(parsed.isAdmin).toBeUndefined()
  })
})

it('writes a long list in many pieces, with the same text', async () => {
  const chunks = Array.from({ length: 2_000 }, (_, index) => ({ link: 'ab'.repeat(32), index, bytes: { total: 1 } }))
  const manifest: Json = { video_manifest: { chunks, chunk_count: 2_000 } }
  for (const value of [chunks, manifest, { bundle: manifest }]) {
    const pieces: string[] = []
    await canonicalizeInSlices(value, (text) => pieces.push(text))
    expect(pieces.join('')).toBe(canonicalize(value))
    expect(Math.max(...pieces.map((text) => text.length))).toBeLessThan(20_000)
  }
})

it('leaves the event loop to others while it writes a long list', async () => {
  const chunks = Array.from({ length: 40_000 }, (_, index) => ({ link: 'ab'.repeat(32), index }))
  let turns = 0
  const count = (): void => {
    turns += 1
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  await canonicalizeInSlices({ video_manifest: { chunks } }, () => {})
  clearImmediate(immediate)
  // Of 20 ms and more, in slices of 2 ms.
  expect(turns).toBeGreaterThan(2)
})

describe('canonicalize refuses', () => {
  const cycle: unknown[] = []
  cycle.push(cycle)
  const unwritable: [string, unknown][] = [
    ['NaN', Number.NaN],
    ['an infinity', [Number.NEGATIVE_INFINITY]],
    ['a lone surrogate', 'a\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['undefined', undefined],
    ['an undefined member', { a: undefined }],
    ['a hole', new Array(1)],
    ['a function', { a: () => 1 }],
    ['a bigint', 1n],
    ['a symbol', Symbol('a')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', Buffer.from('a')],
    ['a cycle', cycle],
  ]
  it.each(unwritable)('%s', (_name, value) => {
    expect(() => canonicalize(value as Json)).toThrow(JsonError)
  })
})

describe('properties', () => {
  const text = fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.stringify(value))
  const damaged = fc
    .tuple(
      text,
      fc.nat(),
      fc.constantFrom(...'{}[]",:\\0123456789eE+-.tfn \n\u0000\ud83d', '\\u', '\\ud800', '"a":1,', '--', '00'),
      fc.nat(2),
    )
    .map(
      ([whole, at, piece, cut]) =>
        whole.slice(0, at % (whole.length + 1)) + piece + whole.slice((at % (whole.length + 1)) + cut),
    )

  it('accepts nothing that JSON.parse refuses, and parses what it accepts with the same result', () => {
    fc.assert(
      fc.property(fc.oneof(text, damaged), (source) => {
        // Input arrives as bytes: a half pair that the damage made becomes U+FFFD here, as it would there.
        const bytes = Buffer.from(source)
        const theirs = attempt(() => JSON.parse(bytes.toString()))
        const ours = attempt(() => parseJson(bytes, LIMITS))
        if (ours.ok) expect(ours.value).toEqual(theirs.ok ? theirs.value : 'refused by JSON.parse')
        else if (theirs.ok) expect((ours.error as Failure).errors?.[0]?.code).not.toBe('malformed')
        else expect(ours.error).toMatchObject({ code: 'invalid_json' })
      }),
      { seed: SEED, numRuns: 5_000 },
    )
  })

  it('parses its own canonical text, and writes the same text again', () => {
    fc.assert(
      fc.property(text, (source) => {
        const first = attempt(() => parse(source))
        if (!first.ok) return
        const canonical = canonicalize(first.value)
        expect(canonicalize(parse(canonical))).toBe(canonical)
      }),
      { seed: SEED, numRuns: 2_000 },
    )
  })

  it('refuses every number that would change, and no other', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const isPlainInteger =
          Number.isInteger(number) && Math.abs(number) > Number.MAX_SAFE_INTEGER && Math.abs(number) < 1e21
        const result = attempt(() => parse(String(number)))
        expect(result.ok).toBe(!isPlainInteger)
        // String drops the sign of zero.
        if (result.ok) expect(result.value).toBe(number === 0 ? 0 : number)
      }),
      { seed: SEED, numRuns: 5_000 },
    )
  })

  it('writes sums beyond 2^53, which the numbers of a hostile manifest reach', () => {
    expect(canonicalize({ frames: Number.MAX_SAFE_INTEGER + 1 })).toBe('{"frames":9007199254740992}')
  })

  it('refuses a duplicate key at any depth and in any notation', () => {
    const key = fc.string({ unit: 'grapheme', maxLength: 5 }).filter((name) => name.isWellFormed())
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 4 }),
        key,
        fc.array(key, { maxLength: 4 }),
        fc.boolean(),
        (path, name, between, isEscaped) => {
          const spelled = isEscaped ? escaped(name) : JSON.stringify(name)
          const others = [...new Set(between)]
            .filter((other) => other !== name)
            .map((other) => `${JSON.stringify(other)}:0,`)
          let source = `{${JSON.stringify(name)}:1,${others.join('')}${spelled}:1}`
          for (const outer of path) source = `{${JSON.stringify(outer)}:${source}}`
          expect(refusalOf(Buffer.from(source)).errors).toMatchObject([{ code: 'duplicate_key' }])
        },
      ),
      { seed: SEED, numRuns: 500 },
    )
  })

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const result = attempt(() => parseJson(bytes, LIMITS))
        if (!result.ok) expect(result.error).toBeInstanceOf(Failure)
      }),
      { seed: SEED, numRuns: 2_000 },
    )
  })
})

const corpus = join(process.env.CORPUS ?? '', 'jcs')
const hasCorpus = process.env.CORPUS !== undefined && existsSync(corpus)

describe.skipIf(!hasCorpus)(`RFC 8785 test data${hasCorpus ? '' : ' (skipped: CORPUS is not set)'}`, () => {
  const names = hasCorpus ? readdirSync(join(corpus, 'input')) : []

  it(`has files (${names.length})`, () => expect(names.length).toBeGreaterThan(0))

  it.each(names)('%s', (name) => {
    const output = readFileSync(join(corpus, 'output', name))
    expect(canonicalize(parseJson(readFileSync(join(corpus, 'input', name)), LIMITS))).toBe(output.toString().trimEnd())
  })
})

function parse(source: string): Json {
  return parseJson(Buffer.from(source), LIMITS)
}

function refusalOf(bytes: Uint8Array, limits = LIMITS): Failure {
  try {
    parseJson(bytes, limits)
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('was accepted')
}

function attempt<Value>(work: () => Value): { ok: true; value: Value } | { ok: false; error: unknown } {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    return { ok: false, error }
  }
}

function escaped(name: string): string {
  let text = ''
  for (let i = 0; i < name.length; i += 1) text += `\\u${name.charCodeAt(i).toString(16).padStart(4, '0')}`
  return `"${text}"`
}
