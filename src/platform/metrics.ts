import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PoolStates } from './db/database.ts'

export interface Metrics {
  registry: Registry
  /** @param route The route's path as declared, or `unmatched`; never the URL, whose values are without number. */
  observeRequest(method: string, route: string, status: number, seconds: number): void
}

// From a status read to a caller who waits 30 s for a result.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** @param process The Procfile's word; a label of every series. */
export function createMetrics({ process }: { process: string }): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ process })
  collectDefaultMetrics({ register: registry })
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

/** Room on the disk that media are kept on; nothing where they are kept elsewhere. */
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
