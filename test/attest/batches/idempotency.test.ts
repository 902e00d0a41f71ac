import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../../support/http.ts'
import { type BatchAnswer, batchFixture, type Caller, goodLine, type Service } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

const lines = (count: number, reference: string) =>
  Array.from({ length: count }, () => JSON.stringify(goodLine(mediaId, { claim: { reference } }))).join('\n')
const send = (path: string, key: string, body?: string) =>
  call(service.app, path, {
    key: caller.key,
    method: 'POST',
    ...(body === undefined ? {} : { body }),
    headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': key },
  }) as Promise<BatchAnswer>
const isReplay = ({ headers }: BatchAnswer) => headers['idempotent-replayed'] === 'true'

test('a batch that is sent again returns the existing batch with its progress', async () => {
  const body = lines(5, 'I-1')
  const first = await send('/v1/claims/batches', 'a', body)
  expect([first.status, isReplay(first)]).toEqual([202, false])
  const { rows } = await service.results(caller, first.json.batch_id, '?include=pending')
  await service.evaluate(
    caller,
    rows.slice(0, 2).map((row) => row.attestation_id),
  )
  const again = await send('/v1/claims/batches', 'a', body)
  expect([again.status, isReplay(again), again.headers.location]).toEqual([202, true, first.headers.location])
  expect(again.json).toMatchObject({ batch_id: first.json.batch_id, accepted: 5, settled: 2 })
  expect((await send('/v1/claims/batches', 'a', `${body}\n${body}`)).json.code).toBe('idempotency_key_reused')
  expect([await service.count('batches'), await service.count('attestations')]).toEqual([1, 5])
})

test('concurrent batches with one key create one batch', async () => {
  const before = await service.count('batches')
  const body = lines(20, 'I-2')
  const answers = await Promise.all(Array.from({ length: 6 }, () => send('/v1/claims/batches', 'b', body)))
  for (const { status, json } of answers) if (status !== 202) expect(json.code).toBe('idempotency_in_progress')
  expect(answers.filter((answer) => answer.status === 202 && !isReplay(answer))).toHaveLength(1)
  expect(await service.count('batches')).toBe(before + 1)
})

test('a batch of which nothing was accepted leaves its key free', async () => {
  expect((await send('/v1/claims/batches', 'c', '{}')).status).toBe(400)
  const corrected = await send('/v1/claims/batches', 'c', lines(1, 'I-3'))
  expect([corrected.status, isReplay(corrected)]).toEqual([202, false])
})

test('a repeated cancel reports what the first one cancelled', async () => {
  const { json } = await send('/v1/claims/batches', 'd', lines(3, 'I-4'))
  const path = `/v1/claims/batches/${json.batch_id}/cancel`
  const [first, again] = [await send(path, 'e'), await send(path, 'e')]
  expect([first.json.cancelled, again.json.cancelled, isReplay(again)]).toEqual([3, 3, true])
})
