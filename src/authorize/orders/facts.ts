// What verify, authorize and the signing of an order judge: the order, its clinicians, the exclusion lists and the clinical policy as
// they are in the caller's transaction.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { checkExclusions, type ExclusionCheck, IN_FORCE } from '../exclusions/check.ts'
import type { ListName } from '../exclusions/formats.ts'
import { staleLists } from '../exclusions/judge.ts'
import { type ClinicalPolicyDocument, ruleOf } from '../prescribers/policy-document.ts'
import { readClinicalPolicy } from '../prescribers/policy-rows.ts'
import { findStanding, type PrescriberStanding } from '../prescribers/tier.ts'
import type { ClinicianFacts, OrderFacts } from './judge.ts'
import { findOrder, findSignatures, holdOrder, type OrderRow, type SignatureRow, sharePrescribers } from './rows.ts'
import { statusAt } from './state.ts'

export interface ReadOrderFacts {
  order_id: string
  /** SHA-256 in base64url of what was signed. A token names it: with another one, the order was edited since. */
  order_hash: string
  /** SHA-256 in base64url of the order's `action_payload`, as tokens have it; null without a payload. */
  payload_hash: string | null
  facts: OrderFacts
}

interface FactsAt {
  /** Time of the decision, by Postgres's clock. */
  at: Date
  /** Holds the order's row, and its clinicians against changes, until the end of the transaction. */
  lock: boolean
}

/** null for an id of no order. */
export async function readOrderFacts(
  tx: Tx,
  scope: Scope,
  orderId: string,
  { at, lock }: FactsAt,
): Promise<ReadOrderFacts | null> {
  // A statement of its own, so that what follows sees the changes that it waited for.
  if (lock) await holdOrder(tx, scope, orderId)
  const [row, signatures, policy] = await Promise.all([
    findOrder(tx, scope, orderId),
    findSignatures(tx, scope, [orderId]),
    readClinicalPolicy(tx, scope),
  ])
  if (row === undefined) return null
  const { sign, cosign } = signaturesOf(row, signatures)
  const ids = cosign === undefined ? [row.prescriberId] : [row.prescriberId, cosign.prescriberId]
  const clinicians = await readClinicians(tx, scope, { ids, at, usState: row.usState, lock })
  const prescriber = clinicians.get(row.prescriberId)
  if (prescriber === undefined) throw new Error('an order has a prescriber')
  return {
    order_id: row.id,
    order_hash: row.orderHash,
    payload_hash: row.payloadHash,
    facts: {
      status: statusAt(row.status, { expiresAt: row.expiresAt, now: at }),
      schedule: row.schedule,
      refills: row.refills,
      prescriber: factsOf(prescriber),
      cosigner: cosign === undefined ? null : factsOf(clinicians.get(cosign.prescriberId) ?? prescriber),
      signature: sign === undefined ? 'none' : sign.passkeyId === null ? 'session' : 'passkey',
      authorized_at: row.authorizedAt?.toISOString() ?? null,
      rule: ruleOf(policy.document, row.schedule),
      is_denied_as_stale: isDeniedAsStale(policy.document, prescriber.check),
    },
  }
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

/** A missing or outdated list: the policy warns, or refuses. */
export function isDeniedAsStale({ stale_lists: stale }: ClinicalPolicyDocument, check: ExclusionCheck): boolean {
  return stale === 'deny' && check.stale.length > 0
}

/** Lists that are missing or outdated, which orders are answered with. */
export async function readStaleLists(tx: Tx, { accountId, environment }: Scope, at: Date): Promise<ListName[]> {
  const lists = await tx.query<{ list: ListName; listDate: string }>(
    `SELECT list, list_date::text AS "listDate" FROM (${IN_FORCE}) in_force`,
    [accountId, environment, SERVICE_ACCOUNT_ID],
  )
  return staleLists(new Map(lists.map(({ list, listDate }) => [list, listDate])), at.toISOString().slice(0, 10))
}
