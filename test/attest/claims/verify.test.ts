// The handler of the attest queue, over real claims and settlements: always one result and one set of events.

import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInspector } from '#src/attest/media/inspector.ts'
import { QUEUES } from '#src/catalogue/queues.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import type { Worker } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { until } from '../../support/until.ts'
import { attestFixture, BARE_PHOTO, makeMedia, makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ caller, phone } = await attestFixture({ service }))
})

/** A queued attestation that will fail, so that its claim has every event. */
async function submit(): Promise<{ id: string; jobId: string; claimId: string }> {
  const { json } = await service.attest(caller, shoot(phone, { gps: undefined, biometric: undefined }))
  const id = String(json.attestation_id)
  return { id, jobId: await service.jobOf(id), claimId: String(json.claim_id) }
}
const seen = async (id: string) => (await service.call(caller, `/v1/attestations/${id}`)).json
const eventTypes = async () => (await service.events(caller)).map(({ type }) => type)
const ALL_EVENTS = ['attestation.created', 'claim.provenance_updated', 'claim.escalated']
/** Everything but the job itself. */
const results = async () =>
  service.test.owner(
    `SELECT (SELECT json_agg(a ORDER BY a.id) FROM attestations a) AS a, (SELECT json_agg(c ORDER BY c.id) FROM claims c) AS c,
       (SELECT json_agg(e ORDER BY e.id) FROM events e) AS e`,
  )

