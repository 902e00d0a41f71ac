// Prescribers and what was checked about them. A fact's status follows from its columns and the clock.

import type { Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ControlledSchedule } from './substances.ts'
import { type Tier, tierSql } from './tier.ts'

export const FACT_KINDS = ['identity', 'licence', 'dea'] as const
export type FactKind = (typeof FACT_KINDS)[number]
export const FACT_STATUSES = ['entered', 'confirmed', 'expired', 'ended'] as const
export type FactStatus = (typeof FACT_STATUSES)[number]
// Closed lists: a text would invite names and findings about people into logs.
export const END_REASONS = [
  'entered_in_error',
  'replaced',
  'surrendered',
  'revoked',
  'person_changed',
  'other',
] as const
export type FactEndReason = (typeof END_REASONS)[number]
export const SUSPENSION_REASONS = ['excluded', 'licence', 'registration', 'compromised', 'left', 'other'] as const
export type SuspensionReason = (typeof SUSPENSION_REASONS)[number]
export const IDENTITY_METHODS = ['credential_service_provider', 'in_person'] as const
export type IdentityMethod = (typeof IDENTITY_METHODS)[number]

export interface PrescriberRow {
  id: string
  userId: string
  npi: string
  sealedPerson: Buffer
  tier: Tier
  suspendedAt: Date | null
  suspendedBy: string | null
  suspendedReason: SuspensionReason | null
  version: number
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

export interface SealedPerson {
  npi: string
  sealedPerson: Buffer
  fullKey: Buffer | null
  nameKey: Buffer
  stateKeys: Buffer[]
}

export interface FactTerms {
  kind: FactKind
  method: IdentityMethod | null
  state: string | null
  number: string | null
  schedules: ControlledSchedule[] | null
  expiresAt: Date | null
}

export interface FactRow extends FactTerms {
  id: string
  prescriberId: string
  status: FactStatus
  enteredBy: string
  enteredAt: Date
  confirmedBy: string | null
  confirmedAt: Date | null
  endedBy: string | null
  endedAt: Date | null
  endedReason: FactEndReason | null
}

const PRESCRIBER = `p.id, p.user_id AS "userId", p.npi, p.sealed_person AS "sealedPerson", p.suspended_at AS "suspendedAt",
  p.suspended_by AS "suspendedBy", p.suspended_reason AS "suspendedReason", p.version, p.created_by AS "createdBy",
  p.created_at AS "createdAt", p.updated_at AS "updatedAt", ${tierSql('p', 'clock_timestamp()')} AS tier`

const FACT = `f.id, f.prescriber_id AS "prescriberId", f.kind, f.method, f.state, f.number, f.schedules,
  f.expires_at AS "expiresAt", f.entered_by AS "enteredBy", f.entered_at AS "enteredAt", f.confirmed_by AS "confirmedBy",
  f.confirmed_at AS "confirmedAt", f.ended_by AS "endedBy", f.ended_at AS "endedAt", f.ended_reason AS "endedReason",
  CASE WHEN f.ended_at IS NOT NULL THEN 'ended' WHEN f.expires_at <= clock_timestamp() THEN 'expired'
    WHEN f.confirmed_at IS NOT NULL THEN 'confirmed' ELSE 'entered' END AS status`

/** False where the user or the NPI has a prescriber already. */
export async function insertPrescriber(
  tx: Tx,
  { accountId, environment }: Scope,
  row: SealedPerson & { id: string; userId: string; createdBy: string },
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO prescribers (account_id, environment, id, user_id, npi, sealed_person, match_full, match_name, match_states,
       created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::bytea[], $10, clock_timestamp(), clock_timestamp())
     ON CONFLICT DO NOTHING RETURNING 1`,
    [
      accountId,
      environment,
      row.id,
      row.userId,
      row.npi,
      row.sealedPerson,
      row.fullKey,
      row.nameKey,
      row.stateKeys,
      row.createdBy,
    ],
  )
  return inserted.length === 1
}

export async function findPrescriber(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
): Promise<PrescriberRow | undefined> {
  const [row] = await tx.query<PrescriberRow>(
    `SELECT ${PRESCRIBER} FROM prescribers p WHERE p.account_id = $1 AND p.environment = $2 AND p.id = $3`,
    [accountId, environment, id],
  )
  return row
}

/** Holds its row, so that facts of one prescriber are changed one after the other. */
export async function lockPrescriber(tx: Tx, scope: Scope, id: string): Promise<PrescriberRow | undefined> {
  await tx.query('SELECT FROM prescribers WHERE account_id = $1 AND environment = $2 AND id = $3 FOR UPDATE', [
    scope.accountId,
    scope.environment,
    id,
  ])
  return findPrescriber(tx, scope, id)
}

/** Holds the rows of a prescriber and of the one who confirms: in one order, since two may confirm each other. */
export async function lockBoth(tx: Tx, { accountId, environment }: Scope, id: string, userId: string): Promise<void> {
  await tx.query(
    `SELECT FROM prescribers WHERE account_id = $1 AND environment = $2 AND (id = $3 OR user_id = $4) ORDER BY id FOR UPDATE`,
    [accountId, environment, id, userId],
  )
}

export interface PrescriberFilter extends TimeRange {
  userId: string | undefined
  npi: string | undefined
}

const MATCHES = `p.account_id = $1 AND p.environment = $2 AND ($3::text IS NULL OR p.user_id = $3)
  AND ($4::text IS NULL OR p.npi = $4)
  AND ($5::timestamptz IS NULL OR p.created_at >= $5) AND ($6::timestamptz IS NULL OR p.created_at < $6)`

function valuesOf({ accountId, environment }: Scope, { userId, npi, from, to }: PrescriberFilter) {
  return [accountId, environment, userId ?? null, npi ?? null, from ?? null, to ?? null]
}

/** Newest first. */
export async function listPrescribers(
  tx: Tx,
  scope: Scope,
  filter: PrescriberFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<PrescriberRow[]> {
  return tx.query<PrescriberRow>(
    `SELECT ${PRESCRIBER} FROM prescribers p WHERE ${MATCHES} AND ($7::text IS NULL OR p.id < $7) ORDER BY p.id DESC LIMIT $8`,
    [...valuesOf(scope, filter), before ?? null, limit],
  )
}

export async function countPrescribers(tx: Tx, scope: Scope, filter: PrescriberFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`prescribers p WHERE ${MATCHES}`), valuesOf(scope, filter))
  return row?.count ?? 0
}

export async function updatePerson(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
  row: SealedPerson,
): Promise<void> {
  await tx.query(
    `UPDATE prescribers SET npi = $4, sealed_person = $5, match_full = $6, match_name = $7, match_states = $8::bytea[],
       version = version + 1, updated_at = clock_timestamp()
     WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id, row.npi, row.sealedPerson, row.fullKey, row.nameKey, row.stateKeys],
  )
}

