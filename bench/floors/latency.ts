// A bare BullMQ worker: reports when each job reached its handler, by the machine's clock.

import { Worker } from 'bullmq'
import { setting, work } from './floor.ts'

const arrivals = new Map<string, bigint>()
const worker = new Worker(
  'bare',
  async (job: { data: { id: string } }) => {
    arrivals.set(job.data.id, process.hrtime.bigint())
  },
  { connection: { url: setting('REDIS_URL'), maxRetriesPerRequest: null } },
)
await worker.waitUntilReady()

/** Returns when the job arrived, or null before that. */
work(async ({ id }: { id: string }) => arrivals.get(id)?.toString() ?? null)
