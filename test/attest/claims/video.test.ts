import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { purgeChunks } from '#src/attest/captures/stream-rows.ts'
import { releaseStreams } from '#src/attest/captures/streams.ts'
import { createClaimErasure } from '#src/attest/erasure/erase.ts'
import { createEraser, type Eraser } from '#src/attest/media/erase.ts'
import { newId } from '#src/platform/ids.ts'
import { joinChunks, makeVideoManifest, recordVideo, type VideoChunk } from '../../../capture-kit/video.ts'
import { attestFixture, codesOf, evidenceOf, type Phone, shoot } from './phone.ts'
import { digest64, flipped, type Session, sha256, shiftFrom, type Upload } from './recording.ts'
import { type Caller, type Service, startService } from './service.ts'

const PATH = '/v1/claims/attest/sessions'
const SECONDS = 4
const HONEST = recordVideo({ seed: 1, chunks: SECONDS })
let service: Service
let caller: Caller
let phone: Phone
let eraser: Eraser

beforeAll(async () => {
  service = await startService()
  eraser = createEraser({ db: service.test.db, store: service.store })
})
afterAll(() => service?.close())
beforeEach(async () => {
  service.clock.now = undefined
  ;({ caller, phone } = await attestFixture({ service }))
})

/** By code. */
type Evidence = Record<string, Record<string, unknown>>

describe('an uploaded video', () => {
  it('passes when it is honest', async () => {
    const json = await judgeUpload(HONEST)
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
    expect(codesOf(json, 'advisory_factors')).toEqual(expect.not.arrayContaining(['exif_missing']))
    expect(json).toMatchObject({ provenance_status: 'verified', risk_score: 40 })
  })

  const edited = HONEST.map((chunk, index) => (index === 2 ? { ...chunk, data: flipped(chunk.data) } : chunk))
  const file = joinChunks(HONEST)
  const cases: [string, Partial<Upload>, string[], Evidence][] = [
    [
      'an edited chunk',
      { file: joinChunks(edited) },
      ['frame_hash_mismatch', 'sensor_hash_mismatch'],
      {
        frame_hash_mismatch: {
          verdict: 'tampered',
          first_bad_index: 2,
          expected: sha256(HONEST[2]?.data),
          found: sha256(edited[2]?.data),
        },
      },
    ],
    [
      'a truncated file',
      { file: file.subarray(0, file.length - 10) },
      ['sensor_hash_mismatch', 'video_manifest_incomplete'],
      {
        video_manifest_incomplete: {
          verdict: 'truncated_tail',
          first_bad_index: 3,
          received_chunks: 3,
          missing_chunks: 1,
        },
      },
    ],
    [
      'a chunk that the manifest does not list',
      { manifest: (manifest) => ({ ...manifest, chunks: manifest.chunks.toSpliced(1, 1) }) },
      ['frame_hash_mismatch', 'liveness_check_failed', 'video_manifest_incomplete'],
      {
        video_manifest_incomplete: {
          first_bad_index: 1,
          found: expect.arrayContaining(['index_gap', 'count_differs']),
        },
      },
    ],
    [
      'a link of an earlier recording',
      {
        manifest: (manifest) => ({
          ...manifest,
          chunks: makeVideoManifest('A'.repeat(43), HONEST).chunks,
        }),
      },
      ['frame_hash_mismatch'],
      { frame_hash_mismatch: { first_bad_index: 0, verified_links: 0 } },
    ],
    [
      'a whole recording under another nonce',
      { manifest: () => makeVideoManifest('A'.repeat(43), HONEST) },
      ['session_nonce_mismatch'],
      { session_nonce_mismatch: { found: ['other_seed'], chain_seed: 'A'.repeat(43) } },
    ],
    [
      'a gap of two frames',
      { recording: shiftFrom(HONEST, 2, 66_668) },
      ['liveness_check_failed'],
      { liveness_check_failed: { failed: expect.arrayContaining(['gap']), first_bad_index: 2 } },
    ],
    [
      'a recording that is older than its nonce',
      { issuedSecondsAgo: 1 },
      ['liveness_check_failed'],
      { liveness_check_failed: { failed: ['elapsed'] } },
    ],
    [
      'no manifest',
      { manifest: () => undefined },
      ['video_manifest_incomplete'],
      { video_manifest_incomplete: { found: ['no_video_manifest'], verdict: 'not_verifiable' } },
    ],
    [
      'a manifest that lacks fields',
      { manifest: ({ last_link: _, ...manifest }) => manifest },
      ['video_manifest_incomplete'],
      { video_manifest_incomplete: { found: ['missing_field'], first_missing_field: '/last_link' } },
    ],
    [
      'no nonce',
      { hasNonce: false },
      ['session_nonce_mismatch'],
      { session_nonce_mismatch: { found: ['missing', 'other_seed'] } },
    ],
  ]
  it.each(cases)('with %s is detected', async (_, upload, codes, evidence) => {
    const json = await judgeUpload(upload.recording ?? HONEST, upload)
    expect(codesOf(json).filter((one) => one !== 'hardware_backing_absent')).toEqual(codes)
    for (const [code, shown] of Object.entries(evidence)) expect(evidenceOf(json, code)).toMatchObject(shown)
  })
})

