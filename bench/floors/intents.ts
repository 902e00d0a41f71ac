// What the floors of authorize and verify share: the reads of a decision about a token, in the order and with the locks of ours,
// and the row that it leaves in the ledger.

import { randomBytes } from 'node:crypto'
import { createKeys } from '#src/account/keys/keys.ts'
import { createDatabase, type Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { insertDecisions } from '#src/platform/ledger/rows.ts'
import { setting } from './floor.ts'

export const db = createDatabase({ url: setting('DATABASE_URL') })
const keys = createKeys({ db })
export const scope = { accountId: setting('ACCOUNT_ID'), environment: 'sandbox' } as const

// Same sizes as our entries: an execution has a shorter entry and no facts, and what a token is under adds to its
// facts.
const ENTRY_BYTES = { authorize: 740, verify: 740, execute: 550 }
const ENTRIES = Object.fromEntries(Object.entries(ENTRY_BYTES).map(([kind, bytes]) => [kind, 'x'.repeat(bytes)]))
const FACTS = randomBytes(1_600)
const BOUND_FACTS = randomBytes(2_340)
const HASH = randomBytes(32)
const SUBJECTS = {
  subjectId: null,
  agentId: null,
  agentSessionId: 'floor',
  deviceId: 'floor',
  mandateId: null,
  scheduleId: null,
  traceId: null,
  matchedRuleId: null,
}

/** Reads the caller's key by the service's own look-up: without it the owner of the rows is not known. */
export async function readKey(authorization: string): Promise<void> {
  const row = await keys.find(authorization.replace('Bearer ', ''))
  if (row === undefined) throw new Error('the key is unknown')
}

export interface Action {
  agent_session_id: string
  device_id: string
}

/** @param jti Of a token that is verified. */
export function readBound(tx: Tx, { agent_session_id: session, device_id: device }: Action, jti?: string) {
  return Promise.all([
    tx.query('SELECT pg_advisory_xact_lock_shared(key) FROM unnest($1::bigint[]) AS given (key) ORDER BY key', [
      [1, 2, 3],
    ]),
    jti === undefined ? undefined : readToken(tx, jti),
    tx.query('SELECT version, digest FROM policy_versions ORDER BY version DESC LIMIT 1'),
    tx.query('SELECT reason, stopped_at FROM stops WHERE resumed_at IS NULL'),
    tx.query(
      `SELECT id FROM revocations WHERE subject_id = $1 AND scope = 'session'
       UNION ALL SELECT id FROM revocations WHERE subject_id = $2 AND scope = 'device'`,
      [session, device],
    ),
    tx.query('SELECT id FROM session_locks WHERE cleared_at IS NULL AND agent_session_id = $1', [session]),
    tx.query(
      'SELECT not_after, revoked_at, hardware_tier FROM devices WHERE id = $1 UNION ALL SELECT created_at, ended_at, agent_id FROM agent_sessions WHERE id = $2',
      [device, session],
    ),
    tx.query('SELECT clock_timestamp() AS at'),
  ])
}

/** The token, and whether people approved it. */
function readToken(tx: Tx, jti: string) {
  return Promise.all([
    tx.query(
      `SELECT token_sha256, sealed_facts, audience, executed_at, executed_by, execution_key
       FROM intents WHERE jti = $1 FOR NO KEY UPDATE`,
      [jti],
    ),
    tx.query('SELECT id, rules, outcome, decided_at, expires_at FROM approvals WHERE jti = $1 FOR SHARE', [jti]),
  ])
}

export interface Bound {
  mandate_id?: string
  schedule_id?: string
}

/** What the token is issued under, locked for an execution. */
export async function readState(tx: Tx, { mandate_id: mandate, schedule_id: schedule }: Bound) {
  const [, levels = []] = await Promise.all([
    mandate &&
      tx.query(`SELECT 1 FROM mandates WHERE id = ANY(${PATH}) ORDER BY cardinality(path) FOR NO KEY UPDATE`, [
        mandate,
      ]),
    mandate
      ? tx.query<{ id: string }>(
          `SELECT m.*, s.spent FROM mandates m
      LEFT JOIN mandate_spend s ON s.mandate_id = m.id AND s.period_start = current_date
      WHERE m.id = ANY(${PATH}) ORDER BY cardinality(path)`,
          [mandate],
        )
      : undefined,
    schedule && tx.query('SELECT 1 FROM schedules WHERE id = $1 FOR NO KEY UPDATE', [schedule]),
    schedule &&
      tx.query(
        `SELECT s.*, (SELECT max(cycle) FROM schedule_cycles WHERE schedule_id = s.id) AS last
      FROM schedules s WHERE s.id = $1`,
        [schedule],
      ),
  ])
  return levels.map(({ id }) => id)
}

const PATH = 'ARRAY(SELECT unnest(path) FROM mandates WHERE id = $1)'

/**
 * What an execution writes. The token stays unexecuted, and what is charged is that of no token: ours executes it afterwards.
 * @param mandates From the root down.
 */
export async function execute(tx: Tx, jti: string, { schedule_id: schedule }: Bound, mandates: readonly string[]) {
  const { accountId, environment } = scope
  const own = newId('jti', environment)
  await Promise.all([
    tx.query('UPDATE intents SET executed_at = NULL, executed_by = NULL, execution_key = NULL WHERE jti = $1', [jti]),
    mandates.length > 0 && tx.query(CHARGE, [accountId, environment, own, mandates]),
    schedule && tx.query(CLAIM, [accountId, environment, schedule, own]),
  ])
}

const CHARGE = `WITH spent AS (
    INSERT INTO mandate_spend AS spend (account_id, environment, mandate_id, period_start, spent)
    SELECT $1, $2, id, current_date, 1 FROM unnest($4::text[]) id
    ON CONFLICT ON CONSTRAINT mandate_spend_pkey DO UPDATE SET spent = spend.spent + EXCLUDED.spent)
  INSERT INTO mandate_charges (account_id, environment, jti, mandate_id, depth, period_start, amount, currency)
  SELECT $1, $2, $3, id, 1, current_date, 1, 'EUR' FROM unnest($4::text[]) id`
// Cycle 1 is over: ours executes a later one.
const CLAIM = `WITH cycle AS (
    INSERT INTO schedule_cycles (account_id, environment, schedule_id, cycle, jti, amount, currency, executed_at)
    VALUES ($1, $2, $3, 1, $4, 100, 'EUR', clock_timestamp()))
  UPDATE schedules SET executed = executed + 1 WHERE id = $3`

/** @param isBound Of a token that is under a mandate or a schedule, or was approved. */
export function recordDecision(
  tx: Tx,
  kind: 'authorize' | 'verify' | 'execute',
  jti: string,
  isBound = false,
): Promise<void> {
  const row = {
    id: newId('dec', 'sandbox'),
    kind,
    at: new Date(),
    reason: null,
    entrySha256: HASH,
    subjects: { ...SUBJECTS, jti },
  }
  const sealedFacts = kind === 'execute' ? null : isBound ? BOUND_FACTS : FACTS
  return insertDecisions(tx, scope, [{ ...row, entry: ENTRIES[kind] ?? '', sealedFacts }])
}
