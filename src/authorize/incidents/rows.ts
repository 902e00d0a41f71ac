// Incident reports: one for each account and environment and each day in UTC. Days are `YYYY-MM-DD`.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { conditionsOf } from '#src/platform/ledger/rows.ts'
import type { IncidentReport, ReportedEntry } from './report.ts'

export interface IncidentReportRow {
  day: string
  report: IncidentReport
  createdAt: Date
}

export interface DueReport extends Scope {
  day: string
}

/**
 * Days without a report, of accounts that had a prescriber then, in an order by which the next page continues.
 * @param days The first and the last day in question.
 */
export async function findDueReports(
  tx: Tx,
  [first, last]: readonly [string, string],
  { limit }: { limit: number },
): Promise<DueReport[]> {
  return tx.query<DueReport>(
    `SELECT p.account_id AS "accountId", p.environment, to_char(d.day, 'YYYY-MM-DD') AS day
     FROM (SELECT account_id, environment, (min(created_at) AT TIME ZONE 'UTC')::date AS since
       FROM prescribers GROUP BY account_id, environment) p
     CROSS JOIN generate_series($1::date::timestamp, $2::date, interval '1 day') AS d (day)
     WHERE p.since <= d.day AND NOT EXISTS (SELECT FROM clinical_incident_reports r
       WHERE r.account_id = p.account_id AND r.environment = p.environment AND r.day = d.day::date)
     ORDER BY p.account_id, p.environment, d.day LIMIT $3`,
    [first, last, limit],
  )
}

/** Entries of clinician orders, and of verifications that were to execute one, oldest first. */
export async function listEntriesOf(tx: Tx, scope: Scope, range: { from: Date; to: Date }): Promise<ReportedEntry[]> {
  const { conditions, values } = conditionsOf(scope, { kinds: ['clinician_order'], ...range })
  return tx.adhoc<ReportedEntry>(
    `SELECT id, at, reason, subject_id AS subject, entry::jsonb->'inputs' AS inputs FROM decisions
     WHERE ${conditions.join(' AND ')} AND reason IS NOT NULL ORDER BY id`,
    values,
  )
}

/** Another process may have written the report meanwhile: that one stays. */
export async function insertReport(
  tx: Tx,
  { accountId, environment }: Scope,
  { day, report, createdAt }: IncidentReportRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO clinical_incident_reports (account_id, environment, day, report, created_at)
     VALUES ($1, $2, $3::date, $4, $5) ON CONFLICT DO NOTHING`,
    [accountId, environment, day, JSON.stringify(report), createdAt],
  )
}

const REPORT = `day::text AS day, report, created_at AS "createdAt"`

export async function findReport(
  tx: Tx,
  { accountId, environment }: Scope,
  day: string,
): Promise<IncidentReportRow | undefined> {
  const [row] = await tx.query<IncidentReportRow>(
    `SELECT ${REPORT} FROM clinical_incident_reports WHERE account_id = $1 AND environment = $2 AND day = $3::date`,
    [accountId, environment, day],
  )
  return row
}

/** Newest first. */
export async function listReports(
  tx: Tx,
  { accountId, environment }: Scope,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<IncidentReportRow[]> {
  return tx.query<IncidentReportRow>(
    `SELECT ${REPORT} FROM clinical_incident_reports WHERE account_id = $1 AND environment = $2
       AND ($3::date IS NULL OR day < $3::date) ORDER BY day DESC LIMIT $4`,
    [accountId, environment, before ?? null, limit],
  )
}

/** Deletes the reports that were made before a time. */
export async function purgeReports(
  tx: Tx,
  { accountId, environment }: Scope,
  { before }: { before: Date },
): Promise<number> {
  const gone = await tx.query(
    `DELETE FROM clinical_incident_reports WHERE account_id = $1 AND environment = $2 AND created_at < $3 RETURNING 1`,
    [accountId, environment, before],
  )
  return gone.length
}
