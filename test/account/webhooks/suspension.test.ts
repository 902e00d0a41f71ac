import { afterAll, beforeAll, expect, it } from 'vitest'
import { setClosed } from '#src/account/keys/account-rows.ts'
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

it('an endpoint that failed before a long suspension is not disabled by its first failure after it', async () => {
  const scope = await fixture.makeAccount()
  const { url } = await fixture.receiver((response) => response.writeHead(500).end())
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  await fixture.owner(
    `UPDATE webhook_endpoints SET consecutive_failures = 30, first_failure_at = now() - interval '6 days' WHERE id = $1`,
    [id],
  )
  await fixture.db.system('test', (tx) => suspendAccount(tx, scope.accountId, 'unpaid'))
  await fixture.db.system('test', (tx) => unsuspendAccount(tx, scope.accountId))
  expect(await fixture.runOnce(emitted?.deliveryIds[0] ?? '')).toMatchObject({ kind: 'retry' })
  const state = () => fixture.owner('SELECT status FROM webhook_endpoints WHERE id = $1', [id])
  expect(await state()).toEqual([{ status: 'enabled' }])

  // It has its five days again.
  await fixture.owner(`UPDATE webhook_endpoints SET first_failure_at = now() - interval '6 days' WHERE id = $1`, [id])
  await fixture.owner(`UPDATE accounts SET suspension_ended_at = now() - interval '6 days' WHERE id = $1`, [
    scope.accountId,
  ])
  await fixture.runOnce(emitted?.deliveryIds[0] ?? '')
  expect(await state()).toEqual([{ status: 'disabled' }])
})

it('a closed account is called no more than a suspended one, and its reopening forgives old failures', async () => {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver((response) => response.writeHead(500).end())
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds[0] ?? ''
  await fixture.owner(
    `UPDATE webhook_endpoints SET consecutive_failures = 30, first_failure_at = now() - interval '6 days' WHERE id = $1`,
    [id],
  )
  await fixture.db.tenant(scope, (tx) => setClosed(tx, 'usr_owner', new Date()))
  const outcome = await fixture.runOnce(deliveryId)
  expect(outcome).toMatchObject({ kind: 'defer' })
  // The job does not come back at once, again and again, until the clock holds it.
  expect(outcome).not.toMatchObject({ delayMs: 0 })
  expect(received).toHaveLength(0)
  expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 0 })

  await fixture.db.tenant(scope, (tx) => setClosed(tx, null, null))
  expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'retry' })
  expect(received).toHaveLength(1)
  expect(await fixture.owner('SELECT status FROM webhook_endpoints WHERE id = $1', [id])).toEqual([
    { status: 'enabled' },
  ])
})
