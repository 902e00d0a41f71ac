// Rate limits of requests: which bucket a request takes from is decided outside, from the caller and the route. The
// header fields are those of draft-ietf-httpapi-ratelimit-headers-10.

import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import type { Rate } from '#src/catalogue/plans.ts'
import { Failure } from '#src/failure.ts'
import type { Guesses } from '#src/platform/limits/guesses.ts'
import type { Limiter, Standing } from '#src/platform/limits/limiter.ts'
import { addressBlock } from './client-address.ts'
import type { Caller, Route } from './endpoint.ts'

/** The limit of a request. */
export interface Limit {
  /** What it limits, for the caller, the log and the metric. */
  name: LimitName
  /** Whose bucket it is, among those of this name. */
  subject: string
  rate: Rate
  /** For the caller, when it is reached. */
  detail: string
}

export type LimitName = 'account' | 'key' | 'user' | 'address' | 'emergency'
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

  return {
    async admit(caller, route) {
      const limit = limitOf(caller, route)
      const taken = limiter.take({ key: `${limit.name}:${limit.subject}`, rate: limit.rate })
      const standing = taken instanceof Promise ? await taken : taken
      const headers = headersOf(limit, standing)
      if (standing.isGranted) return { headers }
      refused.inc({ plan: caller.plan, bucket: limit.name })
      return { headers, refusal: refusalOf(limit.name, limit.detail, standing.refillMs) }
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
function headersOf({ name, rate: { perSecond } }: Limit, { remaining, refillMs }: Standing): Headers {
  const policy = name === 'emergency' ? '"emergency"' : '"default"'
  const quota = Math.max(1, Math.floor(perSecond))
  const left = Math.min(quota, remaining)
  const seconds = Math.max(1, Math.ceil(refillMs / 1_000))
  return {
    'RateLimit-Policy': `${policy};q=${quota};w=1`,
    RateLimit: `${policy};r=${left};t=${seconds}`,
  }
}
