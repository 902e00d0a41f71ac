import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APP_ROLE, SYSTEM_ROLE } from '#src/platform/db/database.ts'
import { refuseUnboundLogin, requireMigrated } from '#src/platform/db/migrate.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { fillEveryTable } from '../../support/rows.ts'

// The grants of each role. A missing grant fails, and so does one that is not listed here.
const TENANT_GRANTS: Record<string, string> = {
  account_exports: 'INSERT SELECT UPDATE',
  account_notices: 'DELETE SELECT UPDATE(notified_at)',
  accounts: 'SELECT UPDATE(closed_at,closed_by,name,plan,products,reopened_at,version)',
  agent_sessions: 'DELETE INSERT SELECT UPDATE(ended_at,ended_by)',
  agent_suspensions: 'DELETE INSERT SELECT',
  agents: 'DELETE INSERT SELECT UPDATE(metadata,name,owner,public_key,updated_at,version)',
  api_keys: 'INSERT SELECT UPDATE',
  approval_votes: 'DELETE INSERT SELECT',
  approvals: 'DELETE INSERT SELECT UPDATE(decided_at,is_told,outcome,sealed_description,sealed_payload)',
  assertion_counters: 'DELETE INSERT SELECT',
  attestation_results: 'INSERT SELECT',
  attestations: 'DELETE INSERT SELECT UPDATE',
  audit_entries: 'INSERT SELECT',
  batches: 'DELETE INSERT SELECT UPDATE',
  case_entries: 'INSERT SELECT UPDATE(note,note_erased_at)',
  cases: 'DELETE INSERT SELECT UPDATE',
  capture_chunks: 'DELETE INSERT SELECT',
  capture_sessions: 'DELETE INSERT SELECT UPDATE',
  claims: 'DELETE INSERT SELECT UPDATE',
  decision_facts: 'INSERT SELECT UPDATE(sealed_facts)',
  decisions: 'INSERT SELECT',
  deliveries: 'DELETE INSERT SELECT UPDATE',
  delivery_attempts: 'DELETE INSERT SELECT UPDATE',
  device_challenges: 'DELETE INSERT SELECT UPDATE',
  device_entries: 'INSERT SELECT',
  devices: 'DELETE INSERT SELECT UPDATE',
  diff_checkpoints: 'DELETE INSERT SELECT UPDATE(done,measures,neurons)',
  duplicate_findings: 'DELETE INSERT SELECT',
  endpoint_statistics: 'DELETE INSERT SELECT UPDATE(count)',
  eval_sets: 'DELETE INSERT SELECT UPDATE(sealed_prompts)',
  event_consumers: 'DELETE INSERT SELECT UPDATE(acknowledged_at,given_position,position,version)',
  event_heads: 'SELECT UPDATE(purged_position)',
  events: 'DELETE INSERT SELECT',
  fingerprints: 'DELETE INSERT SELECT UPDATE',
  idempotency_keys: 'INSERT SELECT UPDATE(status)',
  intents:
    'DELETE INSERT SELECT UPDATE(executed_at,executed_by,execution_key,outcome,outcome_at,revocation_id,revoked_at,revoked_scope,sealed_facts,sealed_token)',
  invites: 'INSERT SELECT UPDATE',
  job_lanes: 'DELETE INSERT SELECT UPDATE',
  jobs: 'DELETE INSERT SELECT UPDATE',
  directory_users: 'INSERT SELECT UPDATE',
  disclosure_requests:
    'DELETE INSERT SELECT UPDATE(decided_at,decided_by,ended_at,ends_at,grant_hash,grant_nonce,sealed_person,status,tries_left,verified_at)',
  kill_switches: 'DELETE INSERT SELECT UPDATE',
  ledger_checkpoints: 'SELECT',
  ledger_heads: 'SELECT',
  ledger_leaves: 'SELECT',
  ledger_nodes: 'SELECT',
  ledger_pending: 'INSERT SELECT',
  mails: 'INSERT SELECT UPDATE(reason,settled_at,status)',
  mandate_charges: 'DELETE INSERT SELECT UPDATE(released_at)',
  mandate_spend: 'DELETE INSERT SELECT UPDATE(executions,spent)',
  mandates:
    'DELETE INSERT SELECT UPDATE(agent_id,budget_currency,budget_limit,budget_max_count,budget_period,constraints,expires_at,heartbeat_interval_seconds,heartbeat_window_seconds,instruments,last_check_in_at,not_before,revoked_at,revoked_by,revoked_reason,updated_at,version)',
  media: 'DELETE INSERT SELECT UPDATE',
  model_diffs:
    'DELETE INSERT SELECT UPDATE(failure,failure_code,families_drifted,finished_at,pass,prompts_done,report,report_hash,started_at,state,verdict)',
  passkey_challenges: 'DELETE INSERT SELECT UPDATE(consumed_at)',
  passkey_registrations: 'DELETE INSERT SELECT UPDATE(challenge,expires_at)',
  passkeys: 'DELETE INSERT SELECT UPDATE(counter,is_backed_up,last_used_at,name)',
  pictures: 'DELETE INSERT SELECT UPDATE(media_id)',
  exclusion_changes: 'INSERT SELECT',
  exclusion_entries: 'INSERT SELECT',
  exclusion_files: 'INSERT SELECT',
  exclusion_imports:
    'DELETE INSERT SELECT UPDATE(failure_code,failure_detail,file_id,finished_at,list_date,rows,status)',
  exclusion_pointers: 'INSERT SELECT UPDATE(changed_at,file_id,import_id,list_date)',
  exclusion_reviews: 'INSERT SELECT UPDATE(decided_at,decided_by,reason,status)',
  exclusion_screenings: 'DELETE INSERT SELECT UPDATE(changed,failure_detail,finished_at,screened,status)',
  clinical_formulary: 'DELETE INSERT SELECT',
  clinical_formulary_versions: 'INSERT SELECT',
  clinical_incident_reports: 'DELETE INSERT SELECT',
  clinical_policies: 'INSERT SELECT',
  order_signatures: 'DELETE INSERT SELECT UPDATE(voided_at)',
  orders:
    'DELETE INSERT SELECT UPDATE(authorized_at,decision_id,ended_at,ended_by,ended_reason,order_hash,payload_hash,refills,revision,schedule,schedule_source,sealed_content,status,updated_at,us_state,version)',
  prescriber_facts:
    'INSERT SELECT UPDATE(confirmed_at,confirmed_by,confirmed_passkey_id,ended_at,ended_by,ended_reason,entered_at,entered_by)',
  prescribers:
    'INSERT SELECT UPDATE(match_full,match_name,match_states,npi,sealed_person,suspended_at,suspended_by,suspended_reason,updated_at,version)',
  policy_versions: 'INSERT SELECT',
  policy_webhook_secrets: 'DELETE INSERT SELECT UPDATE(expires_at,sealed_secret)',
  reevaluation_marks: 'DELETE INSERT SELECT UPDATE',
  reevaluations: 'DELETE INSERT SELECT UPDATE',
  revocations: 'DELETE INSERT SELECT',
  risk_policies: 'DELETE INSERT SELECT',
  root_cas: 'DELETE INSERT SELECT',
  c2pa_anchors: 'DELETE INSERT SELECT',
  scim_tokens: 'INSERT SELECT UPDATE',
  screening_batches: 'DELETE INSERT SELECT UPDATE',
  screening_calls: 'INSERT SELECT UPDATE',
  screening_settings: 'DELETE INSERT SELECT UPDATE',
  screenings: 'DELETE INSERT SELECT UPDATE',
  schedule_cycles: 'DELETE INSERT SELECT',
  schedules: 'DELETE INSERT SELECT UPDATE(changed_at,changed_by,executed,status)',
  sso_configs: 'DELETE INSERT SELECT UPDATE',
  sso_starts: 'INSERT SELECT UPDATE(sealed_secrets)',
  status_bits: 'INSERT',
  stops: 'DELETE INSERT SELECT UPDATE(resumed_at,resumed_by)',
  share_views: 'DELETE INSERT SELECT',
  session_locks: 'DELETE INSERT SELECT UPDATE(agent_unsuspended,cleared_at,cleared_by,note)',
  trace_contents: 'DELETE INSERT SELECT UPDATE(sealed_content)',
  trace_jobs:
    'DELETE INSERT SELECT UPDATE(failure_code,failure_detail,finished_at,manifest_bytes,manifest_hash,manifest_until,progress,sealed_input,started_at,state,summary)',
  trace_manifests: 'DELETE INSERT SELECT UPDATE(sealed_manifest)',
  trace_shares: 'DELETE INSERT SELECT UPDATE(expires_at,name,revoked_at,revoked_by)',
  traces: 'DELETE INSERT SELECT UPDATE(text_until)',
  usage_days: 'DELETE SELECT',
  usage_entries: 'DELETE INSERT SELECT',
  user_sessions: 'INSERT SELECT UPDATE',
  users: 'INSERT SELECT UPDATE',
  webhook_endpoints: 'DELETE INSERT SELECT UPDATE',
  webhook_recoveries: 'DELETE INSERT SELECT UPDATE',
}
const SYSTEM_GRANTS: Record<string, string> = {
  account_exports: 'SELECT(account_id,id,state)',
  account_notices: 'INSERT SELECT',
  accounts:
    'INSERT(id,is_public,name,plan,products) SELECT(closed_at,created_at,erased_after,erased_at,id,is_public,name,plan,products,suspended_at,suspension_ended_at,suspension_reason,version) UPDATE(closed_at,closed_by,plan,products,suspended_at,suspension_ended_at,suspension_reason,version)',
  api_keys:
    'SELECT(account_id,created_by,environment,expires_at,grace_expires_at,hash,id,ip_allow,is_account_bearing,last_used_at,products,read_only,revoked_at,scopes) UPDATE(last_used_at)',
  approvals: 'SELECT(account_id,decided_at,environment,expires_at,id,is_told,outcome)',
  attempts: 'DELETE INSERT SELECT UPDATE(expires_at,is_allowed,times)',
  audit_entries: 'DELETE INSERT SELECT(account_id,at,environment,id)',
  clinical_incident_reports: 'SELECT(account_id,day,environment)',
  decision_facts: 'DELETE SELECT(account_id,decision_id,environment)',
  decisions: 'DELETE SELECT(account_id,at,environment,id,kind)',
  disclosure_requests: 'SELECT(account_id,ends_at,environment,grant_hash,id,share_id,status)',
  event_heads: 'INSERT SELECT UPDATE(position)',
  events: 'SELECT(account_id,created_at,environment,id,position) UPDATE(position)',
  exclusion_files: 'DELETE SELECT',
  exclusion_imports: 'SELECT(account_id,environment,id,status)',
  exclusion_pointers: 'SELECT(account_id,changed_at,environment,file_id,list)',
  exclusion_screenings: 'SELECT(account_id,created_at,environment)',
  exclusion_secrets: 'INSERT SELECT UPDATE(sealed_secret)',
  idempotency_keys: 'DELETE SELECT(account_id,created_at,environment,key_digest,route)',
  invites: 'DELETE SELECT UPDATE(accepted_at,revoked_at,user_id)',
  job_lanes: 'SELECT UPDATE(tokens,tokens_at)',
  jobs: 'DELETE INSERT(account_id,environment,id,lane,payload,priority,queue,run_at,traceparent) SELECT UPDATE(attempts,dispatched_at,dispatches,fence,last_error,lease_until,run_at,settled_at,started_at,state)',
  ledger_checkpoints: 'DELETE INSERT SELECT',
  ledger_heads: 'INSERT SELECT UPDATE(checkpoint_at,checkpoint_size,frontier_sha256,grown_at,size)',
  ledger_leaves: 'INSERT SELECT',
  ledger_nodes: 'INSERT SELECT',
  ledger_pending: 'DELETE SELECT',
  login_links: 'DELETE INSERT SELECT UPDATE(used_at,voided_at)',
  mails: 'DELETE INSERT SELECT',
  migrations: 'SELECT',
  model_diffs: 'SELECT(account_id,environment,id,state)',
  passkeys: 'DELETE SELECT(account_id,id,user_id)',
  prescribers: 'SELECT(account_id,environment,updated_at)',
  queue_samples: 'DELETE INSERT SELECT',
  queues: 'INSERT SELECT UPDATE',
  revocation_lists: 'INSERT SELECT UPDATE',
  scim_tokens: 'SELECT UPDATE(last_used_at)',
  signing_keys: 'INSERT SELECT UPDATE(active_from,doubted_since,retired_at,revoked_at,sealed_private_key)',
  sso_configs: 'SELECT UPDATE(checked_at,failed_checks,is_enforced,tested_at,verified_at)',
  sso_starts: 'DELETE INSERT SELECT',
  status_bits: 'DELETE SELECT',
  status_lists: 'INSERT SELECT',
  trace_jobs: 'SELECT(account_id,environment,id,state)',
  trace_shares: 'SELECT(account_id,environment,id,token_hash)',
  usage_days: 'INSERT SELECT UPDATE(units)',
  usage_entries: 'DELETE SELECT UPDATE(folded_at)',
  user_sessions: 'DELETE INSERT SELECT UPDATE(ended_at,last_seen_at)',
  users: 'INSERT SELECT UPDATE(deprovisioned_at,last_login_at,reactivated_at,role,sso_subject)',
  webhook_recoveries: 'SELECT(account_id,environment,id,status)',
  workers: 'DELETE INSERT SELECT UPDATE',
}
// Of an account, whatever the environment.
const WITHOUT_ENVIRONMENT = [
  'account_exports',
  'account_notices',
  'accounts',
  'audit_entries',
  'directory_users',
  'invites',
  'passkey_registrations',
  'passkeys',
  'scim_tokens',
  'sso_configs',
  'sso_starts',
  'user_sessions',
  'users',
]
// Deployment-wide: their rows belong to no tenant, and the tenant role has no grant on them, but for the places of revoked
// tokens in public lists, which it writes and can't read, and for published exclusion lists.
const WITHOUT_TENANT = [
  'attempts',
  'exclusion_entries',
  'exclusion_files',
  'exclusion_secrets',
  'knex_migrations_lock',
  'login_links',
  'migrations',
  'migrations_lock',
  'queue_samples',
  'queues',
  'revocation_lists',
  'signing_keys',
  'status_bits',
  'status_lists',
  'workers',
]

