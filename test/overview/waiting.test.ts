// The overview as callers see it: what waits is counted, and what a caller may not list is not shown.

import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ROLES } from '#src/catalogue/access.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../support/callers.ts'
import { fillEveryTable } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let caller: TestCaller
beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

// The route that lists what a part counts.
const LISTS: Record<string, string> = {
  cases: '/v1/cases',
  approvals: '/v1/approvals',
  captures: '/v1/claims/batches',
  screenings: '/v1/media/screenings',
  traces: '/v1/trace/jobs',
  webhooks: '/v1/webhook-endpoints',
  devices: '/v1/admin/devices',
  agents: '/v1/agents',
  locks: '/v1/trace/session-locks',
  stop: '/v1/intent/stop',
  keys: '/v1/account/keys',
  usage: '/v1/account/usage',
}
const NONE = { count: 0, capped: false }
const ONE = { count: 1, capped: false }

async function overview(by: { key?: string; headers?: Record<string, string> } = caller) {
  const { status, json } = await service.call(by, '/v1/overview', by.headers && { headers: by.headers })
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as Record<string, Record<string, unknown> | null> & { not_readable: string[] }
}

async function insert(table: string, row: Record<string, unknown>, by: TestCaller = caller): Promise<string> {
  const columns: Record<string, unknown> = { account_id: by.accountId, environment: by.environment, ...row }
  const names = Object.keys(columns)
  const places = names.map((_, index) => `$${index + 1}`)
  await service.test.owner(`INSERT INTO ${table} (${names}) VALUES (${places})`, Object.values(columns))
  return String(row.id)
}

const id = (type: Parameters<typeof newId>[0]) => newId(type, caller.environment)
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

const addCase = async ({ due = inDays(1), ...row }: { due?: Date } & Record<string, unknown> = {}) =>
  insert('cases', {
    id: id('cas'),
    claim_id: await service.makeClaim(caller),
    priority: 'normal',
    review_due_at: due,
    decision_due_at: due,
    due_at: row.closed_at === undefined ? due : null,
    ...row,
  })

const addApproval = (row: Record<string, unknown> = {}) =>
  insert('approvals', {
    id: id('apr'),
    jti: id('jti'),
    origin: 'verify',
    rules: '[]',
    min_approvals: 1,
    roles: ['owner', 'approver'],
    requires_passkey: false,
    has_separation: true,
    action_hash: 'a',
    payload_hash: 'p',
    preview_hash: 'v',
    agent_session_id: 's',
    device_id: 'd',
    excluded_ids: [],
    actor_kind: 'key',
    actor_id: 'key_1',
    token_ttl_seconds: 60,
    sealed_description: randomBytes(8),
    sealed_payload: randomBytes(8),
    expires_at: inDays(1),
    ...row,
  })

const addDead = (queue: string) =>
  insert('jobs', {
    id: randomUUID(),
    queue,
    lane: caller.accountId,
    priority: 0,
    payload: '{}',
    state: 'dead',
    settled_at: new Date(),
  })

const addEndpoint = (row: Record<string, unknown>) =>
  insert('webhook_endpoints', {
    id: id('whe'),
    url: 'https://example.com',
    event_types: ['*'],
    sealed_secret: randomBytes(8),
    ...row,
  })

const addDevice = (notAfter: Date, row: Record<string, unknown> = {}) =>
  insert('devices', {
    id: id('dev'),
    spki: randomBytes(32),
    spki_digest: randomBytes(32),
    certificate_chain: [randomBytes(8)],
    certificate_subject: 'CN=d',
    not_before: inDays(-100),
    not_after: notAfter,
    ...row,
  })

