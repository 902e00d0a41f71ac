import { z } from 'zod'
import { QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import { count, defineConfig, label } from '#src/platform/config-keys.ts'

export const engineConfig = defineConfig({
  title: 'Queues',
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

// What operators must know beside the number.
const MORE: Partial<Record<QueueName, string>> = {
  attest: ' An account that is alone takes half of them; beside others each leaves as many free as it takes.',
  mail: ' It has as many connections to the mail server.',
}

export const concurrencyConfig = defineConfig({ title: 'Jobs at once', keys: concurrencyKeys() })

export function concurrencyKey(queue: QueueName): string {
  return `${queue.toUpperCase()}_CONCURRENCY`
}

// Their names depend on the queues: `concurrency` of the configuration reads them.
function concurrencyKeys(): Record<never, z.ZodType> {
  const entries = QUEUE_NAMES.map((queue) => [
    concurrencyKey(queue),
    count(QUEUES[queue].concurrency).describe(`Jobs at once in one ${queue} worker.${MORE[queue] ?? ''}`),
  ])
  return Object.fromEntries(entries)
}
