import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHOWN_STATE } from '#src/platform/jobs/backlog.ts'
import { return503 } from '../../support/http.ts'
import { batchFixture, type Caller, goodLine, type ResultRow, type Service } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

async function makeBatch(count: number, reference: string): Promise<{ id: string; rows: ResultRow[] }> {
  const line = goodLine(mediaId, { claim: { reference } })
  const { json } = await service.submit(
    caller,
    Array.from({ length: count }, () => line),
  )
  const { rows } = await service.results(caller, json.batch_id, '?include=pending')
  return { id: json.batch_id, rows }
}

const cancel = (id: string) => service.ask(caller, `/v1/claims/batches/${id}/cancel`, 'POST')
const setJob = (row: ResultRow | undefined, state: string) =>
  service.test.owner(
    `UPDATE jobs SET state = CASE $2 WHEN 'running' THEN 'dispatched' ELSE $2 END,
       lease_until = CASE $2 WHEN 'running' THEN now() + interval '1 minute' END
     FROM attestations a WHERE a.job_id = jobs.id AND a.id = $1`,
    [row?.attestation_id, state],
  )

test('a cancel ends the lines that have not started, and changes nothing when repeated', async () => {
  const { id, rows } = await makeBatch(5, 'C-1')
  await setJob(rows[0], 'running')
  await setJob(rows[1], 'dispatched')
  await setJob(rows[2], 'succeeded')
  await service.evaluate(caller, [rows[2]?.attestation_id ?? ''])

  const first = await cancel(id)
  expect(first.status).toBe(200)
  const counts = { queued: 0, running: 1, succeeded: 1, failed: 0, cancelled: 3 }
  expect(first.json).toMatchObject({ cancelled: 3, counts, settled: 4, cancelled_at: service.clock.now.toISOString() })

  const cancelledAt = first.json.cancelled_at
  service.clock.now = new Date(service.clock.now.getTime() + 60_000)
  expect((await cancel(id)).json).toMatchObject({ cancelled: 0, counts, cancelled_at: cancelledAt })

  await service.evaluate(caller, [rows[0]?.attestation_id ?? ''])
  const jobs = await service.test.owner(
    `SELECT ${SHOWN_STATE} AS state, a.status, jobs.settled_at IS NOT NULL AS "isSettled"
     FROM attestations a JOIN jobs ON jobs.id = a.job_id
     WHERE a.batch_id = $1 ORDER BY a.batch_line`,
    [id],
  )
  expect(jobs.map(({ state, status }) => [state, status])).toEqual([
    ['running', 'evaluated'],
    ['cancelled', 'cancelled'],
    ['succeeded', 'evaluated'],
    ['cancelled', 'cancelled'],
    ['cancelled', 'cancelled'],
  ])
})

describe('a long batch', () => {
  return503()

  test('is cancelled in steps: what waits for one of its jobs waits for few others', async () => {
    const { id } = await makeBatch(1_100, 'C-long')
    const [last] = await service.test.owner<{ id: string }>(
      'SELECT max(job_id::text) AS id FROM attestations WHERE batch_id = $1',
      [id],
    )
    const holder = new pg.Client({ connectionString: service.test.ownerUrl })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [last?.id])
    const refused = await cancel(id)
    expect([refused.status, refused.json.code]).toEqual([503, 'service_unavailable'])
    expect((await service.ask(caller, `/v1/claims/batches/${id}`)).json.counts).toMatchObject({
      queued: 100,
      cancelled: 1_000,
    })
    await holder.end()
    expect((await cancel(id)).json).toMatchObject({ cancelled: 100, counts: { queued: 0, cancelled: 1_100 } })
  })
})

test('a claim whose attestations were all cancelled stays pending', async () => {
  const { id } = await makeBatch(2, 'C-2')
  await cancel(id)
  expect(await service.test.owner(`SELECT risk_status FROM claims WHERE reference = 'C-2'`)).toEqual([
    { risk_status: 'pending' },
  ])
})

test('a batch that had finished is not reported as cancelled', async () => {
  const { id, rows } = await makeBatch(1, 'C-3')
  await service.evaluate(caller, [rows[0]?.attestation_id ?? ''])
  expect((await cancel(id)).json).toMatchObject({ cancelled: 0, cancelled_at: null, counts: { succeeded: 1 } })
})

test('a cancel does not touch a line that another batch submitted first', async () => {
  const line = goodLine(mediaId, { external_id: 'mine' })
  const first = await service.submit(caller, [line])
  const second = await service.submit(caller, [line, goodLine(mediaId)])
  expect((await cancel(second.json.batch_id)).json).toMatchObject({ cancelled: 1, counts: { queued: 1, cancelled: 1 } })
  expect((await service.ask(caller, `/v1/claims/batches/${first.json.batch_id}`)).json.counts).toMatchObject({
    queued: 1,
  })
})

test('concurrent cancels cancel each line once, also while jobs are claimed', async () => {
  const { id, rows } = await makeBatch(600, 'C-4')
  const claiming = service.test.owner(
    `UPDATE jobs SET state = 'dispatched', lease_until = now() + interval '1 minute' FROM attestations a WHERE a.job_id = jobs.id AND a.id = ANY($1) AND jobs.state = 'queued'`,
    [rows.slice(300, 320).map((row) => row.attestation_id)],
  )
  const answers = await Promise.all([cancel(id), cancel(id), cancel(id), claiming])
  const cancelled = answers.slice(0, 3).reduce((sum, answer) => sum + ('json' in answer ? answer.json.cancelled : 0), 0)
  const [ended] = await service.test.owner(
    `SELECT count(*) FILTER (WHERE a.status = 'cancelled' AND j.state = 'cancelled')::int AS both,
       count(*) FILTER (WHERE (a.status = 'cancelled') <> (j.state = 'cancelled'))::int AS one
     FROM attestations a JOIN jobs j ON j.id = a.job_id WHERE a.batch_id = $1`,
    [id],
  )
  expect(ended).toEqual({ both: cancelled, one: 0 })
})

