import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInPieces } from '#client/verify/json-scan.ts'
import { Failure } from '#src/failure.ts'
import { type Json, parseJson, parseJsonInSlices } from '#src/platform/crypto/canonical.ts'

const LIMITS = { maxBytes: 8 * 1024 * 1024, maxDepth: 32, maxMembers: 1_000, maxElements: 10_000 }
const SEED = 20_261_122

describe('a long text in pieces', () => {
  it('is interrupted often, whether it has many values or one', () => {
    expect(pausesOf(JSON.stringify(manifest()))).toBeGreaterThan(40)
    expect(pausesOf(JSON.stringify({ bundle: { video_manifest: manifest() } }))).toBeGreaterThan(40)
    expect(pausesOf(JSON.stringify({ one: 'x'.repeat(1e6), other: 1 }))).toBeGreaterThan(25)
    const escapes = '\\u0041'.repeat(200_000)
    for (const text of [`"${escapes}"`, `["${escapes}"]`, `{"${escapes}":1}`]) {
      expect(pausesOf(text)).toBeGreaterThan(25)
      expect(parsedFrom(text)).toEqual(JSON.parse(text))
    }
  })

  it('reads a string that is interrupted at any of its characters', () => {
    const character = fc.constantFrom('x', '"', '\\', '\n', '\0', 'é', '😀')
    fc.assert(
      fc.property(fc.array(character, { minLength: 10, maxLength: 40 }), fc.nat(40), (tail, shift) => {
        const string = `${'x'.repeat(32_700 + shift)}${tail.join('')}`
        const escaped = JSON.stringify(string).replaceAll('é', '\\u00e9')
        expect(parsedFrom(`[${escaped}]`)).toEqual([string])
        expect(parsedFrom(`{${escaped}:${escaped}}`)).toEqual({ [string]: string })
      }),
      { seed: SEED, numRuns: 100 },
    )
  })

  it('has the same value as when it is parsed at once', () => {
    // Long and short containers next to each other, at any depth, with whitespace.
    const long = fc
      .integer({ min: 200, max: 3_000 })
      .map((count) => Array.from({ length: count }, () => 'twelve bytes'))
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', maxDepth: 5 },
        (fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>).map(portable),
        long,
        fc.array(tie('value')),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'constructor')), tie('value')),
      ),
    }))
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n\t'), (json, space) => {
        const text = JSON.stringify([json, Array(3_000).fill('padding of a dozen'), json], null, space)
        const pieces = parsedFrom(text)
        expect(pieces).toEqual(JSON.parse(text))
        expect(JSON.stringify(pieces)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { seed: SEED, numRuns: 25 },
    )
  })

  it('has __proto__ as an ordinary member', () => {
    const text = `{"pad":"${'x'.repeat(40_000)}","__proto__":{"isAdmin":true},"more":"${'x'.repeat(40_000)}"}`
    const parsed = parsedFrom(text) as Record<string, Json>
    expect(Object.keys(parsed)).toEqual(['pad', '__proto__', 'more'])
    expect(parsed.isAdmin).toBeUndefined()
  })

  const pad = JSON.stringify(Array(5_000).fill('padding'))
  const refused: [string, string][] = [
    ['a name that was used before a long member', `{"a":1,"b":${pad},"a":2}`],
    ['a malformed end', `{"a":${pad},"b":tru}`],
    ['text behind the value', `${pad}1`],
    ['a lone surrogate', `[${pad},"\\ud800"]`],
    ['33 levels', `[${pad},${'['.repeat(33)}`],
    ['a thousand and one members', `[${pad},{${Array.from({ length: 1_001 }, (_, at) => `"${at}":1`).join(',')}}]`],
    ['ten thousand and one elements', `[${pad},[${'1,'.repeat(10_000)}1]]`],
    ['a short escape that does not exist', `[${pad},"\\x"]`],
    ['an escape without its digits', `[${pad},"\\u12G4"]`],
    ['a long string without its end', `[${pad},"${'x'.repeat(100_000)}`],
    ['a wrong escape late in a long string', `[${pad},"${'\\u0041'.repeat(30_000)}\\x"]`],
    ['a long name that was used before', `{"${'x'.repeat(100_000)}":1,"${'x'.repeat(100_000)}":2}`],
    ['half of a surrogate pair at the end of a piece', `["${'x'.repeat(32_764)}\\ud83d","${'x'.repeat(40_000)}"]`],
  ]
  it.each(refused)('is refused for %s, as when it is parsed at once', async (_name, text) => {
    const bytes = Buffer.from(text)
    const whole = await refusalOf(async () => parseJson(bytes, LIMITS))
    const sliced = await refusalOf(() => parseJsonInSlices(bytes, LIMITS))
    expect(sliced.errors).toEqual(whole.errors)
    expect(sliced.code).toBe(whole.code)
  })

  it('names every place with U+0000, in values and in names', () => {
    const found: [string, boolean][] = []
    const onNul = (pointer: string, isName: boolean) => found.push([pointer, isName])
    const text = `{"a":["x","\\u0000 \\u0000"],"b":{"c\\u0000":{"d":1}},"e":"\\\\u0000"}`
    parseJson(Buffer.from(text), { ...LIMITS, onNul })
    expect(found).toEqual([
      ['/a/1', false],
      ['/b', true],
    ])
  })
})

// I-JSON refuses numbers without an exact place in a double.
function portable(json: Json): Json {
  return JSON.parse(JSON.stringify(json, (_, one) => (typeof one === 'number' && Math.abs(one) > 1e15 ? 1 : one)))
}

function manifest() {
  const digest = 'a'.repeat(64)
  const chunks = Array.from({ length: 10_000 }, (_, index) => ({ index, sha256: digest, bytes: 1_000, link: digest }))
  return { chunk_count: 10_000, chunks, last_link: digest }
}

function pausesOf(text: string): number {
  return [...parseInPieces(text, LIMITS)].length
}

function parsedFrom(text: string): Json {
  const pieces = parseInPieces(text, { maxDepth: 32 })
  for (;;) {
    const step = pieces.next()
    if (step.done === true) return step.value
  }
}

async function refusalOf(parse: () => Promise<Json>): Promise<Failure> {
  const outcome = await parse().catch((error: unknown) => error)
  if (!(outcome instanceof Failure)) throw new Error('it was accepted')
  return outcome
}
