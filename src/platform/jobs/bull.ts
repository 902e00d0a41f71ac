// The only file that imports BullMQ. A BullMQ job carries hints: {id, dispatches} of rows in Postgres, several rows in
// a batch. Reconcile finds what BullMQ loses; the claim refuses what it delivers twice.

import {
  createPostgresBackend,
  ErrorCode,
  type PostgresConnectionOptions,
  Queue,
  runMigrations,
  Worker,
  withBackend,
} from 'bullmq'
import pg from 'pg'
import type { QueueName } from '#src/catalogue/queues.ts'
import { endsWithin } from '#src/platform/time-limit.ts'
import { createRedisConnections, ENGINE_SCHEMA, openEnginePool, WAITS, type Waits } from './engine-connections.ts'
import { createRedisChannel, type IdChannel, NO_ID_CHANNEL } from './id-channel.ts'

export interface Ticket {
  id: string
  dispatches: number
  /** The account of the job: a worker shares its slots among accounts. */
  account: string
  /** In its worker it starts before other jobs of its account. */
  goesFirst?: true
  /** Traceparent of the span that dispatched the job; absent unless it is traced. */
  traceparent?: string | undefined
}

/** One BullMQ job. It costs the same for one ticket and for many. */
export interface JobBatch {
  tickets: readonly [Ticket, ...Ticket[]]
  /** From 1; the lowest goes first. */
  priority: number
}

export interface Producer {
  /** Stores what it can. Returns the ids of the tickets that the engine stored, and why it did not store the others. */
  add(batches: readonly JobBatch[]): Promise<{ stored: Set<string>; error?: unknown }>
  /** Which of these tickets the engine still has to deliver or is delivering. */
  held(tickets: readonly Pick<Ticket, 'id' | 'dispatches'>[]): Promise<Set<string>>
  /**
   * Batches that a worker could take now; 0 for a queue that is paused in the engine. Throws when the engine does not
   * answer.
   */
  waiting(): Promise<number>
  close(): Promise<void>
}

export interface Consumer {
  /** Stops taking batches and waits until the batches taken are processed. */
  close(): Promise<void>
}

export interface Engine {
  kind: 'redis' | 'postgres'
  /** @throws {Error} when the engine would lose jobs silently (an evicting Redis). */
  check(): Promise<void>
  producer(queue: QueueName): Producer
  consume(queue: QueueName, options: ConsumeOptions): Consumer
  /** Jobs that have ended, for callers that wait: sent after the commit. */
  settled: IdChannel
  /** BullMQ's own queue, connected, for the board. */
  inspect(queue: QueueName): Promise<InspectedQueue>
  close(): Promise<void>
}

export type InspectedQueue = Queue

interface ConsumeOptions {
  /** Batches at once. */
  concurrency: number
  process(tickets: readonly Ticket[]): Promise<void>
  onError(error: Error): void
  /** A job that this worker runs, or ran, is no longer the engine's or no longer this worker's. Its row decides. */
  onForgotten(reason: string): void
}

type EngineConfig = { prefix?: string; waits?: Waits } & ({ redisUrl: string } | { databaseUrl: string })

// A job whose worker dies stays locked for lockDuration, and the next check notices: together they are the longest time
// until another worker runs it. If longer, callers notice a crash; if shorter, a busy event loop loses its lock.
const LOCK_MS = 10_000
// A stall is the crash of a worker, not of a job. The row's own attempts decide when to give up.
const MAX_STALLED = 50
const CLOSE_MS = 500
// addBulk on Postgres makes two temporary tables per call: below this number, single adds are cheaper.
const BULK_FROM = 20

export function createEngine(config: EngineConfig): Engine {
  const { prefix = 'cs', waits = WAITS } = config
  return 'redisUrl' in config ? redisEngine(config.redisUrl, prefix, waits) : postgresEngine(config.databaseUrl, waits)
}

/**
 * Makes the engine's tables on Postgres and grants them to the service's login, for `migrate`. BullMQ makes a sequence
 * per queue at its first bulk add, so the login may create in that schema.
 */
