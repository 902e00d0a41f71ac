import { statfs } from 'node:fs/promises'
import { createHistogram } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PoolStates } from './db/database.ts'

export interface Metrics {
  registry: Registry
  /** @param route The route's path as declared, or `unmatched`; never the URL, whose values are unbounded. */
  observeRequest(method: string, route: string, status: number, seconds: number): void
}

// From a status read to a caller that waits 30 s for a result.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

// prom-client measures the lag with a timer of 10 ms: 100 wake-ups a second, in each process that has nothing to do. One in
// five seconds is seldom enough to cost nothing, and often enough for each scrape.
const NEVER_MS = 2_147_483_647
const LAG_EVERY_MS = 5_000
const LAG_QUANTILES = { p50: 50, p90: 90, p99: 99 }

/**
 * @param process The process's name in the Procfile; a label of every series.
 * @param lagEveryMs How often the lag of the event loop is sampled.
 */
export function createMetrics({
  process,
  lagEveryMs = LAG_EVERY_MS,
}: {
  process: string
  lagEveryMs?: number
}): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ process })
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  collectEventLoopLag(registry, lagEveryMs)
  const requests = new Histogram({
    name: 'countersign_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  })
  return {
    registry,
    observeRequest(method, route, status, seconds) {
      requests.observe({ method: METHODS.has(method) ? method : 'OTHER', route, status }, seconds)
    },
  }
}

// Under prom-client's names: how late a timer was called, since the last scrape.
function collectEventLoopLag(registry: Registry, everyMs: number): void {
  for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`)
  }
  const lags = createHistogram()
  let dueAt = performance.now() + everyMs
  setInterval(() => {
    const now = performance.now()
    // At least 1 ns, the smallest that the histogram takes.
    lags.record(Math.max(1, Math.round((now - dueAt) * 1e6)))
    dueAt = now + everyMs
  }, everyMs).unref()
  const gauge = (part: string, help: string, collect: (this: Gauge) => void) =>
    new Gauge({ name: `nodejs_eventloop_lag_${part}_seconds`, help, registers: [registry], collect })

  for (const [name, percentile] of Object.entries(LAG_QUANTILES)) {
    gauge(name, `The ${percentile}th percentile of the event loop's delays since the last scrape.`, function () {
      this.set(lags.count === 0 ? 0 : lags.percentile(percentile) / 1e9)
    })
  }
  gauge('mean', "The mean of the event loop's delays since the last scrape.", function () {
    this.set(lags.count === 0 ? 0 : lags.mean / 1e9)
  })
  // Reading the last gauge resets the histogram.
  gauge('max', "The longest of the event loop's delays since the last scrape.", function () {
    this.set(lags.count === 0 ? 0 : lags.max / 1e9)
    lags.reset()
  })
}

/** Connections of this process to Postgres. */
export function collectPools(registry: Registry, pools: () => PoolStates): void {
  new Gauge({
    name: 'countersign_db_pool',
    help: 'Connections by pool (tenant, system) and state: busy, idle; and waiting, the transactions that wait for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { total, idle, waiting }] of Object.entries(pools())) {
        this.set({ pool, state: 'busy' }, total - idle)
        this.set({ pool, state: 'idle' }, idle)
        this.set({ pool, state: 'waiting' }, waiting)
      }
    },
  })
}

/** Free space on the disk that holds media; no series when media are kept elsewhere. */
export function collectDisk(registry: Registry, folder: string | undefined): void {
  new Gauge({
    name: 'countersign_blob_disk_bytes',
    help: 'The disk of a BLOB_STORE on disk, by state: free (to this process), size.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const disk = folder === undefined ? undefined : await statfs(folder).catch(() => undefined)
      if (disk === undefined) return this.reset()
      this.set({ state: 'free' }, disk.bavail * disk.bsize)
      this.set({ state: 'size' }, disk.blocks * disk.bsize)
    },
  })
}
