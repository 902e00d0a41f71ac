// What a prescriber may do now. The tier is one expression over facts and the clock and is stored nowhere: an expiry, a suspension
// or the end of a fact counts in the next statement.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ControlledSchedule } from './substances.ts'

/** 0: unverified; 1: identity verified; 2: licensed; 3: registered with the DEA, confirmed by a second person, with a passkey. */
export type Tier = 0 | 1 | 2 | 3

/** A fact `f` that is in force at a time. */
export function inForceSql(fact: string, at: string): string {
  return `${fact}.ended_at IS NULL AND (${fact}.expires_at IS NULL OR ${fact}.expires_at > ${at})`
}

// A user who was removed and came back is confirmed anew: the passkeys of before are gone.
const CONFIRMED = '(f.confirmed_at IS NOT NULL AND (u.reactivated_at IS NULL OR f.confirmed_at > u.reactivated_at))'

/**
 * The tier of a row of `prescribers` as an expression of type integer. For the present: facts that were ended since count as
 * ended.
 * @param alias Name of the row in the statement.
 * @param at Expression of the time, such as `$2` or `clock_timestamp()`.
 */
export function tierSql(alias: string, at: string): string {
  return `(SELECT CASE
      WHEN ${alias}.suspended_at IS NOT NULL OR count(*) FILTER (WHERE f.kind = 'identity') = 0 THEN 0
      WHEN count(*) FILTER (WHERE f.kind = 'licence') = 0 THEN 1
      WHEN count(DISTINCT f.kind) FILTER (WHERE ${CONFIRMED}) = 3
        AND EXISTS (SELECT FROM passkeys k WHERE k.user_id = ${alias}.user_id AND k.account_id = ${alias}.account_id) THEN 3
      ELSE 2 END
    FROM prescriber_facts f
    JOIN users u ON u.account_id = ${alias}.account_id AND u.id = ${alias}.user_id AND u.deprovisioned_at IS NULL
    WHERE f.prescriber_id = ${alias}.id AND f.account_id = ${alias}.account_id AND f.environment = ${alias}.environment
      AND ${inForceSql('f', at)})`
}

/** The schedules of all confirmed registrations of a row of `prescribers` that are in force. */
export function schedulesSql(alias: string, at: string): string {
  return `(SELECT COALESCE(array_agg(DISTINCT s.schedule ORDER BY s.schedule), '{}') FROM prescriber_facts f
      JOIN users u ON u.account_id = ${alias}.account_id AND u.id = ${alias}.user_id
      CROSS JOIN LATERAL unnest(f.schedules) AS s (schedule)
    WHERE f.prescriber_id = ${alias}.id AND f.account_id = ${alias}.account_id AND f.environment = ${alias}.environment
      AND f.kind = 'dea' AND ${inForceSql('f', at)} AND ${CONFIRMED})`
}

/** What of a prescriber is compared with exclusion lists. Keys: see match-keys.ts of exclusions. */
export interface MatchSubject {
  prescriberId: string
  npi: string
  /** null without a birth date. */
  fullKey: Buffer | null
  nameKey: Buffer
  stateKeys: Buffer[]
}

/** A prescriber as orders judge them. */
export interface PrescriberStanding {
  prescriberId: string
  userId: string
  npi: string
  tier: Tier
  /** Schedules of the registrations that are in force. */
  deaSchedules: ControlledSchedule[]
  suspended: boolean
  subject: MatchSubject
}

interface StandingRow extends Omit<PrescriberStanding, 'subject'> {
  fullKey: Buffer | null
  nameKey: Buffer
  stateKeys: Buffer[]
}

const SUBJECT =
  'p.id AS "prescriberId", p.npi, p.match_full AS "fullKey", p.match_name AS "nameKey", p.match_states AS "stateKeys"'
const STANDING = `SELECT ${SUBJECT}, p.user_id AS "userId", p.suspended_at IS NOT NULL AS suspended,
    ${tierSql('p', 'clock_timestamp()')} AS tier, ${schedulesSql('p', 'clock_timestamp()')} AS "deaSchedules"
  FROM prescribers p WHERE p.account_id = $1 AND p.environment = $2`

/** Reads a prescriber as of this statement, in the caller's transaction; undefined for an id of no prescriber. */
export async function findStanding(tx: Tx, scope: Scope, id: string): Promise<PrescriberStanding | undefined> {
  return first(await tx.query<StandingRow>(`${STANDING} AND p.id = $3`, [scope.accountId, scope.environment, id]))
}

/** The prescriber that names a user. */
export async function findStandingOfUser(
  tx: Tx,
  scope: Scope,
  userId: string,
): Promise<PrescriberStanding | undefined> {
  return first(
    await tx.query<StandingRow>(`${STANDING} AND p.user_id = $3`, [scope.accountId, scope.environment, userId]),
  )
}

/** The prescriber that has a number. */
export async function findStandingOfNpi(tx: Tx, scope: Scope, npi: string): Promise<PrescriberStanding | undefined> {
  return first(await tx.query<StandingRow>(`${STANDING} AND p.npi = $3`, [scope.accountId, scope.environment, npi]))
}

/** The prescribers of an account and environment, in the order of their ids, for a comparison with lists. */
export async function listSubjects(
  tx: Tx,
  { accountId, environment, after, limit }: Scope & { after: string | undefined; limit: number },
): Promise<MatchSubject[]> {
  return tx.query<MatchSubject>(
    `SELECT ${SUBJECT} FROM prescribers p WHERE p.account_id = $1 AND p.environment = $2 AND p.id > $3 ORDER BY p.id LIMIT $4`,
    [accountId, environment, after ?? '', limit],
  )
}

function first([row]: StandingRow[]): PrescriberStanding | undefined {
  if (row === undefined) return undefined
  const { fullKey, nameKey, stateKeys, ...standing } = row
  const { prescriberId, npi } = standing
  return { ...standing, subject: { prescriberId, npi, fullKey, nameKey, stateKeys } }
}
