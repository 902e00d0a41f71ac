import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
let photo: Buffer

beforeAll(async () => {
  service = await startService()
  const noise = { raw: { width: 40, height: 30, channels: 3 as const } }
  photo = await sharp(randomBytes(40 * 30 * 3), noise)
    .jpeg()
    .toBuffer()
})
afterAll(() => service.close())

const another = (): Buffer => Buffer.concat([photo, randomBytes(16)])
const send = (body: Uint8Array, key: string, headers: Record<string, string> = {}) =>
  service.post(body, { 'content-type': 'image/jpeg', 'idempotency-key': key, ...headers })

test('a repeated upload is the same media, and other bytes are refused', async () => {
  const bytes = another()
  const first = await send(bytes, 'a')
  const again = await send(bytes, 'a')
  expect([first.status, again.status, again.json]).toEqual([200, 200, first.json])
  expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
  const other = await send(another(), 'a')
  expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  expect(await service.countRows()).toBe(1)
})

test('a refused upload may be corrected under the same key', async () => {
  const wrong = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
  const bytes = another()
  expect((await send(bytes, 'b', wrong)).status).toBe(400)
  expect((await send(Buffer.from('no picture'), 'b')).status).toBe(400)
  const corrected = await send(bytes, 'b')
  expect([corrected.status, corrected.headers['idempotent-replayed']]).toEqual([200, undefined])
})

test('concurrent uploads with one key are one media', async () => {
  const bytes = another()
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(bytes, 'c')))
  const ids = new Set(answers.flatMap(({ status, json }) => (status === 200 ? [json.media_id] : [])))
  expect(ids.size).toBe(1)
  for (const { status, json } of answers) if (status !== 200) expect(json.code).toBe('idempotency_in_progress')
})