describe('the handler writes one result and one set of events', () => {
  it('when it runs once: the result, then its consequences for the claim', async () => {
    const { id, claimId } = await submit()
    expect(await service.run(id)).toEqual({ kind: 'settled' })
    const json = await seen(id)
    expect(json).toMatchObject({
      status: 'succeeded',
      risk_score: 80,
      risk_status: 'failed',
      provenance_status: 'verified',
    })
    const factor_codes = ['hardware_backing_absent', 'gps_absent', 'biometric_absent']
    expect(await service.events(caller)).toEqual([
      {
        type: 'attestation.created',
        data: {
          attestation_id: id,
          claim_id: claimId,
          risk_score: 80,
          risk_status: 'failed',
          provenance_status: 'verified',
          factor_codes,
          advisory_codes: ['c2pa_absent'],
        },
      },
      {
        type: 'claim.provenance_updated',
        data: {
          claim_id: claimId,
          previous: { risk_status: 'pending', risk_score: null, provenance_status: null },
          current: { risk_status: 'failed', risk_score: 80, provenance_status: 'verified' },
          added_factors: factor_codes,
          removed_factors: [],
        },
      },
      { type: 'claim.escalated', data: { claim_id: claimId, risk_score: 80, factor_codes } },
    ])
  })

  it('when it runs again, and again', async () => {
    const { id } = await submit()
    await service.run(id)
    const before = await results()
    expect(await service.run(id)).toEqual({ kind: 'done' })
    expect(await service.run(id)).toEqual({ kind: 'done' })
    expect(await results()).toEqual(before)
  })

  it('when another delivery has taken the job over, in either order', async () => {
    for (const order of ['late first', 'early first']) {
      const { id, jobId } = await submit()
      const early = await service.take(jobId)
      const late = await service.take(jobId)
      const run = (job: typeof early) => service.runJob(id, job).catch((error: unknown) => error)
      const [first, second] = order === 'late first' ? [late, early] : [early, late]
      expect(await run(first)).toEqual(first === late ? { kind: 'settled' } : STALE_JOB)
      expect((await seen(id)).status).toBe(first === late ? 'succeeded' : 'queued')
      expect(await run(second)).toEqual(second === late ? { kind: 'settled' } : STALE_JOB)
      expect((await seen(id)).status).toBe('succeeded')
    }
    expect(await eventTypes()).toEqual([...ALL_EVENTS, ...ALL_EVENTS])
  })

  it('when both run concurrently', async () => {
    const { id, jobId } = await submit()
    const jobs = [await service.take(jobId), await service.take(jobId), await service.take(jobId)]
    const outcomes = await Promise.allSettled(jobs.map((job) => service.verify.run({ attestationId: id }, job)))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await eventTypes()).toEqual(ALL_EVENTS)
  })

  it('for each of several attestations that are evaluated in one batch, one of which was deleted', async () => {
    const other = await makePhone(service, caller, { name: 'Other' })
    const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
    const nonce = session?.session_nonce
    const bodies = [
      shoot(phone, { sessionNonce: nonce }),
      shoot(other, { sessionNonce: nonce }),
      shoot({ device: other.device, id: phone.id }),
      shoot(phone, { photo: BARE_PHOTO }),
      { ...shoot(phone), bundle: undefined, signature: undefined, certificate_chain: undefined },
    ]
    const ids: string[] = []
    for (const body of bodies) ids.push(String((await service.attest(caller, body)).json.attestation_id))
    const job = await service.take((await submit()).jobId)
    const gone = service.verify.run({ attestationId: newId('att', caller.environment) }, job)
    const outcomes = await Promise.all([...ids.map((id) => service.run(id)), gone])
    expect(outcomes.map(({ kind }) => kind)).toEqual([...ids.map(() => 'settled'), 'dead'])
    const judged = await Promise.all(ids.map(seen))
    const codesOf = (name: string) => judged.map((json) => (json[name] as { code: string }[]).map(({ code }) => code))
    expect(codesOf('factors')).toEqual([
      ['hardware_backing_absent'],
      ['session_nonce_mismatch', 'hardware_backing_absent'],
      ['hardware_backing_absent', 'device_not_enrolled'],
      ['hardware_backing_absent'],
      ['no_manifest'],
    ])
    expect(codesOf('advisory_factors').map((codes) => codes.includes('exif_missing'))).toEqual([
      false,
      false,
      false,
      true,
      false,
    ])
  })

  it('when the fence changes between reading and settling', async () => {
    const { id, jobId } = await submit()
    const before = await results()
    const overtaken = service.makeVerify({
      async signRecord(...args) {
        await service.take(jobId)
        return service.signRecord(...args)
      },
    })
    await expect(service.run(id, overtaken)).rejects.toBe(STALE_JOB)
    expect(await results()).toEqual(before)
    await service.run(id)
    expect(await eventTypes()).toEqual(ALL_EVENTS)
  })

  it('when it dies before, between or after any of its statements', async () => {
    let steps = 0
    for (let step = 1; ; step += 1) {
      const { id } = await submit()
      const before = await results()
      const dying = service.makeVerify({ db: dyingAt(service.test.db, step) })
      const died = await service.run(id, dying).then(
        () => false,
        (error: Error) => error.message === 'killed',
      )
      if (!died) break
      steps = step
      expect(await results()).toEqual(before)
      await service.run(id)
      expect((await seen(id)).status).toBe('succeeded')
    }
    // Three reads; job, evaluation, standing and events, each before and after its statement; and the commit.
    expect(steps).toBeGreaterThanOrEqual(15)
    const types = await eventTypes()
    expect(types).toHaveLength(ALL_EVENTS.length * (steps + 1))
  })

  it('when it dies after its commit, before its answer', async () => {
    const { id } = await submit()
    let isSettling = false
    const db: Database = {
      ...service.test.db,
      async tenant(scope, work) {
        const result = await service.test.db.tenant(scope, work)
        if (isSettling) throw new Error('killed')
        isSettling = true
        return result
      },
    }
    await expect(service.run(id, service.makeVerify({ db }))).rejects.toThrow('killed')
    const before = await results()
    expect(await service.run(id)).toEqual({ kind: 'done' })
    expect(await results()).toEqual(before)
    expect(await eventTypes()).toEqual(ALL_EVENTS)
  })

  it('or none, when the attestation was cancelled: before it began, and while it ran', async () => {
    const cancel = (id: string) =>
      service.test.owner(`UPDATE attestations SET status = 'cancelled' WHERE id = $1`, [id])
    const [early, late] = [await submit(), await submit()]
    await cancel(early.id)
    expect(await service.run(early.id)).toEqual({ kind: 'done' })
    const meanwhile = service.makeVerify({
      async signRecord(...args) {
        await cancel(late.id)
        return service.signRecord(...args)
      },
    })
    expect(await service.run(late.id, meanwhile)).toEqual({ kind: 'settled' })
    for (const { id } of [early, late]) expect(await seen(id)).not.toHaveProperty('risk_score')
    expect(await eventTypes()).toEqual([])
  })

  it('or none with a dead job, when the attestation was deleted', async () => {
    const { jobId } = await submit()
    const job = await service.take(jobId)
    expect(await service.verify.run({ attestationId: newId('att', 'sandbox') }, job)).toMatchObject({ kind: 'dead' })
  })
})

