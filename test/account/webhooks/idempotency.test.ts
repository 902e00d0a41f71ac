import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../../support/http.ts'
import { createFixture, type Fixture } from './fixture.ts'

const PATH = '/v1/webhook-endpoints'
const ENDPOINT = { url: 'http://127.0.0.1:4000/', event_types: ['*'] }

let fixture: Fixture
let admin: string

beforeAll(async () => {
  fixture = await createFixture()
  admin = fixture.addKey(fixture.scope)
})
afterAll(() => fixture.close())

const send = (path: string, key: string, json?: unknown, method = 'POST') =>
  call(fixture.app, path, { key: admin, method, json, headers: { 'Idempotency-Key': key } })
const count = async (table: string) => (await fixture.owner(`SELECT 1 FROM ${table}`)).length

test('an endpoint is created once, and its secret is shown once', async () => {
  const first = await send(PATH, 'a', ENDPOINT)
  const { signing_secret: secret, ...shown } = first.json
  expect(secret).toMatch(/^whsec_/)
  expect(first.json).not.toHaveProperty('secret_shown')
  const again = await send(PATH, 'a', ENDPOINT)
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(again.json).toEqual({ ...shown, secret_shown: false })
  expect(await count('webhook_endpoints')).toBe(1)
  const [row] = await fixture.owner('SELECT idempotency_keys::text AS row FROM idempotency_keys')
  expect(row?.row).not.toContain(String(secret))
})

test('a ping is sent once and an endpoint deleted once; a repeated creation then shows the deletion', async () => {
  const { json } = await send(PATH, 'b', ENDPOINT)
  const path = `${PATH}/${json.webhook_endpoint_id}`
  const [first, again] = [await send(`${path}/test`, 'c'), await send(`${path}/test`, 'c')]
  expect([first.status, again.status, again.json]).toEqual([202, 202, first.json])
  expect(await count('events')).toBe(1)

  const removed = await send(path, 'd', undefined, 'DELETE')
  expect((await send(path, 'e', undefined, 'DELETE')).status).toBe(404)
  const repeat = await send(path, 'd', undefined, 'DELETE')
  expect([repeat.status, repeat.json]).toEqual([200, removed.json])
  expect((await send(PATH, 'b', ENDPOINT)).status).toBe(404)
  expect((await send(`${path}/test`, 'c')).json).toEqual(first.json)
})
