// Failed authentications of each address, in windows of a second: in Redis, or in this process's memory without it.

import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedBuckets } from './shared-buckets.ts'

export interface Guesses {
  /** Counts one. Answers how long the address must wait when it is beyond the limit, otherwise 0. Never rejects. */
  count(address: string): Promise<number>
}

interface GuessesDeps {
  perSecond: number
  shared?: Pick<SharedBuckets, 'redis' | 'isHere'> | undefined
  prefix: string
  /** Among how many processes the limit is divided without Redis. */
  processes?: () => number
}

export function createGuesses({ perSecond, shared, prefix, processes = () => 1 }: GuessesDeps): Guesses {
  // Its records live for a second, so there are never more than one process answers in that time.
  const memory = new RateLimiterMemory({ points: perSecond, duration: 1 })
  let together: RateLimiterRedis | undefined

  function limiter(): RateLimiterMemory | RateLimiterRedis {
    if (shared?.isHere() !== true) {
      memory.points = Math.max(1, Math.floor(perSecond / Math.max(1, processes())))
      return memory
    }
    together ??= new RateLimiterRedis({
      storeClient: shared.redis(),
      keyPrefix: `${prefix}:guesses`,
      points: perSecond,
      duration: 1,
      // An address beyond the limit costs no round trip until its window ends.
      inMemoryBlockOnConsumed: perSecond,
      insuranceLimiter: memory,
    })
    return together
  }

  return {
    async count(address) {
      try {
        await limiter().consume(address)
        return 0
      } catch (refused) {
        return refused instanceof RateLimiterRes ? Math.max(1, refused.msBeforeNext) : 0
      }
    },
  }
}
