import { forgetIdempotencyKeys } from '#src/platform/http/idempotency.ts'
import { every } from '#src/platform/jobs/loops.ts'
import { forgetSettledJobs, forgetSilentWorkers } from '#src/platform/jobs/retention.ts'
import { runProcess } from '#src/process.ts'

await runProcess('clock', async ({ services, log }) => {
  const loops = [
    every(60_000, () => forgetSettledJobs(services.db()), log),
    every(60_000, () => forgetSilentWorkers(services.db()), log),
    every(60_000, () => forgetIdempotencyKeys(services.db()), log),
  ]
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
})