describe('a streamed video', () => {
  it('passes when it is honest, and can be submitted again under its external id', async () => {
    const session = await openSession(60)
    await sendAll(session, HONEST)
    const body = { ...streamBody(session, HONEST), external_id: session.capture_session_id }
    const json = await service.judge(caller, body)
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
    expect(json).toMatchObject({ provenance_status: 'verified' })
    expect((await readSession(session)).json).toMatchObject({ status: 'closed', chunk_count: SECONDS })
    expect((await service.attest(caller, body)).json.attestation_id).toBe(json.attestation_id)
    const shown = (await service.call(caller, `/v1/claims/${json.claim_id}/attestations`)).json as never as {
      data: { submission: { stream: string } }[]
    }
    expect(shown.data[0]?.submission.stream).toBe(session.capture_session_id)
    expect(await put(session, 4, HONEST[0]?.data)).toMatchObject({ status: 409 })
    expect(await put(session, 0, HONEST[0]?.data)).toMatchObject({ status: 200 })
  })

  it('continues where it stopped, whatever was sent twice', async () => {
    const session = await openSession(60)
    const [first, second, third] = HONEST
    const begun = await put(session, 0, first?.data, { 'Idempotency-Key': 'chunk-0' })
    expect(begun.json).toMatchObject({ index: 0, bytes: first?.data.length, sha256: sha256(first?.data) })
    await put(session, 2, third?.data)
    expect((await readSession(session)).json).toEqual({
      capture_session_id: session.capture_session_id,
      status: 'open',
      device_id: null,
      claim_reference: null,
      attestation_id: null,
      media_id: null,
      issued_at: expect.any(String),
      expires_at: expect.any(String),
      content_type: 'video/mp4',
      chunk_count: 2,
      total_bytes: (first?.data.length ?? 0) + (third?.data.length ?? 0),
      next_index: 1,
      received: [
        { first: 0, last: 0 },
        { first: 2, last: 2 },
      ],
    })
    const again = await put(session, 0, first?.data, { 'Idempotency-Key': 'chunk-0' })
    expect(again.json).toEqual(begun.json)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect((await put(session, 0, first?.data)).json).toEqual(begun.json)
    const claimed = { 'Content-Digest': `sha-256=:${digest64(second?.data)}:` }
    for (const refused of [await put(session, 2, second?.data), await put(session, 2, second?.data, claimed)]) {
      expect(refused).toMatchObject({ status: 409, json: { errors: [{ code: 'chunk_differs' }] } })
    }
    await put(session, 1, second?.data, claimed)
    expect((await readSession(session)).json).toMatchObject({ next_index: 3, received: [{ first: 0, last: 2 }] })
  })

  const edited = HONEST.map((chunk, index) => (index === 2 ? { ...chunk, data: flipped(chunk.data) } : chunk))
  const sensor = 'sensor_hash_mismatch'
  interface Sent {
    indices: number[]
    chunks?: VideoChunk[]
    secondsAgo?: number
  }
  const cases: [string, Sent, string[], Evidence][] = [
    [
      'an edited chunk',
      { indices: [0, 1, 2, 3], chunks: edited },
      ['frame_hash_mismatch', sensor],
      { frame_hash_mismatch: { verdict: 'tampered', first_bad_index: 2, found: sha256(edited[2]?.data) } },
    ],
    [
      'a chunk that never came',
      { indices: [0, 1, 3] },
      [sensor, 'video_manifest_incomplete'],
      { video_manifest_incomplete: { verdict: 'missing', first_bad_index: 2, received_chunks: 3, missing_chunks: 1 } },
    ],
    [
      'no first chunk',
      { indices: [1, 2, 3] },
      [sensor, 'video_manifest_incomplete'],
      { video_manifest_incomplete: { verdict: 'missing', first_bad_index: 0 } },
    ],
    [
      'a tail that never came',
      { indices: [0, 1] },
      [sensor, 'video_manifest_incomplete'],
      { video_manifest_incomplete: { verdict: 'truncated_tail', first_bad_index: 2, missing_chunks: 2 } },
    ],
    [
      'a chunk more than was signed',
      { indices: [0, 1, 2, 3, 4], chunks: recordVideo({ seed: 1, chunks: SECONDS + 1 }) },
      [sensor, 'video_manifest_incomplete'],
      { video_manifest_incomplete: { verdict: 'surplus', first_bad_index: 4, surplus_chunks: 1 } },
    ],
    [
      'everything at once, seconds after the nonce',
      { indices: [0, 1, 2, 3], secondsAgo: 0 },
      ['liveness_check_failed'],
      { liveness_check_failed: { failed: ['arrival', 'elapsed'], first_bad_index: 3 } },
    ],
  ]
  it.each(cases)('with %s is detected', async (_, { indices, chunks = HONEST, secondsAgo = 60 }, codes, evidence) => {
    const session = await openSession(secondsAgo)
    await sendAll(session, chunks, indices)
    const json = await service.judge(caller, streamBody(session, HONEST, Math.min(secondsAgo, 50)))
    expect(codesOf(json).filter((one) => one !== 'hardware_backing_absent')).toEqual(codes)
    for (const [code, shown] of Object.entries(evidence)) expect(evidenceOf(json, code)).toMatchObject(shown)
  })

  it('that was sent to another session is detected', async () => {
    const [mine, other] = [await openSession(60), await openSession(60)]
    await sendAll(other, HONEST)
    const json = await service.judge(caller, {
      ...streamBody(mine, HONEST),
      media: { capture_session_id: other.capture_session_id },
    })
    expect(evidenceOf(json, 'session_nonce_mismatch')).toMatchObject({ found: ['other_stream'] })
  })

  it('is refused when there is nothing to evaluate, or it belongs to another account', async () => {
    const session = await openSession(60)
    const submit = (id: string) =>
      service.attest(caller, { ...streamBody(session, HONEST), media: { capture_session_id: id } })
    expect(await submit(session.capture_session_id)).toMatchObject({
      status: 400,
      json: { errors: [{ code: 'no_chunks' }] },
    })
    expect(await submit(newId('cap', 'sandbox'))).toMatchObject({ status: 404 })
    expect(await submit(newId('cap', 'live'))).toMatchObject({ status: 403, json: { code: 'environment_mismatch' } })
    const stranger = await service.makeCaller()
    expect(await service.call(stranger, `${PATH}/${session.capture_session_id}`)).toMatchObject({ status: 404 })
  })
})

