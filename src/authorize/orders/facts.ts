// What the signing of an order judges: its clinicians, the exclusion lists and the clinical policy as they are in the caller's
// transaction. What verify judges is in bound-order.ts.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { checkExclusions, type ExclusionCheck, IN_FORCE } from '../exclusions/check.ts'
import type { ListName } from '../exclusions/formats.ts'
import { staleLists } from '../exclusions/judge.ts'
import type { ClinicalPolicyDocument } from '../prescribers/policy-document.ts'
import { findStanding, type PrescriberStanding } from '../prescribers/tier.ts'
import type { ClinicianFacts } from './judge.ts'
import { type OrderRow, type SignatureRow, sharePrescribers } from './rows.ts'

interface FactsAt {
  /** Time of the decision, by Postgres's clock. */
  at: Date
  /** Holds the order's row, and its clinicians against changes, until the end of the transaction. */
  lock: boolean
}

/** The signatures of the present content. */
export function signaturesOf(
  { revision }: Pick<OrderRow, 'revision'>,
  signatures: readonly SignatureRow[],
): { sign: SignatureRow | undefined; cosign: SignatureRow | undefined } {
  const valid = signatures.filter((one) => one.revision === revision && one.voidedAt === null)
  return { sign: valid.find(({ act }) => act === 'sign'), cosign: valid.find(({ act }) => act === 'cosign') }
}

export interface Clinician {
  standing: PrescriberStanding
  check: ExclusionCheck
}

/** @param of `usState`: of the order, where an exclusion may be waived. */
export async function readClinicians(
  tx: Tx,
  scope: Scope,
  { ids, at, usState, lock }: FactsAt & { ids: readonly string[]; usState: string | null },
): Promise<Map<string, Clinician>> {
  // Sent at once, and run in this order: what is read cannot change any more.
  const [, ...standings] = await Promise.all([
    lock ? sharePrescribers(tx, scope, ids) : undefined,
    ...ids.map((id) => findStanding(tx, scope, id)),
  ])
  const present = standings.filter((one) => one !== undefined)
  const subjects = present.map(({ subject }) => subject)
  const checks = await checkExclusions(tx, scope, { at, state: usState ?? undefined }, subjects)
  return new Map(
    present.flatMap((standing) => {
      const check = checks.get(standing.prescriberId)
      return check === undefined ? [] : [[standing.prescriberId, { standing, check }] as const]
    }),
  )
}

export function factsOf({ standing, check }: Clinician): ClinicianFacts {
  return { tier: standing.tier, dea_schedules: standing.deaSchedules, exclusion: check.status }
}

/** A missing or outdated list refuses, unless the policy allows it. */
export function isDeniedAsStale({ allow_stale: isAllowed }: ClinicalPolicyDocument, check: ExclusionCheck): boolean {
  return !isAllowed && check.stale.length > 0
}

/** Lists that are missing or outdated, which orders are answered with. */
export async function readStaleLists(tx: Tx, { accountId, environment }: Scope, at: Date): Promise<ListName[]> {
  const lists = await tx.query<{ list: ListName; listDate: string }>(
    `SELECT list, list_date::text AS "listDate" FROM (${IN_FORCE}) in_force`,
    [accountId, environment, SERVICE_ACCOUNT_ID],
  )
  return staleLists(new Map(lists.map(({ list, listDate }) => [list, listDate])), at.toISOString().slice(0, 10))
}
