// Rate limits of requests: which bucket a request takes from is decided outside, from the caller and the route. The
// header fields are those of draft-ietf-httpapi-ratelimit-headers-10.

import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import type { Rate } from '#src/catalogue/plans.ts'
import { Failure } from '#src/failure.ts'
import type { Guesses } from '#src/platform/limits/guesses.ts'
import type { BucketState, Limiter } from '#src/platform/limits/limiter.ts'
import { addressBlock } from './client-address.ts'
import type { Caller, Route } from './endpoint.ts'

/** The limit of a request. */
export interface Limit {
  /** What it limits, for the caller, the log and the metric. */
  name: LimitName
  /** Bucket key: the account, key or address. */
  subject: string
  rate: Rate
  /** For the caller, when it is reached. */
  detail: string
  /** A wider limit, which the request counts against once this one has granted it. */
  within?: Limit
}

export type LimitName = 'account' | 'key' | 'user' | 'directory' | 'address' | 'emergency'
export type LimitOf = (caller: Caller, route: Pick<Route, 'isEmergency'>) => Limit

export interface RequestLimits {
  /** Counts a request of a caller who may make it. `headers` belong to its answer, also when it is refused. */
  admit(caller: Caller, route: Pick<Route, 'isEmergency'>): Promise<{ headers: Headers; refusal?: Failure }>
  /**
   * Counts a failed authentication.
   * @throws {Failure} `rate_limited` instead of the 401.
   */
  countGuess(address: string): Promise<void>
}

/** The limit that decides, or the one of which less is left. */
interface Counted {
  limit: Limit
  bucket: BucketState
}

type Headers = Record<string, string>

interface RequestLimitsDeps {
  limiter: Limiter
  guesses: Guesses
  limitOf: LimitOf
  registry: Registry
}

export function createRequestLimits({ limiter, guesses, limitOf, registry }: RequestLimitsDeps): RequestLimits {
  const refused = new Counter({
    name: 'countersign_rate_limited_total',
    help: 'Requests that were refused with rate_limited, by the plan of the account and the limit that was reached.',
    labelNames: ['plan', 'bucket'],
    registers: [registry],
  })

  // Takes the limits one after the other: a request that the narrow limit refuses takes nothing from the wide one, so
  // that a flooding key does not use up what other keys share. When the wide one refuses, a token of the narrow one is
  // lost: only the refused caller misses it, and its own rate refills it.
  async function takeBoth(narrow: Limit, wide: Limit): Promise<Counted> {
    const first = await takeOne(narrow)
    if (!first.bucket.isGranted) return first
    const second = await takeOne(wide)
    return !second.bucket.isGranted || leftOf(second) < leftOf(first) ? second : first
  }

  function takeOne(limit: Limit): Counted | Promise<Counted> {
    const taken = limiter.take({ key: `${limit.name}:${limit.subject}`, rate: limit.rate })
    return taken instanceof Promise ? taken.then((bucket) => ({ limit, bucket })) : { limit, bucket: taken }
  }

  return {
    async admit(caller, route) {
      const narrow = limitOf(caller, route)
      const counted = narrow.within === undefined ? takeOne(narrow) : takeBoth(narrow, narrow.within)
      const { limit, bucket } = counted instanceof Promise ? await counted : counted
      const headers = headersOf(limit, bucket)
      if (bucket.isGranted) return { headers }
      refused.inc({ plan: caller.plan, bucket: limit.name })
      return { headers, refusal: refusalOf(limit.name, limit.detail, bucket.refillMs) }
    },
    async countGuess(address) {
      const waitMs = await guesses.count(addressBlock(address))
      if (waitMs === 0) return
      refused.inc({ plan: 'none', bucket: 'guesses' })
      throw refusalOf('guesses', 'Too many unknown keys or sessions come from this address.', waitMs)
    },
  }
}

function refusalOf(name: LimitName | 'guesses', detail: string, waitMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Failure('rate_limited', {
    detail: `${detail} Try again in ${seconds} s.`,
    members: { limit: name },
    headers: { 'Retry-After': String(seconds) },
  })
}

// The window is one second, so that `q` is the rate. What a burst leaves above it is not shown: a client that paces
// itself by these fields never needs it.
function headersOf(limit: Limit, bucket: BucketState): Headers {
  const policy = limit.name === 'emergency' ? '"emergency"' : '"default"'
  const quota = quotaOf(limit)
  const left = leftOf({ limit, bucket })
  const seconds = Math.max(1, Math.ceil(bucket.refillMs / 1_000))
  return {
    'RateLimit-Policy': `${policy};q=${quota};w=1`,
    RateLimit: `${policy};r=${left};t=${seconds}`,
  }
}

function quotaOf({ rate: { perSecond } }: Limit): number {
  return Math.max(1, Math.floor(perSecond))
}

function leftOf({ limit, bucket }: Counted): number {
  return Math.min(quotaOf(limit), bucket.remaining)
}
