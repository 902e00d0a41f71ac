// The versions of the clinical policy, and the formulary with the record of its replacements.

import { readActors } from '#src/account/users/actors.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { digestOf, type StoredDocument } from '#src/platform/http/documents.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type ClinicalPolicyDocument, DEFAULT_CLINICAL_POLICY } from './policy-document.ts'
import type { Formulary } from './schedules.ts'
import type { DrugSchedule } from './substances.ts'

interface VersionRow {
  version: number
  digest: string
  changedBy: string | null
  changedAt: Date | null
}

export type ClinicalPolicyRow = VersionRow & { document: ClinicalPolicyDocument }

const VERSION = `version, encode(digest, 'hex') AS digest, changed_by AS "changedBy", created_at AS "changedAt"`

export const DEFAULT_POLICY_ROW: ClinicalPolicyRow = {
  version: 0,
  digest: digestOf(DEFAULT_CLINICAL_POLICY),
  changedBy: null,
  changedAt: null,
  document: DEFAULT_CLINICAL_POLICY,
}

/** The policy in force, in the caller's transaction. */
export async function readClinicalPolicy(tx: Tx, { accountId, environment }: Scope): Promise<ClinicalPolicyRow> {
  const [row] = await tx.query<ClinicalPolicyRow>(
    `SELECT ${VERSION}, document FROM clinical_policies WHERE account_id = $1 AND environment = $2
     ORDER BY version DESC LIMIT 1`,
    [accountId, environment],
  )
  return row ?? DEFAULT_POLICY_ROW
}

export async function findPolicyVersion(
  tx: Tx,
  { accountId, environment }: Scope,
  version: number,
): Promise<ClinicalPolicyRow | undefined> {
  if (version === 0) return DEFAULT_POLICY_ROW
  const [row] = await tx.query<ClinicalPolicyRow>(
    `SELECT ${VERSION}, document FROM clinical_policies WHERE account_id = $1 AND environment = $2 AND version = $3`,
    [accountId, environment, version],
  )
  return row
}

/** Newest first. */
export async function listPolicyVersions(
  tx: Tx,
  { accountId, environment }: Scope,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<ClinicalPolicyRow[]> {
  return tx.query<ClinicalPolicyRow>(
    `SELECT ${VERSION}, document FROM clinical_policies WHERE account_id = $1 AND environment = $2
       AND ($3::int IS NULL OR version < $3) ORDER BY version DESC LIMIT $4`,
    [accountId, environment, before ?? null, limit],
  )
}

export async function insertPolicyVersion(
  tx: Tx,
  { accountId, environment }: Scope,
  { version, document, digest, changedBy }: Omit<ClinicalPolicyRow, 'changedAt'>,
): Promise<ClinicalPolicyRow> {
  const [row] = await tx.query<ClinicalPolicyRow>(
    `INSERT INTO clinical_policies (account_id, environment, version, document, digest, changed_by)
     VALUES ($1, $2, $3, $4, decode($5, 'hex'), $6) RETURNING ${VERSION}, document`,
    [accountId, environment, version, JSON.stringify(document), digest, changedBy],
  )
  if (row === undefined) throw new Error('an insert returned no row')
  return row
}

/** Whether members beside the owner may act: on other plans nobody can co-sign. */
export async function hasTeam(tx: Tx, { accountId }: Scope): Promise<boolean> {
  const [row] = await tx.query<{ plan: string }>('SELECT plan FROM accounts WHERE id = $1', [accountId])
  return row?.plan === 'enterprise'
}

export type FormularyVersion = VersionRow & { entries: number }

const EMPTY: FormularyVersion = { version: 0, digest: digestOf({}), entries: 0, changedBy: null, changedAt: null }

export async function findFormularyVersion(tx: Tx, { accountId, environment }: Scope): Promise<FormularyVersion> {
  const [row] = await tx.query<FormularyVersion>(
    `SELECT ${VERSION}, entries FROM clinical_formulary_versions WHERE account_id = $1 AND environment = $2
     ORDER BY version DESC LIMIT 1`,
    [accountId, environment],
  )
  return row ?? EMPTY
}

/** Replaces all entries. */
export async function replaceFormulary(
  tx: Tx,
  { accountId, environment }: Scope,
  { version, digest, changedBy, entries }: { version: number; digest: string; changedBy: string; entries: Formulary },
): Promise<void> {
  await tx.query('DELETE FROM clinical_formulary WHERE account_id = $1 AND environment = $2', [accountId, environment])
  await tx.query(
    `INSERT INTO clinical_formulary (account_id, environment, rxcui, schedule)
     SELECT $1, $2, rxcui, schedule FROM unnest($3::text[], $4::text[]) AS one (rxcui, schedule)`,
    [accountId, environment, [...entries.keys()], [...entries.values()]],
  )
  await tx.query(
    `INSERT INTO clinical_formulary_versions (account_id, environment, version, digest, entries, changed_by)
     VALUES ($1, $2, $3, decode($4, 'hex'), $5, $6)`,
    [accountId, environment, version, digest, entries.size, changedBy],
  )
}

export interface FormularyEntry {
  rxcui: string
  schedule: DrugSchedule
}

/** In the order of the concepts' ids, after one of them. */
export async function listFormulary(
  tx: Tx,
  { accountId, environment }: Scope,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FormularyEntry[]> {
  return tx.query<FormularyEntry>(
    `SELECT rxcui, schedule FROM clinical_formulary WHERE account_id = $1 AND environment = $2
       AND ($3::text IS NULL OR rxcui > $3) ORDER BY rxcui LIMIT $4`,
    [accountId, environment, after ?? null, limit],
  )
}

/** The entries about one concept, for `scheduleOf`. */
export async function readFormulary(
  tx: Tx,
  { accountId, environment }: Scope,
  rxcui: string | null,
): Promise<Formulary> {
  if (rxcui === null) return new Map()
  const rows = await tx.query<FormularyEntry>(
    'SELECT rxcui, schedule FROM clinical_formulary WHERE rxcui = $3 AND account_id = $1 AND environment = $2',
    [accountId, environment, rxcui],
  )
  return new Map(rows.map((row) => [row.rxcui, row.schedule]))
}

/** Rows of versions as callers see them. */
export async function withChangedBy<Row extends VersionRow>(
  tx: Tx,
  rows: readonly Row[],
): Promise<(Omit<Row, 'changedBy'> & Pick<StoredDocument<unknown>, 'changedBy'>)[]> {
  const actors = await readActors(
    tx,
    rows.map(({ changedBy }) => changedBy),
  )
  return rows.map((row) => ({ ...row, changedBy: actors(row.changedBy) }))
}
