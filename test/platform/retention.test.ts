import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { HOUR_MS, type RetentionRule, type TenantRule } from '#src/platform/retention.ts'
import { createRetentionMetrics, purgeTenants, type RetentionDeps, runRetention } from '#src/platform/retention-run.ts'
import { createDiskStore } from '#src/platform/store/disk.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { fillEveryTable } from '../support/rows.ts'
import { makeServices } from '../support/services.ts'
import { until } from '../support/until.ts'

const DAY = 24 * 3_600_000
// The time span of the ids and rows of a test.
const MINUTE = 60_000
const { signal } = new AbortController()

let test: TestDatabase
let root: string
let deps: RetentionDeps
let rules: RetentionRule[]
let logged: Record<string, unknown>[]

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'retention-'))
})
beforeEach(async () => {
  test = await createTestDatabase({ poolSize: 8 })
  const { db } = test
  const store = createDiskStore({ root })
  logged = []
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const { features } = makeServices({ db, store, log })
  rules = features.toReversed().flatMap(({ retention = [] }) => retention)
  deps = {
    db,
    accounts: createAccounts({ db }),
    log,
    metrics: createRetentionMetrics(new Registry()),
  }
  return () => test.close()
})
afterAll(() => rm(root, { recursive: true }))

async function makeTenant({ isPublic = false, environment = 'sandbox' as Scope['environment'] } = {}): Promise<Scope> {
  const account = await createAccounts(deps).create({
    id: newAccountId('acc'),
    name: 'Test',
    plan: 'enterprise',
    isPublic,
  })
  const scope = { accountId: account.id, environment }
  await fillEveryTable(test, scope)
  // Finished rows are deleted; waiting rows stay. One medium without references: no id of ours has a u.
  await test.owner("UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL WHERE account_id = $1", [
    account.id,
  ])
  await test.owner(
    `INSERT INTO media (account_id, environment, id, sha256, size, content_type)
     SELECT account_id, environment, left(id, -1) || 'u', sha256(id::bytea), 1, content_type FROM media WHERE account_id = $1`,
    [account.id],
  )
  return scope
}