export async function updateStateKeys(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
  stateKeys: readonly Buffer[],
): Promise<void> {
  await tx.query(
    'UPDATE prescribers SET match_states = $4::bytea[] WHERE account_id = $1 AND environment = $2 AND id = $3',
    [accountId, environment, id, stateKeys],
  )
}

/** @param suspension null lifts it. */
export async function setSuspension(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
  suspension: { by: string; reason: SuspensionReason } | null,
): Promise<void> {
  await tx.query(
    `UPDATE prescribers SET suspended_at = CASE WHEN $4::text IS NULL THEN NULL ELSE clock_timestamp() END, suspended_by = $4,
       suspended_reason = $5, version = version + 1, updated_at = clock_timestamp()
     WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id, suspension?.by ?? null, suspension?.reason ?? null],
  )
}

/** Confirmed facts are entered again by the person who lifted a suspension: a second person has to confirm them anew. */
export async function withdrawConfirmations(
  tx: Tx,
  { accountId, environment }: Scope,
  prescriberId: string,
  by: string,
): Promise<void> {
  await tx.query(
    `UPDATE prescriber_facts SET confirmed_by = NULL, confirmed_passkey_id = NULL, confirmed_at = NULL, entered_by = $4,
       entered_at = clock_timestamp()
     WHERE prescriber_id = $3 AND account_id = $1 AND environment = $2 AND ended_at IS NULL AND confirmed_at IS NOT NULL`,
    [accountId, environment, prescriberId, by],
  )
}

export async function insertFact(
  tx: Tx,
  { accountId, environment }: Scope,
  fact: FactTerms & { id: string; prescriberId: string; enteredBy: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO prescriber_facts (account_id, environment, id, prescriber_id, kind, method, state, number, schedules,
       expires_at, entered_by, entered_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())`,
    [
      accountId,
      environment,
      fact.id,
      fact.prescriberId,
      fact.kind,
      fact.method,
      fact.state,
      fact.number,
      fact.schedules,
      fact.expiresAt,
      fact.enteredBy,
    ],
  )
}

