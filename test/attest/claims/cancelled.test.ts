// A capture that was cancelled before it was evaluated counts as never submitted.

import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBatches } from '#src/attest/batches/batches.ts'
import { takeCounter, takeNonce } from '#src/attest/claims/single-use-rows.ts'
import { createPager } from '#src/platform/http/page.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import type { AttestBody } from '../../../capture-kit/device.ts'
import { recordVideo } from '../../../capture-kit/video.ts'
import { until } from '../../support/until.ts'
import { attestFixture, codesOf, makeMedia, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

const HONEST = ['hardware_backing_absent']
let service: Service
let batches: ReturnType<typeof createBatches>
let caller: Caller
let phone: Phone
let mediaId: string

beforeAll(async () => {
  service = await startService()
  const pager = createPager({ key: randomBytes(32) })
  batches = createBatches({ ...service.services.platform, db: service.test.db, pager })
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.now = undefined
  ;({ caller, phone } = await attestFixture({ service }))
  mediaId = await makeMedia(service, caller)
})

async function makeLines(count: number): Promise<AttestBody[]> {
  const { sessions } = await service.captures.issue(caller, { count })
  return sessions.map(({ session_nonce: sessionNonce }, index) =>
    shoot(phone, {
      externalId: `name ${index}`,
      claim: { reference: `R ${index % 7}` },
      sessionNonce,
      media: { media_id: mediaId },
    }),
  )
}

async function submit(lines: readonly AttestBody[]): Promise<{ id: string; attestations: string[] }> {
  const body = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const stream = Readable.from([body])
  const { row, rejected } = await batches.submit(caller, {
    stream,
    isArray: false,
    signal: new AbortController().signal,
  })
  expect([row.accepted, rejected]).toEqual([lines.length, []])
  const rows = await service.test.owner<{ id: string }>(
    `SELECT id FROM attestations WHERE batch_id = $1 OR id IN
       (SELECT repeat ->> 1 FROM batches, jsonb_array_elements(repeated) AS repeat WHERE batches.id = $1) ORDER BY external_id`,
    [row.id],
  )
  return { id: row.id, attestations: rows.map(({ id }) => id) }
}

const cancel = (id: string) => batches.cancel(caller, id)
const read = async (id: string) => (await service.call(caller, `/v1/attestations/${id}`)).json
const retry = (id: string) => service.call(caller, `/v1/attestations/${id}/retry`, { method: 'POST' })
const evaluate = async (id: string) => {
  await service.run(id)
  return read(id)
}
const statesOf = (ids: readonly string[]) =>
  service.test.owner<{ id: string; status: string; job: string; consumer: string | null }>(
    `SELECT a.id, a.status, j.state AS job,
       (SELECT consumed_by FROM capture_sessions s WHERE s.nonce = a.submission #>> '{bundle,session_nonce}') AS consumer
     FROM attestations a JOIN jobs j ON j.id = a.job_id WHERE a.id = ANY($1) ORDER BY a.id`,
    [ids],
  )

describe('a cancelled capture', () => {
  it('frees its external id and its nonce: the same capture submitted again is another attestation', async () => {
    const lines = await makeLines(3)
    const first = await submit(lines)
    expect(await cancel(first.id)).toMatchObject({ cancelled: 3 })
    const second = await submit(lines)
    expect(second.attestations.filter((id) => first.attestations.includes(id))).toEqual([])
    for (const id of second.attestations) {
      const json = await evaluate(id)
      expect([json.status, codesOf(json)]).toEqual(['succeeded', HONEST])
    }
    for (const [index, id] of first.attestations.entries()) {
      expect(await read(id)).toMatchObject({ status: 'cancelled', external_id: `name ${index}` })
    }
    const found = await service.call(caller, `/v1/claims?external_id=${encodeURIComponent('name 0')}`)
    expect(found.json.data).toHaveLength(1)
    const fingerprints = await service.test.owner('SELECT FROM fingerprints WHERE attestation_id = ANY($1)', [
      first.attestations,
    ])
    expect(fingerprints).toEqual([])
  })

  it('does not free a nonce that a capture submitted meanwhile has used', async () => {
    const [line] = await makeLines(1)
    if (line === undefined) throw new Error('there is no line')
    const first = await submit([line])
    const again = await submit([{ ...line, external_id: 'another name' }])
    await cancel(first.id)
    expect(codesOf(await evaluate(again.attestations[0] ?? ''))).toEqual(HONEST)
  })

  it('does not take a nonce from the capture that used it first', async () => {
    const [line] = await makeLines(1)
    if (line === undefined) throw new Error('there is no line')
    const first = await submit([line])
    const replay = await submit([{ ...line, external_id: 'another name' }])
    await cancel(replay.id)
    expect((await statesOf(first.attestations))[0]?.consumer).toBe(first.attestations[0])
    expect(codesOf(await evaluate(first.attestations[0] ?? ''))).toEqual(HONEST)
  })

  it('no longer contributes its statements to the claim', async () => {
    const at = (lat: number) => ({ reference: 'stated', loss_location: { lat, lng: 1 } })
    const wrong = await submit([shoot(phone, { media: { media_id: mediaId }, claim: at(1) })])
    await cancel(wrong.id)
    await submit([shoot(phone, { media: { media_id: mediaId }, claim: at(52) })])
    const { json } = await service.call(caller, '/v1/claims?reference=stated')
    expect(json.data).toMatchObject([{ loss_location: { lat: 52, lng: 1 } }])
  })

  it('reopens the stream of its session', async () => {
    const [chunk] = recordVideo({ seed: 1, chunks: 1 })
    const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
    if (chunk === undefined || session === undefined) throw new Error('there is nothing to send')
    const body = { media_type: 'image' as const, media: { media_id: mediaId } }
    const line = { ...shoot(phone, { sessionNonce: session.session_nonce }), ...body }
    const put = () =>
      service.call(caller, `/v1/claims/attest/sessions/${session.capture_session_id}/chunks/0`, {
        method: 'PUT',
        headers: { 'Content-Type': 'video/mp4' },
        body: chunk.data,
      })
    const { id } = await submit([line as AttestBody])
    expect((await put()).status).toBe(409)
    await cancel(id)
    expect((await put()).status).toBe(200)
  })

  it('frees the counter that a worker has recorded for it, and no late worker records one', async () => {
    const [line] = await makeLines(1)
    if (line === undefined) throw new Error('there is no line')
    const { id, attestations } = await submit([line])
    const [attestationId = ''] = attestations
    const keyDigest = createHash('sha256').update('key').digest()
    const use = { deviceId: phone.id ?? '', keyDigest, counter: 1 }
    const take = (of: string) => service.test.db.tenant(caller, (tx) => takeCounter(tx, caller, use, of))
    expect(await take(attestationId)).toBe(attestationId)
    await cancel(id)
    await expect(take(attestationId)).rejects.toBe(STALE_JOB)
    const nonce = line.bundle?.session_nonce ?? ''
    const late = service.test.db.tenant(caller, (tx) => takeNonce(tx, nonce, attestationId, new Date()))
    await expect(late).rejects.toBe(STALE_JOB)
    const second = await submit([line])
    expect(await take(second.attestations[0] ?? '')).toBe(second.attestations[0])
  })
})

describe('the retry of a cancelled capture', () => {
  it('submits it again, with its external id, its nonce and the present time', async () => {
    const [line] = await makeLines(1)
    if (line === undefined) throw new Error('there is no line')
    const { id, attestations } = await submit([line])
    const [attestationId = ''] = attestations
    const before = await read(attestationId)
    await cancel(id)
    const { status, json } = await retry(attestationId)
    expect([status, json.status, json.external_id]).toEqual([202, 'queued', 'name 0'])
    expect(String(json.accepted_at) >= String(before.accepted_at)).toBe(true)
    expect((await submit([line])).attestations).toEqual([attestationId])
    expect(codesOf(await evaluate(attestationId))).toEqual(HONEST)
    expect((await retry(attestationId)).status).toBe(409)
  })

  it('restores what it had stated about its claim', async () => {
    const claim = { reference: 'restated', line: 'auto', loss_location: { lat: 3, lng: 4 } }
    const { id, attestations } = await submit([shoot(phone, { media: { media_id: mediaId }, claim })])
    await cancel(id)
    await retry(attestations[0] ?? '')
    const { json } = await service.call(caller, '/v1/claims?reference=restated')
    expect(json.data).toMatchObject([{ line: 'auto', loss_location: { lat: 3, lng: 4 } }])
  })

  it('is refused when the capture was submitted again meanwhile, and changes nothing', async () => {
    const [named, nameless] = await makeLines(2)
    if (named === undefined || nameless === undefined) throw new Error('there is no line')
    const { external_id: _, ...unnamed } = nameless
    for (const [line, failure, code] of [
      [named, 'external_id_reused', 'external_id_reused'],
      [unnamed, 'conflict', 'nonce_used'],
    ] as const) {
      const { id, attestations } = await submit([line])
      await cancel(id)
      const again = await submit([line])
      const before = await service.fingerprint()
      const { status, json } = await retry(attestations[0] ?? '')
      expect([status, json.code, json.errors?.[0]?.code]).toEqual([409, failure, code])
      expect(await service.fingerprint()).toBe(before)
      expect(codesOf(await evaluate(again.attestations.at(-1) ?? ''))).toEqual(HONEST)
    }
  })

  it('is refused for an erased claim', async () => {
    const { id, attestations } = await submit(await makeLines(1))
    await cancel(id)
    await service.test.owner('UPDATE claims SET erasing_since = now() WHERE account_id = $1', [caller.accountId])
    const { status, json } = await retry(attestations[0] ?? '')
    expect([status, json.code, json.errors?.[0]?.code]).toEqual([409, 'claim_erased', 'claim_erased'])
  })

  it('queues the attestation once for many concurrent retries', async () => {
    const { id, attestations } = await submit(await makeLines(1))
    await cancel(id)
    const jobs = await service.count('jobs')
    const answers = await Promise.all(Array.from({ length: 6 }, () => retry(attestations[0] ?? '')))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
    expect(await service.count('jobs')).toBe(jobs + 1)
  })
})

describe('a cancel', () => {
  it('concurrent with workers leaves each line evaluated or cancelled, and frees cancelled ones only', async () => {
    const lines = await makeLines(60)
    const { id, attestations } = await submit(lines)
    const worker = await service.startWorker()
    try {
      await until(async () => (await statesOf(attestations)).some(({ status }) => status === 'evaluated'))
      const { cancelled } = await cancel(id)
      await until(async () => (await statesOf(attestations)).every(({ status }) => status !== 'queued'))
      const states = await statesOf(attestations)
      expect(states.filter(({ status }) => status === 'cancelled')).toHaveLength(cancelled)
      for (const { id: attestationId, status, job, consumer } of states) {
        const expected = status === 'cancelled' ? ['cancelled', null] : ['succeeded', attestationId]
        expect([job, consumer], status).toEqual(expected)
      }
      await submit(lines)
      const current = async () =>
        service.test.owner<{ status: string; codes: string[] | null }>(
          `SELECT status, jsonb_path_query_array(factors, '$[*].code') AS codes FROM attestations
           WHERE account_id = $1 AND external_id IS NOT NULL`,
          [caller.accountId],
        )
      await until(async () => (await current()).every(({ status }) => status === 'evaluated'))
      expect(await current()).toEqual(Array(60).fill({ status: 'evaluated', codes: HONEST }))
    } finally {
      await worker.close(5_000)
    }
  })

  it('concurrent with a submission of the same captures gives each external id to one of them', async () => {
    const lines = await makeLines(40)
    const first = await submit(lines)
    const again = lines.map((line) => service.attest(caller, line))
    const [, ...answers] = await Promise.all([cancel(first.id), ...again])
    expect(answers.map(({ status }) => [200, 202].includes(status))).toEqual(lines.map(() => true))
    const last = await Promise.all(lines.map((line) => service.attest(caller, line)))
    const ids = last.map(({ json }) => String(json.attestation_id))
    expect(new Set(ids).size).toBe(40)
    for (const id of ids) expect(codesOf(await evaluate(id))).toEqual(HONEST)
  })
})
