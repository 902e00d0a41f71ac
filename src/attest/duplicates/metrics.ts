import { Gauge, type Registry } from 'prom-client'
import type { Database } from '#src/platform/db/database.ts'
import { countWaiting } from './rows.ts'

/** Counts the attestations that wait for a comparison at each scrape. */
export function collectDuplicates(registry: Registry, db: Pick<Database, 'system'>): void {
  new Gauge({
    name: 'countersign_duplicates_waiting',
    help: 'Attestations that wait to be compared with other claims; counts to 10,000.',
    registers: [registry],
    async collect() {
      this.set(await db.system('duplicates', (tx) => countWaiting(tx, 10_000)))
    },
  })
}
