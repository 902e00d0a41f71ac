// An export of an account from the request to the download, and what becomes of it when things go wrong in between.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createExportWork, type ExportDeps } from '#src/account/exports/export.ts'
import { BARE_PHOTO, makePhone, shoot } from '../../attest/claims/phone.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { fillEveryTable } from '../../support/rows.ts'
import type { SignedIn } from '../../support/service.ts'
import { unzip } from './zip.ts'

let service: Service
let jobs: Jobs<'export'>
let caller: TestCaller
let owner: SignedIn

beforeAll(async () => {
  service = await startService()
  jobs = createJobs(service.test, 'export')
  caller = await service.makeCaller({ scopes: ['all'] })
  owner = await service.signIn(caller.accountId)
})
afterAll(() => service?.close())

const ask = (path: string, sent: object = {}, who = owner) =>
  service.call({}, path, { ...sent, headers: { ...who.headers } })
const request = (json: object = {}) => ask('/v1/account/export', { json })
const makeWork = (deps: Partial<ExportDeps> = {}) => {
  const { db, store, now } = service.services.platform
  const tables = () => service.services.features.flatMap(({ data = [] }) => data)
  return createExportWork({ db, store, now, tables, ...deps })
}
async function jobOf(exportId: unknown): Promise<string> {
  const [row] = await service.test.owner<{ job_id: string }>('SELECT job_id FROM account_exports WHERE id = $1', [
    exportId,
  ])
  return row?.job_id ?? ''
}
const read = async (id: unknown) => (await ask(`/v1/account/exports/${id}`)).json
function download(id: unknown, headers: Record<string, string> = {}, who = owner): Promise<Response> {
  return fetch(`${service.app.url}/v1/account/exports/${id}/download`, { headers: { ...who.headers, ...headers } })
}
const files = () => service.services.platform.store.list({ accountId: caller.accountId, environment: 'live' })
async function blobs(): Promise<string[]> {
  const all: string[] = []
  for await (const page of files()) all.push(...page)
  return all
}

it('an archive has every row of both environments without secrets, the media, and the digest of each file', async () => {
  const phone = await makePhone(service, caller)
  const judged = await service.judge(caller, shoot(phone, { photo: BARE_PHOTO }))
  await fillEveryTable(service.test, { accountId: caller.accountId, environment: 'live' })
  const stranger = await service.makeCaller()
  await fillEveryTable(service.test, stranger)
  const { json: made, status, headers } = await request({ include_media: true })
  expect([status, headers.location]).toEqual([202, `/v1/account/exports/${made.export_id}`])
  expect(made).toMatchObject({
    status: 'queued',
    includes_media: true,
    requested_by: { type: 'user', id: owner.userId },
    size: null,
  })
  const early = await ask(`/v1/account/exports/${made.export_id}/download`)
  expect([early.status, early.json.code, early.json.current_status]).toEqual([409, 'not_ready', 'queued'])
  const second = await request()
  expect([second.status, second.json.code]).toEqual([409, 'conflict'])

  expect(await jobs.run(await jobs.take(await jobOf(made.export_id)), makeWork())).toBe('settled')
  const ready = await read(made.export_id)
  expect(ready).toMatchObject({ status: 'succeeded', failure: null })
  const answer = await download(made.export_id)
  const archive = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, answer.headers.get('content-type'), archive.length]).toEqual([
    200,
    'application/zip',
    ready.size,
  ])
  expect(createHash('sha256').update(archive).digest('hex')).toBe(ready.sha256)
  const part = await download(made.export_id, { Range: 'bytes=10-19' })
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, archive.subarray(10, 20)])
  const beyond = await download(made.export_id, { Range: `bytes=${archive.length}-` })
  expect(beyond.status).toBe(416)

  const found = unzip(archive)
  const manifest = JSON.parse(String(found.get('manifest.json'))) as {
    files: { name: string; sha256: string; size: number; rows?: number }[]
    missing_media: string[]
    left_out: { table: string; reason: string }[]
  }
  expect(manifest.files.map(({ name }) => name).sort()).toEqual(
    [...found.keys()].filter((name) => name !== 'manifest.json').sort(),
  )
  for (const { name, sha256, size, rows } of manifest.files) {
    const bytes = found.get(name) ?? Buffer.alloc(0)
    expect([name, bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([name, size, sha256])
    if (rows !== undefined) expect([name, bytes.toString().split('\n').length - 1]).toEqual([name, rows])
  }
  expect(manifest.left_out.map(({ table }) => table).sort()).toEqual([
    'decision_facts',
    'diff_checkpoints',
    'event_heads',
    'idempotency_keys',
    'job_lanes',
    'jobs',
    'ledger_heads',
    'ledger_nodes',
    'ledger_pending',
    'passkey_challenges',
    'passkey_registrations',
    'reevaluation_marks',
    'sso_starts',
    'trace_contents',
    'trace_manifests',
  ])
  const lines = (name: string) =>
    String(found.get(name))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines('account/accounts.ndjson')).toMatchObject([{ id: caller.accountId }])
  expect(lines('sandbox/attestations.ndjson')).toMatchObject([{ id: judged.attestation_id }])
  expect(lines('live/attestations.ndjson')).toHaveLength(2)
  expect(lines('live/webhook_endpoints.ndjson')[0]).not.toHaveProperty('sealed_secret')
  const photo = createHash('sha256').update(BARE_PHOTO).digest('hex')
  expect(found.get(`media/sandbox/${photo}.jpeg`)).toEqual(BARE_PHOTO)
  // Rows of a photo and of a chunk whose bytes are not there.
  expect(manifest.missing_media.map((name) => name.split('.').at(-1))).toEqual(['jpeg', 'chunk'])
  const text = [...found.values()].map(String).join('\n')
  expect(text).not.toContain(stranger.accountId)
  const secrets = await service.test.owner<{ secret: string }>(
    `SELECT encode(hash, 'hex') AS secret FROM api_keys UNION SELECT encode(secret_hash, 'hex') FROM user_sessions
     UNION SELECT encode(sealed_secret, 'hex') FROM webhook_endpoints UNION SELECT challenge FROM device_challenges`,
  )
  expect(secrets.length).toBeGreaterThan(3)
  for (const { secret } of secrets) expect(text).not.toContain(secret)

  const log = await ask('/v1/account/audit?limit=100')
  const actions = (log.json.data as { action: string }[]).map(({ action }) => action)
  expect(actions.filter((action) => action.startsWith('account.'))).toEqual(['account.export_read', 'account.exported'])
})

