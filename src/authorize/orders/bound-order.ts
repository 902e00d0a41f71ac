// The order of a token with everything that decides whether it authorizes: its clinicians, the exclusion lists and the clinical
// policy. One statement reads all of it after the locks, so a decision sees whatever had committed before it.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type Compared, DECIDED, IN_FORCE, judgeCompared, matchesOfKeys } from '../exclusions/check.ts'
import { type ClinicalPolicyDocument, DEFAULT_CLINICAL_POLICY, ruleOf } from '../prescribers/policy-document.ts'
import type { ControlledSchedule, DrugSchedule } from '../prescribers/substances.ts'
import { schedulesSql, type Tier, tierSql } from '../prescribers/tier.ts'
import { isDeniedAsStale } from './facts.ts'
import type { BoundOrder, ClinicianFacts, OrderFacts } from './judge.ts'
import { type OrderStatus, statusAt } from './state.ts'

/** What is read before the time of the decision is known. */
export interface BoundOrderRow extends Compared {
  id: string
  orderHash: Buffer
  payloadHash: Buffer | null
  /** Status of the last act. */
  status: OrderStatus
  schedule: DrugSchedule
  refills: number
  usState: string | null
  authorizedAt: Date | null
  expiresAt: Date
  prescriberId: string
  signature: OrderFacts['signature']
  /** Who co-signed the present content. */
  cosignerId: string | null
  clinicians: { id: string; tier: Tier; deaSchedules: ControlledSchedule[] }[]
  /** null: the default one. */
  policy: ClinicalPolicyDocument | null
}

/**
 * undefined for an id of no order.
 * @param isLocked Whether the order and its clinicians are held against changes until the end of the transaction.
 */
export async function readBoundOrder(
  tx: Tx,
  { accountId, environment }: Scope,
  orderId: string,
  isLocked: boolean,
): Promise<BoundOrderRow | undefined> {
  const named = [accountId, environment, orderId]
  // Sent together, and run in this order.
  const [, , [row]] = await Promise.all([
    isLocked ? tx.query(HOLD_ORDER, named) : undefined,
    isLocked ? tx.query(HOLD_CLINICIANS, named) : undefined,
    tx.query<BoundOrderRow>(BOUND_ORDER, [accountId, environment, SERVICE_ACCOUNT_ID, orderId]),
  ])
  return row
}

/** @param at The time of the decision, by Postgres's clock. */
export function boundOrderOf(row: BoundOrderRow, at: Date): BoundOrder {
  const policy = row.policy ?? DEFAULT_CLINICAL_POLICY
  const ids = row.clinicians.map(({ id }) => id)
  const checks = judgeCompared(row, { at, state: row.usState ?? undefined }, ids)
  const clinicianOf = (clinicianId: string) => {
    const found = row.clinicians.find(({ id }) => id === clinicianId)
    const check = checks.get(clinicianId)
    if (found === undefined || check === undefined) throw new Error('a clinician of an order is gone')
    return { found, check }
  }
  const factsOf = (clinicianId: string): ClinicianFacts => {
    const { found, check } = clinicianOf(clinicianId)
    return { tier: found.tier, dea_schedules: found.deaSchedules, exclusion: check.status }
  }
  return {
    order_id: row.id,
    order_hash: row.orderHash.toString('base64url'),
    payload_hash: row.payloadHash?.toString('base64url') ?? null,
    facts: {
      status: statusAt(row.status, { expiresAt: row.expiresAt, now: at }),
      schedule: row.schedule,
      refills: row.refills,
      prescriber: factsOf(row.prescriberId),
      cosigner: row.cosignerId === null ? null : factsOf(row.cosignerId),
      signature: row.signature,
      authorized_at: row.authorizedAt?.toISOString() ?? null,
      rule: ruleOf(policy, row.schedule),
      is_denied_as_stale: isDeniedAsStale(policy, clinicianOf(row.prescriberId).check),
    },
  }
}