export async function migrateEngine(client: pg.Client, login: string): Promise<void> {
  await runMigrations(client, ENGINE_SCHEMA)
  const role = client.escapeIdentifier(login)
  await client.query(`
    GRANT USAGE, CREATE ON SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT TEMPORARY ON DATABASE ${client.escapeIdentifier(client.database ?? '')} TO ${role};
  `)
  // Those that the login made itself belong to it, and an owner that is no superuser may not grant them.
  const { rows } = await client.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'S' AND relnamespace = $1::regnamespace AND pg_has_role(relowner, 'USAGE')`,
    [ENGINE_SCHEMA],
  )
  if (rows.length > 0) await client.query(`GRANT ALL ON SEQUENCE ${rows.map(({ name }) => name).join(', ')} TO ${role}`)
}

function redisEngine(url: string, prefix: string, waits: Waits): Engine {
  const redis = createRedisConnections(url, waits)
  // A queue's keys share one hash tag, so that they stay in one slot of a cluster.
  const keyPrefix = (queue: QueueName) => `${prefix}:{${queue}}`

  return {
    kind: 'redis',
    async check() {
      const connection = redis.consuming(() => {})
      const policy = /maxmemory_policy:(\S+)/.exec(await connection.info('memory'))?.[1]
      connection.disconnect()
      if (policy !== undefined && policy !== 'noeviction') {
        throw new Error(
          `Redis has maxmemory-policy ${policy} and would evict waiting jobs: set it to noeviction (CONFIG SET ` +
            'maxmemory-policy noeviction, and in redis.conf).',
        )
      }
    },
    producer(queue) {
      const bull = new Queue(queue, { connection: redis.producing(), prefix: keyPrefix(queue), skipVersionCheck: true })
      return producerOf(bull, queue)
    },
    async inspect(queue) {
      const bull = new Queue(queue, { connection: redis.producing(), prefix: keyPrefix(queue), skipVersionCheck: true })
      return ready(bull)
    },
    consume(queue, { concurrency, process, onError, onForgotten }) {
      const connection = redis.consuming(onError)
      const worker = new Worker(queue, handler(process), {
        connection,
        prefix: keyPrefix(queue),
        ...workerOptions(concurrency, waits),
      })
      redis.expectAnswers(connection)
      worker.on('error', (error) => (isForgotten(error) ? onForgotten(error.message) : onError(error)))
      return { close: () => worker.close() }
    },
    settled: createRedisChannel({
      name: `${prefix}:settled`,
      publisher: redis.producing,
      subscriber: () => redis.consuming(() => {}),
    }),
    async close() {
      redis.close()
    },
  }
}

function postgresEngine(databaseUrl: string, waits: Waits): Engine {
  const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend)
  const pools: pg.Pool[] = []
  const clients = new Set<pg.ClientBase>()
  const connect = (): pg.Pool => {
    const pool = openEnginePool(databaseUrl, waits)
    pool.on('connect', (client) => {
      clients.add(client)
      client.on('end', () => clients.delete(client))
    })
    pools.push(pool)
    return pool
  }
  // BullMQ types its pool as a small interface whose query parameters are readonly; pg's are not.
  const bullPool = (pool: pg.Pool) => pool as unknown as PostgresConnectionOptions
  let shared: pg.Pool | undefined

  return {
    kind: 'postgres',
    async check() {
      shared ??= connect()
      await shared.query('SELECT 1')
    },
    producer(queue) {
      shared ??= connect()
      return producerOf(new PostgresQueue(queue, { connection: bullPool(shared) }), queue)
    },
    async inspect(queue) {
      shared ??= connect()
      // By type this is a different queue from Redis's; the board uses only the methods that both have.
      return ready(new PostgresQueue(queue, { connection: bullPool(shared) }) as unknown as Queue)
    },
    consume(queue, { concurrency, process, onError, onForgotten }) {
      const worker = new PostgresWorker(queue, handler(process), {
        connection: bullPool(connect()),
        ...workerOptions(concurrency, waits),
      })
      worker.on('error', (error) => (isForgotten(error) ? onForgotten(error.message) : onError(error)))
      return { close: () => worker.close() }
    },
    settled: NO_ID_CHANNEL,
    async close() {
      // A worker that is closed soon after its start keeps the connection that listens (BullMQ 6.7), for which the pool
      // would wait forever.
      if (await endsWithin(Promise.all(pools.map((pool) => pool.end())), CLOSE_MS)) return
      for (const client of clients) if (client instanceof pg.Client) void client.end().catch(() => {})
    },
  }
}

// A producer's connection accepts no command before it is connected.
async function ready(bull: Queue): Promise<Queue> {
  bull.on('error', () => {})
  await bull.waitUntilReady()
  return bull
}

function workerOptions(concurrency: number, { idleSeconds }: Waits) {
  return {
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS,
    maxStalledCount: MAX_STALLED,
    drainDelay: idleSeconds,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  }
}

// What BullMQ says of a job that it no longer holds, as after FLUSHALL, or that it gave to another worker meanwhile. Nothing is
// lost by either: the row is settled, or is queued again when its lease has lapsed.
const FORGOTTEN: readonly unknown[] = [
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]
// Without a code in BullMQ 6.
const NOT_RENEWED = 'could not renew lock for job '

function isForgotten(error: Error): boolean {
  return ('code' in error && FORGOTTEN.includes(error.code)) || error.message.startsWith(NOT_RENEWED)
}

interface Data {
  tickets: readonly Ticket[]
}

function handler(process: (tickets: readonly Ticket[]) => Promise<void>) {
  return async (job: { data: Data }) => process(job.data.tickets)
}

/** The methods of a BullMQ Queue that we use, whatever its backend. */
interface BullQueue {
  add(name: string, data: Data, options: object): Promise<{ id?: string | undefined }>
  addBulk(jobs: { name: string; data: Data; opts: object }[]): Promise<{ id?: string | undefined }[]>
  getJobs(types: ('waiting' | 'prioritized' | 'active')[]): Promise<({ data?: unknown } | undefined)[]>
  isPaused(): Promise<boolean>
  getJobCountByTypes(...types: ('waiting' | 'prioritized' | 'active')[]): Promise<number>
  close(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
}

function producerOf(bull: BullQueue, queue: QueueName): Producer {
  // Each dispatch has its own number: BullMQ silently ignores an id that it has seen before.
  const jobId = ({ tickets: [{ id, dispatches }] }: JobBatch) => `${queue}-${id}-${dispatches}`
  bull.on('error', () => {})

  return {
    async add(batches) {
      const jobs = batches.map((batch) => ({
        name: queue,
        data: { tickets: batch.tickets },
        opts: {
          jobId: jobId(batch),
          priority: batch.priority,
          attempts: 1,
          removeOnComplete: true,
          removeOnFail: true,
        },
      }))
      // addBulk drops an entry that it can't store. Only the id that it returns shows this.
      const added =
        jobs.length < BULK_FROM
          ? await Promise.allSettled(jobs.map((job) => bull.add(job.name, job.data, job.opts)))
          : await Promise.allSettled([bull.addBulk(jobs)])
      const taken = new Set(added.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])).map((job) => job.id))
      const refused = added.find((one) => one.status === 'rejected')
      const stored = new Set(
        batches.flatMap((batch) => (taken.has(jobId(batch)) ? batch.tickets.map(({ id }) => id) : [])),
      )
      return refused === undefined ? { stored } : { stored, error: refused.reason }
    },
    async held(tickets) {
      // Everything that the engine holds: never more than the dispatchers' window, whatever waits in Postgres.
      const batches = await bull.getJobs(['waiting', 'prioritized', 'active'])
      const nameOf = ({ id, dispatches }: Pick<Ticket, 'id' | 'dispatches'>) => `${id} ${dispatches}`
      const held = new Set(batches.flatMap((batch) => (batch?.data as Data | undefined)?.tickets.map(nameOf) ?? []))
      return new Set(tickets.filter((ticket) => held.has(nameOf(ticket))).map(({ id }) => id))
    },
    waiting: async () => {
      // Usually nothing waits, and the second question is not asked.
      const count = await bull.getJobCountByTypes('waiting', 'prioritized')
      return count === 0 || (await bull.isPaused()) ? 0 : count
    },
    close: () => bull.close(),
  }
}
