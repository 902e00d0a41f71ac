// Diffs and evaluation sets over HTTP, and the work of their queue on real models in their own processes.

import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { MAX_OPEN_DIFFS } from '#src/trace/diffs/diffs.ts'
import { createEvalSets } from '#src/trace/diffs/eval-sets.ts'
import { createDiff, type DiffDeps } from '#src/trace/diffs/run.ts'
import type { TraceBackend } from '#src/trace/models/backend.ts'
import { DEFAULT_MODEL } from '#src/trace/models/model-files.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createModelFolder } from '../../support/gguf.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const SECRET = 'Mill Lane Bakery'
const PROMPTS = ['flour', 'lamps', 'cables', 'paper'].map((goods) => ({
  messages: [
    { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
    { role: 'user', content: `What do ${goods} cost at ${SECRET}?` },
    { role: 'tool', content: `${SECRET}: ${goods}, 40.00 EUR, delivery 2026-12-01.` },
  ],
}))

const folder = createModelFolder()
let on: TestService
let jobs: Jobs<'diff'>
let caller: TestCaller
let evalSet: string

beforeAll(async () => {
  // Other bytes make another version, and the same figures: nothing reads the end of the file.
  const twin = folder.write('twin.gguf', Buffer.concat([readFileSync(DEFAULT_MODEL.path), Buffer.alloc(32)]))
  const sha256 = createHash('sha256').update(readFileSync(twin)).digest('hex')
  const probes = JSON.parse(readFileSync(DEFAULT_MODEL.probesPath ?? '', 'utf8'))
  folder.write('twin.probes.json', Buffer.from(JSON.stringify({ ...probes, model: { ...probes.model, sha256 } })))
  copyFileSync(DEFAULT_MODEL.path, join(folder.folder, 'bare.gguf'))
  const files = ['twin', 'bare'].map((name) => `${name}=${join(folder.folder, `${name}.gguf`)}`)
  on = await startTestService({ scopes: ['all'], env: { TRACE_MODELS: `countersign-tiny,${files.join(',')}` } })
  jobs = createJobs(on.test, 'diff')
  caller = await on.makeCaller()
  const stored = await post('/v1/trace/eval-sets', { name: 'Prices', prompts: PROMPTS })
  expect(stored.status).toBe(200)
  evalSet = String(stored.json.eval_set_id)
})
afterAll(async () => {
  await on?.close()
  folder.close()
})

const post = (path: string, json?: object, headers: Record<string, string> = {}, who = caller) =>
  on.call(who, path, { method: 'POST', headers, ...(json !== undefined && { json }) })
const get = async (path: string, who = caller) => (await on.call(who, path)).json
const request = (more: object = {}) => ({
  base_model: 'countersign-tiny',
  target_model: 'twin',
  eval_set: evalSet,
  seed: 7,
  ...more,
})
async function create(more: object = {}): Promise<string> {
  const { status, json } = await post('/v1/trace/diffs', request(more))
  expect([status, json.status]).toEqual([202, 'queued'])
  return String(json.diff_id)
}
const work = (deps: Partial<DiffDeps> = {}) => {
  const { platform, trace } = on.services
  const { db, now } = platform
  return createDiff({ db, now, models: trace.models.models, evalSets: createEvalSets(platform), ...deps })
}
const take = async (diffId: string) => jobs.take((await jobs.of(diffId))[0] ?? '')
const events = async (diffId: string) =>
  (await on.events(caller))
    .filter(({ type, data }) => type === 'trace.diff_completed' && data.diff_id === diffId)
    .map(({ data }) => data)

/** A database whose n-th transaction fails, before it begins or after its commit, as a crash of the process does. */
function failing(db: Pick<Database, 'tenant'>, at: number, isAfter: boolean): Pick<Database, 'tenant'> {
  let count = 0
  return {
    async tenant<R>(scope: Parameters<Database['tenant']>[0], run: (tx: Tx) => Promise<R>): Promise<R> {
      count += 1
      if (count === at && !isAfter) throw new Error('killed')
      const result = await db.tenant(scope, run)
      if (count === at) throw new Error('killed')
      return result
    },
  }
}

/** The models, with a look at each evaluation before it begins. */
function watchModels(look: (backend: TraceBackend) => unknown): DiffDeps['models'] {
  const { models } = on.services.trace.models
  return {
    get(id) {
      const backend = models.get(id)
      const call = async (...sent: Parameters<TraceBackend['call']>) => {
        if (sent[0] === 'evaluate') await look(backend)
        return backend.call(...sent)
      }
      return { ...backend, call: call as TraceBackend['call'] }
    },
  }
}

describe('a diff', () => {
  let hash: string
  let diffId: string

  it('measures both models, and its report has the hash of its canonical JSON and one event', async () => {
    const first = await post('/v1/trace/diffs', request(), { 'idempotency-key': 'one' })
    diffId = String(first.json.diff_id)
    expect(first.headers.location).toBe(`/v1/trace/diffs/${diffId}`)
    expect((await post('/v1/trace/diffs', request(), { 'idempotency-key': 'one' })).json.diff_id).toBe(diffId)
    expect((await on.call(caller, `/v1/trace/diffs/${diffId}/report`)).json.code).toBe('not_ready')

    expect(await jobs.run(await take(diffId), work())).toBe('settled')
    const diff = await get(`/v1/trace/diffs/${diffId}`)
    expect(diff).toMatchObject({
      status: 'succeeded',
      pass: false,
      verdict: 'inconclusive',
      families_drifted: [],
      progress: { done: 4, total: 4 },
      seed: 7,
    })
    const report = await get(`/v1/trace/diffs/${diffId}/report`)
    hash = createHash('sha256')
      .update(canonicalize(report as Json))
      .digest('hex')
    expect(diff.report_hash).toBe(hash)
    expect(report).toMatchObject({
      eval_set: { name: 'Prices', prompts: 4, used: 4, skipped: 0 },
      next_token_kl: { mean: 0, undefined_because: null },
      shifted_neurons: [],
      base: { model: 'countersign-tiny' },
      target: { model: 'twin' },
    })
    const families = report.families as { psi: number; ks: { p: number }; base_mean: number }[]
    expect(families).toHaveLength(6)
    for (const { psi, ks, base_mean } of families) {
      expect([psi, ks.p]).toEqual([0, 1])
      expect(base_mean).toBeGreaterThan(0)
    }
    expect(await events(diffId)).toEqual([
      {
        diff_id: diffId,
        status: 'succeeded',
        base_model: 'countersign-tiny',
        target_model: 'twin',
        pass: false,
        verdict: 'inconclusive',
        families_drifted: [],
        report_hash: hash,
      },
    ])
    const { data } = await get('/v1/trace/diffs?status=succeeded&include=total_count')
    expect((data as { diff_id: string }[]).map((one) => one.diff_id)).toEqual([diffId])
  })

  it('has one report and one event, with the same hash, wherever its worker is killed', async () => {
    const { db } = on.services.platform
    const { json } = await post('/v1/trace/eval-sets', { name: 'Two', prompts: PROMPTS.slice(0, 2) })
    const two = { eval_set: json.eval_set_id }
    const whole = await create(two)
    expect(await jobs.run(await take(whole), work())).toBe('settled')
    const { report_hash: expected } = await get(`/v1/trace/diffs/${whole}`)
    let steps = 0
    for (const isAfter of [false, true]) {
      for (let at = 1, isWhole = false; !isWhole; at += 1) {
        const id = await create(two)
        const killed = work({ db: failing(db, at, isAfter), checkpointMs: 0 })
        isWhole = (await jobs.run(await take(id), killed)) === 'settled'
        steps += 1
        // What the last transaction committed stays, also when the process did not live to hear of it.
        const [left] = await jobs.of(id)
        if (left !== undefined) expect(await jobs.run(await jobs.take(left), work())).toBe('settled')
        expect((await get(`/v1/trace/diffs/${id}`)).report_hash).toBe(expected)
        expect(await events(id)).toHaveLength(1)
      }
    }
    // Before and after each: the start, the checkpoint that is read, three that are stored, the end; and twice without a
    // fault.
    expect(steps).toBe(14)
    expect(await on.test.owner('SELECT * FROM diff_checkpoints')).toEqual([])
  })

  it('continues at its checkpoint, and begins anew when the model is another one by then', async () => {
    const asked: string[] = []
    const watched = watchModels(({ model }) => {
      asked.push(model)
    })
    const id = await create()
    const { db } = on.services.platform
    // The third stores the start, the next ones a prompt each.
    const killed = work({ db: failing(db, 5, true), checkpointMs: 0, models: watched })
    expect(await jobs.run(await take(id), killed)).toBe('retry')
    const before = asked.length / 2
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(PROMPTS.length)
    expect((await get(`/v1/trace/diffs/${id}`)).progress).toEqual({ done: before, total: 4 })
    await on.test.owner(`UPDATE diff_checkpoints SET measures = jsonb_set(measures, '{origin}', '"another model"')`)
    expect(await jobs.run(await take(id), work({ models: watched }))).toBe('settled')
    expect(asked.length / 2).toBe(before + PROMPTS.length)
    expect((await get(`/v1/trace/diffs/${id}`)).report_hash).toBe(hash)
  })

  it('goes on elsewhere when its worker stops or its turn is over, and no attempt is lost', async () => {
    const id = await create()
    const attempts = async () =>
      (await on.test.owner('SELECT attempts FROM jobs WHERE id = $1', [(await jobs.of(id))[0]]))[0]?.attempts
    const stopping = new AbortController()
    const stopped = watchModels(() => stopping.abort())
    const taken = await take(id)
    const { signal } = stopping
    expect(await jobs.run({ ...taken, job: { ...taken.job, signal } }, work({ models: stopped }))).toBe('defer')
    expect(await attempts()).toBe(0)
    for (const done of [1, 2, 3]) {
      expect(await jobs.run(await take(id), work({ checkpointMs: 0, turnMs: 0 }))).toBe('defer')
      expect((await get(`/v1/trace/diffs/${id}`)).progress).toEqual({ done, total: 4 })
    }
    expect(await attempts()).toBe(0)
    expect(await jobs.run(await take(id), work({ checkpointMs: 0, turnMs: 0 }))).toBe('settled')
    expect((await get(`/v1/trace/diffs/${id}`)).report_hash).toBe(hash)
  })

  it('is cancelled while it waits and while it runs, without an event', async () => {
    const waiting = await create()
    expect((await post(`/v1/trace/diffs/${waiting}/cancel`)).json.status).toBe('cancelled')
    expect(await jobs.of(waiting)).toEqual([])

    const running = await create()
    const cancelling = watchModels(async () => {
      await post(`/v1/trace/diffs/${running}/cancel`)
    })
    expect(await jobs.run(await take(running), work({ models: cancelling, checkpointMs: 0 }))).toBe('done')
    for (const id of [waiting, running]) {
      expect((await get(`/v1/trace/diffs/${id}`)).status).toBe('cancelled')
      expect(await events(id)).toEqual([])
      expect((await post(`/v1/trace/diffs/${id}/cancel`)).status).toBe(200)
    }
    const late = await post(`/v1/trace/diffs/${diffId}/cancel`)
    expect([late.status, late.json.code, late.json.allowed]).toEqual([
      409,
      'invalid_state_transition',
      ['queued', 'running'],
    ])
  })

  it('is refused beyond 20 that have not ended, until one of them ends', async () => {
    const other = await on.makeCaller()
    const send = () => post('/v1/trace/diffs', { ...request(), eval_set: 'default' }, {}, other)
    const open: unknown[] = []
    for (let count = 0; count < MAX_OPEN_DIFFS; count += 1) open.push((await send()).json.diff_id)
    const refused = await send()
    expect([refused.status, refused.json.code, refused.json.limit]).toEqual([429, 'rate_limited', 'trace_diffs'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await post(`/v1/trace/diffs/${open[0]}/cancel`, undefined, {}, other)).status).toBe(200)
    expect((await send()).status).toBe(202)
  })

  it('answers a caller who waits when it has ended, and is listed by statuses and verdicts', async () => {
    const id = await create()
    const waiting = get(`/v1/trace/diffs/${id}?wait=30`)
    expect(await jobs.run(await take(id), work())).toBe('settled')
    expect(await waiting).toMatchObject({ status: 'succeeded', failure: null, created_by: { type: 'key' } })
    const listed = async (query: string) =>
      ((await get(`/v1/trace/diffs?limit=100&${query}`)).data as { diff_id: string }[]).map(({ diff_id }) => diff_id)
    expect(await listed('status=queued&status=succeeded&verdict=inconclusive')).toContain(id)
    expect(await listed('verdict=drift&verdict=pass')).not.toContain(id)
  })

  it('fails when its prompts are gone or its job is dead, and says so once; redriven, it succeeds', async () => {
    const { json } = await post('/v1/trace/eval-sets', { name: 'Gone', prompts: PROMPTS.slice(0, 1) })
    const gone = await create({ eval_set: json.eval_set_id })
    expect((await on.call(caller, `/v1/trace/eval-sets/${json.eval_set_id}`, { method: 'DELETE' })).status).toBe(200)
    expect(await jobs.run(await take(gone), work())).toBe('settled')
    expect(await get(`/v1/trace/diffs/${gone}`)).toMatchObject({ status: 'failed', failure: { code: 'not_found' } })
    expect(await events(gone)).toMatchObject([{ status: 'failed', pass: false, report_hash: null }])

    const dead = await create()
    const taken = await take(dead)
    await jobs.kill(taken, work())
    expect(await get(`/v1/trace/diffs/${dead}`)).toMatchObject({ status: 'failed', pass: null })
    await jobs.redrive(taken, work())
    expect(await jobs.run(await take(dead), work())).toBe('settled')
    expect((await get(`/v1/trace/diffs/${dead}`)).report_hash).toBe(hash)
    expect((await events(dead)).map(({ status }) => status)).toEqual(['failed', 'succeeded'])
  })

  it.each([
    ['at its next checkpoint', 1, 0],
    ['at its end, where no checkpoint comes before', 2, 60_000],
  ])('that runs fails when its prompts are deleted, %s', async (_, at, checkpointMs) => {
    const { json } = await post('/v1/trace/eval-sets', { name: 'Deleted', prompts: PROMPTS.slice(0, 2) })
    const id = await create({ eval_set: json.eval_set_id })
    let measured = 0
    const deleting = watchModels(async ({ model }) => {
      if (model === 'twin') measured += 1
      if (model !== 'twin' || measured !== at) return
      await on.call(caller, `/v1/trace/eval-sets/${json.eval_set_id}`, { method: 'DELETE' })
    })
    expect(await jobs.run(await take(id), work({ models: deleting, checkpointMs }))).toBe('settled')
    expect(measured).toBe(at)
    const failed = { status: 'failed', failure: { code: 'not_found' }, verdict: null, report_hash: null }
    expect(await get(`/v1/trace/diffs/${id}`)).toMatchObject(failed)
    expect(await events(id)).toMatchObject([{ status: 'failed' }])
    expect(await on.test.owner('SELECT * FROM diff_checkpoints WHERE diff_id = $1', [id])).toEqual([])
  })

  it('skips a prompt that is too long for a model, and counts it', async () => {
    const long = { messages: [{ role: 'user', content: 'lamps and flour '.repeat(900) }] }
    const { json } = await post('/v1/trace/eval-sets', { name: 'Long', prompts: [long, ...PROMPTS.slice(0, 1)] })
    const id = await create({ eval_set: json.eval_set_id })
    expect(await jobs.run(await take(id), work())).toBe('settled')
    const report = await get(`/v1/trace/diffs/${id}/report`)
    expect(report.eval_set).toMatchObject({ prompts: 2, used: 1, skipped: 1 })
  })

  it.each<[string, number, object]>([
    ['not_found', 404, { base_model: 'smollm9' }],
    ['backend_capability_missing', 422, { target_model: 'bare' }],
    ['not_found', 404, { eval_set: 'evs_test_01m7x7k8e5e6ts0a9n3v8wq5hc' }],
    ['environment_mismatch', 403, { eval_set: 'evs_live_01m7x7k8e5e6ts0a9n3v8wq5hc' }],
    ['not_found', 404, { eval_set: 'mine' }],
    ['invalid_request', 400, { thresholds: { psi_warn: 0.3 } }],
    ['invalid_request', 400, { thresholds: { psi: 0.3 } }],
    ['invalid_request', 400, { seed: -1 }],
    ['invalid_request', 400, { seed: 0.5 }],
  ])('is refused with %s (%i) for %j', async (code, status, more) => {
    const answer = await post('/v1/trace/diffs', request(more))
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })

  it('belongs to its account, whose key must be its own', async () => {
    const other = await on.makeCaller()
    for (const path of [`/v1/trace/diffs/${diffId}`, `/v1/trace/diffs/${diffId}/report`]) {
      expect((await on.call(other, path)).status).toBe(404)
    }
    expect((await post(`/v1/trace/diffs/${diffId}/cancel`, undefined, {}, other)).status).toBe(404)
    expect((await get('/v1/trace/diffs', other)).data).toEqual([])
    expect((await post('/v1/trace/diffs', request(), {}, other)).json.code).toBe('not_found')
    const live = `/v1/trace/diffs/${diffId.replace('_test_', '_live_')}`
    expect((await on.call(caller, live)).json.code).toBe('environment_mismatch')
  })
})

describe('an evaluation set', () => {
  const prompt = (messages: object[]) => ({ name: 'S', prompts: [{ messages }] })
  const user = { role: 'user', content: 'Hello' }

  it.each<[string, object]>([
    ['ends with the answer', prompt([user, { role: 'assistant', content: 'Hi' }])],
    ['has no message', prompt([])],
    ['has an empty one', prompt([{ role: 'user', content: '' }])],
    ['has a message of another role', prompt([{ role: 'developer', content: 'x' }])],
    ['has a message that is too long', prompt([{ role: 'user', content: 'x'.repeat(16_001) }])],
    ['has too many messages', prompt(Array.from({ length: 17 }, () => user))],
    ['has no prompts', { name: 'S', prompts: [] }],
    ['has too many', { name: 'S', prompts: Array.from({ length: 2_001 }, () => ({ messages: [user] })) }],
    ['has no name', { prompts: PROMPTS }],
    ['has another member', { name: 'S', prompts: [{ messages: [user], expected: 'x' }] }],
  ])('is refused that %s', async (_, body) => {
    const { status, json } = await post('/v1/trace/eval-sets', body)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
  })

  it.each<[string, object[]]>([
    ['2,000 prompts of 16 messages', Array.from({ length: 16 }, () => user)],
    ['4 MB of texts with 120,000 commas', [{ role: 'user', content: 'Delivery confirmed, see invoice. '.repeat(59) }]],
  ])('may be as large as its limits say: %s', async (_, messages) => {
    const { status, json } = await post('/v1/trace/eval-sets', { name: 'S', prompts: Array(2_000).fill({ messages }) })
    expect([status, json.prompts]).toEqual([200, 2_000])
  })

  it('is sealed at rest, shown without its prompts, and listed for its account alone', async () => {
    const shown = await get(`/v1/trace/eval-sets/${evalSet}`)
    const expected = createHash('sha256').update(canonicalize(PROMPTS)).digest('hex')
    expect(shown).toMatchObject({ name: 'Prices', prompts: 4, sha256: expected })
    expect(JSON.stringify(shown)).not.toContain(SECRET)
    const [row] = await on.test.owner<{ bytes: Buffer }>(
      'SELECT sealed_prompts AS bytes FROM eval_sets WHERE id = $1',
      [evalSet],
    )
    expect(row?.bytes.length).toBeGreaterThan(500)
    expect(row?.bytes.toString('latin1')).not.toContain(SECRET)
    const { data } = await get('/v1/trace/eval-sets')
    expect((data as { eval_set_id: string }[]).map((one) => one.eval_set_id)).toContain(evalSet)
    const other = await on.makeCaller()
    expect((await get('/v1/trace/eval-sets', other)).data).toEqual([])
    const removed = await on.call(other, `/v1/trace/eval-sets/${evalSet}`, { method: 'DELETE' })
    expect(removed.status).toBe(404)
  })
})
