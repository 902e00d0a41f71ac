import { afterAll, beforeAll, expect, it } from 'vitest'
import { emitMany } from '#src/account/webhooks/emit.ts'
import { newId } from '#src/platform/ids.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { escalated } from '../webhooks/fixture.ts'

const PATH = '/v1/account/products'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.close())

it('the products of an account decide which events are sent, and a change of them is recorded', async () => {
  const caller = await service.makeCaller()
  const { headers, userId } = await service.signIn(caller.accountId, { role: 'admin' })
  const put = (products: unknown, more: Record<string, string> = {}) =>
    service.call({}, PATH, { method: 'PUT', json: { products }, headers: { ...headers, ...more } })
  const send = async () => {
    const [emitted] = await service.test.db.tenant(caller, (tx) =>
      emitMany(tx, caller, [escalated(newId('clm', 'sandbox'))]),
    )
    return emitted?.deliveryIds.length
  }
  await service.call(caller, '/v1/webhook-endpoints', { json: { url: 'https://a.example.com/', event_types: ['*'] } })
  expect((await service.call(caller, PATH)).json).toEqual({ products: ['attest', 'authorize', 'trace'] })
  expect(await send()).toBe(1)

  const key = { 'Idempotency-Key': 'a' }
  expect((await put(['trace', 'authorize'], key)).json).toEqual({ products: ['authorize', 'trace'] })
  expect((await put(['trace', 'authorize'], key)).headers['idempotent-replayed']).toBe('true')
  expect(await send()).toBe(0)
  const { json } = await service.call({}, '/v1/account/audit?action=products.changed', { headers })
  expect(json.data).toMatchObject([
    {
      environment: null,
      actor: { type: 'user', id: userId },
      before: { products: ['attest', 'authorize', 'trace'] },
      after: { products: ['authorize', 'trace'] },
    },
  ])

  for (const wrong of [[], ['attest', 'attest'], ['fax'], undefined]) expect((await put(wrong)).status).toBe(400)
  const other = await service.makeCaller()
  expect((await service.call(other, PATH)).json).toEqual({ products: ['attest', 'authorize', 'trace'] })
  const live = service.addKey({ ...other, environment: 'live', scopes: ['admin'] })
  const byKey = await service.call({ key: live }, PATH, { method: 'PUT', json: { products: ['attest'] } })
  expect(byKey.json).toEqual({ products: ['attest'] })
})
