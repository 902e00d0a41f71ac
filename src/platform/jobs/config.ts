import { z } from 'zod'
import { QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import { count, defineConfig, label } from '#src/platform/config-keys.ts'

export const engineConfig = defineConfig({
  keys: {
    REDIS_URL: z
      .url({ protocol: /^rediss?$/, error: 'must be redis://host:port, or rediss:// for TLS' })
      .optional()
      .describe('Redis or Valkey for the queues; without it they use Postgres.'),
    QUEUE_PREFIX: label.default('cs').describe('Sets deployments apart that share one Redis.'),
  },
  problems: ({ MODE, REDIS_URL }) =>
    MODE === 'production' && REDIS_URL === undefined
      ? ['REDIS_URL: is missing. Production runs its queues on Redis or Valkey.']
      : [],
})

export const concurrencyConfig = defineConfig({ keys: concurrencyKeys() })

export function concurrencyKey(queue: QueueName): string {
  return `${queue.toUpperCase()}_CONCURRENCY`
}

// Their names depend on the queues: `concurrency` of the configuration reads them.
function concurrencyKeys(): Record<never, z.ZodType> {
  const entries = QUEUE_NAMES.map((queue) => [
    concurrencyKey(queue),
    count(QUEUES[queue].concurrency).describe(`Jobs at once in one ${queue} worker.`),
  ])
  return Object.fromEntries(entries)
}
