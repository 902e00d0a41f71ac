import { collectEngine, collectPostgres } from '#src/platform/jobs/health-metrics.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { collectQueues } from '#src/platform/jobs/metrics.ts'
import { runProcess } from '#src/process.ts'

const start: Parameters<typeof runProcess>[1] = async ({ services, log, metrics }) => {
  await services.engine().check()
  collectQueues(metrics.registry, services.db())
  collectPostgres(metrics.registry, services.db())
  collectEngine(metrics.registry, services.engine())
  const loops = runDispatchLoops(services.dispatcher(), log)
  return { stop: () => loops.close() }
}

await runProcess('dispatch', start, { worksWithoutTenants: true })
