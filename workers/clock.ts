import { createRetentionMetrics, runRetention } from '#src/platform/retention-run.ts'
import { runTasks } from '#src/platform/tasks.ts'
import { runProcess } from '#src/process.ts'

await runProcess('clock', async ({ services, log, metrics }) => {
  const { features, platform, account } = services
  const loops = [
    runRetention(
      { db: platform.db, log, accounts: account.accounts, metrics: createRetentionMetrics(metrics.registry) },
      // Later features refer to rows of earlier ones: the references are deleted first.
      features.toReversed().flatMap(({ retention = [] }) => retention),
    ),
    runTasks(
      features.flatMap(({ tasks = [] }) => tasks),
      log,
    ),
  ]
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
})
