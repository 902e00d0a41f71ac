import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Components, type Direction, hoist } from '#src/platform/http/openapi-schema.ts'
import { jsonObject, several } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'

function schemaOf(schema: z.ZodType, io: Direction = 'output') {
  const schemas: Components = {}
  const described = hoist(schema, io, { name: 'Whole', schemas })
  return { described, schemas }
}

const thing = z.object({ thing_id: z.string(), note: z.string().nullable() }).meta({ id: 'Thing' })

describe('a shape that extends another', () => {
  const shown = extended(thing, { token: z.string(), hint: z.string().optional() }, { id: 'CreatedThing' })

  it('is an allOf of the other component and its own members', () => {
    const { schemas } = schemaOf(shown)
    expect(schemas.CreatedThing).toEqual({
      allOf: [
        { $ref: '#/components/schemas/Thing' },
        {
          type: 'object',
          properties: { token: { type: 'string' }, hint: { type: 'string' } },
          required: ['token'],
        },
      ],
    })
    expect(schemas.Thing).toMatchObject({ type: 'object', required: ['thing_id', 'note'] })
  })

  it('guards answers as one object: members of both pass, and nothing else', () => {
    const row = { thing_id: 'x', note: null, token: 't', secret: 's' }
    expect(shown.parse(row)).toEqual({ thing_id: 'x', note: null, token: 't' })
    expect(shown.safeParse({ thing_id: 'x', token: 't' }).success).toBe(false)
  })

  it('extends extended shapes, inside of others too', () => {
    const twice = extended(shown, { more: z.number() }, { id: 'TwiceThing' })
    const { schemas } = schemaOf(z.object({ things: z.array(twice) }))
    expect(Object.keys(schemas).sort()).toEqual(['CreatedThing', 'Thing', 'TwiceThing', 'Whole'])
    expect(schemas.TwiceThing).toMatchObject({ allOf: [{ $ref: '#/components/schemas/CreatedThing' }, {}] })
  })

  it('is no request, and extends nothing without a name', () => {
    expect(() => schemaOf(shown, 'input')).toThrow(/refuses what it does not declare/)
    expect(() => schemaOf(extended(z.object({ a: z.string() }), {}, { id: 'Nameless' }))).toThrow(/needs an id/)
  })
})

describe('schemas of the document', () => {
  const cases: [what: string, schema: z.ZodType, io: Direction, expected: object][] = [
    ['a time of an answer', timestampView, 'output', { type: 'string', format: 'date-time' }],
    ['a free-form object', jsonObject, 'input', { type: 'object', additionalProperties: true }],
    ['a map', z.record(z.string(), z.unknown()), 'output', { type: 'object', additionalProperties: true }],
    [
      'a map of texts',
      z.record(z.string(), z.string()),
      'output',
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    [
      'a custom object',
      z.custom<object>().meta({ type: 'object' }),
      'output',
      { type: 'object', additionalProperties: true },
    ],
    ['a member with a default', z.number().default(5), 'input', { type: 'number', description: 'Default: `5`.' }],
    [
      'a member whose description says its default',
      z.number().default(5).describe('5 when absent.'),
      'input',
      { type: 'number', description: '5 when absent.' },
    ],
    [
      'what is signed',
      z.object({}).meta({ verbatim: true }),
      'output',
      { type: 'object', properties: {}, 'x-verbatim': true },
    ],
  ]
  it.each(cases)('describe %s', (_, schema, io, expected) => {
    expect(schemaOf(schema, io).schemas.Whole).toEqual(expected)
  })

  it('say that bytes are base64, and name no format for it', () => {
    const { schemas } = schemaOf(z.base64(), 'input')
    expect(schemas.Whole).toMatchObject({ type: 'string', contentEncoding: 'base64' })
    expect(schemas.Whole).not.toHaveProperty('format')
  })

  it('have a list of values where a filter takes several', () => {
    const { schemas } = schemaOf(several(z.enum(['open', 'closed'])), 'input')
    expect(schemas.Whole).toMatchObject({
      type: 'array',
      items: { enum: ['open', 'closed'] },
      minItems: 1,
      maxItems: 20,
    })
  })
})
