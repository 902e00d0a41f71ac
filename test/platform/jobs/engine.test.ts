import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAMES, QUEUES } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import { SHOWN_STATE } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { pauseQueue, resumeQueue } from '#src/platform/jobs/operate.ts'
import { type Dispatching, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

// What we require of BullMQ, on each of its backends.
describe.each(testedEngines())('the job engine on %s', (kind) => {
  let on: Dispatching

  beforeAll(async () => {
    on = await startDispatching(kind)
  })
  afterAll(() => on?.close())

  const states = (ids: string[]) =>
    on.database.owner<{ id: string; state: string; attempts: number; fence: number; last_error: string | null }>(
      `SELECT id, ${SHOWN_STATE} AS state, attempts, fence, last_error FROM jobs WHERE id = ANY($1::uuid[])`,
      [ids],
    )
  const settledAll = (ids: string[], state = 'succeeded') =>
    until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids)).every((job) => job.state === state)
    })
  it('passes its check', async () => {
    await on.engine.check()
  })

  it('runs what was enqueued, each job once', async () => {
    const seen: string[] = []
    const worker = await on.start(async (job) => {
      seen.push(job.id)
      return on.settleNow(job)
    })
    const ids = await on.addJobs(60)
    await settledAll(ids)
    expect([...seen].sort()).toEqual([...ids].sort())
    await worker.close(5_000)
  })

  it('runs as many jobs at once as allowed, and one that hangs delays no other of its batch', async () => {
    let [inside, most] = [0, 0]
    let release = () => {}
    const released = new Promise<void>((done) => {
      release = done
    })
    let hung: string | undefined
    const worker = await on.start(async (job) => {
      inside += 1
      most = Math.max(most, inside)
      hung ??= job.id
      if (hung === job.id) await released
      inside -= 1
      return on.settleNow(job)
    })
    const ids = await on.addJobs(60)
    await until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids)).filter(({ state }) => state === 'succeeded').length === 59
    })
    release()
    await settledAll(ids)
    expect(most).toBeLessThanOrEqual(4)
    await worker.close(5_000)
  })

  it('settles a job without a result to write, and settles nothing of a job that was taken over', async () => {
    const overtaken = new Set<string>()
    const worker = await on.start(async (job) => {
      // Another delivery's lease, while this one runs: its fence is the one that counts.
      if (job.attempt === 1 && overtaken.size < 5) {
        overtaken.add(job.id)
        await on.database.owner(
          `UPDATE jobs SET fence = fence + 1, state = 'queued', run_at = now() + interval '1 hour' WHERE id = $1`,
          [job.id],
        )
      }
      return { kind: 'done' }
    })
    const ids = await on.addJobs(60)
    await until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids)).filter(({ state }) => state === 'succeeded').length === 55
    })
    expect((await states([...overtaken])).every(({ state }) => state === 'queued')).toBe(true)
    await worker.close(5_000)
    await on.database.owner('DELETE FROM jobs WHERE id = ANY($1::uuid[])', [[...overtaken]])
  })

  it('returns the ids of the tickets that it stored, and holds them until they are done', async () => {
    const producer = on.engine.producer('deliver')
    const makeTicket = () => ({ id: randomUUID(), dispatches: 1, account: 'acc_a' })
    const [ticket, fellow] = [makeTicket(), makeTicket()]
    const both = new Set([ticket.id, fellow.id])
    expect(await producer.add([{ tickets: [ticket, fellow], priority: 1 }])).toEqual({ stored: both })
    expect(await producer.held([ticket, { id: ticket.id, dispatches: 2 }, fellow])).toEqual(both)
    expect(await producer.waiting()).toBe(1)
    // From 20 on the engine is called in bulk, which is another code path.
    const many = Array.from({ length: 250 }, makeTicket)
    const ids = new Set(many.map(({ id }) => id))
    expect(await producer.add(many.map((one) => ({ tickets: [one], priority: 3 })))).toEqual({ stored: ids })
    expect(await producer.held(many)).toEqual(ids)
    expect(await producer.waiting()).toBe(251)
    // A paused worker takes no job and does not count as stuck.
    const bull = await on.engine.inspect('deliver')
    await bull.pause()
    expect(await producer.waiting()).toBe(0)
    await bull.resume()
    expect(await producer.waiting()).toBe(251)
    await bull.close()
    await producer.close()
  })

  it('retries a job that threw, and counts the attempt', async () => {
    const worker = await on.start(async (job) =>
      job.attempt < 3 ? { kind: 'retry', error: 'not yet', delayMs: 1 } : on.settleNow(job),
    )
    const ids = await on.addJobs(3)
    await settledAll(ids)
    for (const job of await states(ids)) expect(job.attempts).toBe(3)
    await worker.close(5_000)
  })

  it('returns a failed job to the queue as soon as Postgres is available again', async () => {
    const away = Array.from({ length: 2 }, () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
    const db: Database = {
      ...on.database.db,
      system: (reason, ...rest) => {
        const failure = reason === 'put back' ? away.shift() : undefined
        return failure === undefined ? on.database.db.system(reason, ...rest) : Promise.reject(failure)
      },
    }
    const run = async (job: RunningJob): Promise<JobOutcome> =>
      job.attempt === 1 ? { kind: 'retry', error: 'not yet', delayMs: 1 } : on.settleNow(job)
    const worker = await on.start(run, { db })
    const ids = await on.addJobs(1)
    await settledAll(ids)
    expect(away).toHaveLength(0)
    // An expired lease would have cost another attempt.
    expect((await states(ids))[0]).toMatchObject({ attempts: 2, fence: 2 })
    await worker.close(5_000)
  })

  it('does not count a deferred run as an attempt', async () => {
    let deferrals = 0
    const worker = await on.start(async (job) => {
      deferrals += 1
      return deferrals < 12 ? { kind: 'defer', reason: 'circuit open', delayMs: 1 } : on.settleNow(job)
    })
    const ids = await on.addJobs(1)
    await settledAll(ids)
    expect((await states(ids))[0]?.attempts).toBe(1)
    await worker.close(5_000)
  })

  it('makes a job dead at once for an invalid payload, and without attempts left, and calls onDead', async () => {
    const onDeadCalls: string[] = []
    const worker = await on.start(async () => ({ kind: 'retry', error: 'always', delayMs: 0 }), {
      onDead: async (_, __, payload) => {
        onDeadCalls.push(payload.attestationId)
      },
    })
    const [poison, hopeless] = await on.addJobs(2)
    await on.database.owner('UPDATE jobs SET payload = \'{"wrong":1}\' WHERE id = $1', [poison])
    await settledAll([poison ?? '', hopeless ?? ''], 'dead')
    const [first, second] = await Promise.all([states([poison ?? '']), states([hopeless ?? ''])])
    expect(first[0]?.attempts).toBe(1)
    expect(second[0]?.attempts).toBe(QUEUES.attest.maxAttempts)
    expect(second[0]?.last_error).toBe('always')
    expect(onDeadCalls).toHaveLength(1)
    await worker.close(5_000)
  })

  it('lets only the newest fence settle when a job was taken over', async () => {
    const results: string[] = []
    let release = () => {}
    const held = new Promise<void>((done) => {
      release = done
    })
    const worker = await on.start(async (job) => {
      if (job.fence === 1) await held
      const outcome = await on.settleNow(job)
      results.push(`fence ${job.fence}`)
      return outcome
    })
    const ids = await on.addJobs(1)
    await until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids))[0]?.fence === 1
    })
    await on.database.owner("UPDATE jobs SET state = 'queued', run_at = now() WHERE id = $1", [ids[0]])
    await settledAll(ids)
    release()
    await worker.close(5_000)
    expect(results).toEqual(['fence 2'])
    expect((await states(ids))[0]?.fence).toBe(2)
  })

  it('aborts a handler whose job was taken over', async () => {
    const worker = await on.start(
      (job) =>
        new Promise((done) => {
          job.signal.addEventListener('abort', () => done({ kind: 'retry', error: 'aborted' }))
        }),
      // It renews every second, and so notices sooner.
      { stuckAfterMs: 3_000 },
    )
    const ids = await on.addJobs(1)
    await until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids))[0]?.state === 'running'
    })
    await on.database.owner("UPDATE jobs SET state = 'cancelled', fence = fence + 1 WHERE id = $1", [ids[0]])
    await worker.close(20_000)
    expect((await states(ids))[0]?.state).toBe('cancelled')
  })

  it('dispatches no job of a paused queue, and none without a worker', async () => {
    const ids = await on.addJobs(1)
    expect(await on.dispatcher.dispatch('attest')).toMatchObject({ count: 0 })
    await on.database.owner("INSERT INTO queues (queue, paused_at) VALUES ('attest', now())")
    const worker = await on.start(on.settleNow)
    expect(await on.dispatcher.dispatch('attest')).toMatchObject({ count: 0 })
    await on.database.owner('DELETE FROM queues')
    await settledAll(ids)
    await worker.close(5_000)
  })

  it('starts no job after a pause, also none that was dispatched before it, and takes no attempt of it', async () => {
    let claimed = 0
    const db: Database = {
      ...on.database.db,
      async writeSystem(reason, statement) {
        const rows = await on.database.db.writeSystem<never>(reason, statement)
        if (reason === 'claim attest') claimed += (statement().values[0] as string[]).length
        return rows
      },
    }
    const started: string[] = []
    const released = Promise.withResolvers<void>()
    const run = async (job: RunningJob) => {
      started.push(job.id)
      await released.promise
      return on.settleNow(job)
    }
    // The jobs are of one account, which may have half of the slots.
    const worker = await on.start(run, { db, concurrency: 8 })
    const ids = await on.addJobs(8)
    await until(async () => {
      await on.dispatcher.dispatch('attest')
      return started.length === 4 && (await states(ids)).every(({ state }) => state !== 'queued')
    })
    await pauseQueue(on.database.db, 'attest')
    const waiting = ids.filter((id) => !started.includes(id))
    expect(await states(waiting)).toEqual(waiting.map(() => expect.objectContaining({ state: 'queued', attempts: 0 })))
    released.resolve()
    // The worker asks for those that it had fetched as its slots become free.
    await until(() => claimed === 8)
    await until(async () => (await states(ids)).filter(({ state }) => state === 'succeeded').length === 4)
    expect(await on.dispatcher.dispatch('attest')).toMatchObject({ count: 0 })
    expect(started).toHaveLength(4)
    await resumeQueue(on.database.db, 'attest')
    await settledAll(ids)
    expect((await states(ids)).map(({ attempts }) => attempts)).toEqual(ids.map(() => 1))
    await worker.close(5_000)
  })

  it('queues a job again that is refused because its queue is paused', async () => {
    const worker = await on.start(on.settleNow)
    const ids = await on.addJobs(2)
    await pauseQueue(on.database.db, 'attest')
    // As by a dispatcher that read the queue before the pause.
    await on.database.owner(
      `UPDATE jobs SET state = 'dispatched', dispatches = 1, dispatched_at = now() - interval '1 minute'
       WHERE id = ANY($1::uuid[])`,
      [ids],
    )
    const producer = on.engine.producer('attest')
    await producer.add(ids.map((id) => ({ tickets: [{ id, dispatches: 1, account: 'acc_a' }], priority: 1 })))
    await until(
      async () => {
        await on.dispatcher.reconcile('attest')
        return (await states(ids)).every(({ state, attempts }) => state === 'queued' && attempts === 0)
      },
      { timeoutMs: 20_000 },
    )
    await resumeQueue(on.database.db, 'attest')
    await settledAll(ids)
    await producer.close()
    await worker.close(5_000)
  })

  it('reports which queues have a due job', async () => {
    const [now, later] = await on.addJobs(2)
    await on.database.owner("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = $1", [later])
    expect(await on.dispatcher.findDue(['attest', 'deliver'])).toEqual(['attest'])
    expect(await on.dispatcher.findDue(['deliver'])).toEqual([])
    await on.database.owner("UPDATE jobs SET state = 'cancelled' WHERE id = $1", [now])
    expect(await on.dispatcher.findDue(['attest', 'deliver'])).toEqual([])
    await on.database.owner("UPDATE jobs SET state = 'cancelled' WHERE id = $1", [later])
  })

  it('checks all idle queues in one query, and dispatches new jobs', async () => {
    const worker = await on.start(on.settleNow)
    let [rounds, questions] = [0, 0]
    const loops = runDispatchLoops(
      {
        ...on.dispatcher,
        dispatch: (queue) => {
          rounds += 1
          return on.dispatcher.dispatch(queue)
        },
        findDue: (queues) => {
          questions += queues.length === QUEUE_NAMES.length ? 1 : 0
          return on.dispatcher.findDue(queues)
        },
      },
      pino({ level: 'silent' }),
    )
    await until(() => questions > 2)
    const before = rounds
    const asked = questions
    await until(() => questions > asked + 4)
    expect(rounds - before).toBeLessThanOrEqual(QUEUE_NAMES.length)
    const ids = await on.addJobs(3)
    await until(async () => (await states(ids)).every(({ state }) => state === 'succeeded'))
    await loops.close()
    await worker.close(5_000)
  })
})
