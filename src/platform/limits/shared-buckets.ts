// Token buckets in Redis, which all processes share. One script takes what some requests need, and lends tokens for
// the requests that are expected next. Redis's clock alone decides. While Redis does not answer, `take` throws at once.

import { Redis } from 'ioredis'
import type { Rate } from '#src/catalogue/plans.ts'
import { KEEP_ALIVE } from '#src/platform/db/connections.ts'

export interface Wanted {
  /** Tokens for requests that wait for them. */
  need: number
  /** Tokens to lend, for requests within LEASE_MS. */
  extra: number
  /** Lent tokens that were not used in their time. */
  back: number
}

export interface TakenTokens {
  /** Tokens granted of `need`. */
  granted: number
  /** Tokens lent of `extra`, valid for LEASE_MS from the time of asking. */
  lent: number
  remaining: number
  refillMs: number
}

export interface SharedBuckets {
  take(key: string, rate: Rate, wanted: Wanted): Promise<TakenTokens>
  /** False while Redis does not answer. */
  isHere(): boolean
  /** Resolves when Redis answers, or after a while when it does not. */
  connect(): Promise<void>
  /** For other counters: commands fail at once while Redis is away. */
  redis(): Redis
  close(): void
}

interface SharedBucketsOptions {
  redisUrl: string
  /** Sets deployments apart that share one Redis. */
  prefix: string
  /** Called at each attempt while Redis is away. */
  onAway?: (error: Error) => void
  /** Time limit of one command. Requests wait this long when Redis hangs. */
  timeoutMs?: number
}

// Short: until the next question of this process, its unused tokens are missing to the others. A busy bucket asks a few
// times in each lease.
export const LEASE_MS = 100
const TIMEOUT_MS = 300
const PROBE_MS = 250
// The connection is replaced after this many commands in a row without any answer.
const SILENT_COMMANDS = 10
const CONNECT_MS = 1_000

// A lent token is charged as if it were taken at the end of its lease. So the bucket can't refill in the meantime and
// grant the same token again: within any t seconds no more than burst + rate x t are granted. At most half of what is
// left is lent, so that one process does not keep everything.
const SCRIPT = `
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local need, extra, back, lease = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = now + burst * interval
local used = tonumber(redis.call('GET', KEYS[1]) or 0) - back * interval
used = math.min(math.max(used, now), full)
local granted = math.min(need, math.floor((full - used) / interval))
used = used + granted * interval
local from = math.max(used, now + lease)
local lent = math.max(0, math.min(extra, math.floor((full - from) / interval / 2)))
if lent > 0 then used = from + lent * interval end
if granted + lent + back > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', math.ceil(used)), 'PX', math.max(1, math.ceil((used - now) / 1000)))
end
local left = math.max(0, math.floor((full - used) / interval))
local refill = 0
if left < 1 then refill = math.max(0, math.ceil(used + interval - full)) end
return { granted, lent, left, refill }
`

type ScriptRedis = Redis & { takeTokens(key: string, ...values: number[]): Promise<number[]> }

export function createSharedBuckets({
  redisUrl,
  prefix,
  onAway = () => {},
  timeoutMs = TIMEOUT_MS,
}: SharedBucketsOptions): SharedBuckets {
  let opened: ScriptRedis | undefined
  let isHere = false
  let isClosed = false
  let probing: NodeJS.Timeout | undefined
  let connected = () => {}

  function redis(): ScriptRedis {
    opened ??= open()
    return opened
  }

  function open(): ScriptRedis {
    const client = new Redis(redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: timeoutMs,
      // A command that timed out leaves its connection open, and the kernel keeps it for 15 minutes when the host has vanished.
      socketTimeout: SILENT_COMMANDS * timeoutMs,
      keepAlive: KEEP_ALIVE.keepAliveInitialDelayMillis,
      retryStrategy: (times) => Math.min(times * 50, 500),
    })
    client.defineCommand('takeTokens', { numberOfKeys: 1, lua: SCRIPT })
    client.on('error', lose)
    client.on('close', () => lose(new Error('the connection to Redis is closed')))
    client.on('ready', () => void probe())
    return client as ScriptRedis
  }

  function lose(error: Error): void {
    isHere = false
    if (isClosed) return
    onAway(error)
    if (probing === undefined) probing = setTimeout(() => void probe(), PROBE_MS).unref()
  }

  // The probe runs the script itself: a Redis that is full or read-only still answers a PING.
  async function probe(): Promise<void> {
    clearTimeout(probing)
    probing = undefined
    if (isHere || isClosed) return
    try {
      await ask('probe', { perSecond: 1_000, burst: 1_000 }, { need: 1, extra: 0, back: 0 })
    } catch (error) {
      return lose(asError(error))
    }
    if (isClosed) return
    isHere = true
    connected()
  }

  async function ask(key: string, { perSecond, burst }: Rate, { need, extra, back }: Wanted): Promise<TakenTokens> {
    const values = [1e6 / perSecond, burst, need, extra, back, LEASE_MS * 1_000]
    const [granted = 0, lent = 0, remaining = 0, refillUs = 0] = await redis().takeTokens(
      `${prefix}:limits:${key}`,
      ...values,
    )
    return { granted, lent, remaining, refillMs: refillUs / 1_000 }
  }

  return {
    redis,
    isHere: () => isHere,
    async take(key, rate, wanted) {
      if (!isHere) throw new Error('Redis is away')
      try {
        return await ask(key, rate, wanted)
      } catch (error) {
        lose(asError(error))
        throw error
      }
    },
    async connect() {
      redis()
      if (isHere) return
      await new Promise<void>((resolve) => {
        const waiting = setTimeout(resolve, CONNECT_MS)
        connected = () => {
          clearTimeout(waiting)
          resolve()
        }
      })
    },
    close() {
      isClosed = true
      clearTimeout(probing)
      opened?.disconnect()
    },
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
