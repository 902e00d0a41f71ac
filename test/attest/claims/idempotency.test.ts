import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestAnswer } from '../../support/http.ts'
import { attestFixture, PHOTO, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
})
afterAll(() => service.close())

const send = (path: string, key: string, json?: unknown) =>
  service.call(caller, path, { method: 'POST', json, headers: { 'Idempotency-Key': key, Prefer: 'wait=0' } })
const attest = (key: string, json: unknown) => send('/v1/claims/attest', key, json)
const isReplay = ({ headers }: TestAnswer) => headers['idempotent-replayed'] === 'true'

test('a repeated submission is one attestation: queued at first, with its result later', async () => {
  const body = shoot(phone)
  const before = await service.count('attestations')
  const first = await attest('a', body)
  const again = await attest('a', body)
  expect([first.status, again.status, isReplay(first), isReplay(again)]).toEqual([202, 202, false, true])
  expect(again.json).toEqual(first.json)
  expect(again.headers).toMatchObject({ location: first.headers.location, 'preference-applied': 'wait=0' })
  await service.run(String(first.json.attestation_id))
  const later = await attest('a', body)
  expect([later.status, isReplay(later), later.json.status]).toEqual([202, true, 'succeeded'])
  expect(later.headers).toMatchObject({ location: first.headers.location })
  expect(later.headers).not.toHaveProperty('retry-after')
  expect((await attest('a', shoot(phone))).json.code).toBe('idempotency_key_reused')
  expect(await service.count('attestations')).toBe(before + 1)
})

test('a submission that returned its result is replayed as 200, whatever happened since', async () => {
  const worker = await service.startWorker()
  const body = shoot(phone)
  const headers = { 'Idempotency-Key': 'waited', Prefer: 'wait=30' }
  const submit = () => service.call(caller, '/v1/claims/attest', { method: 'POST', json: body, headers })
  try {
    const first = await submit()
    expect([first.status, isReplay(first), first.json.status]).toEqual([200, false, 'succeeded'])
    const again = await submit()
    expect([again.status, isReplay(again), again.json]).toEqual([200, true, first.json])
  } finally {
    await worker.close(5_000)
  }
})

test('of many concurrent submissions with the photo in the body one is accepted', async () => {
  const before = [await service.count('attestations'), await service.count('jobs')]
  const body = { media_type: 'image', media: { content_type: 'image/jpeg', data: PHOTO.toString('base64') } }
  const answers = await Promise.all(Array.from({ length: 12 }, () => attest('b', body)))
  for (const { status, json } of answers) if (status !== 202) expect(json.code).toBe('idempotency_in_progress')
  expect(answers.filter((answer) => answer.status === 202 && !isReplay(answer))).toHaveLength(1)
  expect([await service.count('attestations'), await service.count('jobs')]).toEqual(before.map((count) => count + 1))
})

test('a refused submission leaves its key free', async () => {
  const body = { ...shoot(phone), external_id: 'x-1' }
  await attest('c', body)
  const conflict = await attest('d', { ...shoot(phone), external_id: 'x-1' })
  expect([conflict.status, conflict.json.code]).toEqual([409, 'external_id_reused'])
  const corrected = await attest('d', { ...shoot(phone), external_id: 'x-2' })
  expect([corrected.status, isReplay(corrected)]).toEqual([202, false])
})

test('a repeated retry starts nothing again', async () => {
  const { json } = await attest('e', shoot(phone))
  const id = String(json.attestation_id)
  const fail = async () => {
    await service.test.owner(`UPDATE jobs SET state = 'dead' WHERE id = $1`, [await service.jobOf(id)])
    await service.test.owner(`UPDATE attestations SET status = 'failed', failure = 'x' WHERE id = $1`, [id])
  }
  await fail()
  const path = `/v1/attestations/${id}/retry`
  expect(await send(path, 'f')).toMatchObject({ status: 202, json: { status: 'queued' } })
  await fail()
  const again = await send(path, 'f')
  expect([again.status, isReplay(again), again.json.status]).toEqual([202, true, 'failed'])
})
