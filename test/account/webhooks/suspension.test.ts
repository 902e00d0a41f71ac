import { afterAll, beforeAll, expect, it } from 'vitest'
import { suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

it('a delivery that a worker has already waits for the end of the suspension, at the cost of no attempt', async () => {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver()
  await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds[0] ?? ''

  await fixture.db.system('test', (tx) => suspendAccount(tx, scope.accountId, 'unpaid'))
  expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'defer' })
  expect(received).toHaveLength(0)
  expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 0 })

  await fixture.db.system('test', (tx) => unsuspendAccount(tx, scope.accountId))
  expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
  expect(received).toHaveLength(1)
  expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 })
})