it('each download has an entry of its own, at once or one after the other; ranges that continue one have none', async () => {
  const { json } = await ask('/v1/account/exports')
  const [{ export_id: id, size } = { export_id: '', size: 0 }] = json.data as { export_id: string; size: number }[]
  const who = await service.signIn(caller.accountId)
  const entries = async () => {
    const log = await ask(`/v1/account/audit?limit=100&actor_id=${who.userId}`)
    return (log.json.data as { action: string; request_id: string }[]).filter(
      ({ action }) => action === 'account.export_read',
    )
  }
  const read = async (headers: Record<string, string> = {}) => {
    const answer = await download(id, headers, who)
    await answer.arrayBuffer()
    return [answer.status, answer.headers.get('request-id')]
  }
  const whole = [await read(), await read(), ...(await Promise.all([read(), read()]))]
  const begun = [await read({ Range: 'bytes=0-9' }), await read({ Range: `bytes=-${size + 1}` })]
  for (let at = 10; at < 50; at += 10) expect((await read({ Range: `bytes=${at}-${at + 9}` }))[0]).toBe(206)
  const logged = (await entries()).map(({ request_id }) => request_id)
  expect(logged.toSorted()).toEqual([...whole, ...begun].map(([, requestId]) => requestId).toSorted())
  // A download that begins elsewhere is not left out.
  service.clock.now = new Date(Date.now() + 61_000)
  expect((await read({ Range: 'bytes=1-' }))[0]).toBe(206)
  service.clock.now = undefined
  expect(await entries()).toHaveLength(whole.length + begun.length + 1)
})

it('an archive belongs to owners of the account who proved their address, for a week', async () => {
  const { json } = await ask('/v1/account/exports')
  const [{ export_id: id } = { export_id: '' }] = json.data as { export_id: string }[]
  const others = [
    [await service.signIn(caller.accountId, { role: 'admin' }), 403, 'insufficient_role'],
    [await service.signIn(caller.accountId, { isSandboxOnly: true }), 403, 'environment_mismatch'],
    [await service.signIn((await service.makeCaller()).accountId), 404, 'not_found'],
  ] as const
  for (const [who, status, code] of others) {
    for (const path of ['', '/download']) {
      const { status: answered, json } = await ask(`/v1/account/exports/${id}${path}`, {}, who)
      expect([answered, json.code]).toEqual([status, code])
    }
  }
  expect((await service.call(caller, `/v1/account/exports/${id}`)).json.code).toBe('session_required')

  const rules = service.services.features.flatMap(({ retention = [] }) => retention)
  const rule = rules.find(({ what }) => what === 'account_exports')
  if (rule?.per !== 'tenant') throw new Error('no such rule')
  const place = { accountId: caller.accountId, environment: 'live' as const }
  const { signal } = new AbortController()
  expect(await rule.purge(place, new Date(), signal)).toBe(0)
  expect(await blobs()).toHaveLength(1)
  await service.test.owner('UPDATE account_exports SET expires_at = now() WHERE id = $1', [id])
  expect((await download(id)).status).toBe(409)
  expect(await rule.purge(place, new Date(), signal)).toBe(1)
  expect(await blobs()).toEqual([])
  expect(await read(id)).toMatchObject({ status: 'succeeded' })
})

