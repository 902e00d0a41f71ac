import { Redis } from 'ioredis'

/** Removes what the queues of one prefix left in a Redis: their counters and markers stay when the last job is gone. */
export async function forgetQueues(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(...keys)
    }
  } catch {
    // Redis went away during the demo, and says nothing that the report has not said.
  } finally {
    redis.disconnect()
  }
}