describe('an evaluation that can’t be made yet', () => {
  it('is retried while its media is not in the store, any number of times', async () => {
    const { id } = await submit()
    await rm(await pathOf(id))
    for (let attempt = 1; attempt <= 3; attempt += 1) await expect(service.run(id)).rejects.toThrow()
    expect(await seen(id)).toMatchObject({ status: 'queued' })
    expect(await eventTypes()).toEqual([])
    // Also when it is deleted between the store's check and the parser's read.
    const store: BlobStore = { ...service.store, withLocalFile: (_scope, _sha256, work) => work('/nowhere/at/all') }
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await expect(service.run(id, service.makeVerify({ store }))).rejects.toThrow('missing')
    }
    await makeMedia(service, caller)
    await service.run(id)
    expect((await seen(id)).advisory_factors).toMatchObject([{ code: 'c2pa_absent' }])
  })

  it('is retried when a parser timed out or crashed, unless that happens twice', async () => {
    const thread = new URL('../media/misbehaving-thread.ts', import.meta.url)
    const inspector = createInspector({ thread, limitMs: 200 })
    for (const path of ['never', 'throw', 'exit']) {
      const { id } = await submit()
      const store: BlobStore = { ...service.store, withLocalFile: (_scope, _sha256, work) => work(path) }
      const verify = service.makeVerify({ inspector, store })
      await expect(service.run(id, verify)).rejects.toThrow(/timeout|crashed/)
      expect(await service.run(id, verify)).toEqual({ kind: 'settled' })
      expect(await seen(id)).toMatchObject({
        status: 'succeeded',
        advisory_factors: [{ code: 'exif_missing' }],
        // The same parser searches for a manifest.
        observations: [{ code: 'c2pa_not_read', evidence: { found: path === 'never' ? 'timeout' : 'crashed' } }],
      })
    }
    await inspector.close()
  })

  it('is deferred while a parser can’t be started, however often: that is not the file’s fault', async () => {
    const { id } = await submit()
    const inspector = createInspector({ thread: new URL('../media/never-ready-thread.ts', import.meta.url) })
    const verify = service.makeVerify({ inspector })
    for (let run = 1; run <= 3; run += 1) expect(await service.run(id, verify)).toMatchObject({ kind: 'defer' })
    expect(await seen(id)).toMatchObject({ status: 'queued' })
    await inspector.close()
  })

  it('is deferred, which costs no attempt, while too many other files are being parsed', async () => {
    const { id } = await submit()
    const inspector = createInspector({ maxWaiting: 0 })
    const outcome = await service.run(id, service.makeVerify({ inspector }))
    expect(outcome).toMatchObject({ kind: 'defer', reason: expect.any(String) })
    expect(await seen(id)).toMatchObject({ status: 'queued' })
    await inspector.close()
  })

  it('is retried when the media thread is closing', async () => {
    const { id } = await submit()
    const inspector = createInspector()
    await inspector.close()
    await expect(service.run(id, service.makeVerify({ inspector }))).rejects.toThrow('closed')
  })
})

