// Each queue from outside, on real processes and on each engine: what is submitted over HTTP is evaluated, and what was
// evaluated arrives at a receiver with a signature that verifies.

import { createHash } from 'node:crypto'
import { compactVerify, createLocalJWKSet } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createExports } from '#src/account/exports/exports.ts'
import { createSessions } from '#src/account/sessions/sessions.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { type Receiver, startReceiver } from '../../commands/demo/receiver.ts'
import { type FakeDetector, startDetector } from '../attest/screen/detector.ts'
import { fetchAgain } from '../support/again.ts'
import { testedEngines } from '../support/engines.ts'
import { leieFile } from '../support/exclusion-lists.ts'
import { differencesFromPlan, eventFaults, type Fleet, makeFleet, untilSettled } from '../support/fleet.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const CLAIMS = 40

describe.each(testedEngines())('the main flow on %s', (engine) => {
  let system: System
  let receiver: Receiver
  let fleet: Fleet
  let detector: FakeDetector

  const request = async (path: string, init: Parameters<typeof fetchAgain>[1] = {}) => {
    const headers = { authorization: `Bearer ${system.key}`, 'content-type': 'application/json', ...init.headers }
    const response = await fetchAgain(`${system.baseUrl}${path}`, { ...init, headers })
    return { status: response.status, text: await response.text() }
  }

  const post = async (path: string, json: object) =>
    JSON.parse((await request(path, { method: 'POST', body: JSON.stringify(json) })).text)
  const get = async (path: string) => JSON.parse((await request(path)).text)

  beforeAll(async () => {
    detector = await startDetector({ json: { genai_score: 0.97, deepfake_score: 0.02 } })
    const environment = { SCREENING_DETECTOR: 'http', SCREENING_URL: detector.url }
    system = await startSystem({ engine, environment })
    receiver = await startReceiver()
    const { text } = await request('/v1/webhook-endpoints', {
      method: 'POST',
      body: JSON.stringify({ url: receiver.url, event_types: ['*'] }),
    })
    receiver.expectSecret(JSON.parse(text).signing_secret)
    fleet = await makeFleet(system, CLAIMS)
  })
  afterAll(async () => {
    await fleet?.client.close()
    await system?.close()
    await receiver?.close()
    await detector?.close()
  })

  it('attest: evaluates a batch as planned, each event once', async () => {
    const { batch_id: batchId } = await fleet.client.submitBatch(fleet.bodies)
    await untilSettled(fleet.client, batchId, CLAIMS)
    expect(await differencesFromPlan(fleet, batchId)).toEqual([])
    expect(await eventFaults(system)).toEqual([])
  })

  it('attest: returns the signed result of a single submission while the caller waits', async () => {
    const [first] = fleet.bodies
    const { status, text } = await request('/v1/claims/attest', {
      method: 'POST',
      headers: { prefer: 'wait=20' },
      body: JSON.stringify({ ...first, external_id: 'single', claim: { reference: 'single' } }),
    })
    expect(status).toBe(200)
    const body = JSON.parse(text)
    expect(body.status).toBe('succeeded')
    const keys = createLocalJWKSet(JSON.parse((await request('/.well-known/jwks.json')).text))
    const { payload, protectedHeader } = await compactVerify(body.result_jws, keys)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'attest-result+jwt' })
    expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({
      attestation_id: body.attestation_id,
      risk_score: body.risk_score,
      factors: body.factors,
    })
  })

  it('web: counts the requests of each key', async () => {
    const answer = await fetch(`${system.baseUrl}/v1/claims`, { headers: { authorization: `Bearer ${system.key}` } })
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=100000;w=1')
    const [{ count } = { count: 0 }] = await system.database.owner<{ count: number }>(
      `SELECT count(*)::int AS count FROM workers WHERE queue = 'web'`,
    )
    expect(count).toBe(1)
  })

  it('compare: reports the photo of that submission as a duplicate of the first claim that showed it', async () => {
    const [claim] = JSON.parse((await request('/v1/claims?reference=single')).text).data
    const codes = async () => {
      const { data } = JSON.parse((await request(`/v1/claims/${claim.claim_id}/attestations`)).text)
      return data[0].observations.map(({ code }: { code: string }) => code)
    }
    await until(async () => (await codes()).includes('duplicate_media'), { everyMs: 100 })
  })

  it('screen: asks the detector about an attested photo, and its attestation is re-evaluated', async () => {
    const [{ claim_id: claimId, media_id: mediaId } = {}] = await system.database.owner<Record<string, string>>(
      'SELECT claim_id, media_id FROM attestations ORDER BY id LIMIT 1',
    )
    const { status, text } = await request('/v1/media/screen', {
      method: 'POST',
      headers: { prefer: 'wait=20' },
      body: JSON.stringify({ claim_id: claimId, media: { media_id: mediaId } }),
    })
    expect({ status, text }).toMatchObject({ status: 200 })
    expect(JSON.parse(text)).toMatchObject({ status: 'succeeded', genai_score: 0.97, claim_id: claimId })
    expect(detector.asked).toHaveLength(1)
    const claim = JSON.parse((await request(`/v1/claims/${claimId}`)).text)
    expect(claim.advisory_codes).toContain('ai_generated_likely')
    await until(async () => {
      const { data } = JSON.parse((await request(`/v1/claims/${claimId}/attestations`)).text)
      return JSON.stringify(data).includes('ai_generated_likely')
    })
  })

  it('reevaluate: a changed risk policy re-evaluates the affected attestations, as its dry run said', async () => {
    const document = {
      require_attestation: false,
      require_biometric: false,
      require_gps: true,
      thresholds: { review: 0, failed: 1_000 },
      geofence_m: 500,
    }
    const dryRun = async () => {
      const body = JSON.stringify({ document, limit: 500 })
      return JSON.parse((await request('/v1/account/risk-policy/dry-run', { method: 'POST', body })).text)
    }
    const foretold = await dryRun()
    expect(foretold).toMatchObject({ looked: CLAIMS + 1, unknown: 0, has_more: false })
    expect(foretold.would_change).toBeGreaterThan(CLAIMS / 2)
    const sent = { method: 'PUT', body: JSON.stringify({ document }), headers: { 'if-match': '*' } }
    expect((await request('/v1/account/risk-policy', sent)).status).toBe(200)
    const path = '/v1/account/reevaluations?cause=policy_changed'
    const latest = async () => JSON.parse((await request(path)).text).data[0]
    await until(async () => (await latest()).status === 'succeeded', { everyMs: 100 })
    expect(await latest()).toMatchObject({ looked: CLAIMS + 1, pending: 0, failed: 0, skipped: 0 })
    const [change] = foretold.data
    const { risk_status, risk_score, provenance_status } = JSON.parse(
      (await request(`/v1/claims/${change.claim_id}`)).text,
    )
    expect({ risk_status, risk_score, provenance_status }).toEqual(change.after)
    expect(await dryRun()).toMatchObject({ would_change: 0 })
  })

  it('trace: explains a token of an inference, with a manifest that has the hash of its job', async () => {
    const messages = [{ role: 'user', content: 'What do lamps cost at Cobalt Tools?' }]
    const { trace_id } = await post('/v1/trace/inferences', { messages, max_tokens: 4, retain: 'text' })
    const { job_id } = await post('/v1/trace/jobs', { trace_id, max_feature_nodes: 16 })
    const shown = () => get(`/v1/trace/jobs/${job_id}?wait=30`)
    await until(async () => (await shown()).status === 'succeeded', { everyMs: 100 })
    const { result } = await shown()
    const { text } = await request(`/v1/trace/jobs/${job_id}/manifest`)
    expect(createHash('sha256').update(text).digest('hex')).toBe(result.manifest_hash)
    expect(result.verified.nodes).toBe(16)
  })

  it('diff: compares a model with itself, with a report that has the hash of the diff', async () => {
    const model = 'countersign-tiny'
    const prompts = [{ messages: [{ role: 'user', content: 'What do cables cost at Cobalt Tools?' }] }]
    const { eval_set_id } = await post('/v1/trace/eval-sets', { name: 'Prices', prompts })
    const { diff_id } = await post('/v1/trace/diffs', {
      base_model: model,
      target_model: model,
      eval_set: eval_set_id,
    })
    const shown = () => get(`/v1/trace/diffs/${diff_id}?wait=30`)
    await until(async () => (await shown()).status === 'succeeded', { everyMs: 100 })
    const { text } = await request(`/v1/trace/diffs/${diff_id}/report`)
    const report = JSON.parse(text)
    expect(createHash('sha256').update(canonicalize(report)).digest('hex')).toBe((await shown()).report_hash)
    expect(report).toMatchObject({ verdict: 'inconclusive', next_token_kl: { mean: 0 } })
  })

  it('export: writes an archive of the account, with its photos', async () => {
    const exports = createExports({
      db: system.database.db,
      store: { openRead: async () => undefined, delete: async () => {} },
      pager: createPager({ key: Buffer.alloc(32) }),
      now: () => new Date(),
      recordRead: async () => {},
      waits: { ended: async () => true },
    })
    const userId = newAccountId('usr')
    const sessions = createSessions({ db: system.database.db, now: () => new Date() })
    const session = await system.database.db.system('sign in', async (tx) => {
      const { accountId } = system.scope
      await tx.query("INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, 'owner')", [
        accountId,
        userId,
        `${userId}@example.com`,
      ])
      return sessions.create(tx, { accountId, userId, method: 'magic_link', isSandboxOnly: false })
    })
    const principal = { kind: 'session', sessionId: session.id, userId, role: 'owner', isSandboxOnly: false } as const
    const by = { ...system.scope, principal }
    const { id } = await exports.create(by, { includesMedia: true })
    const shown = () => exports.get(by, id)
    await until(async () => (await shown()).state === 'ready', { everyMs: 100 })
    const { rowsDone, filesDone, size } = await shown()
    expect(rowsDone).toBeGreaterThan(3 * CLAIMS)
    expect(filesDone).toBeGreaterThan(CLAIMS)
    expect(size).toBeGreaterThan(10_000)
  })

  it('exclusions: imports a list, and compares prescribers with it', async () => {
    const { text } = await request('/v1/clinical/exclusion-lists/leie/import', {
      method: 'POST',
      body: leieFile([{ LASTNAME: 'EXAMPLE', FIRSTNAME: 'ONE' }]).toString(),
      headers: { 'content-type': 'text/csv' },
    })
    const path = `/v1/clinical/exclusion-imports/${JSON.parse(text).exclusion_import_id}?wait=30`
    await until(async () => (await get(path)).status === 'succeeded', { everyMs: 100 })
    expect(await get('/v1/clinical/exclusion-lists/leie')).toMatchObject({ source: 'account', rows: 1 })
    const screened = () => get('/v1/clinical/exclusion-screenings')
    await until(async () => (await screened()).data[0]?.status === 'succeeded', { everyMs: 100 })
  })

  it('deliver: sends every event to the receiver, each with a valid signature', async () => {
    const [row] = await system.database.owner<{ count: string }>('SELECT count(*) FROM events')
    await until(() => receiver.eventIds.size === Number(row?.count))
    expect(receiver.invalid).toEqual([])
    expect(receiver.byType.get('attestation.created')).toBe(CLAIMS + 1)
    expect(receiver.byType.get('screening.completed')).toBe(1)
    expect(receiver.byType.get('trace.job_completed')).toBe(1)
    expect(receiver.byType.get('trace.diff_completed')).toBe(1)
    // Recorded too: one delivery per event, delivered, with its attempt.
    await until(async () => {
      const pending = await system.database.owner("SELECT FROM deliveries WHERE status <> 'delivered'")
      return pending.length === 0
    })
    const unrecorded = await system.database.owner(
      `SELECT d.id FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.response_status = 200
       GROUP BY d.id HAVING count(a.delivery_id) < 1`,
    )
    expect(unrecorded).toEqual([])
  })

  it('stops cleanly: nothing is left running or dispatched', async () => {
    await system.supervisor.stop()
    const left = await system.database.owner("SELECT queue, state FROM jobs WHERE state = 'dispatched'")
    expect(left).toEqual([])
    expect(await system.database.owner('SELECT queue FROM workers')).toEqual([])
  })
})