describe.each([
  ['with', true],
  ['without', false],
])('the tenant boundary, %s internals of the driver', (_position, usesDriverInternals) => {
  let database: TestDatabase
  let tables: string[]
  let ours: Scope

  beforeAll(async () => {
    database = await createTestDatabase({ usesDriverInternals })
    const rows = await database.owner<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1",
    )
    tables = rows.map((row) => row.name).filter((name) => !WITHOUT_TENANT.includes(name))
    ours = await makeAccount(database)
    await fillEveryTable(database, ours)
  })
  afterAll(() => database?.close())

  it('binds every table with row-level security, also for its owner', async () => {
    const rows = await database.owner<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND relrowsecurity AND relforcerowsecurity ORDER BY 1`,
    )
    expect(rows.map((row) => row.name)).toEqual(tables)
  })

  it('grants exactly what the two lists contain', async () => {
    expect(await grantsOf(APP_ROLE)).toEqual(TENANT_GRANTS)
    expect(await grantsOf(SYSTEM_ROLE)).toEqual(SYSTEM_GRANTS)
  })

  it('has test rows in every table', async () => {
    for (const table of tables) {
      const [row] = await database.owner<{ count: string }>(`SELECT count(*) FROM ${table}`)
      expect({ table, filled: Number(row?.count) > 0 }).toEqual({ table, filled: true })
    }
  })

  it('shows, changes and deletes nothing of another account or the other environment, also without a WHERE', async () => {
    const stranger = await makeAccount(database)
    for (const scope of [stranger, { ...ours, environment: 'live' as const }]) {
      for (const table of tables) {
        if (WITHOUT_ENVIRONMENT.includes(table) && scope.accountId === ours.accountId) continue
        const seen = await database.db.tenant(scope, (tx) => tx.adhoc(`SELECT * FROM ${table}`))
        expect({ table, rows: seen.filter((row) => !isOwn(row, scope)).length }).toEqual({ table, rows: 0 })
        for (const statement of [`UPDATE ${table} SET account_id = account_id`, `DELETE FROM ${table}`]) {
          const changed = await database.db
            .tenant(scope, (tx) => tx.adhoc(`${statement} RETURNING 1`))
            .catch((error: { code?: string }) =>
              error.code === '42501' || error.code === '42703' ? [] : Promise.reject(error),
            )
          expect({ statement, rows: changed.length }).toEqual({ statement, rows: 0 })
        }
      }
    }
  })

  it('refuses to insert a row for another account', async () => {
    const stranger = await makeAccount(database)
    for (const table of tables.filter((name) => name !== 'accounts')) {
      const columns = await database.owner<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
        [table],
      )
      const list = columns.map((column) => column.name).join(', ')
      const [row] = await database.owner<{ row: string }>(`SELECT ${table}::text AS row FROM ${table} LIMIT 1`)
      const copy = database.db.tenant(stranger, (tx) =>
        tx.adhoc(`INSERT INTO ${table} (${list}) SELECT ${list} FROM (SELECT ($1::${table}).*) AS copy`, [row?.row]),
      )
      // insufficient_privilege: the row violates the policy.
      await expect(copy, table).rejects.toMatchObject({ code: '42501' })
    }
  })

  it('shows nothing without a scope', async () => {
    const login = database.url
    const { Client } = (await import('pg')).default
    const client = new Client({ connectionString: login })
    await client.connect()
    for (const table of tables) {
      await expect(client.query(`SELECT * FROM ${table}`), table).rejects.toMatchObject({ code: '42501' })
      await client.query(`BEGIN; SET LOCAL ROLE ${APP_ROLE}`)
      const { rowCount } = await client.query(`SELECT * FROM ${table}`)
      expect({ table, rowCount }).toEqual({ table, rowCount: 0 })
      await client.query('ROLLBACK')
    }
    await client.end()
  })

  it('does not leave a scope on the connection for its next user', async () => {
    await database.db.tenant(ours, (tx) => tx.adhoc('SELECT 1'))
    const [row] = await database.db.system('test', (tx) =>
      tx.adhoc<{ account: string; role: string }>(
        "SELECT coalesce(current_setting('app.account_id', true), '') AS account, current_role AS role",
      ),
    )
    expect(row).toEqual({ account: '', role: SYSTEM_ROLE })
  })

  it('refuses to boot as a superuser or on a database that was not migrated', async () => {
    await expect(refuseUnboundLogin(database.ownerUrl)).rejects.toThrow(/row-level security does not bind/)
    await refuseUnboundLogin(database.url)
    await requireMigrated(database.db)
    await database.owner("DELETE FROM migrations WHERE name LIKE '0006%'")
    await expect(requireMigrated(database.db)).rejects.toThrow(/0006.*npm run migrate/)
  })

  async function grantsOf(role: string): Promise<Record<string, string>> {
    const whole = await database.owner<{ table: string; privilege: string }>(
      `SELECT table_name AS table, privilege_type AS privilege FROM information_schema.role_table_grants
       WHERE grantee = $1 AND table_schema = 'public'`,
      [role],
    )
    const parts = await database.owner<{ table: string; privilege: string; columns: string }>(
      `SELECT table_name AS table, privilege_type AS privilege, string_agg(column_name, ',' ORDER BY column_name) AS columns
       FROM information_schema.role_column_grants WHERE grantee = $1 AND table_schema = 'public' GROUP BY 1, 2`,
      [role],
    )
    const grants = new Map<string, string[]>()
    const add = (table: string, privilege: string) => grants.set(table, [...(grants.get(table) ?? []), privilege])
    for (const { table, privilege } of whole) add(table, privilege)
    for (const { table, privilege, columns } of parts) {
      if (!whole.some((grant) => grant.table === table && grant.privilege === privilege))
        add(table, `${privilege}(${columns})`)
    }
    return Object.fromEntries([...grants].map(([table, privileges]) => [table, privileges.sort().join(' ')]))
  }
})

function isOwn(row: unknown, scope: Scope): boolean {
  const { account_id, environment, id } = row as Record<string, unknown>
  if (account_id === undefined) return id === scope.accountId
  return account_id === scope.accountId && environment === scope.environment
}
