// The connections of the engine of the queues. A host that vanishes sends nothing, not even a reset, and the kernel keeps its
// connections for 15 minutes: each of them has a longest time without an answer here, after which it is replaced.

import { Redis, type RedisOptions } from 'ioredis'
import pg from 'pg'
import { KEEP_ALIVE } from '#src/platform/db/connections.ts'

export const ENGINE_SCHEMA = 'bullmq'

export interface Waits {
  /** How long an idle worker waits for the engine's word before it asks by itself. */
  idleSeconds: number
  /**
   * How long Redis may take for an answer. A connection that is silent for longer is replaced. Postgres has four times as
   * long.
   */
  answerMs: number
}

// BullMQ's 5 s between the questions of an idle worker are a quarter of what it costs. The time for an answer is more than a
// producer waits, and Redis takes longer only while it answers no one.
export const WAITS: Waits = { idleSeconds: 20, answerMs: 5_000 }

// Far above the longest pause of an idle worker. With the driver's default of 10 s most of its questions would begin with a
// new connection, which costs ten times as much as the question.
const KEEP_CONNECTION_MS = 120_000

type Options = Omit<RedisOptions, 'replyMapping'>

export function createRedisConnections(url: string, { idleSeconds, answerMs }: Waits) {
  const open = new Set<Redis>()
  const connect = (options: Options, onError: (error: Error) => void): Redis => {
    const all: Options = {
      ...options,
      // The only sign of a host that vanished on a connection that subscribes: it waits for no answer.
      keepAlive: KEEP_ALIVE.keepAliveInitialDelayMillis,
      retryStrategy: (times: number) => Math.min(times * 100, 2_000),
    }
    const redis = new Redis(url, all)
    redis.on('error', onError)
    open.add(redis)
    return redis
  }
  let producing: Redis | undefined

  return {
    /**
     * The connection of all producers. It fails fast: the row stays queued and is dispatched later. A command that timed out
     * leaves the connection open, and only `socketTimeout` closes it.
     */
    producing(): Redis {
      producing ??= connect(
        { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 2_000, socketTimeout: answerMs },
        () => {},
      )
      return producing
    },
    /**
     * A connection of its own that waits for Redis to come back. Redis answers a blocking command after `idleSeconds` when
     * nothing came.
     */
    consuming: (onError: (error: Error) => void): Redis =>
      connect({ maxRetriesPerRequest: null, socketTimeout: idleSeconds * 1_000 + answerMs }, onError),
    /** Sets the timeout of a worker's connection, once BullMQ has copied it for its blocking commands. */
    expectAnswers(connection: Redis): void {
      connection.options.socketTimeout = answerMs
    },
    close() {
      for (const redis of open) redis.disconnect()
    },
  }
}

/**
 * Two connections for queries, one that listens. The engine may lose what it holds, so it need not wait for the disk.
 */
export function openEnginePool(databaseUrl: string, { answerMs }: Waits): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 3,
    ...KEEP_ALIVE,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: KEEP_CONNECTION_MS,
    application_name: 'countersign engine',
    idle_in_transaction_session_timeout: 10_000,
    statement_timeout: 3 * answerMs,
    // The pool closes the connection of a query that ends this way.
    query_timeout: 4 * answerMs,
    options: `-c search_path=${ENGINE_SCHEMA} -c synchronous_commit=off`,
  })
  // Each queue of a process adds its own listeners to the pool that the queues share.
  pool.setMaxListeners(0)
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
