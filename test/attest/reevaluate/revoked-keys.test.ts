// A result of a revoked signing key is marked wherever results are listed: as a replaced result, and as a line of a batch.

import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { call } from '../../support/http.ts'
import { attestFixture, makeMedia, shoot } from '../claims/phone.ts'
import { type Reevaluating, startReevaluating } from './service.ts'

let on: Reevaluating
beforeAll(async () => {
  on = await startReevaluating()
})
afterAll(() => on?.close())

it('replaced results and lines of batches say that their signing key was revoked', async () => {
  const { caller, phone } = await attestFixture({ service: on.service, row: { scopes: ['all'] } })
  const { app, test, services } = on.service
  const media_id = await makeMedia(on.service, caller)
  const sent = await call(app, '/v1/claims/batches', {
    method: 'POST',
    key: caller.key,
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: `${JSON.stringify(shoot(phone, { media: { media_id } }))}\n`,
  })
  expect(sent.status).toBe(202)
  const batch = `/v1/claims/batches/${sent.json.batch_id}/results`
  const [row] = await test.owner<{ id: string }>('SELECT id FROM attestations WHERE account_id = $1', [
    caller.accountId,
  ])
  await on.service.run(row?.id ?? '')
  const line = async () => {
    const answer = await fetch(`${app.url}${batch}`, { headers: { Authorization: `Bearer ${caller.key}` } })
    return JSON.parse((await answer.text()).split('\n')[0] ?? '')
  }
  const replaced = async () => (await on.call(caller, `/v1/attestations/${row?.id}/results`)).json.data as object[]
  const first = await line()
  expect(first).toMatchObject({ status: 'succeeded', result_jws: expect.any(String) })

  const since = new Date(Date.now() - 60_000)
  const { kid = '' } = decodeProtectedHeader(first.result_jws)
  await services.platform.signingKeys.revoke(kid, since)
  const mark = { revoked_at: expect.any(String), doubted_since: since.toISOString() }
  expect(await line()).toEqual({ ...first, signing_key_revoked: mark })

  await on.service.devices.revoke(caller, phone.id ?? '', { reason: 'lost', effective_at: since.toISOString() })
  await on.drain(caller)
  // Evaluated again, the result has a sound signature; the replaced one keeps its mark.
  const second = await line()
  expect(second).not.toHaveProperty('signing_key_revoked')
  expect(second.result_jws).not.toBe(first.result_jws)
  expect(await replaced()).toMatchObject([{ result_jws: first.result_jws, signing_key_revoked: mark }])
})
