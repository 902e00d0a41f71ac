import type { Registry } from 'prom-client'
import { countAttempts, reportDisabled, reportParked } from '#src/account/webhooks/metrics.ts'
import { collectList } from '#src/attest/hardware/lists.ts'
import { createScreeningMetrics } from '#src/attest/screen/metrics.ts'
import { createVerifyMetrics } from '#src/authorize/intents/metrics.ts'
import { createPolicyWebhookMetrics } from '#src/authorize/webhooks/metrics.ts'
import type { Database } from '#src/platform/db/database.ts'
import { createRequestLimits } from '#src/platform/http/limits.ts'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { collectEngine, collectPostgres } from '#src/platform/jobs/health-metrics.ts'
import { collectQueues, createDispatchMetrics, createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { createLog } from '#src/platform/log.ts'
import { collectDisk, collectPools, createMetrics } from '#src/platform/metrics.ts'
import { createRetentionMetrics } from '#src/platform/retention-run.ts'
import { collectOldest, createSequenceMetrics } from '#src/platform/sequence.ts'
import { createInferenceMetrics } from '#src/trace/inferences/metrics.ts'
import { collectModels } from '#src/trace/models/metrics.ts'

export interface KnownMetric {
  name: string
  labels: string[]
  kind: string
}

/** Every metric that a process of the service can show; prom-client's own too, when asked for. */
export function describeMetrics({ isWhole = false } = {}): KnownMetric[] {
  const { registry } = createMetrics({ process: 'test' })
  // Gauges query when they are scraped, and no scrape happens here.
  const database = {} as Database
  createJobMetrics(registry)
  createDispatchMetrics(registry)
  collectQueues(registry, database)
  collectPostgres(registry, database)
  collectEngine(registry, { producer: () => ({}) as ReturnType<Engine['producer']> })
  collectPools(registry, () => {
    const none = { total: 0, idle: 0, waiting: 0 }
    return { tenant: none, system: none }
  })
  collectDisk(registry, undefined)
  createRetentionMetrics(registry)
  createSequenceMetrics(registry)
  collectOldest(registry, database, [])
  collectList(registry, { db: database, url: 'https://example.com/' })
  createScreeningMetrics(registry)
  createRequestLimits({
    registry,
    limiter: { take: () => ({ isGranted: true, remaining: 0, refillMs: 0 }), size: () => 0 },
    guesses: { count: async () => 0 },
    limitOf: () => ({ name: 'account', subject: '', rate: { perSecond: 1, burst: 1 }, detail: '' }),
  })
  countAttempts({ send: async () => ({ ok: false, code: 'aborted', detail: '', durationMs: 0 }) }, registry)
  createPolicyWebhookMetrics(registry)
  createVerifyMetrics(registry)
  createInferenceMetrics(registry)
  collectModels(registry, { waiting: () => [] })
  reportDisabled(registry, createLog({ process: 'test', level: 'silent' }))
  reportParked(registry, createLog({ process: 'test', level: 'silent' }))
  return entriesOf(registry).filter(({ name }) => isWhole || name.startsWith('countersign_'))
}

function entriesOf(registry: Registry): KnownMetric[] {
  return registry.getMetricsAsArray().map((metric) => ({
    name: metric.name,
    labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [],
    kind: metric.type === undefined ? metric.constructor.name.toLowerCase() : String(metric.type),
  }))
}
