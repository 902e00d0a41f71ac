// What an account can overwrite has a version, so that two people don't undo each other's changes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { disableEndpoint } from '#src/account/webhooks/backlog.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestAnswer } from '../support/http.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

interface Case {
  method: string
  /** Where it is; made first where it is not there by itself. */
  make(send: Send): Promise<string>
  change(count: number): object
}

type Send = (method: string, path: string, json?: object, headers?: Record<string, string>) => Promise<TestAnswer>

const CASES: Record<string, Case> = {
  'a webhook endpoint': {
    method: 'PATCH',
    async make(send) {
      const body = { url: 'https://a.example.com/', event_types: ['*'] }
      const { json } = await send('POST', '/v1/webhook-endpoints', body)
      return `/v1/webhook-endpoints/${json.webhook_endpoint_id}`
    },
    change: (count) => ({ description: `number ${count}` }),
  },
  'an API key': {
    method: 'PATCH',
    async make(send) {
      const { json } = await send('POST', '/v1/account/keys', { name: 'made', scopes: ['verify'] })
      return `/v1/account/keys/${json.api_key_id}`
    },
    change: (count) => ({ name: `number ${count}` }),
  },
  'a consumer of events': {
    method: 'PUT',
    async make(send) {
      await send('PUT', '/v1/event-consumers/desk', {})
      return '/v1/event-consumers/desk'
    },
    change: () => ({ position: 0 }),
  },
  'the products': {
    method: 'PUT',
    make: async () => '/v1/account/products',
    change: (count) => ({ products: count % 2 === 0 ? ['attest'] : ['attest', 'trace'] }),
  },
  'the account': {
    method: 'PATCH',
    make: async () => '/v1/account',
    change: (count) => ({ name: `Number ${count}` }),
  },
}

async function makeSender() {
  const scope = await service.makeCaller()
  const { headers } = await service.signIn(scope.accountId)
  const send: Send = (method, path, json, more = {}) =>
    service.call({}, path, { method, headers: { ...headers, ...more }, ...(json === undefined ? {} : { json }) })
  return { scope, send }
}

const outcomeOf = ({ status, json }: TestAnswer) => (status === 200 ? 200 : `${status} ${json.code}`)

describe.each(Object.entries(CASES))('%s', (_, { method, make, change }) => {
  it('is changed only at the version that If-Match names, and tells it in body and ETag', async () => {
    const { send } = await makeSender()
    const path = await make(send)
    const first = await send('GET', path)
    const tag = String(first.headers.etag)
    expect([first.json.version, tag]).toEqual([1, expect.stringMatching(/^"1-[\w-]+"$/)])
    expect((await send('GET', path, undefined, { 'If-None-Match': tag })).status).toBe(304)

    const changed = await send(method, path, change(1), { 'If-Match': tag })
    expect([outcomeOf(changed), changed.json.version]).toEqual([200, 2])
    const stale = await send(method, path, change(2), { 'If-Match': tag })
    expect([outcomeOf(stale), stale.json.version]).toEqual(['412 precondition_failed', 2])
    const now = await send('GET', path)
    expect([now.json, now.headers.etag]).toEqual([changed.json, changed.headers.etag])

    const third = await send(method, path, change(3), { 'If-Match': '"2"' })
    expect([outcomeOf(third), third.json.version]).toEqual([200, 3])
    expect(outcomeOf(await send(method, path, change(4), { 'If-Match': `${tag}, "3"` }))).toBe(200)
    expect(outcomeOf(await send(method, path, change(5), { 'If-Match': '*' }))).toBe(200)
    expect(outcomeOf(await send(method, path, change(9)))).toBe(200)
    expect(outcomeOf(await send(method, path, change(10), { 'If-Match': 'W/"1"' }))).toBe('400 invalid_request')
  })

  it('is changed by one of those who read the same version at the same time', async () => {
    const { send } = await makeSender()
    const path = await make(send)
    const tag = String((await send('GET', path)).headers.etag)
    const tries = await Promise.all([1, 2, 3, 4].map((count) => send(method, path, change(count), { 'If-Match': tag })))
    expect(tries.map(outcomeOf).sort()).toEqual([200, ...Array(3).fill('412 precondition_failed')])
    expect((await send('GET', path)).json.version).toBe(2)
  })

  it('answers the repeat of a change as the change, though its version is past', async () => {
    const { send } = await makeSender()
    const path = await make(send)
    const more = { 'If-Match': String((await send('GET', path)).headers.etag), 'Idempotency-Key': 'once' }
    expect(outcomeOf(await send(method, path, change(1), more))).toBe(200)
    const again = await send(method, path, change(1), more)
    expect([outcomeOf(again), again.headers['idempotent-replayed'], again.json.version]).toEqual([200, 'true', 2])
  })
})

it('an endpoint that the service disables has another version, so that a stale change does not enable it', async () => {
  const { scope, send } = await makeSender()
  const path = (await CASES['a webhook endpoint']?.make(send)) ?? ''
  const tag = String((await send('GET', path)).headers.etag)
  const endpointId = path.split('/').at(-1) ?? ''
  await service.test.db.tenant(scope, (tx) => disableEndpoint(tx, scope, { endpointId, reason: 'failing' }))
  expect(outcomeOf(await send('PATCH', path, { status: 'enabled' }, { 'If-Match': tag }))).toBe(
    '412 precondition_failed',
  )
  expect((await send('GET', path)).json).toMatchObject({ status: 'disabled', version: 2 })
})

it('a key that is used keeps its version, and has another ETag', async () => {
  const { send } = await makeSender()
  const { json } = await send('POST', '/v1/account/keys', { name: 'used', scopes: ['verify'] })
  const path = `/v1/account/keys/${json.api_key_id}`
  const tag = String((await send('GET', path)).headers.etag)
  await service.test.owner('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [json.api_key_id])
  const used = await send('GET', path, undefined, { 'If-None-Match': tag })
  expect([used.status, used.json.version, used.headers.etag === tag]).toEqual([200, 1, false])
  expect(outcomeOf(await send('PATCH', path, { name: 'used much' }, { 'If-Match': tag }))).toBe(200)
})

it('a consumer that is not there is not made by a report that names a version', async () => {
  const { send } = await makeSender()
  const none = await send('PUT', `/v1/event-consumers/${newId('evt', 'sandbox')}`, {}, { 'If-Match': '"1"' })
  expect(outcomeOf(none)).toBe('404 not_found')
})
