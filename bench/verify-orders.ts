// Verifications that execute clinicians' orders, beside verifications that execute under mandates, in turns of one process. Both
// exclusion lists are as long as the published ones. Each order is of schedule II, signed and co-signed; all have one prescriber of
// many, as a clinic's orders do.

import { randomBytes } from 'node:crypto'
import { newId } from '#src/platform/ids.ts'
import { compare, type Options, type Verdict } from './harness.ts'
import { sendEach } from './load.ts'
import type { Process } from './processes.ts'
import type { Stage } from './stage.ts'
import { type Action, issue, setRules, verifyRequestOf } from './tokens.ts'
import { isExecuted, makeMandates } from './verify-state.ts'

const CONNECTIONS = 32
const RULES = 20
/** An order may take 1.15 times as long as a mandate. */
const BAR = 0.87
const ENTRIES = { leie: 83_464, sam: 150_000 }
const HASH = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'

const ACTION: Action = {
  action_description: 'Send a prescription to Example Pharmacy',
  action_payload: { action_type: 'prescription', amount: '1.00', currency: 'EUR', counterparty: 'Example Pharmacy' },
}

export async function measureOrders(stage: Stage, web: Process, options: Options): Promise<Verdict> {
  const { isQuick, rounds } = options
  const { key } = stage
  const each = isQuick ? 32 : 1_000
  await setRules(web.port, key, RULES)
  await fillLists(stage, isQuick)
  const prescribers = await fillPrescribers(stage, isQuick ? 4 : 100)
  const mandates = await makeMandates(web.port, key, isQuick ? 8 : 200)
  const prepare = async (bound: readonly object[]) => {
    const wanted = bound.map((one) => ({ ...ACTION, bound: { ...one } }))
    return (await issue(web.port, key, wanted)).map((token) => verifyRequestOf(key, ACTION, token))
  }
  const [underMandates, ofOrders]: Buffer[][][] = [[], []]
  for (let run = 0; run <= rounds; run += 1) {
    underMandates?.push(
      await prepare(Array.from({ length: each }, (_, index) => ({ mandate_id: mandates[index % mandates.length] }))),
    )
    ofOrders?.push(await prepare((await fillOrders(stage, prescribers, each)).map((order_id) => ({ order_id }))))
  }
  await stage.owner('ANALYZE')
  const turn = (runs: readonly Buffer[][] = []) => {
    const left = runs.values()
    return async () => {
      const requests = left.next().value ?? []
      return (await sendEach({ port: web.port, connections: CONNECTIONS, requests, isGood: isExecuted })).rate
    }
  }
  return compare({
    name: 'verify, executing an order',
    unit: 'verifications/s',
    floor: { label: 'under a mandate', run: turn(underMandates) },
    ours: { label: 'of an order', run: turn(ofOrders) },
    bar: BAR,
    rounds,
  })
}

/** Keys are random: they match nobody, as nearly all entries of a list match nobody. */
async function fillLists({ owner, scope }: Stage, isQuick: boolean): Promise<void> {
  const { accountId, environment } = scope
  for (const [list, published] of Object.entries(ENTRIES)) {
    const rows = isQuick ? 1_000 : published
    const importId = newId('exi', environment)
    const [file] = await owner<{ id: number }>(
      `INSERT INTO exclusion_files (list, kind, sha256, rows) VALUES ($1, 'full', $2, $3) RETURNING id`,
      [list, randomBytes(32), rows],
    )
    await owner(
      `INSERT INTO exclusion_entries (file_id, row_number, row_hash, npi, match_full, match_name, match_state)
       SELECT $1, n, sha256(n::text::bytea), CASE WHEN n % 7 = 0 THEN (2000000000 + n)::text END,
         CASE WHEN $3 = 'leie' THEN substr(sha256(('f' || n)::bytea), 1, 16) END,
         CASE WHEN $3 = 'leie' THEN substr(sha256(('n' || n)::bytea), 1, 16) END,
         CASE WHEN $3 = 'sam' THEN substr(sha256(('s' || n)::bytea), 1, 16) END
       FROM generate_series(1, $2::int) n`,
      [file?.id, rows, list],
    )
    await owner(
      `INSERT INTO exclusion_imports (account_id, environment, id, list, kind, sha256, size, is_forced, status, rows, file_id,
         list_date, requested_by, created_at)
       VALUES ($1, $2, $3, $4, 'full', $5, 1, false, 'succeeded', $6, $7, current_date, 'key', now())`,
      [accountId, environment, importId, list, randomBytes(32), rows, file?.id],
    )
    await owner(
      `INSERT INTO exclusion_pointers (account_id, environment, list, file_id, list_date, import_id, changed_at)
       VALUES ($1, $2, $3, $4, current_date, $5, now())`,
      [accountId, environment, list, file?.id, importId],
    )
  }
}

