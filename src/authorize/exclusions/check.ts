// Compares prescribers with the lists in force, in the caller's transaction: an import counts from its commit on. An account's own
// file is in force, or else the operator's.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ListName } from './formats.ts'
import {
  type DecidedRow,
  type ExclusionEvidence,
  type ExclusionStatus,
  judgeMatches,
  type RowMatch,
  staleLists,
} from './judge.ts'

/** What of a prescriber is compared: its number, and the keys of match-keys.ts. */
export interface ComparedSubject {
  prescriberId: string
  npi: string
  fullKey: Buffer | null
  nameKey: Buffer
  stateKeys: readonly Buffer[]
}

export interface ExclusionCheck {
  status: ExclusionStatus
  evidence: ExclusionEvidence[]
  /** Lists that are missing or outdated. */
  stale: ListName[]
}

/** The files in force: of the account in an environment ($1, $2), or of the operator ($3). */
export const IN_FORCE = `SELECT DISTINCT ON (list) list, file_id, list_date, import_id, changed_at, account_id
  FROM exclusion_pointers WHERE (account_id = $1 AND environment = $2) OR (account_id = $3 AND environment = 'live')
  ORDER BY list, account_id = $3`

/** When the comparison takes place, by Postgres's clock, and the state of the order, where a waiver of LEIE may hold. */
export interface ComparedAt {
  at: Date
  /** Without it no waiver holds. */
  state?: string | undefined
}

export async function checkExclusions(
  tx: Tx,
  { accountId, environment }: Scope,
  { at, state }: ComparedAt,
  subjects: readonly ComparedSubject[],
): Promise<Map<string, ExclusionCheck>> {
  const owners = [accountId, environment, SERVICE_ACCOUNT_ID]
  const ids = subjects.map(({ prescriberId }) => prescriberId)
  // All three are sent at once.
  const [lists, matches, decided] = await Promise.all([
    tx.query<{ list: ListName; listDate: string }>(
      `SELECT list, list_date::text AS "listDate" FROM (${IN_FORCE}) in_force`,
      owners,
    ),
    tx.query<RowMatch & { prescriberId: string }>(MATCHES, [...owners, ...keysOf(subjects)]),
    tx.query<DecidedRow & { prescriberId: string }>(
      `${DECIDED} WHERE prescriber_id = ANY($1::text[]) AND account_id = $2 AND environment = $3 AND status <> 'open'`,
      [ids, accountId, environment],
    ),
  ])
  return judgeCompared({ lists, matches, decided }, { at, state }, ids)
}

/** What of the lists in force, and of the reviews, is about some prescribers. */
export interface Compared {
  lists: readonly { list: ListName; listDate: string }[]
  matches: readonly (RowMatch & { prescriberId: string })[]
  decided: readonly (DecidedRow & { prescriberId: string })[]
}

/** Pure. */
export function judgeCompared(
  { lists, matches, decided }: Compared,
  { at, state }: ComparedAt,
  ids: readonly string[],
): Map<string, ExclusionCheck> {
  const day = at.toISOString().slice(0, 10)
  const stale = staleLists(new Map(lists.map(({ list, listDate }) => [list, listDate])), day)
  const matchesOf = Map.groupBy(matches, ({ prescriberId }) => prescriberId)
  const decidedOf = Map.groupBy(decided, ({ prescriberId }) => prescriberId)
  return new Map(
    ids.map((id) => {
      const finding = judgeMatches(matchesOf.get(id) ?? [], decidedOf.get(id) ?? [], { day, state })
      return [id, { ...finding, stale }]
    }),
  )
}

// OFFSET 0 keeps it one look-up by index for each key: as a join, a planner without statistics reads every entry. A file has one
// index entry for each key and file, so the older files of the table cost nothing.
const lookUp = (column: string, matchedOn: string, keys: string) => `SELECT s.id AS "prescriberId", f.list,
    f.list_date::text AS "listDate", encode(e.row_hash, 'hex') AS "rowHash", '${matchedOn}' AS "matchedOn",
    e.started_on::text AS "startedOn", e.ended_on::text AS "endedOn", e.waived_in AS "waivedIn", e.waived_on::text AS "waivedOn"
  FROM ${keys} AS s (id, key) CROSS JOIN in_force f CROSS JOIN LATERAL (
    SELECT row_hash, started_on, ended_on, waived_in, waived_on FROM exclusion_entries
    WHERE ${column} = s.key AND file_id = f.file_id OFFSET 0) e`

/** Tables with the columns (id, key) of the prescribers that are compared. */
interface KeyTables {
  npi: string
  full: string
  name: string
  state: string
}

/** Rows of the lists in `in_force`, which the statement has from IN_FORCE. */
export const matchesOfKeys = ({ npi, full, name, state }: KeyTables) => `${lookUp('npi', 'npi', npi)}
  UNION ALL ${lookUp('match_full', 'name_birth_date', full)}
  UNION ALL ${lookUp('match_name', 'name', name)}
  UNION ALL ${lookUp('match_state', 'name_state', state)}`

const MATCHES = `WITH in_force AS MATERIALIZED (${IN_FORCE})
  ${matchesOfKeys({
    npi: 'unnest($4::text[], $5::text[])',
    full: 'unnest($6::text[], $7::bytea[])',
    name: 'unnest($4::text[], $8::bytea[])',
    state: 'unnest($9::text[], $10::bytea[])',
  })}`

/** Reviews of prescribers; those that are `open` say nothing. */
export const DECIDED = `SELECT prescriber_id AS "prescriberId", list, encode(row_hash, 'hex') AS "rowHash", status FROM exclusion_reviews`

function keysOf(subjects: readonly ComparedSubject[]): unknown[] {
  const full = subjects.flatMap(({ prescriberId, fullKey }) => (fullKey === null ? [] : [{ prescriberId, fullKey }]))
  const states = subjects.flatMap(({ prescriberId, stateKeys }) => stateKeys.map((key) => ({ prescriberId, key })))
  return [
    subjects.map(({ prescriberId }) => prescriberId),
    subjects.map(({ npi }) => npi),
    full.map(({ prescriberId }) => prescriberId),
    full.map(({ fullKey }) => fullKey),
    subjects.map(({ nameKey }) => nameKey),
    states.map(({ prescriberId }) => prescriberId),
    states.map(({ key }) => key),
  ]
}
