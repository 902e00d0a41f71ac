// The lists of devices, capture sessions and batches of screenings at 60,000 rows: a filter or an order reads what it
// lists, where it lies among the last rows too.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findStreams, type StreamFilter } from '#src/attest/captures/stream-rows.ts'
import { type DeviceFilter, type DeviceOrder, listDevices } from '#src/attest/devices/rows.ts'
import { findScreeningBatches } from '#src/attest/screen/batch-rows.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { readingRows } from '../support/rows-read.ts'

const ROWS = 60_000
// A page of 20, the row after it, and as many as match where they are found by their expiry.
const FEW_ROWS = 150

let test: TestDatabase
let scope: Scope
const now = new Date()
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)
const base = newId('dev', 'sandbox', now.getTime()).slice('dev_test_'.length, -8)

beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  const id = (type: string) => `'${type}_test_${base}' || lpad(n::text, 8, '0')`
  const fill = (table: string, columns: string, values: string, rows = ROWS) =>
    test.owner(
      `INSERT INTO ${table} (account_id, environment, ${columns}) SELECT $1, $2, ${values} FROM generate_series(1, ${rows}) AS n`,
      [scope.accountId, scope.environment],
    )
  // The oldest expire first: 50 have expired, 50 more do within 10 days. The 50 after them are revoked.
  await fill(
    'devices',
    'id, name, spki, spki_digest, certificate_chain, certificate_subject, not_before, not_after, revoked_at, revoke_effective_at',
    `${id('dev')}, 'Phone', '\\x00', sha256(n::text::bytea), ARRAY['\\x00'::bytea], 'CN=Phone', now() - interval '1 year',
     CASE WHEN n <= 50 THEN now() - interval '1 day' WHEN n <= 100 THEN now() + interval '9 days'
       ELSE now() + interval '20 days' + n * interval '1 minute' END,
     CASE WHEN n > 100 AND n <= 150 THEN now() END, CASE WHEN n > 100 AND n <= 150 THEN now() END`,
  )
  await fill(
    'capture_sessions',
    'id, nonce, expires_at, device_id, consumed_by',
    `${id('cap')}, 'nonce' || n, now(), CASE WHEN n <= 50 THEN ${id('dev')} END, CASE WHEN n > 50 THEN 'att' END`,
  )
  await test.owner(`UPDATE capture_sessions SET device_id = $1 WHERE device_id IS NOT NULL`, [
    `dev_test_${base}00000001`,
  ])
  await fill('screening_batches', 'id, accepted, rejected', `${id('bat')}, 10000, '[]'`, 20)
  await fill(
    'screenings',
    'id, media_id, media_sha256, job_id, batch_id, batch_line, status, detector, detector_version, thresholds, genai_score, completed_at',
    `${id('scr')}, 'med', sha256('x'), gen_random_uuid(), 'bat_test_${base}' || lpad((n % 20 + 1)::text, 8, '0'), n,
     CASE WHEN n <= 60 THEN 'queued' ELSE 'scored' END, 'http', '1', '{}', CASE WHEN n > 60 THEN 0.1 END,
     CASE WHEN n > 60 THEN now() END`,
  )
  await test.owner('VACUUM ANALYZE devices')
  await test.owner('VACUUM ANALYZE capture_sessions')
  await test.owner('VACUUM ANALYZE screenings')
}, 180_000)
afterAll(() => test.close())

describe('devices', () => {
  const created: DeviceOrder = { by: 'created', direction: 'desc' }
  const urgent: DeviceOrder = { by: 'expires', direction: 'asc' }
  it.each<[string, DeviceFilter, DeviceOrder, [first: number, last: number] | []]>([
    ['that expire soon, newest first', { expiresLt: inDays(10) }, created, [100, 80]],
    ['that expire soon and count, newest first', { states: ['enrolled'], expiresLt: inDays(10) }, created, [100, 80]],
    [
      'that expire soon and count, the most urgent first',
      { states: ['enrolled'], expiresLt: inDays(10) },
      urgent,
      [51, 71],
    ],
    ['by their expiry', {}, urgent, [1, 21]],
    ['by their expiry, the last first', {}, { by: 'expires', direction: 'desc' }, [60_000, 59_980]],
    ['that have expired', { states: ['expired'] }, created, [50, 30]],
    ['that are revoked', { states: ['revoked'] }, created, [150, 130]],
    ['of two statuses', { states: ['enrolled', 'revoked'] }, created, [60_000, 59_980]],
    ['of a tier', { tier: { tier: 'tee', revocations: 'off' } }, created, []],
  ])('%s', async (_, filter, order, ends) => {
    const { answer, most } = await readingRows(test.db, scope, 'devices', (tx) =>
      listDevices(tx, scope, filter, { order, after: undefined, limit: 21, now }),
    )
    const numbers = answer.map(({ id }) => Number(id.slice(-8)))
    expect(numbers.filter((_, index) => index === 0 || index === numbers.length - 1)).toEqual(ends)
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

it.each<[string, StreamFilter]>([
  ['that are open', { isOpen: true }],
  ['that are closed', { isOpen: false }],
  ['of a device', { deviceId: `dev_test_${base}00000001` }],
  ['of a device that are open', { isOpen: true, deviceId: `dev_test_${base}00000001` }],
])('capture sessions %s', async (_, filter) => {
  const { answer, most } = await readingRows(test.db, scope, 'capture_sessions', (tx) =>
    findStreams(tx, scope, filter, { before: undefined, limit: 21 }),
  )
  expect(answer).toHaveLength(21)
  expect(most).toBeLessThan(FEW_ROWS)
})

it('a page of batches of screenings reads the lines without a score, and no others', async () => {
  const { answer, most } = await readingRows(test.db, scope, 'screenings', (tx) =>
    findScreeningBatches(tx, scope, {}, { before: undefined, limit: 21 }),
  )
  expect(answer).toHaveLength(20)
  expect(answer[0]?.counts).toEqual({ queued: 3, scored: 9_997, unavailable: 0, unsupported: 0 })
  expect(most).toBeLessThan(FEW_ROWS)
})
