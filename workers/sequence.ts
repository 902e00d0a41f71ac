import { collectOldest, createSequenceMetrics, runSequences } from '#src/platform/sequence.ts'
import { runProcess } from '#src/process.ts'

const start: Parameters<typeof runProcess>[1] = async ({ services: { platform, features }, log, metrics }) => {
  const sequences = features.flatMap(({ sequences = [] }) => sequences)
  collectOldest(metrics.registry, platform.db, sequences)
  const loops = runSequences(sequences, { ...platform, log, metrics: createSequenceMetrics(metrics.registry) })
  return { stop: () => loops.close() }
}

await runProcess('sequence', start, { worksWithoutTenants: true })
