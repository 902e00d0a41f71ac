import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { several } from '#src/platform/http/params.ts'
import { parseQuery, parseWith } from '#src/platform/http/validate.ts'

function findings(schema: z.ZodType, value: unknown): string[] {
  const parsed = parseWith(schema, value, 'body')
  return parsed.ok ? [] : parsed.errors.map(({ pointer, code }) => `${pointer} ${code}`)
}

function detailOf(schema: z.ZodType, value: unknown): string | undefined {
  const parsed = parseWith(schema, value, 'body')
  return parsed.ok ? undefined : parsed.errors[0]?.detail
}

const media = z.union([
  z.strictObject({ media_id: z.string() }),
  z.strictObject({ content_type: z.enum(['image/jpeg', 'image/png']), data: z.string() }),
])

describe('the validation of a body', () => {
  const cases: [name: string, schema: z.ZodType, value: unknown, expected: string[]][] = [
    ['a missing field', z.object({ a: z.string() }), {}, ['/a required']],
    ['a missing enum', z.object({ a: z.enum(['x']) }), {}, ['/a required']],
    ['null for a string', z.object({ a: z.string() }), { a: null }, ['/a invalid_type']],
    ['a float for an integer', z.object({ a: z.int() }), { a: 1.5 }, ['/a invalid_type']],
    ['a value out of an enum', z.object({ a: z.enum(['x', 'y']) }), { a: 'z' }, ['/a invalid_value']],
    [
      'numbers out of range',
      z.tuple([z.number().min(1), z.number().max(5)]),
      [0, 6],
      ['/0 out_of_range', '/1 out_of_range'],
    ],
    ['strings', z.tuple([z.string().min(2), z.string().max(2)]), ['a', 'abc'], ['/0 too_short', '/1 too_long']],
    [
      'arrays',
      z.tuple([z.array(z.int()).min(2), z.array(z.int()).max(1)]),
      [[1], [1, 2]],
      ['/0 too_few', '/1 too_many'],
    ],
    [
      'formats',
      z.tuple([z.iso.datetime(), z.base64(), z.url()]),
      ['x', '!', '?'],
      ['/0 invalid_format', '/1 invalid_format', '/2 invalid_format'],
    ],
    ['steps', z.number().multipleOf(2), 3, [' not_multiple_of']],
    ['the wrong type of what has a length, once', z.string().trim().min(1), [], [' invalid_type']],
    [
      'a missing member of a type of our own',
      z.object({
        a: z.custom((value) => value !== undefined, { message: 'must be it', params: { code: 'invalid_type' } }),
      }),
      {},
      ['/a required'],
    ],
    ['unknown fields, each', z.strictObject({}), { b: 1, a: 2 }, ['/b unknown_field', '/a unknown_field']],
    ['a name with a slash and a tilde', z.strictObject({}), { 'a/b~c': 1 }, ['/a~1b~0c unknown_field']],
    [
      'a code of the schema',
      z.string().refine(() => false, { params: { code: 'not_hex' }, message: 'must be hex' }),
      'x',
      [' not_hex'],
    ],
    ['a refinement without words', z.string().refine(() => false), 'x', [' invalid_value']],
    ['a bad key of a record', z.record(z.string().max(1), z.int()), { ab: 1 }, ['/ab too_long']],
    [
      'a union by its discriminator',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.int() })]),
      { k: 'b' },
      ['/k invalid_value'],
    ],
    [
      'the member that was meant',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.int() })]),
      { k: 'a' },
      ['/n required'],
    ],
    ['a union of types', z.union([z.string(), z.int()]), true, [' invalid_type']],
    ['a missing union', z.object({ a: z.union([z.string(), z.int()]) }), {}, ['/a required']],
    [
      'a union of objects, one field short',
      z.object({ media }),
      { media: { content_type: 'image/png' } },
      ['/media/data required'],
    ],
    [
      'a union of objects, one value wrong',
      media,
      { content_type: 'image/gif', data: 'x' },
      ['/content_type invalid_value'],
    ],
    ['a union of objects, given a string', media, 'x', [' invalid_type']],
    [
      'a union inside a union',
      z.union([z.array(z.union([z.string(), z.int()])), z.int()]),
      [true],
      ['/0 invalid_type'],
    ],
  ]
  it.each(cases)('reports %s', (_name, schema, value, expected) => {
    expect(findings(schema, value)).toEqual(expected)
  })

  it('describes what is expected', () => {
    expect(detailOf(z.number().min(-90), -91)).toBe('must be at least -90')
    expect(detailOf(z.number().gt(0), 0)).toBe('must be more than 0')
    expect(detailOf(z.string().min(1), '')).toBe('must have at least 1 character')
    expect(detailOf(z.array(z.int()).min(1), [])).toBe('must have at least 1 item')
    expect(detailOf(z.string().length(3), 'ab')).toBe('must have exactly 3 characters')
    expect(detailOf(z.enum(['a', 'b', 'c']), 'd')).toBe('must be "a", "b" or "c"')
    expect(detailOf(z.union([z.string(), z.int()]), true)).toBe('must be a string, or must be a number')
    expect(detailOf(z.object({}), undefined)).toContain('JSON body')
    expect(detailOf(z.string().regex(/^a/, 'must begin with a'), 'b')).toBe('must begin with a')
    expect(detailOf(z.date().min(new Date(0)), new Date(-1))).toBe('must not be before 1970-01-01T00:00:00.000Z')
  })

  it.each([
    ['a member with defaults', (inner: z.ZodType) => inner.prefault({})],
    ['a member that refers to itself', (inner: z.ZodType) => z.lazy(() => inner)],
  ])('lists the names that are known in %s', (_what, wrapped) => {
    const parsed = parseWith(
      z.object({ a: wrapped(z.strictObject({ x: z.int().optional() })) }),
      { a: { b: 1 } },
      'body',
    )
    expect(parsed).toMatchObject({ errors: [{ pointer: '/a/b', detail: expect.stringContaining('members are x') }] })
  })

  it('never echoes a value', () => {
    const secret = 'hunter2-hunter2'
    for (const schema of [z.int(), z.enum(['a']), z.url(), z.strictObject({}), media, z.array(z.int())]) {
      expect(JSON.stringify(parseWith(schema, secret, 'body'))).not.toContain(secret)
      expect(JSON.stringify(parseWith(schema, [secret], 'body'))).not.toContain(secret)
    }
  })

  it('stops at a hundred errors, and shortens a pointer that is longer than a page', () => {
    const many = parseWith(z.array(z.int()), Array(5_000).fill('x'), 'body')
    expect(many.ok ? 0 : many.errors.length).toBe(100)
    const names = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`n${i}`, 1]))
    const unknown = parseWith(z.strictObject({}), names, 'body')
    expect(unknown.ok ? 0 : unknown.errors.length).toBe(100)
    const long = parseWith(z.strictObject({}), { ['a'.repeat(1_000_000)]: 1 }, 'body')
    expect(JSON.stringify(long).length).toBeLessThan(1_000)
  })

  it('reports at least one error for any invalid value', () => {
    const schema = z.strictObject({
      id: z.string(),
      media,
      gps: z.object({ lat: z.number().min(-90).max(90) }).optional(),
    })
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = parseWith(schema, value, 'body')
        if (!parsed.ok) for (const error of parsed.errors) expect(error.pointer).toMatch(/^(?:\/|$)/)
        return parsed.ok || parsed.errors.length > 0
      }),
      { numRuns: 500, seed: 1 },
    )
  })
})

