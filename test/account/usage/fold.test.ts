import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFold } from '#src/account/usage/fold.ts'
import { purgeFoldedEntries } from '#src/account/usage/fold-rows.ts'
import { countBatch, countOperations, giveBackLines, recountLines } from '#src/account/usage/meter.ts'
import type { NoticeRow } from '#src/account/usage/notice-rows.ts'
import { eraseUsage } from '#src/account/usage/rows.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

let test_: TestDatabase
let live: Scope
let subject = 0
const told: { accountId: string; kind: string }[] = []
const warned: unknown[] = []
const log = { warn: (about: unknown) => void warned.push(about) }
const notify = async (_tx: unknown, notice: NoticeRow & { accountId: string }) =>
  void told.push({ accountId: notice.accountId, kind: notice.kind })

beforeAll(async () => {
  test_ = await createTestDatabase({ poolSize: 8 })
})
afterAll(() => test_.close())
beforeEach(async () => {
  live = await makeAccount(test_, { environment: 'live', plan: 'developer' })
  told.length = 0
})

const makeFold = (db: Pick<Database, 'system' | 'tenant'> = test_.db, step = 7) => createFold({ db, notify, log, step })

function subjects(count: number): string[] {
  return Array.from({ length: count }, () => {
    subject += 1
    return `att_live_${subject}`
  })
}

const count = (units: number) =>
  test_.db.tenant(live, (tx) => countBatch(tx, live, 'attest', { batchId: subjects(1)[0] ?? '', lines: units }))
const days = ({ accountId } = live) =>
  test_.owner<{ day: string; operation: string; units: number }>(
    'SELECT day::text, operation, units::int FROM usage_days WHERE account_id = $1 ORDER BY day, operation',
    [accountId],
  )
const notices = () =>
  test_.owner<{ kind: string; used: number; is_told: boolean }>(
    `SELECT kind, used::int, notified_at IS NOT NULL AS is_told FROM account_notices WHERE account_id = $1 ORDER BY kind DESC`,
    [live.accountId],
  )

test('every entry is in the sums once, with several folding at once and others counting meanwhile', async () => {
  const counting = subjects(60).map((id) =>
    test_.db.tenant(live, (tx) => countOperations(tx, live, id.endsWith('3') ? 'screen' : 'attest', [id, id])),
  )
  await Promise.all([...counting, makeFold().fold(), makeFold().fold(), makeFold().fold()])
  await Promise.all([makeFold().fold(), makeFold().fold()])
  expect((await days()).reduce((sum, { units }) => sum + units, 0)).toBe(60)
  expect(await makeFold().fold()).toBe(0)
  const left = await test_.owner('SELECT FROM usage_entries WHERE folded_at IS NULL')
  expect(left).toEqual([])
})

test('a process that dies while it folds changes nothing, and the next one folds', async () => {
  await count(5)
  const dying = {
    ...test_.db,
    system: <R>(reason: string, work: Parameters<Database['system']>[1]) =>
      test_.db.system(reason, async (tx) => {
        await work(tx)
        throw new Error('killed before the commit')
      }) as Promise<R>,
  }
  await expect(makeFold(dying).fold()).rejects.toThrow('killed')
  expect(await days()).toEqual([])
  await makeFold().fold()
  await makeFold().fold()
  expect((await days()).map(({ units }) => units)).toEqual([5])
})

test('entries count for the day in UTC on which they were written', async () => {
  for (const [id, at] of [
    ['a', '2026-10-31T23:59:59.999Z'],
    ['b', '2026-11-01T00:00:00Z'],
    ['c', '2026-11-01T23:30:00-01:00'],
  ]) {
    await test_.owner(
      `INSERT INTO usage_entries (account_id, environment, operation, subject_id, units, at) VALUES ($1, 'live', 'attest', $2, 1, $3)`,
      [live.accountId, id, at],
    )
  }
  await makeFold().fold()
  expect((await days()).map(({ day, units }) => [day, units])).toEqual([
    ['2026-10-31', 1],
    ['2026-11-01', 1],
    ['2026-11-02', 1],
  ])
})

test('notices come at 80 % and at 100 %, once each, and people are told once', async () => {
  const fold = makeFold()
  const round = async (units: number) => {
    await count(units)
    await fold.run(new AbortController().signal)
  }
  await round(799)
  expect(await notices()).toEqual([])
  await round(1)
  await round(1)
  expect(await notices()).toEqual([{ kind: 'usage_80', used: 800, is_told: true }])
  await round(300)
  await round(1)
  expect((await notices()).map(({ kind, used }) => [kind, used])).toEqual([
    ['usage_80', 800],
    ['usage_100', 1_101],
  ])
  expect(told.map(({ kind }) => kind)).toEqual(['usage_80', 'usage_100'])
})

