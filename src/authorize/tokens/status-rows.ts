// The rows of the public status lists, which belong to no tenant. Revocations write places (revoked-rows.ts).

import type { Database } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { type DeploymentRule, HOUR_MS } from '#src/platform/retention.ts'

/** The places of revoked tokens; undefined when the list has no token. */
export async function findStatusList(
  db: Pick<Database, 'readSystem'>,
  environment: Environment,
  list: number,
): Promise<{ revoked: number[] } | undefined> {
  const [row] = await db.readSystem<{ revoked: number[] }>('status list', () => ({
    text: `SELECT ARRAY(SELECT index FROM status_bits WHERE environment = $1 AND list = $2) AS revoked
      FROM status_lists WHERE environment = $1 AND number = $2`,
    values: [environment, list],
  }))
  return row
}

// A verifier whose clock is late still finds the place.
const KEPT = '1 day'
const STEP_ROWS = 5_000

/** Places of tokens that expired. */
export function statusBitsRule(db: Pick<Database, 'system'>): DeploymentRule {
  return {
    per: 'deployment',
    what: 'status_bits',
    everyMs: HOUR_MS,
    async purge() {
      for (let purged = 0; ; ) {
        const gone = await db.system('retention', (tx) =>
          tx.query(
            `DELETE FROM status_bits WHERE ctid = ANY(ARRAY(
               SELECT ctid FROM status_bits WHERE expires_at < now() - interval '${KEPT}' LIMIT $1)) RETURNING 1`,
            [STEP_ROWS],
          ),
        )
        purged += gone.length
        if (gone.length < STEP_ROWS) return purged
      }
    },
  }
}