it('an export that breaks begins anew, and leaves no part of its archive', async () => {
  const { json } = await request()
  const jobId = await jobOf(json.export_id)
  const { db, store } = service.services.platform
  let pages = 0
  const breaking = {
    tenant: (async (...args: Parameters<typeof db.tenant>) => {
      pages += 1
      if (pages === 20) throw new Error('Postgres went away')
      return db.tenant(...args)
    }) as typeof db.tenant,
  }
  expect(await jobs.run(await jobs.take(jobId), makeWork({ db: breaking }))).toBe('retry')
  const full: Partial<ExportDeps> = {
    store: { ...store, put: async () => Promise.reject(new Error('the store is away')) },
  }
  expect(await jobs.run(await jobs.take(jobId), makeWork(full))).toBe('retry')
  expect(await blobs()).toEqual([])
  expect(await read(json.export_id)).toMatchObject({ status: 'running' })

  const work = makeWork()
  const late = await jobs.take(jobId)
  const taken = await jobs.take(jobId)
  expect(await jobs.run(late, work)).toBe('stale')
  expect(await jobs.run(taken, work)).toBe('settled')
  expect(await read(json.export_id)).toMatchObject({ status: 'succeeded' })
  expect(await jobs.runNew(caller, { exportId: String(json.export_id) }, work)).toBe('done')
})

it('an archive that no row names is deleted at once, and one whose commit has lost its answer stays', async () => {
  const { accountId } = await service.makeCaller()
  const scope = { accountId, environment: 'live' as const }
  const { db, store } = service.services.platform
  const stored = async () => (await Array.fromAsync(store.list(scope))).flat()
  const who = await service.signIn(accountId)
  const made = await service.call({}, '/v1/account/export', { json: {}, headers: who.headers })
  const exportId = String(made.json.export_id)
  const jobId = await jobOf(exportId)
  const onceStored = (act: (work: () => Promise<unknown>) => Promise<unknown>): Partial<ExportDeps> => {
    let isStored = false
    const put: typeof store.put = async (...args) => {
      const blob = await store.put(...args)
      isStored = true
      return blob
    }
    const tenant = (async (...args: Parameters<typeof db.tenant>) => {
      if (!isStored) return db.tenant(...args)
      isStored = false
      return act(() => db.tenant(...args))
    }) as typeof db.tenant
    return { store: { ...store, put }, db: { tenant } }
  }

  const refused = onceStored(() => Promise.reject(new Error('Postgres went away')))
  expect(await jobs.run(await jobs.take(jobId), makeWork(refused))).toBe('retry')
  expect(await stored()).toEqual([])
  const ended = onceStored(async (finish) => {
    await service.test.owner("UPDATE account_exports SET state = 'failed', failure = 'dead' WHERE id = $1", [exportId])
    return finish()
  })
  expect(await jobs.run(await jobs.take(jobId), makeWork(ended))).toBe('settled')
  expect(await stored()).toEqual([])
  expect(await service.test.owner('SELECT state FROM account_exports WHERE id = $1', [exportId])).toEqual([
    { state: 'failed' },
  ])

  const next = await service.call({}, '/v1/account/export', { json: {}, headers: who.headers })
  const lost = onceStored(async (finish) => {
    await finish()
    throw new Error('the connection was lost')
  })
  expect(await jobs.run(await jobs.take(await jobOf(next.json.export_id)), makeWork(lost))).toBe('retry')
  expect(await stored()).toHaveLength(1)
})

it('an account requests three exports in 24 hours, and is told when it can request another', async () => {
  const agoHours = (hours: number) =>
    service.test.owner(`UPDATE account_exports SET created_at = now() - $2 * interval '1 hour' WHERE account_id = $1`, [
      caller.accountId,
      hours,
    ])
  const count = async () => ((await ask('/v1/account/exports')).json.data as object[]).length
  expect(await count()).toBe(3)
  await agoHours(23)
  const refused = await request()
  expect([refused.status, refused.json.code, refused.json.limit]).toEqual([429, 'rate_limited', 'exports'])
  // Of the hour that is left, what the test has taken is gone.
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3_600)
  expect(await count()).toBe(3)
  await agoHours(25)
})

it('an export is waited for: the answer comes with its end', async () => {
  const { json } = await request()
  const { export_id: id } = json
  const waiting = ask(`/v1/account/exports/${id}?wait=30`)
  expect(await jobs.run(await jobs.take(await jobOf(id)), makeWork())).toBe('settled')
  expect((await waiting).json).toMatchObject({ export_id: id, status: 'succeeded' })
  expect((await ask(`/v1/account/exports/${id}?wait=31`)).json.errors?.[0]?.pointer).toBe('?wait')
})

it('an export with too many media fails with the reason, a dead one can be redriven, and another can be requested', async () => {
  const { json } = await request({ include_media: true })
  expect(await jobs.run(await jobs.take(await jobOf(json.export_id)), makeWork({ maxMedia: 1 }))).toBe('settled')
  expect(await read(json.export_id)).toMatchObject({
    status: 'failed',
    failure: { code: 'export_failed', detail: expect.stringMatching(/at most 1 files/) },
  })
  const next = await request()
  const work = makeWork()
  const taken = await jobs.take(await jobOf(next.json.export_id))
  await jobs.kill(taken, work)
  expect(await read(next.json.export_id)).toMatchObject({ status: 'failed' })
  await jobs.redrive(taken, work)
  expect(await read(next.json.export_id)).toMatchObject({ status: 'queued' })
})
