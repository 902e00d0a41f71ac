import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EVENT_DATA, EVENT_TYPES } from '#src/catalogue/events.ts'
import { notesOf } from '#src/docs/notes.ts'
import { call, startApp, type TestApp } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

interface Entry {
  type: string
  is_sent: boolean
  data_schema: object | null
  envelope_schema: object | null
  example: { data: object } | null
}

const services = makeServices()
let app: TestApp
let entries: Entry[]
beforeAll(async () => {
  app = await startApp(routesOf(services), { notes: notesOf(services.features) })
  entries = (await call(app, '/v1/event-types')).json.data as unknown as Entry[]
})
afterAll(async () => {
  await app.close()
  await services.close()
})

it('the catalogue has every type, and the schema of each that is sent accepts its example and refuses another member', () => {
  expect(entries.map(({ type }) => type)).toEqual(Object.keys(EVENT_TYPES))
  expect(
    entries
      .filter((entry) => entry.is_sent)
      .map(({ type }) => type)
      .sort(),
  ).toEqual(Object.keys(EVENT_DATA).sort())
  // Another implementation of JSON Schema than the one that wrote them.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { 'date-time': true } })
  for (const { type, data_schema, envelope_schema, example } of entries.filter((entry) => entry.is_sent)) {
    if (data_schema === null || envelope_schema === null || example === null) throw new Error(`${type} is not whole`)
    const [isData, isEnvelope] = [ajv.compile(data_schema), ajv.compile(envelope_schema)]
    expect([type, isEnvelope(example), isEnvelope.errors]).toEqual([type, true, null])
    expect([type, isData(example.data), isData.errors]).toEqual([type, true, null])
    expect([type, isData({ ...example.data, email: 'a@b.example' })]).toEqual([type, false])
    const [member] = Object.keys(example.data)
    expect([type, isEnvelope({ ...example, data: { ...example.data, [member ?? '']: undefined } })]).toEqual([
      type,
      false,
    ])
    expect([type, isEnvelope({ ...example, type: 'claim.lost' })]).toEqual([type, false])
  }
})

it('one type is found by its name, and an unknown one is refused with the list', async () => {
  for (const entry of entries) expect((await call(app, `/v1/event-types/${entry.type}`)).json).toEqual(entry)
  for (const name of ['claim.lost', 'constructor', '*']) {
    const { status, json } = await call(app, `/v1/event-types/${name}`)
    expect([name, status, json.code]).toEqual([name, 404, 'not_found'])
    for (const type of Object.keys(EVENT_TYPES)) expect(json.detail).toContain(type)
  }
})

it('the page shows every type with its members and its example', async () => {
  const { text } = await call(app, '/docs/events')
  for (const { type, data_schema } of entries) {
    expect(text).toContain(`<section id="${type}">`)
    for (const name of Object.keys((data_schema as { properties?: object } | null)?.properties ?? {})) {
      expect(text).toContain(`<code>${name}</code>`)
    }
  }
  expect(text.includes('any value')).toBe(false)
})
