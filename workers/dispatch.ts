import { collectEngine, collectPostgres } from '#src/platform/jobs/health-metrics.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { collectQueues } from '#src/platform/jobs/metrics.ts'
import { runProcess } from '#src/process.ts'

const start: Parameters<typeof runProcess>[1] = async ({ services: { platform }, log, metrics, patiently }) => {
  const { db, engine, dispatcher } = platform
  await patiently(() => engine.check())
  collectQueues(metrics.registry, db)
  collectPostgres(metrics.registry, db)
  collectEngine(metrics.registry, engine)
  const loops = runDispatchLoops(dispatcher, log)
  return { stop: () => loops.close() }
}

await runProcess('dispatch', start, { worksWithoutTenants: true })
