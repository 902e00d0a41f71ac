// The only file that knows BullMQ. What it carries are hints: {id, dispatches} of rows in Postgres, several of them in a
// packet. Anything it loses is found again by reconcile; anything it delivers twice is refused by the claim.

import {
  createPostgresBackend,
  type PostgresConnectionOptions,
  Queue,
  runMigrations,
  Worker,
  withBackend,
} from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import pg from 'pg'
import type { QueueName } from '#src/catalogue/queues.ts'

export interface Ticket {
  id: string
  dispatches: number
  /** Of the span that dispatched it; absent unless it is traced. */
  traceparent?: string | undefined
}

/** What travels as one job of the engine's, and costs as much as one. */
export interface JobBatch {
  tickets: readonly [Ticket, ...Ticket[]]
  /** From 1; the lowest goes first. */
  priority: number
}

export interface Producer {
  /** Stores what it can; answers with the ids of the tickets that the engine really took, and why it did not take the others. */
  add(packets: readonly JobBatch[]): Promise<{ stored: Set<string>; error?: unknown }>
  /** Which of these the engine still has to deliver or is delivering. */
  held(tickets: readonly Ticket[]): Promise<Set<string>>
  /** Pipelines that a worker could take now: none of a queue that is paused in the engine. Throws when it does not answer. */
  waiting(): Promise<number>
  close(): Promise<void>
}

export interface Consumer {
  /** Stops taking packets and waits until those that were taken are processed. */
  close(): Promise<void>
}

export interface Engine {
  kind: 'redis' | 'postgres'
  /** @throws {Error} when the engine would lose jobs silently (an evicting Redis). */
  check(): Promise<void>
  producer(queue: QueueName): Producer
  consume(queue: QueueName, options: ConsumeOptions): Consumer
  /** BullMQ's own queue, connected, for the board that shows it. */
  inspect(queue: QueueName): Promise<InspectedQueue>
  close(): Promise<void>
}

export type InspectedQueue = Queue

interface ConsumeOptions {
  /** Pipelines at once. */
  concurrency: number
  process(tickets: readonly Ticket[]): Promise<void>
  onError(error: Error): void
}

type EngineConfig = { prefix?: string } & ({ redisUrl: string } | { databaseUrl: string })

export const ENGINE_SCHEMA = 'bullmq'

// A worker that dies holds its job for lockDuration, and is noticed at the next check: together the worst case until
// someone else runs it. Longer than that and a crash is felt; shorter and a busy event loop loses its lock.
const LOCK_MS = 10_000
// Stalls are crashes of workers, not of jobs; the row's own attempts decide when to give up.
const MAX_STALLED = 50
// addBulk on Postgres makes two temporary tables per call: below this many, single adds are cheaper.
const BULK_FROM = 20

export function createEngine(config: EngineConfig): Engine {
  return 'redisUrl' in config ? redisEngine(config.redisUrl, config.prefix ?? 'cs') : postgresEngine(config.databaseUrl)
}

/**
 * Makes the engine's tables on Postgres and gives them to the service's login. For `migrate`. BullMQ makes a sequence per
 * queue when it first adds in bulk, so the login may create in that schema.
 */
export async function migrateEngine(client: pg.Client, login: string): Promise<void> {
  await runMigrations(client, ENGINE_SCHEMA)
  const role = client.escapeIdentifier(login)
  await client.query(`
    GRANT USAGE, CREATE ON SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${ENGINE_SCHEMA} TO ${role};
    GRANT TEMPORARY ON DATABASE ${client.escapeIdentifier(client.database ?? '')} TO ${role};
  `)
}

type Options = Omit<RedisOptions, 'replyMapping'>