/** Some facts of a prescriber, oldest first; a fact of another one is not among them. */
export async function findFacts(
  tx: Tx,
  { accountId, environment }: Scope,
  prescriberId: string,
  ids: readonly string[],
): Promise<FactRow[]> {
  return tx.query<FactRow>(
    `SELECT ${FACT} FROM prescriber_facts f
     WHERE f.prescriber_id = $3 AND f.account_id = $1 AND f.environment = $2 AND f.id = ANY($4::text[]) ORDER BY f.id`,
    [accountId, environment, prescriberId, ids],
  )
}

/** Newest first. */
export async function listFacts(
  tx: Tx,
  { accountId, environment }: Scope,
  prescriberId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<FactRow[]> {
  return tx.query<FactRow>(
    `SELECT ${FACT} FROM prescriber_facts f WHERE f.prescriber_id = $3 AND f.account_id = $1 AND f.environment = $2
       AND ($4::text IS NULL OR f.id < $4) ORDER BY f.id DESC LIMIT $5`,
    [accountId, environment, prescriberId, before ?? null, limit],
  )
}

/** Facts that have not been ended, and the states of all licences, also of ended ones. */
export async function readFactSummary(
  tx: Tx,
  { accountId, environment }: Scope,
  prescriberId: string,
): Promise<{ open: number; states: string[] }> {
  const [row] = await tx.query<{ open: number; states: string[] }>(
    `SELECT count(*) FILTER (WHERE ended_at IS NULL)::int AS open,
       COALESCE(array_agg(DISTINCT state) FILTER (WHERE state IS NOT NULL), '{}') AS states
     FROM prescriber_facts WHERE prescriber_id = $3 AND account_id = $1 AND environment = $2`,
    [accountId, environment, prescriberId],
  )
  return row ?? { open: 0, states: [] }
}

/** Returns how many: fewer than given where one has been confirmed, has ended or has expired. */
export async function confirmFacts(
  tx: Tx,
  { accountId, environment }: Scope,
  ids: readonly string[],
  { userId, passkeyId }: { userId: string; passkeyId: string },
): Promise<number> {
  const confirmed = await tx.query(
    `UPDATE prescriber_facts SET confirmed_by = $4, confirmed_passkey_id = $5, confirmed_at = clock_timestamp()
     WHERE account_id = $1 AND environment = $2 AND id = ANY($3::text[]) AND confirmed_at IS NULL AND ended_at IS NULL
       AND (expires_at IS NULL OR expires_at > clock_timestamp()) RETURNING 1`,
    [accountId, environment, ids, userId, passkeyId],
  )
  return confirmed.length
}

/** Ends facts that have not been ended; returns their ids. */
export async function endFacts(
  tx: Tx,
  { accountId, environment }: Scope,
  which: { prescriberId: string; id: string | null; kind: FactKind | null },
  { by, reason }: { by: string; reason: FactEndReason },
): Promise<string[]> {
  const ended = await tx.query<{ id: string }>(
    `UPDATE prescriber_facts SET ended_by = $6, ended_at = clock_timestamp(), ended_reason = $7
     WHERE prescriber_id = $3 AND account_id = $1 AND environment = $2 AND ($4::text IS NULL OR id = $4)
       AND ($5::text IS NULL OR kind = $5) AND ended_at IS NULL RETURNING id`,
    [accountId, environment, which.prescriberId, which.id, which.kind, by, reason],
  )
  return ended.map(({ id }) => id)
}

/** Whether a prescriber beside this one has tier 3. */
export async function hasOtherOfTierThree(tx: Tx, { accountId, environment }: Scope, id: string): Promise<boolean> {
  const [row] = await tx.query<{ exists: boolean }>(
    `SELECT EXISTS (SELECT FROM prescribers p WHERE p.account_id = $1 AND p.environment = $2 AND p.id <> $3
       AND ${tierSql('p', 'clock_timestamp()')} = 3) AS exists`,
    [accountId, environment, id],
  )
  return row?.exists === true
}

/** An active member. Neither membership nor role changes until the end of the transaction. */
export async function lockMember(
  tx: Tx,
  { accountId }: Scope,
  userId: string,
): Promise<{ id: string; role: string } | undefined> {
  const [row] = await tx.query<{ id: string; role: string }>(
    'SELECT id, role FROM users WHERE account_id = $1 AND id = $2 AND deprovisioned_at IS NULL FOR SHARE',
    [accountId, userId],
  )
  return row
}