/** Rows of the tenant in each table that has any. */
async function countOf({ accountId }: Scope): Promise<Record<string, number>> {
  const tables = await test.owner<{ name: string }>(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await test.owner<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${name} WHERE account_id = $1`,
      [accountId],
    )
    if (row !== undefined && row.count > 0) counts[name] = row.count
  }
  return counts
}

/** Kept by the plan, with what is made of them. */
const OF_TRACES = {
  traces: 0,
  trace_contents: 0,
  trace_jobs: 0,
  trace_manifests: 0,
  trace_shares: 0,
  share_views: 0,
  model_diffs: 0,
  diff_checkpoints: 0,
}

const roundAt = (ageMs: number) =>
  purgeTenants({ ...deps, now: async () => new Date(Date.now() + ageMs) }, tenantRules(), signal)
// Without the search for files that have no row, which lists the whole store.
const tenantRules = () => rules.filter((rule): rule is TenantRule => rule.per === 'tenant' && rule.everyMs === HOUR_MS)

describe('retention', () => {
  it('deletes each kind of row of an account in its time, and the protected kinds never', async () => {
    const scope = await makeTenant()
    const whole = await countOf(scope)
    const lost = async (ageMs: number) => {
      await roundAt(ageMs)
      const left = await countOf(scope)
      return Object.fromEntries(
        Object.entries(whole).flatMap(([name, count]) => (left[name] === count ? [] : [[name, left[name] ?? 0]])),
      )
    }
    const month = { events: 0, reevaluations: 0, reevaluation_marks: 0 }
    const sessions = { capture_sessions: 0, device_challenges: 0, intents: 0, approvals: 0, approval_votes: 0 }
    expect(await lost(0)).toEqual({})
    const day = { passkey_challenges: 0, disclosure_requests: 0 }
    expect(await lost(7 * DAY - MINUTE)).toEqual(day)
    const week: Record<string, number> = {
      ...day,
      media: 1,
      capture_chunks: 0,
      ...OF_TRACES,
      decisions: 0,
      decision_facts: 0,
      deliveries: 0,
      delivery_attempts: 0,
    }
    expect(await lost(7 * DAY + MINUTE)).toEqual(week)
    Object.assign(week, { endpoint_statistics: 0 })
    expect(await lost(30 * DAY - MINUTE)).toEqual(week)
    expect(await lost(30 * DAY + MINUTE)).toEqual({ ...week, ...month })
    expect(await lost(31 * DAY - MINUTE)).toEqual({ ...week, ...month })
    expect(await lost(31 * DAY + MINUTE)).toEqual({ ...week, ...month, ...sessions })
    const charges = { mandate_charges: 0 }
    expect(await lost(45 * DAY - MINUTE)).toEqual({ ...week, ...month, ...sessions })
    expect(await lost(45 * DAY + MINUTE)).toEqual({ ...week, ...month, ...sessions, ...charges })
    expect(await lost(90 * DAY - MINUTE)).toMatchObject({ media: 1 })
    const last = { ...week, ...month, ...sessions, ...charges }
    expect(await lost(90 * DAY + MINUTE)).toEqual(last)
    // Seven years, on the plan enterprise.
    const clinical = { orders: 0, order_signatures: 0, clinical_incident_reports: 0 }
    expect(await lost(731 * DAY - MINUTE)).toMatchObject(last)
    expect(await lost(10_000 * DAY)).toEqual({ ...last, ...clinical, audit_entries: 0 })
  })

  it('deletes everything of a public account after a week, except the account and its keys', async () => {
    const scope = await makeTenant({ isPublic: true })
    const neighbour = await makeTenant()
    const whole = await countOf(scope)
    await roundAt(7 * DAY - MINUTE)
    const { passkey_challenges: _challenges, disclosure_requests: _requests, ...kept } = whole
    expect(await countOf(scope)).toEqual(kept)
    await roundAt(7 * DAY + MINUTE)
    // Waiting jobs find their subjects deleted; a public key creates neither endpoints, consumers of events nor policies;
    // idempotency keys last a day.
    const { api_keys, jobs, job_lanes, webhook_endpoints, webhook_recoveries, event_consumers, idempotency_keys } =
      whole
    // Of accounts with users, and of the live environment: a public account has neither.
    const {
      users,
      passkeys,
      passkey_registrations,
      user_sessions,
      audit_entries,
      usage_entries,
      usage_days,
      account_notices,
      mails,
    } = whole
    const { invites, account_exports, policy_versions, policy_webhook_secrets } = whole
    const { sso_configs, sso_starts, scim_tokens, directory_users } = whole
    const { exclusion_imports, exclusion_pointers, exclusion_screenings, exclusion_changes, exclusion_reviews } = whole
    const { prescribers, prescriber_facts, clinical_policies, clinical_formulary_versions, clinical_formulary } = whole
    // Hashes and counters stay; an entry that waits for its leaf has no row here.
    const { ledger_checkpoints, ledger_heads, ledger_leaves, ledger_nodes, ledger_pending, event_heads } = whole
    expect(await countOf(scope)).toEqual({
      api_keys,
      jobs,
      job_lanes,
      webhook_endpoints,
      webhook_recoveries,
      event_consumers,
      users,
      passkeys,
      passkey_registrations,
      user_sessions,
      audit_entries,
      usage_entries,
      usage_days,
      account_notices,
      mails,
      invites,
      account_exports,
      sso_configs,
      sso_starts,
      scim_tokens,
      directory_users,
      policy_versions,
      policy_webhook_secrets,
      exclusion_imports,
      exclusion_pointers,
      exclusion_screenings,
      exclusion_changes,
      exclusion_reviews,
      prescribers,
      prescriber_facts,
      clinical_policies,
      clinical_formulary_versions,
      clinical_formulary,
      ledger_checkpoints,
      ledger_heads,
      ledger_leaves,
      ledger_nodes,
      ledger_pending,
      event_heads,
      ...(idempotency_keys && { idempotency_keys }),
    })
    const {
      capture_chunks: _,
      decisions: __,
      decision_facts: ___,
      deliveries: ____,
      delivery_attempts: _____,
      ...others
    } = kept
    const stays = Object.keys(others).filter((name) => !Object.hasOwn(OF_TRACES, name))
    expect(Object.keys(await countOf(neighbour))).toEqual(stays)
  })

  it('keeps a claim for as long as it has a case', async () => {
    const scope = await makeTenant({ isPublic: true })
    // Its id is of the same hour, and the case was opened six days after the claim.
    await test.owner("UPDATE cases SET created_at = now() + interval '6 days' WHERE account_id = $1", [scope.accountId])
    await roundAt(7 * DAY + MINUTE)
    expect(await countOf(scope)).toMatchObject({ claims: 1, cases: 1, case_entries: 1 })
    await roundAt(13 * DAY + MINUTE)
    const left = await countOf(scope)
    expect([left.claims, left.cases, left.case_entries]).toEqual([undefined, undefined, undefined])
  })

  it('treats the live environment of a public account like any other', async () => {
    const scope = await makeTenant({ isPublic: true, environment: 'live' })
    const { capture_chunks: _, passkey_challenges: __, disclosure_requests: ___, ...whole } = await countOf(scope)
    await roundAt(8 * DAY - MINUTE)
    expect(await countOf(scope)).toEqual({ ...whole, media: 1 })
  })

  it('keeps events of pending deliveries, and nonces of captures that were not evaluated', async () => {
    const scope = await makeTenant()
    await test.owner("UPDATE deliveries SET status = 'pending' WHERE account_id = $1", [scope.accountId])
    await test.owner(
      `UPDATE capture_sessions SET consumed_at = now(), consumed_by = (SELECT min(id) FROM attestations WHERE account_id = $1)
       WHERE account_id = $1`,
      [scope.accountId],
    )
    const {
      device_challenges: _,
      capture_chunks: __,
      decisions: ___,
      decision_facts: ____,
      reevaluations,
      reevaluation_marks,
      intents: ______,
      approvals: _______,
      approval_votes: ________,
      passkey_challenges: _________,
      mandate_charges: __________,
      endpoint_statistics: ___________,
      disclosure_requests: ____________,
      ...others
    } = await countOf(scope)
    const whole = Object.fromEntries(Object.entries(others).filter(([name]) => !Object.hasOwn(OF_TRACES, name)))
    expect([reevaluations, reevaluation_marks]).toEqual([1, 1])
    await roundAt(100 * DAY)
    expect(await countOf(scope)).toEqual({ ...whole, media: 1 })
    await test.owner("UPDATE deliveries SET status = 'failed' WHERE account_id = $1", [scope.accountId])
    await test.owner("UPDATE attestations SET status = 'cancelled' WHERE account_id = $1", [scope.accountId])
    await roundAt(100 * DAY)
    expect(await countOf(scope)).not.toHaveProperty('capture_sessions')
    expect(await countOf(scope)).not.toHaveProperty('deliveries')
  })

  it('is harmless in several concurrent clocks, and works in small steps', async () => {
    const scope = await makeTenant()
    await test.owner(
      `INSERT INTO events (account_id, environment, id, type, data)
       SELECT account_id, environment, left(id, -5) || 'u' || to_char(n, 'FM0000'), type, data
       FROM events, generate_series(0, 4499) AS n WHERE account_id = $1`,
      [scope.accountId],
    )
    const rounds = await Promise.all([1, 2, 3].map(() => roundAt(31 * DAY)))
    expect(rounds.reduce((sum, round) => sum + (round.get('events') ?? 0), 0)).toBe(4501)
    expect(rounds.reduce((sum, round) => sum + (round.get('unreferenced_media') ?? 0), 0)).toBe(1)
    expect(await countOf(scope)).not.toHaveProperty('events')
    expect(logged.filter(({ level }) => Number(level) > 30)).toEqual([])
  })

  it('continues in other tenants after an error in one, and logs the error with its place', async () => {
    const scopes = [await makeTenant(), await makeTenant(), await makeTenant()]
    const broken = scopes[1]?.accountId
    const given = tenantRules().map((rule) => ({
      ...rule,
      purge: async (...args: Parameters<typeof rule.purge>) => {
        if (args[0].accountId === broken && rule.what === 'events') throw new Error('not here')
        return rule.purge(...args)
      },
    }))
    const at = { ...deps, now: async () => new Date(Date.now() + 31 * DAY) }
    const purged = await purgeTenants(at, given, signal)
    expect(purged.get('events')).toBe(2)
    expect(purged.get('capture_sessions')).toBe(3)
    expect(logged).toMatchObject([
      { what: 'events', accountId: broken, environment: 'sandbox', err: { message: 'not here' } },
      { what: 'events', accountId: broken, environment: 'live' },
    ])
    const failures = await deps.metrics.failures.get()
    expect(failures.values).toMatchObject([{ value: 2, labels: { what: 'events' } }])
    const counted = await deps.metrics.purged.get()
    expect(counted.values).toContainEqual({ value: 3, labels: { what: 'capture_sessions' } })
  })

  it('stops between two steps when it is aborted', async () => {
    const controller = new AbortController()
    const scopes = [await makeTenant(), await makeTenant()]
    const given = tenantRules().map((rule) => ({
      ...rule,
      purge: async (...args: Parameters<typeof rule.purge>) => {
        controller.abort()
        return rule.purge(...args)
      },
    }))
    await purgeTenants({ ...deps, now: async () => new Date(Date.now() + 100 * DAY) }, given, controller.signal)
    for (const scope of scopes) expect(await countOf(scope)).toHaveProperty('events')
  })

  it('walks every account, page after page', async () => {
    await test.owner(
      `INSERT INTO accounts (id, name, plan, products) SELECT 'acc_' || n, 'x', 'developer', '{}' FROM generate_series(1, 1203) AS n`,
    )
    const seen = new Set<string>()
    for await (const { id } of deps.accounts.walk()) seen.add(id)
    // One more is the service's own.
    expect(seen.size).toBe(1204)
  })

  it('deletes many thousands in steps that are quick without statistics', async () => {
    const scope = await makeTenant()
    await test.owner(
      `INSERT INTO deliveries (account_id, environment, id, endpoint_id, event_id, event_type, job_id, status)
       SELECT account_id, environment, left(id, -7) || 'u' || to_char(n, 'FM000000'), endpoint_id, event_id || n, event_type, job_id,
         'delivered'
       FROM deliveries, generate_series(1, 20000) AS n WHERE account_id = $1`,
      [scope.accountId],
    )
    expect((await roundAt(91 * DAY)).get('deliveries')).toBe(20_001)
  })

  it('runs by itself, counts, logs a line, and stops at once', async () => {
    const scope = await makeTenant()
    await test.owner(
      "UPDATE jobs SET state = 'succeeded', settled_at = now() - interval '25 hours' WHERE account_id = $1",
      [scope.accountId],
    )
    const loop = runRetention(deps, rules)
    await until(() => logged.some(({ msg }) => msg === 'retention deleted old rows'))
    await loop.close()
    expect(logged).toMatchObject([{ purged: { jobs: 1 }, level: 30 }])
    expect((await deps.metrics.purged.get()).values).toEqual([{ value: 1, labels: { what: 'jobs' } }])
  })

  it('names each kind once', () => {
    const names = rules.map(({ what }) => what)
    expect(new Set(names).size).toBe(names.length)
  })
})
