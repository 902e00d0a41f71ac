import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '#src/platform/context.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { NO_ID_CHANNEL } from '#src/platform/jobs/id-channel.ts'
import { createWaiters, type Waiters } from '#src/platform/jobs/waiters.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

describe('waiting callers', () => {
  let database: TestDatabase
  let scope: Scope
  let waiters: Waiters

  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
    waiters = createWaiters({ db: database.db, reports: NO_ID_CHANNEL })
  })
  afterAll(async () => {
    waiters?.close()
    await database?.close()
  })

  const addJob = async () => {
    const [id] = await database.db.tenant(scope, (tx) =>
      enqueue(tx, 'attest', scope, [{ payload: { attestationId: randomUUID() } }]),
    )
    return id ?? ''
  }
  const end = (id: string, state: string) => database.owner('UPDATE jobs SET state = $2 WHERE id = $1', [id, state])

  it.each(['succeeded', 'dead', 'cancelled'])('wake when their job is %s', async (state) => {
    const id = await addJob()
    const all = Promise.all([waiters.settled(id, 10_000), waiters.settled(id, 10_000)])
    await end(id, state)
    expect(await all).toEqual([true, true])
  })

  it('stop waiting at their deadline, and at once when they waited for no time', async () => {
    const id = await addJob()
    expect(await waiters.settled(id, 30)).toBe(false)
    expect(await waiters.settled(id, 0)).toBe(false)
  })

  it('stop when the client disconnects', async () => {
    const id = await addJob()
    const client = new AbortController()
    const waiting = waiters.settled(id, 10_000, client.signal)
    client.abort()
    expect(await waiting).toBe(false)
    expect(await waiters.settled(id, 10_000, client.signal)).toBe(false)
  })

  it('are held back, and not read, when their account has its share of a thousand, and their places are freed', async () => {
    const id = await addJob()
    const wait = (account: string, timeoutMs = 20_000) => within({ account }, () => waiters.settled(id, timeoutMs))
    const answer = () => within({ account: 'one' }, () => [waiters.hasRoom(), waiters.retryAfterSeconds()])
    expect(answer()).toEqual([true, 1])
    const waiting = ['one', 'other'].flatMap((account) => Array.from({ length: 500 }, () => wait(account)))
    expect(answer()).toEqual([false, 5])
    const late = wait('one', 200)
    await end(id, 'succeeded')
    expect((await Promise.all(waiting)).every(Boolean)).toBe(true)
    expect(await late).toBe(false)
    expect(await wait('one')).toBe(true)
  })

  it('of a third account have places where two have taken all: those of the most answer their oldest', async () => {
    const id = await addJob()
    const wait = (account: string) => within({ account }, () => waiters.settled(id, 20_000))
    const ofTwo = ['one', 'other'].map((account) => Array.from({ length: 500 }, () => wait(account)))
    const third = Array.from({ length: 300 }, () => wait('third'))
    expect(within({ account: 'third' }, () => waiters.hasRoom())).toBe(true)
    expect(await Promise.race(ofTwo.map(([oldest]) => oldest))).toBe(false)
    await end(id, 'succeeded')
    expect((await Promise.all(third)).every(Boolean)).toBe(true)
    const answered = await Promise.all(ofTwo.map((own) => Promise.all(own)))
    expect(answered.map((own) => own.filter(Boolean).length)).toEqual([350, 350])
    expect(answered.map((own) => own.indexOf(true))).toEqual([150, 150])
  })

  it('of one account leave room for those of another', async () => {
    const id = await addJob()
    const full = Array.from({ length: 1_500 }, () => within({ account: 'full' }, () => waiters.settled(id, 1_000)))
    const hasRoom = (account: string) => within({ account }, () => waiters.hasRoom())
    expect([hasRoom('full'), hasRoom('other')]).toEqual([false, true])
    const other = within({ account: 'other' }, () => waiters.settled(id, 20_000))
    await end(id, 'succeeded')
    expect(await other).toBe(true)
    expect((await Promise.all(full)).filter(Boolean)).toHaveLength(900)
    expect([hasRoom('full'), hasRoom('other')]).toEqual([true, true])
  })

  it('that are held back end with their client, and with the process', async () => {
    const own = createWaiters({ db: database.db, reports: NO_ID_CHANNEL })
    const id = await addJob()
    const full = Array.from({ length: 900 }, () => own.settled(id, 20_000))
    const client = new AbortController()
    const held = [own.settled(id, 20_000, client.signal), own.settled(id, 20_000)]
    client.abort()
    expect(await held[0]).toBe(false)
    own.close()
    expect(await Promise.all([...full, ...held])).not.toContain(true)
  })

  it('are polled for together, and less often the longer they wait', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, addJob))
    const polls: number[] = []
    const readAt: number[] = []
    const [last = ''] = ids.slice(-1)
    const counted = createWaiters({
      db: {
        readSystem: (reason, statement) => {
          const { values } = statement()
          const due = values[0] as string[]
          polls.push(due.length)
          if (due.includes(last)) readAt.push(performance.now())
          return database.db.readSystem(reason, statement)
        },
      },
      reports: NO_ID_CHANNEL,
    })
    const waiting = Array.from({ length: 400 }, (_, index) => counted.settled(ids[index % 40] ?? '', 10_000))
    await until(() => readAt.length >= 14 && polls.includes(40))
    // 3 ms, and a quarter more each time, of which a poll may be a quarter early: 154 ms. Without growth it is about 50.
    const [first = 0, fourteenth = 0] = [readAt[0], readAt[13]]
    expect(fourteenth - first).toBeGreaterThan(120)
    expect(Math.max(...polls)).toBe(40)
    await end(last, 'succeeded')
    expect((await Promise.all(waiting.filter((_, index) => index % 40 === 39))).every(Boolean)).toBe(true)
    const fresh = await addJob()
    const answered = counted.settled(fresh, 10_000)
    await end(fresh, 'succeeded')
    expect(await answered).toBe(true)
    counted.close()
    expect((await Promise.all(waiting)).filter(Boolean)).toHaveLength(10)
  })

  it('hold no connection: a pool of four serves others while hundreds wait', async () => {
    const id = await addJob()
    const waiting = Array.from({ length: 500 }, () => waiters.settled(id, 10_000))
    const others = await Promise.all(
      Array.from({ length: 50 }, () => database.db.system('test', (tx) => tx.query('SELECT 1'))),
    )
    expect(others).toHaveLength(50)
    await end(id, 'succeeded')
    await Promise.all(waiting)
  })
})
