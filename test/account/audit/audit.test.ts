// The audit log over HTTP: what is recorded, by whom, and what an account reads of it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findAuditEntries } from '#src/account/audit/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newAccountId, newId } from '#src/platform/ids.ts'
import { attestFixture, BARE_PHOTO, makePhone, type Phone, shoot } from '../../attest/claims/phone.ts'
import type { Service } from '../../attest/claims/service.ts'
import { POLICY } from '../../attest/reevaluate/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'

interface Entry {
  audit_entry_id: string
  at: string
  action: string
  environment: string | null
  actor: { type: string; id: string; label: string | null }
  from: { ip: string | null; user_agent: string | null }
  request_id: string | null
  subject_id: string | null
  before: unknown
  after: unknown
}

let service: Service
let caller: TestCaller
let phone: Phone
let owner: SignedIn

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture({ row: { scopes: ['all'] } }))
  owner = await service.signIn(caller.accountId, { email: 'ada@example.com' })
})
afterAll(() => service?.close())

const as = (who: { headers: Record<string, string> }) => ({
  call: (path: string, sent: { method?: string; json?: unknown; headers?: Record<string, string> } = {}) =>
    service.call({}, path, { ...sent, headers: { ...who.headers, ...sent.headers } }),
})

async function entries(query = '', who = owner): Promise<Entry[]> {
  const { status, json } = await as(who).call(`/v1/account/audit?limit=100${query}`)
  expect([status, json]).toEqual([200, expect.objectContaining({ object: 'list' })])
  return json.data as Entry[]
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** Entries that a plan has read, those that its filters dropped included. */
function scannedBy(node: PlanNode | undefined): number {
  if (node === undefined) return 0
  const own = node['Actual Rows'] * node['Actual Loops'] + (node['Rows Removed by Filter'] ?? 0)
  const below = (node.Plans ?? []).reduce((sum, child) => sum + scannedBy(child), 0)
  return below + (node['Relation Name'] === 'audit_entries' ? own : 0)
}

async function upload(by = caller): Promise<string> {
  const body = Buffer.concat([BARE_PHOTO, Buffer.from(newId('med', 'sandbox'))])
  const { json } = await service.call(by, '/v1/media', { body, headers: { 'Content-Type': 'image/jpeg' } })
  return String(json.media_id)
}

describe('an administrative act', () => {
  it('is recorded with who, from where, and what changed, without secrets', async () => {
    const url = 'https://hooks.example.com/secret-path?token=secret-token'
    const headers = { 'User-Agent': 'Test Browser' }
    const json = { url, event_types: ['*'] }
    const made = await as(owner).call('/v1/webhook-endpoints', { json, headers })
    expect(made.status).toBe(200)
    const [entry] = await entries('&action=webhook_endpoint.created')
    expect(entry).toEqual({
      audit_entry_id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      action: 'webhook_endpoint.created',
      environment: 'sandbox',
      actor: { type: 'user', id: owner.userId, label: 'ada@example.com' },
      from: { ip: '127.0.0.1', user_agent: 'Test Browser' },
      request_id: made.headers['request-id'],
      subject_id: made.json.webhook_endpoint_id,
      before: null,
      after: {
        origin: 'https://hooks.example.com',
        event_types: ['*'],
        max_per_second: null,
        max_concurrency: 8,
        status: 'enabled',
      },
    })
    await service.call(caller, `/v1/webhook-endpoints/${made.json.webhook_endpoint_id}`, { method: 'DELETE' })
    const [deleted] = await entries('&action=webhook_endpoint.deleted')
    expect(deleted).toMatchObject({ actor: { type: 'key', label: null }, before: entry?.after, after: null })
    const held = await service.test.owner<{ row: string }>('SELECT a::text AS row FROM audit_entries a')
    for (const { row } of held) {
      expect(row).not.toContain('secret-')
      expect(row).not.toContain(String(made.json.signing_secret))
    }
  })

  it('is recorded for policies, settings, root CAs and anchors, with the state before', async () => {
    const put = (path: string, document: object) =>
      as(owner).call(path, { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } })
    const policy = { ...POLICY, geofence_m: 77 }
    await put('/v1/account/risk-policy', policy)
    // The same policy again is no change.
    await put('/v1/account/risk-policy', policy)
    expect(await entries('&action=risk_policy.changed')).toMatchObject([
      { before: { version: 0, policy: POLICY }, after: { version: 1, policy: { geofence_m: 77 } } },
    ])
    const thresholds = { genai: { review: 0.1, likely: 0.2 }, deepfake: { review: 0.3, likely: 0.4 } }
    const changed = await put('/v1/account/screening', { thresholds })
    expect(changed.status).toBe(200)
    expect(await entries('&action=screening_settings.changed')).toMatchObject([
      { before: { thresholds: { genai: { review: 0.5 } } }, after: { thresholds } },
    ])
    const [root] = await entries('&action=root_ca.added')
    expect(root).toMatchObject({
      after: { name: 'Test Phones', fingerprint_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    const { json } = await service.call(caller, '/v1/admin/root-cas')
    const [{ certificate }] = json.data as [{ certificate: { pem: string } }]
    const anchor = { name: 'Cameras', certificate: certificate.pem }
    const added = await service.call(caller, '/v1/admin/c2pa-anchors', { json: anchor })
    await service.call(caller, `/v1/admin/c2pa-anchors/${added.json.c2pa_anchor_id}`, { method: 'DELETE' })
    expect(await entries(`&subject_id=${added.json.c2pa_anchor_id}`)).toMatchObject([
      { action: 'c2pa_anchor.removed', before: root?.after && { name: 'Cameras' } },
      { action: 'c2pa_anchor.added' },
    ])
  })

  it('is recorded for devices and erased claims, once however often it is sent', async () => {
    const [enrolled] = await entries(`&subject_id=${phone.id}`)
    expect(enrolled).toMatchObject({ action: 'device.enrolled', after: { hardware_tier: 'none' } })
    const spare = await makePhone(service, caller, { name: 'Spare', isEnrolled: false })
    const chain = { certificate_chain: spare.device.chain.map((der) => Buffer.from(der).toString('base64')) }
    const lines = `${JSON.stringify(chain)}\n`
    const asLines = { body: lines, headers: { 'Content-Type': 'application/x-ndjson' } }
    for (const _ of [1, 2]) expect((await service.call(caller, '/v1/admin/devices/batches', asLines)).status).toBe(200)
    const again = await service.call(caller, '/v1/admin/devices', { json: chain })
    const imports = (await entries('&action=device.enrolled')).filter(({ subject_id }) => subject_id === null)
    expect(imports).toMatchObject([{ after: { devices: 1 } }])
    const revoke = `/v1/admin/devices/${again.json.device_id}/revoke`
    for (const _ of [1, 2]) await service.call(caller, revoke, { json: { reason: 'lost' } })
    expect(await entries(`&subject_id=${again.json.device_id}`)).toMatchObject([
      { action: 'device.revoked', after: { reason: 'lost' } },
    ])
    const { claim_id: claimId } = (await service.judge(caller, shoot(phone))) as { claim_id: string }
    for (const _ of [1, 2]) await service.call(caller, `/v1/claims/${claimId}`, { method: 'DELETE' })
    expect(await entries(`&subject_id=${claimId}`)).toMatchObject([{ action: 'claim.erased' }])
  })

  it('leaves no entry when it is refused', async () => {
    const before = (await entries()).length
    const refused = await service.call(caller, '/v1/webhook-endpoints', {
      json: { url: 'http://10.0.0.1/', event_types: ['*'] },
    })
    expect(refused.status).toBe(400)
    expect(await entries()).toHaveLength(before)
  })
})

describe('a read', () => {
  it('of a photo is one entry per principal and minute, for the original and for its thumbnail', async () => {
    const at = new Date()
    service.clock.now = at
    const id = await upload()
    const reading = await service.signIn(caller.accountId, { role: 'approver', email: 'grace@example.com' })
    const reads = Array.from({ length: 5 }, () => as(reading).call(`/v1/media/${id}`))
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await as(reading).call(`/v1/media/${id}`, { headers: { Range: 'bytes=0-9' } })
    expect((await as(reading).call(`/v1/media/${id}/thumbnail`)).status).toBe(200)
    expect(await entries(`&subject_id=${id}`)).toMatchObject([
      { after: { representation: 'thumbnail' } },
      { action: 'media.read', actor: { label: 'grace@example.com' }, after: { representation: 'original' } },
    ])
    await service.call(caller, `/v1/media/${id}`)
    service.clock.now = new Date(at.getTime() + 61_000)
    await as(reading).call(`/v1/media/${id}`)
    const later = await entries(`&subject_id=${id}`)
    expect(later.map(({ actor }) => actor.type)).toEqual(['user', 'key', 'user', 'user'])
    service.clock.now = undefined
  })

  it('that finds nothing is no entry', async () => {
    const id = newId('med', 'sandbox')
    expect((await service.call(caller, `/v1/media/${id}`)).status).toBe(404)
    expect(await entries(`&subject_id=${id}`)).toEqual([])
  })

  it('gives no byte when it can not be recorded', async () => {
    const id = await upload()
    await service.test.owner('REVOKE INSERT ON audit_entries FROM countersign_app')
    const refused = await service.call(caller, `/v1/media/${id}`)
    await service.test.owner('GRANT INSERT ON audit_entries TO countersign_app')
    expect(refused.status).toBe(500)
    const read = await service.call(caller, `/v1/media/${id}`)
    expect(read.status).toBe(200)
    expect(await entries(`&subject_id=${id}`)).toHaveLength(1)
  })

  it('of evidence names the packet', async () => {
    const { claim_id: claimId } = (await service.judge(caller, shoot(phone))) as { claim_id: string }
    const { json } = await service.call(caller, `/v1/claims/${claimId}/evidence`)
    const { about } = json.packet as { about: { packet_id: string } }
    expect(await entries(`&subject_id=${claimId}`)).toMatchObject([
      { action: 'evidence.read', after: { packet_id: about.packet_id, format: 'json', attestations: 1 } },
    ])
  })
})

describe('the log', () => {
  it('is filtered and paged, newest first, and belongs to one account', async () => {
    const all = await entries()
    expect(all.map(({ audit_entry_id }) => audit_entry_id)).toEqual(
      all
        .map(({ audit_entry_id }) => audit_entry_id)
        .toSorted()
        .reverse(),
    )
    const first = await as(owner).call('/v1/account/audit?limit=3&include=total_count')
    expect(first.json).toMatchObject({ has_more: true, total_count: all.length })
    const second = await as(owner).call(`/v1/account/audit?limit=3&cursor=${first.json.next_cursor}`)
    expect([...(first.json.data as Entry[]), ...(second.json.data as Entry[])]).toEqual(all.slice(0, 6))
    const elsewhere = await as(owner).call(`/v1/account/audit?action=media.read&cursor=${first.json.next_cursor}`)
    expect(elsewhere.json.errors).toMatchObject([{ code: 'invalid_cursor' }])
    const ofOwner = all.filter(({ actor }) => actor.id === owner.userId)
    expect(await entries(`&actor_id=${owner.userId}`)).toEqual(ofOwner)
    const middle = all[Math.floor(all.length / 2)]?.at ?? ''
    const [before, since] = [await entries(`&created_lt=${middle}`), await entries(`&created_gte=${middle}`)]
    expect([...since, ...before]).toEqual(all)
    const unknown = await as(owner).call('/v1/account/audit?action=nothing.done')
    expect(unknown.status).toBe(400)
    const other = await service.makeCaller()
    expect(await entries('', await service.signIn(other.accountId))).toEqual([])
  })

  it('is read by the times and the environment that are asked for, and no further', async () => {
    const { accountId } = await service.makeCaller()
    const start = Date.parse('2026-01-01T00:00:00Z')
    const hours = Array.from({ length: 6_000 }, (_, hour) => start + hour * 3_600_000)
    await service.test.owner(
      `INSERT INTO audit_entries (account_id, id, at, environment, action, actor_kind, actor_id)
       SELECT $1, id, at, CASE WHEN n % 1000 = 0 THEN 'sandbox' WHEN n % 1000 = 1 THEN 'live' END, 'media.read', 'key', 'key_live_1'
       FROM unnest($2::text[], $3::timestamptz[]) WITH ORDINALITY AS t (id, at, n)`,
      [accountId, hours.map((hour) => newAccountId('aud', hour)), hours.map((hour) => new Date(hour))],
    )
    await service.test.owner('ANALYZE audit_entries')
    const from = new Date(hours[3_000] ?? 0)
    const until = new Date(hours[3_020] ?? 0)
    for (const [filter, range] of [
      [{ to: from }, { limit: 20 }],
      [{ from, to: until }, { limit: 50 }],
      [{ from }, { limit: 20, above: '' }],
      [{ environment: 'sandbox' }, { limit: 50 }],
      [{ environment: 'live' }, { limit: 50 }],
    ] as const) {
      let touched = 0
      const explained: Tx['adhoc'] = async (text, values) => {
        touched += await rowsTouched(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
        return []
      }
      const rowsTouched = (text: string, values: readonly unknown[] = []) =>
        service.test.db.tenant({ accountId, environment: 'live' }, async (tx) => {
          const [row] = await tx.adhoc<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(text, values)
          return scannedBy(row?.['QUERY PLAN'][0]?.Plan)
        })
      await service.test.db.tenant({ accountId, environment: 'live' }, (tx) =>
        findAuditEntries({ ...tx, adhoc: explained }, filter, range),
      )
      expect([filter, touched]).toEqual([filter, expect.toSatisfy((rows: number) => rows > 0 && rows < 60)])
    }
  })

  it('shows a sandbox key and an unproven session the sandbox only', async () => {
    const live = { ...caller, key: service.addKey({ ...caller, environment: 'live', scopes: ['admin'] }) }
    const json = { url: 'https://live.example.com/', event_types: ['*'] }
    expect((await service.call(live, '/v1/webhook-endpoints', { json })).status).toBe(200)
    expect(await entries('&environment=live')).toMatchObject([{ after: { origin: 'https://live.example.com' } }])
    const echoed = await service.signIn(caller.accountId, { isSandboxOnly: true })
    const [byKey, bySession] = await Promise.all([
      service.call(caller, '/v1/account/audit?limit=100'),
      as(echoed).call('/v1/account/audit?limit=100'),
    ])
    for (const { json } of [byKey, bySession]) {
      const seen = new Set((json.data as Entry[]).map(({ environment }) => environment))
      expect([...seen]).toEqual(['sandbox'])
    }
    const asked = await service.call(caller, '/v1/account/audit?environment=live')
    expect(asked.json.code).toBe('environment_mismatch')
    const export_ = await as(echoed).call('/v1/account/audit/export')
    expect(export_.text).not.toContain('live.example.com')
  })

  it('is exported as NDJSON, oldest first, and the export is recorded', async () => {
    const all = await entries()
    const { status, headers, text } = await as(owner).call('/v1/account/audit/export')
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry)
    const known = new Set(all.map(({ audit_entry_id }) => audit_entry_id))
    expect(lines.filter(({ audit_entry_id }) => known.has(audit_entry_id))).toEqual(all.toReversed())
    const filtered = await as(owner).call('/v1/account/audit/export?action=evidence.read')
    expect(filtered.text.trimEnd().split('\n')).toHaveLength(1)
    expect(await entries('&action=audit.exported')).toMatchObject([
      { environment: null, after: { filters: { action: ['evidence.read'] } } },
      { environment: null, after: { filters: {} } },
      {},
    ])
  })

  it('can not be changed by requests, and is kept as long as the plan says', async () => {
    const change = service.test.db.tenant(caller, (tx) => tx.query("UPDATE audit_entries SET actor_id = 'x'"))
    await expect(change).rejects.toMatchObject({ code: '42501' })
    const young = await service.makeCaller({ scopes: ['all'] })
    const json = { url: 'https://hooks.example.com/', event_types: ['*'] }
    await service.call(young, '/v1/webhook-endpoints', { json })
    const purge = async (days: number, plan: string) => {
      await service.test.owner('UPDATE accounts SET plan = $2 WHERE id = $1', [young.accountId, plan])
      const rule = service.services.features
        .flatMap(({ retention = [] }) => retention)
        .find(({ what }) => what === 'audit_entries')
      if (rule?.per !== 'tenant' || rule.days === null) throw new Error('no such rule')
      const now = Date.now() + days * 86_400_000
      service.clock.now = new Date(now)
      const longest = new Date(now - rule.days * 86_400_000)
      const { signal } = new AbortController()
      let purged = 0
      for (const environment of ['sandbox', 'live'] as const)
        purged += await rule.purge({ accountId: young.accountId, environment }, longest, signal)
      service.clock.now = undefined
      return purged
    }
    expect(await purge(29, 'developer')).toBe(0)
    expect(await purge(364, 'growth')).toBe(0)
    expect(await purge(365 * 7 - 1, 'enterprise')).toBe(0)
    expect(await purge(31, 'developer')).toBe(1)
    const [left] = await service.test.owner<{ count: number }>(
      'SELECT count(*)::int AS count FROM audit_entries WHERE account_id = $1',
      [young.accountId],
    )
    expect(left).toEqual({ count: 0 })
  })
})