describe('the overview', () => {
  it('counts open cases that nobody has, that are late, and those of the user who asks', async () => {
    const { headers, userId } = await service.signIn(caller.accountId)
    await addCase()
    await addCase({ due: inDays(-1) })
    await addCase({ assignee: userId, state: 'in_review' })
    await addCase({ assignee: userId, state: 'approved', reason_code: 'risk_accepted', closed_at: new Date() })
    const counts = { unassigned: { count: 2, capped: false }, overdue: ONE }
    expect((await overview({ headers })).cases).toEqual({ ...counts, mine: ONE })
    expect((await overview()).cases).toEqual({ ...counts, mine: null })
  })

  it('counts the approvals that this person can decide and has not', async () => {
    const { headers, userId } = await service.signIn(caller.accountId)
    await addApproval()
    await addApproval({ roles: ['approver'] })
    await addApproval({ excluded_ids: [userId] })
    await addApproval({ expires_at: inDays(-1) })
    await addApproval({ outcome: 'cancelled', decided_at: new Date(), is_told: true })
    const voted = await addApproval()
    await insert('approval_votes', {
      approval_id: voted,
      user_id: userId,
      decision: 'approve',
      via: 'session',
      actor_id: userId,
      decided_at: new Date(),
    })
    expect((await overview({ headers })).approvals).toEqual({ awaiting: ONE })
    expect((await overview()).approvals).toEqual({ awaiting: { count: 4, capped: false } })
  })

  it('counts an approval again whose vote counts no more, as the list has it', async () => {
    const { headers, userId } = await service.signIn(caller.accountId)
    const voted = await addApproval()
    await insert('approval_votes', {
      approval_id: voted,
      user_id: userId,
      decision: 'approve',
      via: 'session',
      actor_id: userId,
      decided_at: inDays(-1),
    })
    expect((await overview({ headers })).approvals).toEqual({ awaiting: NONE })
    await service.test.owner('UPDATE users SET reactivated_at = now() WHERE id = $1', [userId])
    expect((await overview({ headers })).approvals).toEqual({ awaiting: ONE })
  })

  it('counts failed work, endpoints, deliveries, certificates, agents, locks and keys', async () => {
    for (const queue of ['attest', 'compare', 'screen', 'trace', 'diff', 'deliver']) await addDead(queue)
    const endpoint = await addEndpoint({ circuit_opened_at: new Date() })
    await addEndpoint({ status: 'disabled' })
    await addEndpoint({ status: 'disabled', deleted_at: new Date() })
    await addEndpoint({})
    const delivery = { endpoint_id: endpoint, event_id: id('evt'), event_type: 'ping', job_id: randomUUID() }
    await insert('deliveries', { ...delivery, id: id('whd'), status: 'failed', failed_at: new Date() })
    await addDevice(inDays(3))
    await addDevice(inDays(-3))
    await addDevice(inDays(60))
    await addDevice(inDays(3), { revoked_at: new Date(), revoke_effective_at: new Date() })
    const agent = await insert('agents', { id: id('agt'), name: 'a', owner: 'o', created_by: 'key_1' })
    const lock = await insert('session_locks', {
      id: id('lck'),
      agent_session_id: 's',
      agent_id: agent,
      tripped_families: [],
      source: 'check',
      created_at: new Date(),
    })
    for (const held_by of ['manual', lock]) {
      await insert('agent_suspensions', { agent_id: agent, held_by, suspended_at: new Date() })
    }
    await service.services.account.keys.create(caller, { name: 'k', scopes: ['verify'], expiresAt: inDays(3) })
    await service.services.account.keys.create(caller, { name: 'k', scopes: ['verify'], expiresAt: inDays(60) })
    const stoppedAt = new Date()
    await insert('stops', { id: id('stp'), reason: 'r', stopped_by: 'key_1', stopped_at: stoppedAt })
    expect(await overview()).toMatchObject({
      environment: 'sandbox',
      captures: { running_batches: NONE, failed_jobs: { count: 2, capped: false } },
      screenings: { running_batches: NONE, failed_jobs: ONE },
      traces: { failed_jobs: { count: 2, capped: false } },
      webhooks: { failing_endpoints: ONE, disabled_endpoints: ONE, failed_deliveries: ONE },
      devices: { expiring_devices: ONE, expiring_root_cas: NONE, expiring_anchors: NONE },
      agents: { suspended: ONE, held_by_lock: ONE },
      locks: { locked: ONE },
      keys: { expiring: ONE },
      stop: { stopped_at: stoppedAt.toISOString() },
    })
  })

  it('counts a batch as running while a line of it waits or is in work', async () => {
    const media = await insert('media', {
      id: id('med'),
      sha256: randomBytes(32),
      size: 1,
      content_type: 'image/jpeg',
    })
    const addLine = async (batch: string | null, line: number | null, state: string) => {
      const job = randomUUID()
      const attestation = await insert('attestations', {
        id: id('att'),
        claim_id: await service.makeClaim(caller),
        batch_id: batch,
        batch_line: line,
        content_digest: randomBytes(32),
        media_id: media,
        submission: '{}',
        job_id: job,
      })
      const payload = JSON.stringify({ attestationId: attestation })
      const lane = caller.accountId
      await insert('jobs', { id: job, queue: 'attest', lane, priority: 1, payload, state })
    }
    const addBatch = () => insert('batches', { id: id('bat'), accepted: 2, rejected: '[]' })
    const [running, done, waiting] = [await addBatch(), await addBatch(), await addBatch()]
    await addLine(running, 0, 'dispatched')
    await addLine(running, 1, 'queued')
    await addLine(done, 0, 'succeeded')
    await addLine(waiting, 0, 'queued')
    await addLine(null, null, 'queued')
    expect((await overview()).captures).toMatchObject({ running_batches: { count: 2, capped: false } })
  })

  it('counts to a thousand, and says that there may be more', async () => {
    await service.test.owner(
      `INSERT INTO agents (account_id, environment, id, name, owner, created_by)
       SELECT $1, $2, $3 || lpad(n::text, 6, '0'), 'a', 'o', 'k' FROM generate_series(1, 1001) n`,
      [caller.accountId, caller.environment, id('agt').slice(0, -6)],
    )
    const suspend = (from: number, to: number) =>
      service.test.owner(
        `INSERT INTO agent_suspensions (account_id, environment, agent_id, held_by, suspended_at)
         SELECT account_id, environment, id, 'manual', now() FROM agents WHERE account_id = $1 AND right(id, 6)::int BETWEEN $2 AND $3`,
        [caller.accountId, from, to],
      )
    await suspend(1, 1_000)
    expect((await overview()).agents).toMatchObject({ suspended: { count: 1_000, capped: false } })
    await suspend(1_001, 1_001)
    expect((await overview()).agents).toMatchObject({ suspended: { count: 1_000, capped: true } })
  })

  it('shows the latest notice of usage to those who may read usage', async () => {
    const live = await service.makeCaller({ environment: 'live', scopes: ['admin'] })
    expect((await overview(live)).usage).toEqual({ notice: null })
    const month = `${new Date().toISOString().slice(0, 7)}-01`
    for (const [kind, created_at] of [
      ['usage_80', inDays(-1)],
      ['usage_100', new Date()],
    ]) {
      await service.test.owner(
        `INSERT INTO account_notices (account_id, kind, month, plan, cap, used, created_at)
         VALUES ($1, $2, $3::date, 'growth', 1000, 1000, $4)`,
        [live.accountId, kind, month, created_at],
      )
    }
    expect((await overview(live)).usage).toEqual({ notice: 'usage_100' })
  })
})