test('one large step brings both notices, and an enterprise account gets them too', async () => {
  await test_.owner(`UPDATE accounts SET plan = 'enterprise' WHERE id = $1`, [live.accountId])
  await count(5_000_000)
  await Promise.all([makeFold().run(new AbortController().signal), makeFold().run(new AbortController().signal)])
  await makeFold().run(new AbortController().signal)
  expect((await notices()).map(({ kind }) => kind)).toEqual(['usage_80', 'usage_100'])
  expect(told.map(({ kind }) => kind).toSorted()).toEqual(['usage_100', 'usage_80'])
})

test('telling is tried again after a failure, and delays no other account', async () => {
  const failing = live
  await count(800)
  live = await makeAccount(test_, { environment: 'live', plan: 'developer' })
  await count(800)
  let isFailing = true
  const fold = createFold({
    db: test_.db,
    log,
    async notify(tx, notice) {
      if (isFailing && notice.accountId === failing.accountId) throw new Error('no mail')
      await notify(tx, notice)
    },
  })
  await fold.run(new AbortController().signal)
  expect(told).toEqual([{ accountId: live.accountId, kind: 'usage_80' }])
  expect(warned).toMatchObject([{ account: failing.accountId }])
  isFailing = false
  await fold.run(new AbortController().signal)
  await fold.run(new AbortController().signal)
  expect(told.map(({ accountId }) => accountId)).toEqual([live.accountId, failing.accountId])
})

test('retention deletes old entries that are in the sums, and no others; an erasure deletes all of one account', async () => {
  await count(3)
  await makeFold().fold()
  await count(4)
  await test_.owner(`UPDATE usage_entries SET at = at - interval '100 days'`)
  expect(await test_.db.system('test', (tx) => purgeFoldedEntries(tx, 92, 1_000))).toBeGreaterThan(0)
  const left = await test_.owner<{ units: number }>('SELECT units FROM usage_entries WHERE account_id = $1', [
    live.accountId,
  ])
  expect(left.map(({ units }) => units)).toEqual([4])
  expect((await days()).map(({ units }) => units)).toEqual([3])

  const other = await makeAccount(test_, { environment: 'live' })
  await test_.db.tenant(other, (tx) => countOperations(tx, other, 'attest', subjects(1)))
  expect(await test_.db.tenant(live, (tx) => eraseUsage(tx, 100))).toBe(2)
  expect(await test_.db.tenant(live, (tx) => eraseUsage(tx, 100))).toBe(0)
  await makeFold().fold()
  expect(await days(other)).toHaveLength(1)
})

test('a line is given back once and counted again once, and only where its batch was counted', async () => {
  const [batchId = '', uncounted = '', id = '', other = ''] = subjects(4)
  const turn = (move: typeof giveBackLines, batch: string) =>
    test_.db.tenant(live, (tx) => move(tx, live, 'attest', [{ id, batchId: batch }]))
  const units = async () => {
    const rows = await test_.owner<{ units: number }>(
      'SELECT units FROM usage_entries WHERE account_id = $1 AND subject_id = $2 ORDER BY turn',
      [live.accountId, id],
    )
    return rows.map((row) => row.units)
  }
  await test_.db.tenant(live, (tx) => countBatch(tx, live, 'attest', { batchId, lines: 2 }))
  await test_.db.tenant(live, (tx) => countBatch(tx, live, 'attest', { batchId, lines: 2 }))
  await turn(giveBackLines, uncounted)
  await turn(recountLines, batchId)
  expect(await units()).toEqual([])
  await Promise.all([1, 2, 3].map(() => turn(giveBackLines, batchId)))
  await turn(giveBackLines, batchId)
  expect(await units()).toEqual([-1])
  await Promise.all([1, 2, 3].map(() => turn(recountLines, batchId)))
  await turn(recountLines, batchId)
  await turn(giveBackLines, batchId)
  expect(await units()).toEqual([-1, 1, -1])
  await test_.db.tenant(live, (tx) => giveBackLines(tx, live, 'attest', [{ id: other, batchId: null }]))
  await makeFold().fold()
  expect((await days()).map((day) => day.units)).toEqual([1])
})
