// A claim changes no column that an index knows; the lease alone tells a running job from a dispatched one.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import {
  cancelJobs,
  claimAll,
  dropJobs,
  enqueue,
  putBack,
  renew,
  requeue,
  SHOWN_STATE,
  STALE_JOB,
  settle,
  settleAll,
} from '#src/platform/jobs/backlog.ts'
import { pauseQueue, resumeQueue } from '#src/platform/jobs/operate.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

describe('a lease', () => {
  let database: TestDatabase
  let scope: Scope
  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
  })
  afterAll(() => database?.close())

  /** Jobs as the dispatcher leaves them. */
  async function dispatched(count: number) {
    const ids = await database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'attest',
        scope,
        Array.from({ length: count }, () => ({ payload: { attestationId: randomUUID() } })),
      ),
    )
    await dispatch(ids)
    return ids.map((id) => ({ id, dispatches: 1 }))
  }
  const dispatch = (ids: readonly string[]) =>
    database.owner(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1, dispatched_at = now(), lease_until = NULL
       WHERE id = ANY($1::uuid[])`,
      [ids],
    )
  const shown = async (id: string) => {
    const [row] = await database.owner<{ state: string; is_leased: boolean; fence: number }>(
      `SELECT ${SHOWN_STATE} AS state, lease_until IS NOT NULL AS is_leased, fence FROM jobs WHERE id = $1`,
      [id],
    )
    return row
  }
  async function claimOne() {
    const [ticket] = await dispatched(1)
    const [lease] = ticket === undefined ? [] : await claimAll(database.db, 'attest', [ticket])
    if (ticket === undefined || lease === undefined) throw new Error('not claimed')
    return { ticket, lease }
  }
  const worker = () => ({ id: randomUUID(), queue: 'attest' as const, concurrency: 1, isLeaving: true })

  it('is taken without a write to any index', async () => {
    const counts = async () => {
      const [row] = await database.owner<{ all: number; hot: number }>(
        `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'jobs'`,
      )
      return row ?? { all: 0, hot: 0 }
    }
    const tickets = await dispatched(3)
    const before = await counts()
    expect((await claimAll(database.db, 'attest', tickets)).every((lease) => lease?.fence === 1)).toBe(true)
    // A session reports its counts when it ends a transaction a second after its last report; an idle one after ten seconds.
    const reported = async () => {
      await database.db.writeSystem('report', () => ({ text: 'SELECT 1', values: [] }))
      return counts()
    }
    await until(async () => (await reported()).all >= before.all + 3, { timeoutMs: 20_000, everyMs: 50 })
    await until(async () => (await reported()).hot >= before.hot + 3, { timeoutMs: 20_000, everyMs: 50 })
  })

  it('is taken over by every claim of the same dispatch, and by none of an earlier one', async () => {
    const { ticket, lease } = await claimOne()
    const [next] = await claimAll(database.db, 'attest', [ticket])
    expect(next).toMatchObject({ fence: lease.fence + 1, attempt: 2 })
    await expect(database.db.tenant(scope, (tx) => settle(tx, lease))).rejects.toBe(STALE_JOB)
    await dispatch([ticket.id])
    expect(await claimAll(database.db, 'attest', [ticket])).toEqual([undefined])
  })

  it('is not given in a paused queue, and the job keeps its attempts and its ticket', async () => {
    const [ticket] = await dispatched(1)
    if (ticket === undefined) throw new Error('no job')
    await database.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now()), ('deliver', NULL)`)
    expect(await claimAll(database.db, 'attest', [ticket])).toEqual([undefined])
    expect(await shown(ticket.id)).toEqual({ state: 'dispatched', is_leased: false, fence: 0 })
    await resumeQueue(database.db, 'attest')
    expect(await claimAll(database.db, 'attest', [ticket])).toMatchObject([{ fence: 1, attempt: 1 }])
    await database.owner('DELETE FROM queues')
  })

  it('and a pause: each job runs or waits in the queue', async () => {
    const tickets = await dispatched(40)
    const claims = tickets.map((ticket) => claimAll(database.db, 'attest', [ticket]))
    await Promise.all([...claims, pauseQueue(database.db, 'attest')])
    const leases = (await Promise.all(claims)).flat()
    for (const [index, { id }] of tickets.entries()) {
      expect((await shown(id))?.state).toBe(leases[index] === undefined ? 'queued' : 'running')
    }
    await database.owner('DELETE FROM queues')
  })

  it('settles nothing after it lapsed, even if the job was dispatched again and not yet claimed', async () => {
    const { ticket, lease } = await claimOne()
    await dispatch([ticket.id])
    expect(await shown(ticket.id)).toEqual({ state: 'dispatched', is_leased: false, fence: lease.fence })
    await expect(database.db.tenant(scope, (tx) => settle(tx, lease))).rejects.toBe(STALE_JOB)
    expect(await database.db.tenant(scope, (tx) => settleAll(tx, 'attest', [lease]))).toEqual([false])
    expect(await renew(database.db, worker(), [lease])).toEqual(new Set())
    await putBack(database.db, lease, { delayMs: 0, error: 'late', isCounted: true })
    expect(await shown(ticket.id)).toMatchObject({ state: 'dispatched' })
  })

  it('protects a running job from being cancelled, dropped or queued again as unclaimed', async () => {
    const { ticket, lease } = await claimOne()
    const [waiting] = await dispatched(1)
    if (waiting === undefined) throw new Error('no job')
    await database.db.tenant(scope, async (tx) => {
      expect(await cancelJobs(tx, [ticket.id, waiting.id])).toEqual([waiting.id])
      await dropJobs(tx, [ticket.id])
    })
    await database.db.system('test', (tx) => requeue(tx, [ticket]))
    expect(await shown(ticket.id)).toMatchObject({ state: 'running' })
    expect(await renew(database.db, worker(), [lease])).toEqual(new Set([ticket.id]))
    expect(await database.db.tenant(scope, (tx) => settleAll(tx, 'attest', [lease]))).toEqual([true])
    expect(await shown(ticket.id)).toMatchObject({ state: 'succeeded', is_leased: false })
  })

  it('is not needed by a worker to be alive, unless it is leaving', async () => {
    const own = { ...worker(), isLeaving: false }
    const isAlive = async () =>
      (
        await database.owner('SELECT FROM workers WHERE id = $1 AND heartbeat_at > now() - $2::interval', [
          own.id,
          '5 min',
        ])
      ).length === 1
    await renew(database.db, { ...own, isLeaving: true }, [])
    expect(await isAlive()).toBe(false)
    expect(await renew(database.db, own, [])).toEqual(new Set())
    expect(await isAlive()).toBe(true)
    await database.owner(`UPDATE workers SET heartbeat_at = now() - interval '1 hour' WHERE id = $1`, [own.id])
    await renew(database.db, own, [])
    expect(await isAlive()).toBe(true)
  })

  it('and a requeue of what seemed unclaimed: exactly one of the two wins', async () => {
    const tickets = await dispatched(40)
    const [leases] = await Promise.all([
      claimAll(database.db, 'attest', tickets),
      ...tickets.map((ticket) => database.db.system('test', (tx) => requeue(tx, [ticket]))),
    ])
    for (const [index, { id }] of tickets.entries()) {
      expect((await shown(id))?.state).toBe(leases[index] === undefined ? 'queued' : 'running')
    }
  })
})
