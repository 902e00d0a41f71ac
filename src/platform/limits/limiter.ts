// Counts requests in token buckets. With Redis, the processes share the buckets: a process borrows tokens ahead for a
// busy bucket, so that most requests wait for nothing. Without Redis, each process grants its share of the rate.

import { LRUCache } from 'lru-cache'
import type { Rate } from '#src/catalogue/plans.ts'
import { LEASE_MS, type SharedBuckets, type TakenTokens } from './shared-buckets.ts'
import { shareOf, takeToken } from './tokens.ts'

export interface TokenBucket {
  key: string
  rate: Rate
}

export interface BucketState {
  isGranted: boolean
  /** Tokens that remain as far as this process knows: the others use the bucket too. */
  remaining: number
  /** Time until the next token, where none is left. */
  refillMs: number
}

export interface Limiter {
  /** Takes one token. Not a promise where the answer is known here. Never rejects. */
  take(bucket: TokenBucket): BucketState | Promise<BucketState>
  /** Buckets in this process's memory. */
  size(): number
}

interface LimiterDeps {
  /** Without it, this process counts alone. */
  shared?: Pick<SharedBuckets, 'take' | 'isHere'> | undefined
  /** Among how many processes a rate is divided that is not counted together; 1 at least. */
  processes?: () => number
  now?: () => number
  maxEntries?: number
}

interface Lease {
  tokens: number
  untilMs: number
}

interface Entry {
  /** Use of the bucket in this process's memory. */
  usedUntilMs: number
  leases: Lease[]
  /** Lent tokens that were not used in their time. */
  unused: number
  /** Tokens of the shared bucket when it was last asked. */
  remaining: number
  /** Until then the shared bucket has no token. */
  emptyUntilMs: number
  waiting: ((state: BucketState) => void)[]
  isAsking: boolean
  /** Requests of this lease's time and of the one before. */
  demand: number
  lastDemand: number
  demandSinceMs: number
}

// Fewer save no question worth mentioning.
const MIN_LOAN = 4
// About 20 MB. The least recently used bucket goes first; it has been refilled by then.
const MAX_ENTRIES = 50_000

export function createLimiter({
  shared,
  processes = () => 1,
  now = () => performance.now(),
  maxEntries = MAX_ENTRIES,
}: LimiterDeps = {}): Limiter {
  const entries = new LRUCache<string, Entry>({ max: maxEntries })

  function entryOf(key: string): Entry {
    const known = entries.get(key)
    if (known !== undefined) return known
    const entry = newEntry(now())
    entries.set(key, entry)
    return entry
  }

  function takeHere(entry: Entry, rate: Rate): BucketState {
    const { usedUntilMs, ...state } = takeToken(entry.usedUntilMs, now(), shareOf(rate, Math.max(1, processes())))
    entry.usedUntilMs = usedUntilMs
    return state
  }

  function takeShared(entry: Entry, bucket: TokenBucket): BucketState | Promise<BucketState> {
    const at = now()
    const lease = currentLease(entry, at)
    if (lease !== undefined) {
      lease.tokens -= 1
      const tokens = entry.leases.reduce((sum, one) => sum + one.tokens, 0)
      // Asked for early, the next tokens are there before these are used up.
      if (!entry.isAsking && tokens <= expected(entry, bucket.rate) / 2) void ask(entry, bucket)
      return { isGranted: true, remaining: tokens + entry.remaining, refillMs: 0 }
    }
    if (at < entry.emptyUntilMs) return { isGranted: false, remaining: 0, refillMs: entry.emptyUntilMs - at }
    return new Promise((resolve) => {
      entry.waiting.push(resolve)
      if (!entry.isAsking) void ask(entry, bucket)
    })
  }

  // One question at a time for each bucket: requests that come meanwhile are part of the next one.
  async function ask(entry: Entry, bucket: TokenBucket): Promise<void> {
    entry.isAsking = true
    // Requests whose keys were found by one statement come here in one turn.
    await Promise.resolve()
    const waiting = entry.waiting.splice(0)
    const askedAt = now()
    const wanted = { need: waiting.length, extra: expected(entry, bucket.rate), back: entry.unused }
    entry.unused = 0
    const taken = await shared?.take(bucket.key, bucket.rate, wanted).catch(() => undefined)
    entry.isAsking = false
    if (taken === undefined) {
      for (const resolve of waiting.concat(entry.waiting.splice(0))) resolve(takeHere(entry, bucket.rate))
      return
    }
    settle(entry, waiting, taken, askedAt)
    for (const resolve of entry.waiting.splice(0)) {
      const state = takeShared(entry, bucket)
      if (state instanceof Promise) void state.then(resolve)
      else resolve(state)
    }
  }

  function settle(entry: Entry, waiting: Entry['waiting'], taken: TakenTokens, askedAt: number): void {
    const { granted, lent, remaining, refillMs } = taken
    entry.remaining = remaining
    entry.emptyUntilMs = remaining === 0 ? now() + refillMs : 0
    if (lent > 0) entry.leases.push({ tokens: lent, untilMs: askedAt + LEASE_MS })
    waiting.forEach((resolve, index) => {
      resolve({ isGranted: index < granted, remaining: remaining + lent, refillMs })
    })
  }

  return {
    take(bucket) {
      const entry = entryOf(bucket.key)
      if (shared?.isHere() !== true) return takeHere(entry, bucket.rate)
      noteDemand(entry, now())
      return takeShared(entry, bucket)
    },
    size: () => entries.size,
  }
}

function newEntry(at: number): Entry {
  return {
    usedUntilMs: 0,
    leases: [],
    unused: 0,
    remaining: 0,
    emptyUntilMs: 0,
    waiting: [],
    isAsking: false,
    demand: 0,
    lastDemand: 0,
    demandSinceMs: at,
  }
}

function noteDemand(entry: Entry, at: number): void {
  const elapsed = at - entry.demandSinceMs
  if (elapsed >= LEASE_MS) {
    entry.lastDemand = elapsed < 2 * LEASE_MS ? entry.demand : 0
    entry.demand = 0
    entry.demandSinceMs = at
  }
  entry.demand += 1
}

/**
 * Tokens to borrow: for the requests to expect within a lease, and no more than are refilled within it. 0 where these
 * are too few: small buckets are asked for each request.
 */
function expected({ demand, lastDemand }: Entry, { perSecond }: Rate): number {
  const tokens = Math.min(Math.max(demand, lastDemand), Math.floor((perSecond * LEASE_MS) / 1_000))
  return tokens >= MIN_LOAN ? tokens : 0
}

function currentLease(entry: Entry, at: number): Lease | undefined {
  for (let first = entry.leases[0]; first !== undefined; first = entry.leases[0]) {
    if (first.tokens > 0 && at < first.untilMs) return first
    if (first.tokens > 0) entry.emptyUntilMs = 0
    entry.unused += first.tokens
    entry.leases.shift()
  }
  return undefined
}
