import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { until } from '../../support/until.ts'
import { batchFixture, type Caller, goodLine, type Service } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

const named = (name: string, line = 'auto') => goodLine(mediaId, { external_id: name, claim: { line } })

test('the same submission again is the same attestation, within one batch and across its chunks', async () => {
  const lines = Array.from({ length: 1_200 }, (_, n) => named(`twice-${n % 600}`))
  const { json } = await service.submit(caller, lines)
  expect(json).toMatchObject({ accepted: 1_200, repeated_count: 600, rejected: [], counts: { queued: 1_200 } })

  const { rows } = await service.results(caller, json.batch_id, '?include=pending')
  expect(rows.map(({ line }) => line)).toEqual(lines.map((_, n) => n + 1))
  expect(rows.map((row) => row.is_repeat)).toEqual(lines.map((_, n) => n >= 600))
  expect(rows.slice(600).map((row) => row.attestation_id)).toEqual(rows.slice(0, 600).map((row) => row.attestation_id))
})

test('a batch that is sent again shows the results of the first', async () => {
  const lines = [named('again-1'), named('again-2'), named('again-3')]
  const first = await service.submit(caller, lines)
  const { rows } = await service.results(caller, first.json.batch_id, '?include=pending')
  await service.evaluate(
    caller,
    rows.map((row) => row.attestation_id),
    'failed',
  )

  const again = await service.submit(caller, [...lines, named('again-4')])
  expect(again.json).toMatchObject({
    accepted: 4,
    repeated_count: 3,
    settled: 3,
    counts: { queued: 1, succeeded: 3 },
    risk_histogram: { failed: 3 },
  })
  const shown = await service.results(caller, again.json.batch_id)
  expect(shown.rows.map((row) => row.attestation_id)).toEqual(rows.map((row) => row.attestation_id))
  expect(shown.rows).toMatchObject([1, 2, 3].map((line) => ({ line, is_repeat: true, batch_id: first.json.batch_id })))
})

test('a line with other content under a used external id is refused', async () => {
  await service.submit(caller, [named('taken')])
  const { json } = await service.submit(caller, [
    named('taken', 'home'),
    named('fresh'),
    named('fresh', 'home'),
    named('taken'),
  ])
  expect(json).toMatchObject({ accepted: 2, repeated_count: 1 })
  expect(json.rejected).toMatchObject(
    [1, 3].map((line) => ({ line, errors: [{ pointer: '/external_id', code: 'external_id_reused' }] })),
  )
})

test('a refused line does not reserve its external id', async () => {
  const bad = goodLine(newId('med', 'sandbox'), { external_id: 'second-chance', claim: { line: 'auto' } })
  const { json } = await service.submit(caller, [bad, named('second-chance'), named('second-chance')])
  expect(json).toMatchObject({ accepted: 2, repeated_count: 1, rejected: [{ line: 1 }] })
})

test('two accounts may use the same external ids', async () => {
  const other = await service.makeCaller()
  const theirs = goodLine(await service.makeMedia(other), { external_id: 'shared', claim: { reference: 'shared' } })
  await service.submit(caller, [goodLine(mediaId, { external_id: 'shared', claim: { reference: 'shared' } })])
  expect((await service.submit(other, [theirs])).json).toMatchObject({ accepted: 1, repeated_count: 0 })
})

test('identical concurrent batches in opposite orders create each attestation once', async () => {
  const before = { attestations: await service.count('attestations'), jobs: await service.count('jobs') }
  const lines = Array.from({ length: 1_200 }, (_, n) =>
    goodLine(mediaId, { external_id: `race-${n}`, claim: { reference: `R-${n % 900}` } }),
  )
  const answers = await Promise.all(
    [lines, lines.toReversed(), lines, lines.toReversed()].map((all) => service.submit(caller, all)),
  )
  expect(answers.map(({ status, json }) => [status, json.accepted])).toEqual(Array(4).fill([202, 1_200]))
  const repeated = answers.reduce((sum, { json }) => sum + Number(json.repeated_count), 0)
  expect(repeated).toBe(3 * 1_200)
  expect(await service.count('attestations')).toBe(before.attestations + 1_200)
  expect(await service.count('jobs')).toBe(before.jobs + 1_200)
})

test('a batch whose claims are locked by another transaction is accepted once they are free', async () => {
  const of = (reference: string) => goodLine(mediaId, { claim: { reference } })
  await service.submit(caller, [of('D-1'), of('D-2')])
  const before = await service.count('attestations')
  const single = new pg.Client({ connectionString: service.test.ownerUrl })
  await single.connect()
  const lock = (reference: string) => single.query('UPDATE claims SET line = line WHERE reference = $1', [reference])
  try {
    // The other transaction never retries: the batch must start over.
    await single.query(`BEGIN; SET LOCAL deadlock_timeout = '1min'`)
    await lock('D-2')
    const submitting = service.submit(caller, [of('D-1'), of('D-2')])
    await untilBlocked()
    await lock('D-1')
    await single.query('COMMIT')
    expect((await submitting).json).toMatchObject({ accepted: 2 })
  } finally {
    await single.end()
  }
  expect(await service.count('attestations')).toBe(before + 2)
})

async function untilBlocked(): Promise<void> {
  await until(async () => {
    const [row] = await service.test.owner<{ blocked: number }>(
      `SELECT count(*)::int AS blocked FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return row !== undefined && row.blocked > 0
  })
}
