import { collectDuplicates } from '#src/attest/duplicates/metrics.ts'
import { runDuplicates } from '#src/attest/duplicates/run.ts'
import { runListFetcher } from '#src/attest/hardware/lists.ts'
import { runReevaluation } from '#src/attest/reevaluate/walk.ts'
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
  const lists = runListFetcher({
    db: services.db(),
    outbound: services.outbound(),
    url: services.revocationUrl,
    log,
    registry: metrics.registry,
  })
  collectDuplicates(metrics.registry, services.db())
  const duplicates = runDuplicates({ duplicates: services.duplicates(), log })
  const reevaluation = runReevaluation({ db: services.db(), accounts: services.accounts(), log })
  const loops = [retention, lists, duplicates, reevaluation]
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
})
