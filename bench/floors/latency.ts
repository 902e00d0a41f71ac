// A bare BullMQ worker: says when each job reached its handler, by the machine's own clock.

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

/** Answers when the job arrived, or null while it has not. */
work(async ({ id }: { id: string }) => arrivals.get(id)?.toString() ?? null)
