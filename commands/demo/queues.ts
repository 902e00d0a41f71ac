import { Redis } from 'ioredis'

/** Deletes what the queues of one prefix left in a Redis: their counters and markers remain after the last job. */
export async function forgetQueues(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(...keys)
    }
  } catch {
    // Redis went away during the demo; the report has already shown that.
  } finally {
    redis.disconnect()
  }
}
