// The screen queue: what a detector answered, and what follows from it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Observation } from '#src/attest/factors/judge.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import type { Detector } from '#src/attest/screen/detectors/detector.ts'
import { createObserve } from '#src/attest/screen/evaluation.ts'
import { screeningCodesOfClaim, screeningFactors } from '#src/attest/screen/rows.ts'
import { QUEUES } from '#src/catalogue/queues.ts'
import { createJobs } from '../../support/jobs.ts'
import { until } from '../../support/until.ts'
import { chunk } from '../media/png.ts'
import { type Caller, type ScreenService, startScreening } from './service.ts'

const HIGH = { json: { id: 'call-9', genai_score: 0.97, deepfake_score: 0.02, models: [{ model: 'm', score: 0.9 }] } }
const HOUR_MS = 3_600_000

let service: ScreenService
let caller: Caller
beforeAll(async () => {
  service = await startScreening()
  caller = await service.makeCaller()
})
afterAll(() => service?.close())
beforeEach(() => {
  service.server.answer = HIGH
  service.server.asked.length = 0
  service.said.length = 0
  service.clock.now = new Date()
})

async function submit(who: Caller = caller, more: Record<string, unknown> = {}, mediaId?: string): Promise<string> {
  const id = mediaId ?? (await service.makeImage(who)).id
  const { json, status, text } = await service.screen(who, { ...more, media: { media_id: id } })
  expect(status, text).toBe(202)
  return String(json.screening_id)
}