/** Prescribers of tier 3. */
async function fillPrescribers({ owner, scope }: Stage, count: number): Promise<string[]> {
  const { accountId, environment } = scope
  const ids = Array.from({ length: count }, () => newId('prs', environment))
  await owner(
    `WITH made AS (SELECT id, n, 'usr_' || substr(id, 10) AS user_id FROM unnest($3::text[]) WITH ORDINALITY AS one (id, n)),
     person AS (INSERT INTO users (account_id, id, email, role) SELECT $1, user_id, user_id || '@example.com', 'approver' FROM made
       RETURNING id),
     passkey AS (INSERT INTO passkeys (account_id, id, user_id, name, credential_id, public_key, algorithm, counter, aaguid,
         transports, is_backup_eligible, is_backed_up, created_at)
       SELECT $1, 'pky_' || substr(id, 5), id, 'Key', sha256(id::bytea), '\\x00', 'ES256', 0, gen_random_uuid(), '{}', false, false,
         now() FROM person)
     INSERT INTO prescribers (account_id, environment, id, user_id, npi, sealed_person, match_full, match_name, match_states,
       created_by, created_at, updated_at)
     SELECT $1, $2, id, user_id, (1000000000 + n)::text, '\\x00', substr(sha256(('pf' || n)::bytea), 1, 16),
       substr(sha256(('pn' || n)::bytea), 1, 16), ARRAY[substr(sha256(('ps' || n)::bytea), 1, 16)], 'key', now(), now() FROM made`,
    [accountId, environment, ids],
  )
  await owner(
    `INSERT INTO prescriber_facts (account_id, environment, id, prescriber_id, kind, method, state, number, schedules, expires_at,
       entered_by, entered_at, confirmed_by, confirmed_passkey_id, confirmed_at)
     SELECT $1, $2, 'pfa_test_' || substr(id, 10) || kind, id, kind, CASE WHEN kind = 'identity' THEN 'in_person' END,
       CASE WHEN kind = 'licence' THEN 'CA' END, CASE WHEN kind <> 'identity' THEN 'A1' END,
       CASE WHEN kind = 'dea' THEN ARRAY['II', 'IV'] END, now() + interval '1 year', 'key', now(), 'usr', 'pky', now()
     FROM unnest($3::text[]) AS one (id), unnest(ARRAY['identity', 'licence', 'dea']) AS facts (kind)`,
    [accountId, environment, ids],
  )
  return ids
}

async function fillOrders({ owner, scope }: Stage, prescribers: readonly string[], count: number): Promise<string[]> {
  const { accountId, environment } = scope
  const ids = Array.from({ length: count }, () => newId('ord', environment))
  const hash = Buffer.from(HASH, 'base64url')
  await owner(
    `INSERT INTO orders (account_id, environment, id, prescriber_id, sealed_content, order_hash, schedule, schedule_source, refills,
       us_state, status, authorized_at, expires_at, created_by, created_at, updated_at)
     SELECT $1, $2, id, ($4::text[])[1 + n % cardinality($4::text[])], $6, $5, 'II', 'table', 0, 'CA', 'authorized', now(),
       now() + interval '3 days', 'key', now(), now()
     FROM unnest($3::text[]) WITH ORDINALITY AS one (id, n)`,
    [accountId, environment, ids, prescribers, hash, randomBytes(600)],
  )
  await owner(
    `INSERT INTO order_signatures (account_id, environment, order_id, revision, act, order_hash, prescriber_id, user_id, passkey_id,
       statement_version, signed_at)
     SELECT $1, $2, id, 1, act, $5, ($4::text[])[1 + (n + shift) % cardinality($4::text[])], 'usr', 'pky', '1', now()
     FROM unnest($3::text[]) WITH ORDINALITY AS one (id, n), (VALUES ('sign', 0), ('cosign', 1)) AS acts (act, shift)`,
    [accountId, environment, ids, prescribers, hash],
  )
  return ids
}