function redisEngine(url: string, prefix: string): Engine {
  // Producers fail fast: the row stays queued and is dispatched later. Workers wait for Redis to come back.
  const producing: Options = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 2_000 }
  const consuming: Options = { maxRetriesPerRequest: null }
  const open = new Set<Redis>()
  const connect = (options: Options, onError: (error: Error) => void): Redis => {
    const all: Options = { ...options, retryStrategy: (times: number) => Math.min(times * 100, 2_000) }
    const redis = new Redis(url, all)
    redis.on('error', onError)
    open.add(redis)
    return redis
  }
  let shared: Redis | undefined
  // A queue's keys share one hash tag, so that they stay in one slot of a cluster.
  const keyPrefix = (queue: QueueName) => `${prefix}:{${queue}}`

  return {
    kind: 'redis',
    async check() {
      const redis = connect(consuming, () => {})
      const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1]
      redis.disconnect()
      if (policy !== undefined && policy !== 'noeviction') {
        throw new Error(
          `Redis has maxmemory-policy ${policy} and would evict waiting jobs: set it to noeviction (CONFIG SET ` +
            'maxmemory-policy noeviction, and in redis.conf).',
        )
      }
    },
    producer(queue) {
      shared ??= connect(producing, () => {})
      const bull = new Queue(queue, { connection: shared, prefix: keyPrefix(queue), skipVersionCheck: true })
      return producerOf(bull, queue)
    },
    async inspect(queue) {
      shared ??= connect(producing, () => {})
      const bull = new Queue(queue, { connection: shared, prefix: keyPrefix(queue), skipVersionCheck: true })
      return ready(bull)
    },
    consume(queue, { concurrency, process, onError }) {
      const connection = connect(consuming, onError)
      const worker = new Worker(queue, handler(process), {
        connection,
        prefix: keyPrefix(queue),
        ...workerOptions(concurrency),
      })
      worker.on('error', onError)
      return { close: () => worker.close() }
    },
    async close() {
      for (const redis of open) redis.disconnect()
    },
  }
}

function postgresEngine(databaseUrl: string): Engine {
  const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend)
  const pools: pg.Pool[] = []
  const connect = (): pg.Pool => {
    // Two for queries, one that listens. What the engine holds can be lost, so it need not wait for the disk.
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      max: 3,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      application_name: 'countersign engine',
      idle_in_transaction_session_timeout: 10_000,
      options: `-c search_path=${ENGINE_SCHEMA} -c synchronous_commit=off`,
    })
    // Each queue of a process adds listeners of its own to the pool that they share.
    pool.setMaxListeners(0)
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    pools.push(pool)
    return pool
  }
  // BullMQ describes the pool that it takes by a small interface whose query parameters are readonly; pg's are not.
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
      // By type another queue than Redis's; the board asks what both have.
      return ready(new PostgresQueue(queue, { connection: bullPool(shared) }) as unknown as Queue)
    },
    consume(queue, { concurrency, process, onError }) {
      const worker = new PostgresWorker(queue, handler(process), {
        connection: bullPool(connect()),
        ...workerOptions(concurrency),
      })
      worker.on('error', onError)
      return { close: () => worker.close() }
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

// A producer's connection takes no command before it stands.
async function ready(bull: Queue): Promise<Queue> {
  bull.on('error', () => {})
  await bull.waitUntilReady()
  return bull
}

function workerOptions(concurrency: number) {
  return {
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS,
    maxStalledCount: MAX_STALLED,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  }
}

interface Data {
  tickets: readonly Ticket[]
}

function handler(process: (tickets: readonly Ticket[]) => Promise<void>) {
  return async (job: { data: Data }) => process(job.data.tickets)
}

/** The parts of a BullMQ Queue that are used, whatever its backend. */
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
  // Each dispatch has a number of its own: an id that the engine has seen before would be ignored silently.
  const jobId = ({ tickets: [{ id, dispatches }] }: JobBatch) => `${queue}-${id}-${dispatches}`
  bull.on('error', () => {})

  return {
    async add(packets) {
      const jobs = packets.map((packet) => ({
        name: queue,
        data: { tickets: packet.tickets },
        opts: {
          jobId: jobId(packet),
          priority: packet.priority,
          attempts: 1,
          removeOnComplete: true,
          removeOnFail: true,
        },
      }))
      // addBulk drops an entry that it can't store and says so only by the id that it answers.
      const added =
        jobs.length < BULK_FROM
          ? await Promise.allSettled(jobs.map((job) => bull.add(job.name, job.data, job.opts)))
          : await Promise.allSettled([bull.addBulk(jobs)])
      const taken = new Set(added.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])).map((job) => job.id))
      const refused = added.find((one) => one.status === 'rejected')
      const stored = new Set(
        packets.flatMap((packet) => (taken.has(jobId(packet)) ? packet.tickets.map(({ id }) => id) : [])),
      )
      return refused === undefined ? { stored } : { stored, error: refused.reason }
    },
    async held(tickets) {
      // All that it holds: no more than the dispatchers' window, whatever waits in Postgres.
      const packets = await bull.getJobs(['waiting', 'prioritized', 'active'])
      const nameOf = ({ id, dispatches }: Ticket) => `${id} ${dispatches}`
      const held = new Set(packets.flatMap((packet) => (packet?.data as Data | undefined)?.tickets.map(nameOf) ?? []))
      return new Set(tickets.filter((ticket) => held.has(nameOf(ticket))).map(({ id }) => id))
    },
    waiting: async () => {
      if (await bull.isPaused()) return 0
      return bull.getJobCountByTypes('waiting', 'prioritized')
    },
    close: () => bull.close(),
  }
}