describe('a chunk is refused', () => {
  const body = HONEST[0]?.data
  const live = newId('cap', 'live')
  type Sent = {
    key?: string | undefined
    id?: string
    index?: string
    body?: Uint8Array | undefined
    headers?: Record<string, string>
  }
  const cases: [string, (keys: Record<'verify' | 'stranger', string>) => Sent, number, string][] = [
    ['without a key', () => ({ key: '' }), 401, 'authentication_required'],
    ['by a key of another scope', ({ verify }) => ({ key: verify }), 403, 'insufficient_scope'],
    ['of another account', ({ stranger }) => ({ key: stranger }), 404, 'not_found'],
    ['of the other environment', () => ({ id: live }), 403, 'environment_mismatch'],
    ['of no session', () => ({ id: newId('cap', 'sandbox') }), 404, 'not_found'],
    ['at no index', () => ({ index: 'one' }), 404, 'not_found'],
    ['at an index beyond the last', () => ({ index: '10000' }), 404, 'not_found'],
    ['at an index that is written in two ways', () => ({ index: '01' }), 404, 'not_found'],
    ['that is no video', () => ({ headers: { 'Content-Type': 'image/jpeg' } }), 415, 'unsupported_media_type'],
    ['that is empty', () => ({ body: Buffer.alloc(0) }), 400, 'invalid_request'],
    ['that begins as no video does', () => ({ body: Buffer.from('nothing') }), 400, 'invalid_request'],
    ['of another type than it says', () => ({ headers: { 'Content-Type': 'video/webm' } }), 400, 'invalid_request'],
    [
      'with a digest of other bytes',
      () => ({ headers: { 'Content-Digest': `sha-256=:${digest64(Buffer.from('x'))}:` } }),
      400,
      'invalid_request',
    ],
    ['with a digest that is none', () => ({ headers: { 'Content-Digest': 'md5=:AA==:' } }), 400, 'invalid_request'],
    ['that is too large', () => ({ body: Buffer.alloc(64 * 1024 * 1024 + 1) }), 413, 'payload_too_large'],
  ]
  it.each(cases)('%s', async (_, sentOf, status, code) => {
    const session = await openSession(60)
    const stranger = await service.makeCaller()
    const sent = sentOf({ verify: service.addKey({ ...caller, scopes: ['verify'] }), stranger: stranger.key })
    const key = sent.key === undefined ? caller.key : sent.key || undefined
    const answer = await service.call(
      { key },
      `${PATH}/${sent.id ?? session.capture_session_id}/chunks/${sent.index ?? 0}`,
      {
        method: 'PUT',
        body: sent.body ?? body ?? '',
        headers: { 'Content-Type': 'video/mp4', ...sent.headers },
      },
    )
    expect(answer).toMatchObject({ status, json: { code } })
    expect((await readSession(session)).json).toMatchObject({ chunk_count: 0, status: 'open' })
  })

  it('beyond the limits of a stream', async () => {
    const session = await openSession(60)
    await put(session, 0, body)
    const fill = (columns: string) =>
      service.test.owner(`UPDATE capture_sessions SET ${columns} WHERE id = $1`, [session.capture_session_id])
    await fill('stream_bytes = 2147483648')
    expect(await put(session, 1, HONEST[1]?.data)).toMatchObject({ status: 413 })
    await fill('stream_bytes = 1, stream_chunks = 10000')
    expect(await put(session, 1, HONEST[1]?.data)).toMatchObject({ status: 413 })
    expect(await put(session, 0, body)).toMatchObject({ status: 200 })
  })
})

