import { recordAudit } from '#src/account/audit/record.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { DEFAULT_THRESHOLDS, type Thresholds } from './thresholds.ts'

export interface ScreeningSettings {
  thresholds: Thresholds
  /** Null: the defaults. */
  updatedAt: Date | null
}

/** The account's settings, or the defaults. They apply to screenings that end from then on. */
export async function findSettings(tx: Tx): Promise<ScreeningSettings> {
  const [row] = await tx.query<ScreeningSettings>(
    'SELECT thresholds, updated_at AS "updatedAt" FROM screening_settings LIMIT 1',
  )
  return row ?? { thresholds: DEFAULT_THRESHOLDS, updatedAt: null }
}

export function createScreeningSettings({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    find: (scope: Scope) => db.tenant(scope, findSettings),

    put: (scope: Acting, thresholds: Thresholds, key?: IdempotencyKey): Promise<ScreeningSettings> =>
      db.tenant(scope, (tx) =>
        once(
          tx,
          key,
          () => putThresholds(tx, scope, thresholds),
          () => 'thresholds',
        ),
      ),
  }
}

export type ScreeningSettingsStore = ReturnType<typeof createScreeningSettings>

async function putThresholds(tx: Tx, scope: Acting, thresholds: Thresholds): Promise<ScreeningSettings> {
  const before = await findSettings(tx)
  await tx.query(
    `INSERT INTO screening_settings (account_id, environment, thresholds) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, environment) DO UPDATE SET thresholds = excluded.thresholds, updated_at = now()`,
    [scope.accountId, scope.environment, JSON.stringify(thresholds)],
  )
  await recordAudit(tx, scope, {
    action: 'screening_settings.changed',
    before: auditedOf(before.thresholds),
    after: auditedOf(thresholds),
  })
  return findSettings(tx)
}

function auditedOf({ genai, deepfake }: Thresholds) {
  return { thresholds: { genai: { ...genai }, deepfake: { ...deepfake } } }
}