test('batches are listed with their counts and their status, which agree with those of each batch', async () => {
  const lister = await service.makeCaller()
  const media = await service.makeMedia(lister)
  const submit = async (lines: number, more: object[] = []) => {
    service.clock.now = new Date(service.clock.now.getTime() + 1_000)
    const made = Array.from({ length: lines }, () => goodLine(media))
    const { json } = await service.submit(lister, [...made, ...(more as Record<string, unknown>[])])
    const { rows } = await service.results(lister, json.batch_id, '?include=pending')
    return { id: json.batch_id, attestations: rows.map(({ attestation_id }) => attestation_id) }
  }
  const named = goodLine(media, { external_id: 'repeated' })
  const [untouched, begun, ended, cancelled] = [
    await submit(2),
    await submit(3, [named]),
    await submit(1, [named]),
    await submit(2),
  ]
  await service.evaluate(lister, [
    begun.attestations[0] ?? '',
    begun.attestations[3] ?? '',
    ended.attestations[0] ?? '',
  ])
  await service.test.owner(`UPDATE attestations SET status = 'failed', failure = 'x' WHERE id = $1`, [
    begun.attestations[1],
  ])
  await service.ask(lister, `/v1/claims/batches/${cancelled.id}/cancel`, 'POST')
  const { json } = await service.ask(lister, '/v1/claims/batches')
  const zero = { queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 }
  expect(json.data).toMatchObject([
    { batch_id: cancelled.id, status: 'cancelled', failure: null, counts: { ...zero, cancelled: 2 } },
    { batch_id: ended.id, status: 'succeeded', counts: { ...zero, succeeded: 2 }, repeated_count: 1 },
    { batch_id: begun.id, status: 'running', counts: { ...zero, queued: 1, succeeded: 2, failed: 1 } },
    { batch_id: untouched.id, status: 'queued', counts: { ...zero, queued: 2 } },
  ])
  for (const listed of json.data as { batch_id: string }[]) {
    expect((await service.ask(lister, `/v1/claims/batches/${listed.batch_id}`)).json).toMatchObject(listed)
  }
})

test('a read of a batch waits for the end of its last line, and no longer than it says', async () => {
  const { id, rows } = await makeBatch(3, 'C-wait')
  const early = await service.ask(caller, `/v1/claims/batches/${id}?wait=1`)
  expect([early.status, early.json.status, early.json.settled]).toEqual([200, 'queued', 0])
  const waiting = service.ask(caller, `/v1/claims/batches/${id}?wait=30`)
  for (const row of rows) {
    await service.evaluate(caller, [row.attestation_id])
    await setJob(row, 'succeeded')
  }
  expect((await waiting).json).toMatchObject({ status: 'succeeded', settled: 3 })
})

test('rejected lines are a list: page by page, and as lines', async () => {
  const { json } = await service.submit(caller, [goodLine(mediaId), '{', '[]', goodLine(mediaId), '1'])
  const path = `/v1/claims/batches/${json.batch_id}/rejected`
  const first = await service.ask(caller, `${path}?limit=2`)
  expect(first.json).toMatchObject({ object: 'list', has_more: true, data: [{ line: 2 }, { line: 3 }] })
  const rest = await service.ask(caller, `${path}?limit=2&cursor=${first.json.next_cursor}`)
  expect(rest.json).toMatchObject({ has_more: false, next_cursor: null, data: [{ line: 5 }] })
  expect([...(first.json.data as object[]), ...(rest.json.data as object[])]).toEqual(json.rejected)
  const lines = await fetch(`${service.app.url}${path}`, {
    headers: { 'X-API-Key': caller.key, Accept: 'application/x-ndjson' },
  })
  const text = await lines.text()
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(json.rejected)
  expect((await service.ask(caller, `/v1/claims/batches/${json.batch_id}`)).json).not.toHaveProperty('rejected')
  const stranger = await service.makeCaller()
  expect((await service.ask(stranger, path)).status).toBe(404)
})

test('batches are listed newest first, page by page, without their lines', async () => {
  const lister = await service.makeCaller()
  const media = await service.makeMedia(lister)
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) {
    service.clock.now = new Date(service.clock.now.getTime() + 1_000)
    ids.push((await service.submit(lister, [goodLine(media), '{'])).json.batch_id)
  }
  const newest = ids.toReversed()
  const first = await service.ask(lister, '/v1/claims/batches?limit=2&include=total_count')
  expect(first.json).toMatchObject({
    has_more: true,
    total_count: 5,
    data: newest.slice(0, 2).map((batch_id) => ({ batch_id })),
  })
  expect(Object.keys((first.json.data as object[])[0] ?? {}).sort()).toEqual([
    'accepted',
    'batch_id',
    'cancelled_at',
    'counts',
    'created_at',
    'failure',
    'rejected_count',
    'repeated_count',
    'status',
  ])
  const rest = await service.ask(lister, `/v1/claims/batches?limit=3&cursor=${first.json.next_cursor}`)
  expect(rest.json).toMatchObject({
    has_more: false,
    data: newest.slice(2).map((batch_id) => ({ batch_id, accepted: 1, rejected_count: 1 })),
  })
  const since = service.clock.now.toISOString()
  expect((await service.ask(lister, `/v1/claims/batches?created_gte=${since}`)).json.data).toHaveLength(1)
  expect((await service.ask(caller, `/v1/claims/batches?cursor=${first.json.next_cursor}`)).status).toBe(400)
})