describe('the bytes of chunks', () => {
  it('are erased with the claim, at once', async () => {
    const session = await openSession(60)
    await sendAll(session, HONEST)
    const { claim_id: claimId } = await service.judge(caller, streamBody(session, HONEST))
    expect(await storedOf(HONEST)).toBe(SECONDS)
    const { db } = service.test
    const erasure = createClaimErasure({ db, eraser, log: pino({ level: 'silent' }) })
    await erasure.erase(caller, String(claimId), { requestId: 'req' })
    expect(await storedOf(HONEST)).toBe(0)
    expect(await service.store.exists(caller, sha256(joinChunks(HONEST)))).toBe(false)
    expect((await readSession(session)).json).toMatchObject({ status: 'closed', chunk_count: SECONDS })
  })

  it('are deleted within the hour once they are one file, unless an open stream has them too', async () => {
    const [mine, other] = [await openSession(60), await openSession(60)]
    await sendAll(mine, HONEST)
    await sendAll(other, HONEST, [0])
    await service.judge(caller, streamBody(mine, HONEST))
    const { signal } = new AbortController()
    expect(await releaseStreams({ db: service.test.db, eraser }, caller, signal)).toBe(1)
    expect(await storedOf(HONEST)).toBe(1)
    expect(await releaseStreams({ db: service.test.db, eraser }, caller, signal)).toBe(0)
    await sendAll(other, HONEST, [1, 2, 3])
    expect(codesOf(await service.judge(caller, streamBody(other, HONEST)))).toEqual(['hardware_backing_absent'])
  })

  it('are deleted after a week when they are never submitted', async () => {
    const session = await openSession(60)
    await sendAll(session, HONEST)
    const past = new Date(Date.now() + 1_000)
    const purge = (before: Date) =>
      service.test.db.tenant(caller, (tx) => purgeChunks(tx, caller, { before, limit: 100 }))
    expect(await purge(new Date(Date.now() - 60_000))).toBe(0)
    expect(await purge(past)).toBe(SECONDS)
    await eraser.eraseUnreferenced(caller, past, new AbortController().signal)
    expect(await storedOf(HONEST)).toBe(0)
    expect(await service.attest(caller, streamBody(session, HONEST))).toMatchObject({ status: 400 })
  })
})