/** The same at a time that is known: null for an id of no order. */
export async function readOrderFacts(
  tx: Tx,
  scope: Scope,
  orderId: string,
  { at, lock }: { at: Date; lock: boolean },
): Promise<BoundOrder | null> {
  const row = await readBoundOrder(tx, scope, orderId, lock)
  return row === undefined ? null : boundOrderOf(row, at)
}

const HOLD_ORDER = 'SELECT FROM orders WHERE account_id = $1 AND environment = $2 AND id = $3 FOR NO KEY UPDATE'

// Their facts change under the lock of their row. In the order of their ids, so that no two transactions wait in a circle.
const HOLD_CLINICIANS = `SELECT FROM prescribers WHERE account_id = $1 AND environment = $2 AND id = ANY(ARRAY(
    SELECT prescriber_id FROM orders WHERE account_id = $1 AND environment = $2 AND id = $3
    UNION SELECT prescriber_id FROM order_signatures
    WHERE account_id = $1 AND environment = $2 AND order_id = $3 AND voided_at IS NULL)) ORDER BY id FOR SHARE`

const rowsOf = (sql: string) => `(SELECT coalesce(json_agg(found), '[]') FROM (${sql}) found)`
const keysOf = (column: string) => `(SELECT id, ${column} FROM clinician)`

// $1 the account, $2 its environment, $3 the account of the operator, $4 the order.
const BOUND_ORDER = `WITH bound AS MATERIALIZED (
    SELECT o.*, s.passkey_id, s.signed_at, c.prescriber_id AS cosigner_id FROM orders o
    LEFT JOIN order_signatures s ON s.account_id = $1 AND s.environment = $2 AND s.order_id = o.id
      AND s.revision = o.revision AND s.act = 'sign' AND s.voided_at IS NULL
    LEFT JOIN order_signatures c ON c.account_id = $1 AND c.environment = $2 AND c.order_id = o.id
      AND c.revision = o.revision AND c.act = 'cosign' AND c.voided_at IS NULL
    WHERE o.account_id = $1 AND o.environment = $2 AND o.id = $4),
  clinician AS MATERIALIZED (
    SELECT account_id, environment, id, user_id, npi, suspended_at, match_full, match_name, match_states FROM prescribers
    WHERE account_id = $1 AND environment = $2
      AND id = ANY(ARRAY(SELECT prescriber_id FROM bound UNION SELECT cosigner_id FROM bound))),
  in_force AS MATERIALIZED (${IN_FORCE})
  SELECT id, order_hash AS "orderHash", payload_hash AS "payloadHash", status, schedule, refills, us_state AS "usState",
    authorized_at AS "authorizedAt", expires_at AS "expiresAt", prescriber_id AS "prescriberId",
    CASE WHEN signed_at IS NULL THEN 'none' WHEN passkey_id IS NULL THEN 'session' ELSE 'passkey' END AS signature,
    cosigner_id AS "cosignerId",
    (SELECT document FROM clinical_policies WHERE account_id = $1 AND environment = $2 ORDER BY version DESC LIMIT 1) AS policy,
    ${rowsOf(`SELECT p.id, ${tierSql('p', 'clock_timestamp()')} AS tier,
      ${schedulesSql('p', 'clock_timestamp()')} AS "deaSchedules" FROM clinician p`)} AS clinicians,
    ${rowsOf('SELECT list, list_date::text AS "listDate" FROM in_force')} AS lists,
    ${rowsOf(
      matchesOfKeys({
        npi: keysOf('npi'),
        full: keysOf('match_full'),
        name: keysOf('match_name'),
        state: keysOf('unnest(match_states)'),
      }),
    )} AS matches,
    ${rowsOf(`${DECIDED} WHERE account_id = $1 AND environment = $2 AND prescriber_id = ANY(ARRAY(SELECT id FROM clinician))
      AND status <> 'open'`)} AS decided
  FROM bound`