describe('with a worker', () => {
  let worker: Worker
  beforeAll(async () => {
    worker = await service.startWorker()
  })
  afterAll(() => worker.close(5_000))

  const untilIs = (id: string, status: string) => until(async () => (await seen(id)).status === status)
  const retry = (id: string) => service.call(caller, `/v1/attestations/${id}/retry`, { method: 'POST' })

  it('a job that fails its last attempt is dead, and its attestation shows a failure text for the caller', async () => {
    const media = { content_type: 'image/jpeg', data: PHOTO.toString('base64') }
    await service.test.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
    const { json } = await service.attest(caller, { media_type: 'image', media })
    const id = String(json.attestation_id)
    await rm(await pathOf(id))
    // One attempt is left: eight of them take minutes.
    await service.test.owner('UPDATE jobs SET attempts = $2 WHERE id = $1', [
      await service.jobOf(id),
      QUEUES.attest.maxAttempts - 1,
    ])
    const waiting = service.call(caller, `/v1/attestations/${id}?wait=20`)
    await service.test.owner('DELETE FROM queues')
    expect(await waiting).toMatchObject({
      status: 200,
      json: { status: 'failed', failure: { code: 'evaluation_failed', detail: expect.any(String) } },
    })

    const { failure } = await seen(id)
    expect(JSON.stringify(failure)).not.toMatch(/missing|\/|store/)
    const [job] = await service.test.owner('SELECT state, last_error FROM jobs WHERE id = $1', [
      await service.jobOf(id),
    ])
    expect(job).toMatchObject({ state: 'dead', last_error: expect.stringContaining('missing') })
    expect(await eventTypes()).toEqual([])
    const { json: claim } = await service.call(caller, `/v1/claims/${json.claim_id}`)
    expect(claim).toMatchObject({ risk_status: 'pending' })
    const { json: submitted } = await service.call(caller, `/v1/claims/${json.claim_id}/attestations`)
    expect(submitted).toMatchObject({ data: [{ status: 'failed', failure }] })

    await makeMedia(service, caller)
    const revived = await retry(id)
    expect(revived).toMatchObject({ status: 202, json: { attestation_id: id, status: 'queued' } })
    expect(revived.json.failure).toBeNull()
    await untilIs(id, 'succeeded')
    expect((await seen(id)).failure).toBeNull()
    expect(await eventTypes()).toEqual(ALL_EVENTS)
  })

  it('a malformed payload makes the job dead at once, and its attestation failed', async () => {
    await service.test.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
    const { id, jobId } = await submit()
    const other = await submit()
    await service.test.owner(`UPDATE jobs SET payload = '{"attestation": 1}' WHERE id = $1`, [jobId])
    await service.test.owner('DELETE FROM queues')
    await untilIs(id, 'failed')
    await untilIs(other.id, 'succeeded')
    const [job] = await service.test.owner('SELECT state, attempts FROM jobs WHERE id = $1', [jobId])
    expect(job).toEqual({ state: 'dead', attempts: 1 })

    await service.test.owner('UPDATE jobs SET payload = $2 WHERE id = $1', [jobId, { attestationId: id }])
    expect((await retry(id)).status).toBe(202)
    await untilIs(id, 'succeeded')
  })

  it('only a failed attestation can be retried, and by one of two concurrent callers', async () => {
    const { id, jobId } = await submit()
    await untilIs(id, 'succeeded')
    const before = await results()
    // The example of /docs/errors.
    const { detail, members } = guidanceOf('invalid_state_transition').example
    const refusal = { code: 'invalid_state_transition', detail, ...members, allowed: ['failed', 'cancelled'] }
    expect(members).toEqual({ allowed: refusal.allowed, current_status: 'succeeded' })
    expect(await retry(id)).toMatchObject({ status: 409, json: refusal })
    expect(await results()).toEqual(before)

    await service.test.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
    const queued = await submit()
    expect(await retry(queued.id)).toMatchObject({ status: 409, json: { detail: expect.stringContaining('queued') } })
    await service.test.owner(`UPDATE jobs SET state = 'dead' WHERE id = $1`, [queued.jobId])
    await service.test.owner(`UPDATE attestations SET status = 'failed', failure = 'x' WHERE id = $1`, [queued.id])
    const answers = await Promise.all([retry(queued.id), retry(queued.id), retry(queued.id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409])
    for (const { status, json } of answers) if (status === 409) expect(json.detail).toContain('queued')
    await service.test.owner('DELETE FROM queues')
    await untilIs(queued.id, 'succeeded')
    expect(jobId).not.toBe(queued.jobId)
  })
})

async function pathOf(attestationId: string): Promise<string> {
  const [row] = await service.test.owner<{ sha: string }>(
    `SELECT encode(m.sha256, 'hex') AS sha FROM media m JOIN attestations a ON a.media_id = m.id WHERE a.id = $1`,
    [attestationId],
  )
  return service.store.path(caller, row?.sha ?? '')
}

/** A database whose process dies at its n-th step: steps lie before and after each statement, and before each commit. */
function dyingAt(db: Database, n: number): Database {
  let steps = 0
  const step = () => {
    steps += 1
    if (steps === n) throw new Error('killed')
  }
  const guarded =
    (run: Tx['query']): Tx['query'] =>
    async (text, values) => {
      step()
      const rows = await run<never>(text, values)
      step()
      return rows
    }
  return {
    ...db,
    tenant: (scope, work) =>
      db.tenant(scope, async (tx) => {
        const result = await work({ ...tx, query: guarded(tx.query), adhoc: guarded(tx.adhoc) })
        step()
        return result
      }),
  }
}
