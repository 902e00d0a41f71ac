import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion, digestOf, lockDocument, type StoredDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { SettingsDocument } from './requests.ts'
import { DEFAULT_THRESHOLDS, type Thresholds } from './thresholds.ts'

export type ScreeningSettings = StoredDocument<SettingsDocument>

interface SettingsRow {
  version: number
  thresholds: Thresholds
  updatedAt: Date
  changedBy: string
}

export interface SettingsChange {
  document: SettingsDocument
  /** The versions that the caller expects to replace, from `If-Match`; undefined for any. */
  expected: readonly number[] | undefined
}

/** The account's thresholds, or the defaults. They apply to screenings that end from then on. */
export async function findThresholds(tx: Tx): Promise<Thresholds> {
  return (await findRow(tx))?.thresholds ?? DEFAULT_THRESHOLDS
}

async function findRow(tx: Tx): Promise<SettingsRow | undefined> {
  const [row] = await tx.query<SettingsRow>(
    `SELECT version, thresholds, updated_at AS "updatedAt", changed_by AS "changedBy" FROM screening_settings LIMIT 1`,
  )
  return row
}

async function findSettings(tx: Tx): Promise<ScreeningSettings> {
  const row = await findRow(tx)
  const document = { thresholds: row?.thresholds ?? DEFAULT_THRESHOLDS }
  const changedBy = row?.changedBy ?? null
  const actors = await readActors(tx, [changedBy])
  return {
    version: row?.version ?? 0,
    digest: digestOf(document),
    changedAt: row?.updatedAt ?? null,
    changedBy: actors(changedBy),
    document,
  }
}

export function createScreeningSettings({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    find: (scope: Scope) => db.tenant(scope, findSettings),

    /**
     * Replaces the document, unless it equals the current one.
     * @throws {Failure} `precondition_failed` when the current version is not among the expected ones.
     */
    put: (scope: Acting, change: SettingsChange, key?: IdempotencyKey): Promise<ScreeningSettings> =>
      db.tenant(scope, async (tx) => {
        await lockDocument(tx, 'screening_settings', scope)
        return once(
          tx,
          key,
          () => replace(tx, scope, change),
          () => 'screening_settings',
        )
      }),
  }
}

export type ScreeningSettingsStore = ReturnType<typeof createScreeningSettings>

async function replace(tx: Tx, scope: Acting, { document, expected }: SettingsChange): Promise<ScreeningSettings> {
  const current = await findSettings(tx)
  checkVersion(expected, current)
  if (current.version > 0 && current.digest === digestOf(document)) return current
  const { accountId, environment, principal } = scope
  await tx.query(
    `INSERT INTO screening_settings (account_id, environment, version, thresholds, changed_by)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (account_id, environment) DO UPDATE SET version = excluded.version, thresholds = excluded.thresholds,
       changed_by = excluded.changed_by, updated_at = now()`,
    [accountId, environment, current.version + 1, JSON.stringify(document.thresholds), actorOf(principal).id],
  )
  await recordAudit(tx, scope, {
    action: 'screening_settings.changed',
    before: auditedOf(current.document),
    after: auditedOf(document),
  })
  return findSettings(tx)
}

function auditedOf({ thresholds: { genai, deepfake } }: SettingsDocument) {
  return { thresholds: { genai: { ...genai }, deepfake: { ...deepfake } } }
}