describe('the validation of a query string', () => {
  const schema = z.object({ q: z.string().optional(), n: z.string().optional() }).strict()

  it.each([
    ['', {}],
    ['q=a+b%20c', { q: 'a b c' }],
    ['q=a&&n=', { q: 'a', n: '' }],
    ['q', { q: '' }],
    ['q=a=b', { q: 'a=b' }],
  ])('parses %j', (search, value) => {
    expect(parseQuery(schema, search)).toEqual({ ok: true, value })
  })

  it('takes several values only where the filter does, in one order and each once', () => {
    const filter = z
      .object({ status: several(z.enum(['open', 'closed'])).optional(), q: z.string().optional() })
      .strict()
    expect(parseQuery(filter, 'status=open')).toEqual({ ok: true, value: { status: ['open'] } })
    expect(parseQuery(filter, 'status=open&status=closed&status=open')).toEqual({
      ok: true,
      value: { status: ['closed', 'open'] },
    })
    expect(parseQuery(filter, 'status=open&status=lost&q=a&q=b')).toMatchObject({
      ok: false,
      errors: [
        { pointer: '?q', code: 'duplicate' },
        { pointer: '?status', code: 'invalid_value' },
      ],
    })
  })

  it('never throws, and never accepts an undeclared parameter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (search) => {
        const parsed = parseQuery(schema, search)
        return !parsed.ok || Object.keys(parsed.value as object).every((name) => name === 'q' || name === 'n')
      }),
      { numRuns: 1_000, seed: 1 },
    )
  })
})
