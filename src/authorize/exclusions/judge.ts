// What matches of rows say about a prescriber. A match of the number or of name and birth date excludes; a match of the name alone
// only asks a person, since names are shared.

import type { ListName } from './formats.ts'

export type ExclusionStatus = 'clear' | 'review' | 'excluded'
export const MATCHED_ON = ['npi', 'name_birth_date', 'name', 'name_state'] as const
export type MatchedOn = (typeof MATCHED_ON)[number]

export interface ExclusionEvidence {
  list: ListName
  /** SHA-256 of the row, in hexadecimal. */
  row_hash: string
  list_date: string
  matched_on: MatchedOn
}

/** A row of a list in force that has a key of the prescriber. Dates are `YYYY-MM-DD`. */
export interface RowMatch {
  list: ListName
  listDate: string
  rowHash: string
  matchedOn: MatchedOn
  startedOn: string | null
  /** First day on which it excludes no more. */
  endedOn: string | null
  waivedIn: string | null
  waivedOn: string | null
}

/** What a person decided about a row and the prescriber. */
export interface DecidedRow {
  list: ListName
  rowHash: string
  status: 'cleared' | 'confirmed'
}

export interface ExclusionFinding {
  status: ExclusionStatus
  /** Rows that decided the status; none when it is clear. */
  evidence: ExclusionEvidence[]
}

// A very common name has some dozen rows.
const MAX_EVIDENCE = 100

/** @param day The day of the comparison. @param state State of the order, where a waiver of LEIE may hold. */
export function judgeMatches(
  matches: readonly RowMatch[],
  decided: readonly DecidedRow[],
  { day, state }: { day: string; state?: string | undefined },
): ExclusionFinding {
  const decisions = new Map(decided.map((row) => [`${row.list} ${row.rowHash}`, row.status]))
  const strongest = new Map<string, { level: 'review' | 'excluded'; match: RowMatch }>()
  for (const match of matches) {
    const key = `${match.list} ${match.rowHash}`
    const level = levelOf(match, decisions.get(key), { day, state })
    if (level === undefined) continue
    const known = strongest.get(key)
    const isStronger = level === 'excluded' && known?.level === 'review'
    const isClearer = level === known?.level && rankOf(match) < rankOf(known.match)
    if (known === undefined || isStronger || isClearer) strongest.set(key, { level, match })
  }
  const all = [...strongest.values()]
  const excluding = all.filter(({ level }) => level === 'excluded')
  const deciding = excluding.length > 0 ? excluding : all
  return {
    status: excluding.length > 0 ? 'excluded' : all.length > 0 ? 'review' : 'clear',
    evidence: deciding
      .map(({ match }) => match)
      .sort((a, b) => rankOf(a) - rankOf(b) || (a.list + a.rowHash < b.list + b.rowHash ? -1 : 1))
      .slice(0, MAX_EVIDENCE)
      .map(({ list, rowHash, listDate, matchedOn }) => ({
        list,
        row_hash: rowHash,
        list_date: listDate,
        matched_on: matchedOn,
      })),
  }
}

function rankOf({ matchedOn }: RowMatch): number {
  return MATCHED_ON.indexOf(matchedOn)
}

function levelOf(
  { matchedOn, startedOn, endedOn, waivedIn, waivedOn }: RowMatch,
  decision: DecidedRow['status'] | undefined,
  { day, state }: { day: string; state?: string | undefined },
): 'review' | 'excluded' | undefined {
  if (endedOn !== null && endedOn <= day) return undefined
  if (waivedIn !== null && waivedIn === state && (waivedOn === null || waivedOn <= day)) return undefined
  const isProof = matchedOn === 'npi' || matchedOn === 'name_birth_date'
  const hasBegun = startedOn === null || startedOn <= day
  // Proof that the row is the prescriber's is above what a person decided by the name.
  if (isProof && hasBegun) return 'excluded'
  if (decision === 'cleared') return undefined
  return decision === 'confirmed' && hasBegun ? 'excluded' : 'review'
}

/** Age in days from which a list is outdated: LEIE is published monthly, SAM daily. */
const MAX_AGE_DAYS: Record<ListName, number> = { leie: 45, sam: 7 }

/** Lists that are missing or outdated. */
export function staleLists(dates: ReadonlyMap<ListName, string>, day: string): ListName[] {
  return (Object.keys(MAX_AGE_DAYS) as ListName[]).filter((list) => {
    const date = dates.get(list)
    return date === undefined || daysBetween(date, day) > MAX_AGE_DAYS[list]
  })
}

function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000
}
