import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { until } from '../../support/until.ts'
import { batchFixture, type Caller, goodLine, type Line, ndjson, type Service } from './service.ts'

const TABLES = ['batches', 'claims', 'attestations', 'jobs'] as const

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

const countAll = () => Promise.all(TABLES.map(service.count))

describe('an interrupted upload stores nothing', () => {
  const line = () => `${JSON.stringify(goodLine(mediaId, { external_id: 'x'.repeat(200) }))}\n`
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n'

  test.each([
    ['cut within a line', () => `${chunked}${chunk(line().repeat(2_000))}${chunk('{"media')}`],
    ['cut between lines', () => `${chunked}${chunk(line().repeat(3))}`],
    ['cut short of its length', () => `Content-Length: 100000\r\n\r\n${line().repeat(3)}`],
    ['with a chunk that is none', () => `${chunked}${chunk(line().repeat(3))}zzz\r\n`],
  ])('%s', async (_, rest) => {
    const before = await countAll()
    const socket = await open(rest())
    await until(async () => (await service.spooled()).length === 1 || socket.destroyed)
    socket.destroy()
    await until(async () => (await service.spooled()).length === 0)
    expect(await countAll()).toEqual(before)
  })

  test('interrupted by a store that fails in the middle', async () => {
    const before = await countAll()
    await service.test.owner('ALTER TABLE jobs RENAME COLUMN run_at TO gone')
    try {
      const { status } = await service.submit(caller, [goodLine(mediaId), goodLine(mediaId)])
      expect(status).toBe(500)
    } finally {
      await service.test.owner('ALTER TABLE jobs RENAME COLUMN gone TO run_at')
    }
    expect([await countAll(), await service.spooled()]).toEqual([before, []])
  })

  test('interrupted by a client that left before its turn', async () => {
    const before = await countAll()
    const holder = new pg.Client({ connectionString: service.test.ownerUrl })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`batches ${caller.accountId} sandbox`])
    const body = line()
    const leaving = await open(`Content-Length: ${body.length}\r\n\r\n${body}`)
    await until(async () => (await service.spooled()).length === 1)
    // Another account's batch does not wait, and its answer comes after the first body was read.
    const other = await service.makeCaller()
    expect((await service.submit(other, [goodLine(await service.makeMedia(other))])).status).toBe(202)
    leaving.destroy()
    await until(async () => (await service.spooled()).length === 0)
    await holder.query('COMMIT')
    await holder.end()
    expect(await countAll()).toEqual(before.map((count) => count + 1))
  })
})

test('batches of one account wait for each other without holding connections', async () => {
  const holder = new pg.Client({ connectionString: service.test.ownerUrl })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`batches ${caller.accountId} sandbox`])
  const waiting = [1, 2, 3, 4, 5, 6].map(() => service.submit(caller, [goodLine(mediaId)]))
  await until(async () => (await service.spooled()).length === 6)
  // Waiting batches leave the connections to single calls.
  expect((await service.ask(caller, '/v1/claims/batches')).status).toBe(200)
  await holder.query('COMMIT')
  await holder.end()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(6).fill(202))
})

test('any mix of lines is divided into accepted and rejected lines, without a third kind', async () => {
  let run = 0
  const kind = fc.constantFrom('plain', 'blank', 'broken', 'unknown', 'foreign', 'first', 'second', 'long')
  const property = fc.asyncProperty(
    fc.array(kind, { minLength: 1, maxLength: 60 }),
    fc.boolean(),
    async (kinds, isArray) => {
      run += 1
      const used = isArray ? kinds.filter((one) => one !== 'blank' && one !== 'broken') : kinds
      const lines: Record<(typeof kinds)[number], Line | string> = {
        plain: goodLine(mediaId),
        blank: ' ',
        broken: '{"media_type":"image"',
        unknown: goodLine(newId('med', 'sandbox')),
        foreign: goodLine(newId('med', 'live')),
        first: goodLine(mediaId, { external_id: `mix-${run}`, claim: { line: 'auto' } }),
        second: goodLine(mediaId, { external_id: `mix-${run}`, claim: { line: 'home' } }),
        long: goodLine(mediaId, { external_id: 'x'.repeat(70_000) }),
      }
      // Of two contents under one external id, the first one counts.
      const standing = used.find((one) => one === 'first' || one === 'second')
      const good = used.flatMap((one, n) => (one === 'plain' || one === standing ? [n + 1] : []))
      const bad = used.flatMap((one, n) => (one === 'blank' || good.includes(n + 1) ? [] : [n + 1]))

      const sent = used.map((one) => lines[one])
      const answer = isArray
        ? await service.submitArray(caller, JSON.stringify(sent))
        : await service.submit(caller, sent)
      expect(answer.status).toBe(good.length === 0 ? 400 : 202)
      expect(answer.json.accepted).toBe(good.length)
      expect(answer.json.rejected.map((one) => one.line)).toEqual(bad)
      if (good.length === 0) return
      const { rows } = await service.results(caller, answer.json.batch_id, '?include=pending')
      expect(rows.map((row) => row.line)).toEqual(good)
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

test('an upload in pieces of any size creates the same batch', async () => {
  const text = ndjson([
    goodLine(mediaId, { claim: { line: 'Käsekästchen 🏠' } }),
    '{',
    '',
    goodLine(mediaId),
  ]).replaceAll('\n', '\r\n')
  const bytes = Buffer.from(text)
  for (const size of [1, 7, 64]) {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const response = await fetch(`${service.app.url}/v1/claims/batches`, {
      method: 'POST',
      headers: { 'X-API-Key': caller.key, 'Content-Type': 'application/x-ndjson; charset=utf-8' },
      body: ReadableStream.from(pieces()),
      duplex: 'half',
    } as RequestInit)
    expect(await response.json()).toMatchObject({ accepted: 2, rejected: [{ line: 2 }] })
  }
})

/** Sends the head of a submission and `rest`, and leaves the connection to the test. */
function open(rest: string): Promise<Socket> {
  const head = `POST /v1/claims/batches HTTP/1.1\r\nHost: x\r\nX-API-Key: ${caller.key}\r\nContent-Type: application/x-ndjson\r\n`
  return new Promise((resolve) => {
    const socket = connect(service.app.port, '127.0.0.1', () => socket.write(head + rest, () => resolve(socket)))
    socket.on('error', () => {})
  })
}
