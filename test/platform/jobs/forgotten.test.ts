import { Redis } from 'ioredis'
import { expect, inject, it, onTestFinished } from 'vitest'
import { SHOWN_STATE } from '#src/platform/jobs/backlog.ts'
import { createLog } from '#src/platform/log.ts'
import { makeAccount, type TestDatabase } from '../../support/database.ts'
import { type EngineKind, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

it.each(testedEngines())(
  'a job that the engine forgets, as after FLUSHALL, runs to its end and is no warning for operators: %s',
  async (kind) => {
    const lines: { level: string; msg: string; reason?: string }[] = []
    const log = createLog({ process: 'attest', level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const on = await startDispatching(kind, log)
    onTestFinished(() => on.close())
    const started: string[] = []
    const ended = Promise.withResolvers<void>()
    const worker = await on.start(
      async (job) => {
        started.push(job.id)
        await ended.promise
        return on.settleNow(job)
      },
      { concurrency: 1 },
    )
    onTestFinished(() => worker.close(0))
    const other = await makeAccount(on.database)
    const [mine, theirs] = [await on.addJobs(1), await on.addJobs(1, other)]
    const ids = [...mine, ...theirs]
    await on.dispatcher.dispatch('attest')
    // The second waits in the worker for the first to end. Until it is claimed, the engine has it too.
    const queue = await on.engine.inspect('attest')
    onTestFinished(() => queue.close())
    // BullMQ's job of the first ends when it is claimed.
    const hasOne = async () =>
      started.length === 1 &&
      (await queue.getJobCountByTypes('waiting', 'prioritized')) === 0 &&
      (await queue.getActiveCount()) === 1
    await until(hasOne, { timeoutMs: 20_000, what: 'a job that waits in the worker' })
    await forget(kind, on.database)

    const said = (words: string) =>
      until(() => lines.some(({ reason }) => reason?.includes(words)), { timeoutMs: 20_000, what: words })
    await said('could not renew lock')
    ended.resolve()
    await said('Missing')
    await until(
      async () => {
        const rows = await on.database.owner<{ state: string }>(
          `SELECT ${SHOWN_STATE} AS state FROM jobs WHERE id = ANY($1::uuid[])`,
          [ids],
        )
        return rows.every(({ state }) => state === 'succeeded')
      },
      { timeoutMs: 20_000, what: 'the end of both jobs' },
    )
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
  },
)

/** Everything that the engine holds of the queue. */
async function forget(kind: EngineKind, database: Pick<TestDatabase, 'owner'>): Promise<void> {
  if (kind === 'redis') {
    const redis = new Redis(inject('redisUrl') ?? '')
    const keys = await redis.keys('t????????:{attest}:*')
    await redis.del(...keys)
    redis.disconnect()
    return
  }
  await database.owner('DELETE FROM bullmq.job')
}
