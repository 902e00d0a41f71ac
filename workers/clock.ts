import { createRetentionMetrics, runRetention } from '#src/platform/retention-run.ts'
import { runTasks } from '#src/platform/tasks.ts'
import { runProcess } from '#src/process.ts'

await runProcess('clock', async ({ services, log, metrics }) => {
  const { features, platform, account } = services
  const loops = [
    runRetention(
      { db: platform.db, log, accounts: account.accounts, metrics: createRetentionMetrics(metrics.registry) },
      // Features that build on others come later, and so do their references: those go first.
      features.toReversed().flatMap(({ retention = [] }) => retention),
    ),
    runTasks(
      features.flatMap(({ tasks = [] }) => tasks),
      log,
    ),
  ]
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
})