async function openSession(secondsAgo: number, more: { device_id?: string } = {}): Promise<Session> {
  service.clock.now = new Date(Date.now() - secondsAgo * 1_000)
  const { sessions } = await service.captures.issue(caller, { count: 1, ...more })
  service.clock.now = undefined
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  return session
}

/** The phone signs the honest bytes, whatever is sent. */
async function judgeUpload(recording: VideoChunk[], upload: Partial<Upload> = {}): Promise<Record<string, unknown>> {
  const { file = joinChunks(recording), issuedSecondsAgo = 60, hasNonce = true } = upload
  const { session_nonce: nonce } = await openSession(issuedSecondsAgo)
  const media = await service.media.storeInline(caller, { contentType: 'video/mp4', data: file })
  const honest = makeVideoManifest(nonce, recording)
  const body = shoot(phone, {
    photo: joinChunks(recording),
    capturedAt: new Date(Date.now() - Math.min(issuedSecondsAgo, 50) * 1_000),
    media: { media_id: media.id },
    videoManifest: honest,
    sessionNonce: hasNonce ? nonce : undefined,
    bundle: (bundle) => ({ ...bundle, video_manifest: (upload.manifest ?? (() => honest))(honest) }),
  })
  return service.judge(caller, body)
}

function streamBody({ capture_session_id, session_nonce }: Session, recording: VideoChunk[], secondsAgo = 50) {
  return shoot(phone, {
    photo: joinChunks(recording),
    capturedAt: new Date(Date.now() - secondsAgo * 1_000),
    media: { capture_session_id },
    videoManifest: makeVideoManifest(session_nonce, recording),
    sessionNonce: session_nonce,
  })
}

async function sendAll(session: Session, chunks: VideoChunk[], indices = [...chunks.keys()]): Promise<void> {
  for (const index of indices) {
    const { status, text } = await put(session, index, chunks[index]?.data)
    expect(status, text).toBe(200)
  }
}

function put({ capture_session_id }: Session, index: number, data: Uint8Array = Buffer.alloc(0), headers = {}) {
  return service.call(caller, `${PATH}/${capture_session_id}/chunks/${index}`, {
    method: 'PUT',
    body: data,
    headers: { 'Content-Type': 'video/mp4', ...headers },
  })
}

function readSession({ capture_session_id }: Session) {
  return service.call(caller, `${PATH}/${capture_session_id}`)
}

async function storedOf(chunks: VideoChunk[]): Promise<number> {
  const stored = await Promise.all(chunks.map(({ data }) => service.store.exists(caller, sha256(data))))
  return stored.filter(Boolean).length
}
