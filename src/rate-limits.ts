// Puts the rate limits of the process `web` together.

import { createLimitOf } from './account/limits/limit-of.ts'
import { FAILED_AUTHENTICATIONS_PER_SECOND } from './catalogue/plans.ts'
import type { Config } from './config.ts'
import type { Platform } from './platform/feature.ts'
import { createRequestLimits, type RequestLimits } from './platform/http/limits.ts'
import { createGuesses } from './platform/limits/guesses.ts'
import { createLimiter } from './platform/limits/limiter.ts'
import { createLiveProcesses } from './platform/limits/live-processes.ts'
import { createSharedBuckets } from './platform/limits/shared-buckets.ts'

const REPORT_EVERY_MS = 60_000

/** undefined: RATE_LIMITS is off. Otherwise connected to Redis, where that answers. */
export async function startRateLimits(
  config: Pick<Config, 'RATE_LIMITS' | 'RATE_LIMIT_FACTOR' | 'MODE' | 'REDIS_URL' | 'QUEUE_PREFIX'>,
  { db, log, registry, onClose }: Pick<Platform, 'db' | 'log' | 'registry' | 'onClose'>,
): Promise<RequestLimits | undefined> {
  if (config.RATE_LIMITS === 'off') return undefined
  const { REDIS_URL: redisUrl, QUEUE_PREFIX: prefix, RATE_LIMIT_FACTOR: factor } = config
  const onAway = oncePer(REPORT_EVERY_MS, (error: Error) =>
    log.warn({ err: error }, 'Redis is unreachable: requests are counted in memory, at a share of each rate'),
  )
  const shared = redisUrl === undefined ? undefined : createSharedBuckets({ redisUrl, prefix, onAway })
  onClose(() => shared?.close(), 'shared rate limits')
  const live = createLiveProcesses({ db, kind: 'web' })
  onClose(() => live.stop(), 'live processes')
  await Promise.all([shared?.connect(), live.start()])
  return createRequestLimits({
    limiter: createLimiter({ shared, processes: live.count }),
    guesses: createGuesses({
      perSecond: Math.max(1, Math.floor(FAILED_AUTHENTICATIONS_PER_SECOND * factor)),
      shared,
      prefix,
      processes: live.count,
    }),
    limitOf: createLimitOf({ isDevelopment: config.MODE === 'development', factor }),
    registry,
  })
}

function oncePer<Reported>(everyMs: number, report: (reported: Reported) => void): (reported: Reported) => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return (reported) => {
    if (performance.now() - lastAt < everyMs) return
    lastAt = performance.now()
    report(reported)
  }
}