describe('what the overview shows', () => {
  it('is nothing of another account or environment', async () => {
    const own = await overview()
    const others = [await service.makeCaller(), { ...(await service.makeCaller()), environment: 'live' as const }]
    for (const other of others) await fillEveryTable(service.test, other)
    await fillEveryTable(service.test, { accountId: caller.accountId, environment: 'live' })
    expect(await overview()).toEqual(own)
  })

  it.each(ROLES)('to a user with the role %s is what the lists show', async (role) => {
    await service.test.owner(`UPDATE accounts SET plan = 'enterprise' WHERE id = $1`, [caller.accountId])
    const { headers } = await service.signIn(caller.accountId, { role })
    for (const environment of ['sandbox', 'live']) {
      const sent = { headers: { ...headers, 'Service-Environment': environment } }
      await expectAsLists(await overview(sent), (path) => service.call({}, path, sent))
    }
  })

  it('to a key is what the lists show', async () => {
    for (const row of [
      { scopes: ['escalate'] },
      { scopes: ['verify'], environment: 'live' },
      { scopes: ['admin', 'intent', 'attest'], narrowedTo: ['attest'], environment: 'live' },
      { scopes: ['all'], isReadOnly: true },
    ] as const) {
      const key = await service.makeCaller(row)
      await expectAsLists(await overview(key), (path) => service.call(key, path))
    }
  })

  async function expectAsLists(
    { not_readable, ...parts }: Awaited<ReturnType<typeof overview>>,
    ask: (path: string) => Promise<{ status: number }>,
  ) {
    for (const [name, path] of Object.entries(LISTS)) {
      const { status } = await ask(path)
      expect([name, status, not_readable.includes(name)]).toEqual([name, status === 403 ? 403 : 200, status === 403])
      expect([name, parts[name] === null]).toEqual([name, status === 403])
    }
  }
})
