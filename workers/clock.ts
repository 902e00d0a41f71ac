import { runProcess } from '#src/process.ts'
import { createRetentionMetrics, runRetention } from '#src/retention-run.ts'

await runProcess('clock', async ({ services, log, metrics }) => {
  const retention = runRetention({
    db: services.db(),
    store: services.store(),
    eraser: services.eraser(),
    finishClaims: services.claimErasure().finishUnfinished,
    accounts: services.accounts(),
    log,
    metrics: createRetentionMetrics(metrics.registry),
  })
  return { stop: () => retention.close() }
})
