import { describe, expect, it } from 'vitest'
import { createMetrics } from '#src/platform/metrics.ts'
import { until } from '../support/until.ts'

const read = async ({ registry }: ReturnType<typeof createMetrics>, part: string) => {
  const text = await registry.metrics()
  return Number(new RegExp(`^nodejs_eventloop_lag_${part}_seconds\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1])
}

describe('the lag of the event loop', () => {
  it('is the delay of timers while the loop is blocked, since the last scrape', async () => {
    const metrics = createMetrics({ process: 'test', lagEveryMs: 200 })
    // Longer than the sampling interval, so that one sample falls into it.
    const end = performance.now() + 600
    while (performance.now() < end);
    let longest = 0
    await until(async () => {
      longest = Math.max(longest, await read(metrics, 'max'))
      return longest > 0
    })
    expect(longest).toBeGreaterThan(0.1)
    for (const part of ['p50', 'p90', 'p99', 'mean', 'max']) expect(await read(metrics, part)).toBeGreaterThanOrEqual(0)
    expect(await read(metrics, 'stddev')).toBeNaN()
  })
})
