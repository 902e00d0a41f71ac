import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { until } from '../../support/until.ts'
import { batchFixture, type Caller, goodLine, type ResultRow, type Service } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

async function makeBatch(count: number): Promise<{ id: string; rows: ResultRow[] }> {
  const { json } = await service.submit(
    caller,
    Array.from({ length: count }, () => goodLine(mediaId)),
  )
  const { rows } = await service.results(caller, json.batch_id, '?include=pending')
  return { id: json.batch_id, rows }
}

const linesOf = (rows: ResultRow[]) => rows.map(({ line }) => line)
const idsOf = (rows: ResultRow[]) => rows.map((row) => row.attestation_id)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

test('come in the order of the input, complete, over many pages', async () => {
  const { id, rows } = await makeBatch(450)
  await service.evaluate(caller, idsOf(rows), 'review')
  const all = await service.results(caller, id)
  expect(linesOf(all.rows)).toEqual(range(1, 450))
  expect(all.rows[0]).toMatchObject({
    line: 1,
    is_repeat: false,
    status: 'succeeded',
    risk_status: 'review',
    risk_score: 30,
    batch_id: id,
    result_jws: 'a.b.c',
  })
  expect(all.end).toEqual({ object: 'cursor', next_cursor: null, is_complete: true })
})

test('stop before the first line that is not settled, and continue from there', async () => {
  const { id, rows } = await makeBatch(10)
  const none = await service.results(caller, id)
  expect(none).toMatchObject({ rows: [], end: { is_complete: false } })

  const settled = [rows[0], rows[1], rows[3]].flatMap((row) => row ?? [])
  await service.evaluate(caller, idsOf(settled))
  const some = await service.results(caller, id, `?cursor=${none.end.next_cursor}`)
  expect(linesOf(some.rows)).toEqual([1, 2])
  expect(some.end.is_complete).toBe(false)

  await service.evaluate(caller, idsOf(rows))
  const rest = await service.results(caller, id, `?cursor=${some.end.next_cursor}`)
  expect(linesOf(rest.rows)).toEqual(range(3, 10))
  expect(rest.end).toMatchObject({ is_complete: true, next_cursor: null })
})

test('show pending lines on request, and still return a cursor to them', async () => {
  const { id, rows } = await makeBatch(6)
  const settled = [rows[0], rows[3]].flatMap((row) => row ?? [])
  await service.evaluate(caller, idsOf(settled))
  const shown = await service.results(caller, id, '?include=pending')
  expect(shown.rows.map(({ status }) => status)).toEqual([
    'succeeded',
    'queued',
    'queued',
    'succeeded',
    'queued',
    'queued',
  ])
  expect(shown.end.is_complete).toBe(false)

  // A download that broke after line 4 continues after line 4, and its end still points back to line 2.
  const resumed = await service.results(caller, id, `?include=pending&cursor=${shown.rows[3]?.cursor}`)
  expect(linesOf(resumed.rows)).toEqual([5, 6])
  await service.evaluate(caller, idsOf(rows))
  for (const { end } of [shown, resumed]) {
    const rest = await service.results(caller, id, `?cursor=${end.next_cursor}`)
    expect([linesOf(rest.rows), rest.end.is_complete]).toEqual([range(2, 6), true])
  }
})

test('resume after any line', async () => {
  const { id, rows } = await makeBatch(210)
  await service.evaluate(caller, idsOf(rows))
  const all = await service.results(caller, id)
  for (const at of [1, 199, 200, 201, 209, 210]) {
    const rest = await service.results(caller, id, `?cursor=${all.rows[at - 1]?.cursor}`)
    expect(linesOf(rest.rows)).toEqual(range(at + 1, 210))
    expect(rest.end.is_complete).toBe(true)
  }
})

test('report lines that failed and lines that were cancelled', async () => {
  const { id, rows } = await makeBatch(2)
  await service.test.owner(`UPDATE attestations SET status = 'failed', failure = 'no disk' WHERE id = $1`, [
    rows[0]?.attestation_id,
  ])
  await service.ask(caller, `/v1/claims/batches/${id}/cancel`, 'POST')
  const all = await service.results(caller, id)
  expect(all.rows).toMatchObject([
    { status: 'failed', failure: { code: 'evaluation_failed', detail: 'no disk' } },
    { status: 'cancelled' },
  ])
  expect(all.end.is_complete).toBe(true)
})

test('refuse a cursor that belongs to another batch', async () => {
  const { id } = await makeBatch(1)
  const { rows } = await makeBatch(1)
  for (const cursor of [rows[0]?.cursor, 'x', `${rows[0]?.cursor}A`]) {
    const { status, json } = await service.ask(caller, `/v1/claims/batches/${id}/results?cursor=${cursor}`)
    expect([status, json.errors?.[0]?.pointer]).toEqual([400, '?cursor'])
  }
  expect((await service.ask(caller, `/v1/claims/batches/${id}/results?include=all`)).status).toBe(400)
})

test('hold no connection for readers that do not read, and free everything when a reader leaves', async () => {
  const { id, rows } = await makeBatch(2_000)
  await service.evaluate(caller, idsOf(rows))
  // More than the buffers of a connection hold.
  await service.test.owner(`UPDATE attestations SET result_jws = repeat('x', 10000) WHERE batch_id = $1`, [id])
  let begun = 0
  let ended = 0
  const readers = Array.from({ length: 8 }, () => {
    const path = `/v1/claims/batches/${id}/results`
    const reader = request({ port: service.app.port, path, headers: { 'X-API-Key': caller.key } })
    reader
      .on('error', () => {})
      .on('response', (response) => {
        begun += 1
        response.pause()
        response.on('end', () => {
          ended += 1
        })
      })
    return reader.end()
  })
  await until(async () => begun === readers.length && (await busyBackends()) === 0)
  expect(ended).toBe(0)
  for (const reader of readers) reader.destroy()
  expect(linesOf((await service.results(caller, id)).rows)).toEqual(range(1, 2_000))
})

async function busyBackends(): Promise<number> {
  const [row] = await service.test.owner<{ busy: number }>(
    `SELECT count(*)::int AS busy FROM pg_stat_activity
     WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
  )
  return row?.busy ?? 0
}

test.each(['', '/results', '/cancel'])(
  '%s of a batch of another account is not found; of the other environment it is a mismatch',
  async (path) => {
    const { id } = await makeBatch(1)
    const method = path === '/cancel' ? 'POST' : 'GET'
    const stranger = await service.makeCaller()
    const live = await service.makeCaller({ environment: 'live' })
    const ask = async (who: Caller, batchId: string) => {
      const { status, json } = await service.ask(who, `/v1/claims/batches/${batchId}${path}`, method)
      return [status, json.code]
    }
    expect(await ask(stranger, id)).toEqual([404, 'not_found'])
    expect(await ask(live, id)).toEqual([403, 'environment_mismatch'])
    expect(await ask(caller, newId('bat', 'live'))).toEqual([403, 'environment_mismatch'])
    expect(await ask(caller, newId('bat', 'sandbox'))).toEqual([404, 'not_found'])
    expect(await ask(caller, newId('clm', 'sandbox'))).toEqual([404, 'not_found'])
    expect(await ask(caller, 'x')).toEqual([404, 'not_found'])
    expect(await service.test.owner('SELECT status FROM attestations WHERE batch_id = $1', [id])).toEqual([
      { status: 'queued' },
    ])
  },
)