describe('the screen queue', () => {
  it('counts screenings of the live environment that got a score, each once', async () => {
    const who = await service.makeCaller({ environment: 'live' })
    const { id: mediaId } = await service.makeImage(who)
    const scored = await submit(who, {}, mediaId)
    expect(await service.run(scored)).toEqual({ kind: 'settled' })
    await service.test.owner(`UPDATE jobs SET state = 'queued' WHERE account_id = $1`, [who.accountId])
    expect(await service.run(scored)).toEqual({ kind: 'done' })
    const cached = await submit(who, {}, mediaId)
    await service.run(cached)
    service.server.answer = { status: 422, json: {} }
    for (const work of [service.makeWork(), service.makeWork({ detector: undefined })])
      await service.run(await submit(who), work)
    const counted = await service.test.owner(
      'SELECT operation, subject_id, units FROM usage_entries WHERE account_id = $1 ORDER BY subject_id',
      [who.accountId],
    )
    const one = (subject: string) => ({ operation: 'screen', subject_id: subject, units: 1 })
    expect(counted).toEqual([scored, cached].toSorted().map(one))
  })

  it('writes the score, the factors and the event, once', async () => {
    const who = await service.makeCaller()
    const claimId = await service.makeClaim(who, { advisory_codes: ['exif_missing', 'deepfake_likely'] })
    const id = await submit(who, { claim_id: claimId })
    const work = service.makeWork()
    expect(await service.run(id, work)).toEqual({ kind: 'settled' })
    const found = await service.find(who, id)
    expect(found).toMatchObject({
      status: 'succeeded',
      failure: null,
      claim_id: claimId,
      genai_score: 0.97,
      deepfake_score: 0.02,
      models: [{ model: 'm', score: 0.9 }],
      review_recommended: true,
      is_cached: false,
      detector: { name: 'http', version: '1', thresholds: { genai: { review: 0.5, likely: 0.8 } } },
    })
    expect(found.factors).toMatchObject([
      { code: 'ai_generated_likely', evidence: { found: 0.97, expected: 'below 0.8', screening_id: id } },
    ])
    expect(await service.calls(who)).toEqual([{ outcome: 'scored', vendor_id: 'call-9' }])
    const event = {
      screening_id: id,
      claim_id: claimId,
      genai_score: 0.97,
      deepfake_score: 0.02,
      factors: ['ai_generated_likely'],
      detector: { name: 'http', version: '1' },
    }
    expect(await service.events(who)).toEqual([event])
    const [claim] = await service.test.owner(
      'SELECT risk_status, risk_score, advisory_codes FROM claims WHERE id = $1',
      [claimId],
    )
    // The factor is advisory: it is shown, and adds no points.
    expect(claim).toEqual({
      risk_status: 'pending',
      risk_score: null,
      advisory_codes: ['exif_missing', 'ai_generated_likely', 'deepfake_likely'],
    })
    // Run again, as after a crash between the commit and its answer.
    await service.test.owner(
      `UPDATE jobs SET state = 'queued' WHERE id = (SELECT job_id FROM screenings WHERE id = $1)`,
      [id],
    )
    expect(await service.run(id, work)).toEqual({ kind: 'done' })
    expect(await service.events(who)).toHaveLength(1)
    expect(service.server.asked).toHaveLength(1)
  })

  it('raises a factor at its threshold and not below, as the account has set it', async () => {
    const who = await service.makeCaller()
    const thresholds = { genai: { review: 0.3, likely: 0.6 }, deepfake: { review: 0.5, likely: 0.8 } }
    const sent = { method: 'PUT', json: { document: { thresholds } }, headers: { 'If-Match': '*' } }
    expect((await service.call(who, '/v1/account/screening', sent)).json.document).toEqual({ thresholds })
    const cases: [number, number, string[], boolean][] = [
      [0.6, 0.79999, ['ai_generated_likely'], true],
      [0.59999, 0.8, ['deepfake_likely'], true],
      [0.29999, 0.49999, [], false],
      [0, 0.5, [], true],
      [1, 1, ['ai_generated_likely', 'deepfake_likely'], true],
    ]
    for (const [genai, deepfake, codes, isReview] of cases) {
      service.server.answer = { json: { genai_score: genai, deepfake_score: deepfake } }
      const id = await submit(who)
      await service.run(id)
      const found = await service.find(who, id)
      expect(found).toMatchObject({ genai_score: genai, deepfake_score: deepfake, review_recommended: isReview })
      expect((found.factors as { code: string }[]).map(({ code }) => code)).toEqual(codes)
    }
    // Another account has its own threshold.
    service.server.answer = { json: { genai_score: 0.7 } }
    const id = await submit()
    await service.run(id)
    expect(await service.find(caller, id)).toMatchObject({
      factors: [],
      deepfake_score: null,
      review_recommended: true,
    })
  })

  it('asks once about the same bytes, for one account, detector and version', async () => {
    const who = await service.makeCaller()
    const image = await service.makeImage(who)
    const first = await submit(who, {}, image.id)
    await service.run(first)
    const second = await submit(who, {}, image.id)
    await service.run(second)
    expect(service.server.asked).toHaveLength(1)
    expect(await service.find(who, second)).toMatchObject({ status: 'succeeded', genai_score: 0.97, is_cached: true })
    expect(await service.events(who)).toHaveLength(2)
    // A new version gives another score.
    const third = await submit(who, {}, image.id)
    await service.run(third, service.makeWork({ detector: { ...service.detector, version: '2' } }))
    expect(service.server.asked).toHaveLength(2)
    // Another account pays for its own call.
    const other = await service.makeCaller()
    const data = Buffer.from(await readAll(who, image.sha256))
    const same = await service.media.storeInline(other, { contentType: image.contentType, data })
    expect(same.sha256).toBe(image.sha256)
    await service.run(await submit(other, {}, same.id))
    expect(service.server.asked).toHaveLength(3)
  })

  it('does not ask twice concurrently', async () => {
    const who = await service.makeCaller()
    const image = await service.makeImage(who)
    const [first, second] = [await submit(who, {}, image.id), await submit(who, {}, image.id)]
    const gate = Promise.withResolvers<void>()
    const slow: Detector = {
      ...service.detector,
      async detect(input) {
        await gate.promise
        return service.detector.detect(input)
      },
    }
    const work = service.makeWork({ detector: slow })
    const running = service.run(first, work)
    await until(async () => (await service.calls(who)).length === 1)
    expect(await service.run(second, work)).toMatchObject({ kind: 'defer', delayMs: 1_000 })
    gate.resolve()
    expect(await running).toEqual({ kind: 'settled' })
    expect(await service.run(second, work)).toEqual({ kind: 'settled' })
    expect(service.server.asked).toHaveLength(1)
  })

  it('answers unavailable without a detector: no number, no event', async () => {
    const who = await service.makeCaller()
    const id = await submit(who)
    expect(await service.run(id, service.makeWork({ detector: undefined }))).toEqual({ kind: 'settled' })
    expect(await service.find(who, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'no_detector' },
      genai_score: null,
      deepfake_score: null,
      factors: [],
      detector: null,
      review_recommended: null,
    })
    expect(await service.events(who)).toEqual([])
  })

  it('shows what the file declares, with or without a detector, and the same each time', async () => {
    const image = await service.makeImage(caller)
    const plain = await readAll(caller, image.sha256)
    const text = Buffer.from(
      'parameters\0a lighthouse, Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 16x16',
    )
    // After the signature and the 25 bytes of IHDR.
    const data = Buffer.concat([plain.subarray(0, 33), chunk('tEXt', text), plain.subarray(33)])
    const { id: mediaId } = await service.media.storeInline(caller, { contentType: 'image/png', data })
    const found: unknown[] = []
    for (const detector of [undefined, service.detector, service.detector]) {
      const id = await submit(caller, {}, mediaId)
      await service.run(id, service.makeWork({ observe: service.observe, detector }))
      found.push((await service.find(caller, id)).observations)
    }
    expect(found[0]).toMatchObject([{ code: 'declared_ai_generated', evidence: { found: ['png_text'] } }])
    expect(found[1]).toEqual(found[0])
    expect(found[2]).toEqual(found[0])
    const other = await submit(caller, {}, image.id)
    await service.run(other, service.makeWork({ observe: service.observe }))
    expect((await service.find(caller, other)).observations).toEqual([])
  })

  it('makes no call about a file that the detector does not read', async () => {
    const tiff = (await service.makeImage(caller, 'tiff')).id
    const contentTypes = new Set(['image/png'])
    const id = await submit(caller, {}, tiff)
    await service.run(id, service.makeWork({ detector: { ...service.detector, contentTypes } }))
    expect(await service.find(caller, id)).toMatchObject({ status: 'failed', failure: { code: 'content_type' } })
    const large = await submit()
    await service.test.owner(
      'UPDATE media SET size = 20000001 WHERE id = (SELECT media_id FROM screenings WHERE id = $1)',
      [large],
    )
    await service.run(large)
    expect(await service.find(caller, large)).toMatchObject({ status: 'failed', failure: { code: 'too_large' } })
    const video = await submit()
    await service.test.owner(
      `UPDATE media SET content_type = 'video/mp4' WHERE id = (SELECT media_id FROM screenings WHERE id = $1)`,
      [video],
    )
    await service.run(video)
    expect(await service.find(caller, video)).toMatchObject({ status: 'failed', failure: { code: 'video' } })
    expect(service.server.asked).toEqual([])
    service.server.answer = { status: 415, json: {} }
    const refused = await submit()
    await service.run(refused)
    expect(await service.find(caller, refused)).toMatchObject({ status: 'failed', failure: { code: 'unreadable' } })
  })

  it('waits as long as a 429 says, without counting an attempt, and makes no call meanwhile', async () => {
    service.server.answer = { status: 429, headers: { 'retry-after': '17' }, json: {} }
    const [one, two] = [await submit(), await submit()]
    const work = service.makeWork()
    expect(await service.run(one, work)).toMatchObject({ kind: 'defer', delayMs: 17_000 })
    expect(await service.run(two, work)).toMatchObject({ kind: 'defer', delayMs: 17_000 })
    expect(service.server.asked).toHaveLength(1)
    service.server.answer = HIGH
    service.clock.now = new Date(service.clock.now.getTime() + 17_000)
    expect(await service.run(two, work)).toEqual({ kind: 'settled' })
    expect(await service.run(one, work)).toEqual({ kind: 'settled' })
  })

  it('waits for a busy parser, which costs no attempt', async () => {
    const id = await submit()
    const { platform, attest } = service.services
    const inspector = createInspector({ maxWaiting: 0 })
    const { c2paAnchorsOf } = attest.trust
    const observe = createObserve({ ...platform, ...attest.media, inspector, c2paAnchorsOf })
    const jobs = createJobs(service.test, 'screen')
    const [job] = await service.test.owner<{ id: string }>('SELECT job_id AS id FROM screenings WHERE id = $1', [id])
    for (let run = 0; run <= QUEUES.screen.maxAttempts; run += 1)
      expect(await jobs.run(await jobs.take(job?.id ?? ''), service.makeWork({ observe }))).toBe('defer')
    expect(await service.run(id)).toEqual({ kind: 'settled' })
  })

  it('opens its circuit after five failures, probes with one call, and closes it', async () => {
    const who = await service.makeCaller()
    service.server.answer = { status: 500, text: 'oops' }
    const work = service.makeWork()
    const ids = await Promise.all(Array.from({ length: 6 }, () => submit(who)))
    for (const id of ids.slice(0, 5)) expect(await service.run(id, work)).toMatchObject({ kind: 'retry' })
    const [last = ''] = ids.slice(5)
    expect(await service.run(last, work)).toMatchObject({ kind: 'defer', delayMs: 15_000 })
    expect(service.server.asked).toHaveLength(5)
    expect(await gauge()).toBe(1)
    service.clock.now = new Date(service.clock.now.getTime() + 15_000)
    expect(await service.run(last, work)).toMatchObject({ kind: 'retry' })
    expect(await service.run(last, work)).toMatchObject({ kind: 'defer', delayMs: 30_000 })
    service.clock.now = new Date(service.clock.now.getTime() + 30_000)
    service.server.answer = HIGH
    expect(await service.run(last, work)).toEqual({ kind: 'settled' })
    expect(await gauge()).toBe(0)
    expect((await service.calls(who)).map(({ outcome }) => outcome)).toEqual([...Array(6).fill('failed'), 'scored'])
  })

  it('warns operators about refused credentials, and defers the work for a day', async () => {
    service.server.answer = { status: 401, json: {} }
    const work = service.makeWork()
    const id = await submit()
    expect(await service.run(id, work)).toMatchObject({ kind: 'defer' })
    expect(service.said).toMatchObject([{ level: 'error', about: { detector: 'http', detail: 'status 401' } }])
    expect(JSON.stringify(service.said)).not.toContain('hush')
    expect(await service.registry.metrics()).toContain('outcome="refused"} 1')
    service.clock.now = new Date(service.clock.now.getTime() + 25 * HOUR_MS)
    expect(await service.run(id, work)).toEqual({ kind: 'settled' })
    expect(await service.find(caller, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'detector_refused' },
      genai_score: null,
    })
  })

  it('gives up after the last attempt, keeps what the file declared, and can be redriven', async () => {
    const said: Observation[] = [
      { code: 'declared_ai_generated', evidence: { compared: 'c', expected: 'e', found: 'f' } },
    ]
    service.server.answer = { text: '{"genai_score": 2}' }
    const work = service.makeWork({ observe: async () => said })
    const id = await submit()
    const outcome = await service.run(id, work, { isLastAttempt: true })
    expect(outcome).toMatchObject({ kind: 'retry', error: 'failed: the answer has no valid genai_score' })
    await service.test.db.tenant(caller, (tx) => work.onDead(tx, caller, { screeningId: id }, 'spent'))
    expect(await service.find(caller, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'detector_failed' },
      genai_score: null,
      observations: said,
    })
    await service.test.db.tenant(caller, (tx) => work.onRedrive(tx, caller, { screeningId: id }))
    service.server.answer = HIGH
    expect(await service.run(id, work)).toEqual({ kind: 'settled' })
    expect(await service.find(caller, id)).toMatchObject({ status: 'succeeded', failure: null, observations: said })
  })

  it('discards a call whose job was taken over, and starts again', async () => {
    const who = await service.makeCaller()
    const id = await submit(who)
    const job = await service.take(id)
    await service.take(id)
    await expect(service.makeWork().run({ screeningId: id }, job)).rejects.toBeDefined()
    expect(await service.find(who, id)).toMatchObject({ status: 'queued', genai_score: null })
    expect(await service.events(who)).toEqual([])
    expect(await service.run(id)).toEqual({ kind: 'settled' })
    expect(await service.events(who)).toHaveLength(1)
  })

  it('ends with one score and one event, at whatever transaction its process dies', async () => {
    const { db } = service.test
    const steps: string[] = []
    for (let step = 1; steps.at(-1) !== 'lived'; step += 1) {
      const who = await service.makeCaller()
      const id = await submit(who)
      let count = 0
      const mortal: typeof db = {
        ...db,
        tenant(scope, work) {
          count += 1
          if (count === step) throw new Error('the process died')
          return db.tenant(scope, work)
        },
      }
      const end = await service.run(id, service.makeWork({ db: mortal })).then(
        () => 'lived',
        () => 'died',
      )
      steps.push(end)
      if (end === 'died') expect(await service.run(id)).toEqual({ kind: 'settled' })
      expect(await service.find(who, id)).toMatchObject({ status: 'succeeded', genai_score: 0.97 })
      expect(await service.events(who)).toHaveLength(1)
      const ended = (await service.calls(who)).filter(({ outcome }) => outcome === 'scored')
      expect(ended).toHaveLength(1)
    }
    // Reading, beginning the call, and writing its result.
    expect(steps).toEqual(['died', 'died', 'died', 'lived'])
  })

  it('passes its results for the same bytes and claims to evaluations', async () => {
    const who = await service.makeCaller()
    const image = await service.makeImage(who)
    const claimId = await service.makeClaim(who)
    const digest = Buffer.from(image.sha256, 'hex')
    const factorsOf = async (scope: Caller) =>
      (await service.test.db.tenant(scope, (tx) => screeningFactors(tx, [digest])))[0]
    expect(await factorsOf(who)).toEqual([])
    const id = await submit(who, { claim_id: claimId }, image.id)
    expect(await factorsOf(who)).toEqual([])
    await service.run(id)
    expect(await factorsOf(who)).toMatchObject([{ code: 'ai_generated_likely', evidence: { screening_id: id } }])
    expect(await factorsOf(who)).toEqual(await factorsOf(who))
    expect(await factorsOf(caller)).toEqual([])
    const codes = () => service.test.db.tenant(who, (tx) => screeningCodesOfClaim(tx, claimId))
    expect(await codes()).toEqual(['ai_generated_likely'])
    // The latest result counts, and a later one under higher thresholds removes it.
    const thresholds = { genai: { review: 0.5, likely: 0.99 }, deepfake: { review: 0.5, likely: 0.8 } }
    const sent = { method: 'PUT', json: { document: { thresholds } }, headers: { 'If-Match': '*' } }
    await service.call(who, '/v1/account/screening', sent)
    await service.run(await submit(who, { claim_id: claimId }, image.id))
    expect(await factorsOf(who)).toEqual([])
    expect(await codes()).toEqual([])
  })
})

async function gauge(): Promise<number | undefined> {
  const text = await service.registry.metrics()
  const value = /countersign_screening_circuit_open\{detector="http"\} (\d)/.exec(text)?.[1]
  return value === undefined ? undefined : Number(value)
}

async function readAll(scope: Caller, sha256: string): Promise<Buffer> {
  const blob = await service.store.openRead(scope, sha256)
  const chunks: Buffer[] = []
  for await (const chunk of blob?.stream ?? []) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
