import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  joinChunks,
  makeVideoManifest,
  recordVideo,
  type VideoChunk,
  type VideoManifest,
} from '../../../capture-kit/video.ts'
import { codesOf, evidenceOf, makePhone, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

const SECONDS = 4
const HONEST = recordVideo({ seed: 1, chunks: SECONDS })
let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.close())
beforeEach(async () => {
  service.clock.now = new Date()
  caller = await service.makeCaller()
  phone = await makePhone(service, caller)
})

describe('an uploaded video', () => {
  it('passes when it is honest', async () => {
    const json = await judgeUpload(HONEST)
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
    expect(codesOf(json, 'advisory_factors')).toEqual(expect.not.arrayContaining(['exif_missing']))
    expect(json).toMatchObject({ provenance_status: 'verified', risk_score: 40 })
  })

  const edited = HONEST.map((chunk, index) => (index === 2 ? { ...chunk, data: flipped(chunk.data) } : chunk))
  const file = joinChunks(HONEST)
  const cases: [string, Partial<Upload>, string[], string, Record<string, unknown>][] = [
    [
      'an edited chunk',
      { file: joinChunks(edited) },
      ['frame_hash_mismatch', 'sensor_hash_mismatch'],
      'frame_hash_mismatch',
      { verdict: 'tampered', first_bad_index: 2, expected: sha256(HONEST[2]?.data), found: sha256(edited[2]?.data) },
    ],
    [
      'a truncated file',
      { file: file.subarray(0, file.length - 10) },
      ['sensor_hash_mismatch', 'video_manifest_incomplete'],
      'video_manifest_incomplete',
      { verdict: 'truncated_tail', first_bad_index: 3, received_chunks: 3, missing_chunks: 1 },
    ],
    [
      'a chunk that the manifest does not list',
      { manifest: (manifest) => ({ ...manifest, chunks: manifest.chunks.toSpliced(1, 1) }) },
      ['frame_hash_mismatch', 'liveness_check_failed', 'video_manifest_incomplete'],
      'video_manifest_incomplete',
      { first_bad_index: 1, found: expect.arrayContaining(['index_gap', 'count_differs']) },
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
      'frame_hash_mismatch',
      { first_bad_index: 0, verified_links: 0 },
    ],
    [
      'a whole recording under another nonce',
      { manifest: () => makeVideoManifest('A'.repeat(43), HONEST) },
      ['session_nonce_mismatch'],
      'session_nonce_mismatch',
      { found: ['other_seed'], chain_seed: 'A'.repeat(43) },
    ],
    [
      'a gap of two frames',
      { recording: shiftFrom(HONEST, 2, 66_668) },
      ['liveness_check_failed'],
      'liveness_check_failed',
      { failed: expect.arrayContaining(['gap']), first_bad_index: 2 },
    ],
    [
      'a recording that is older than its nonce',
      { issuedSecondsAgo: 1 },
      ['liveness_check_failed'],
      'liveness_check_failed',
      { failed: ['elapsed'] },
    ],
    [
      'no manifest',
      { manifest: () => undefined },
      ['video_manifest_incomplete'],
      'video_manifest_incomplete',
      { found: ['no_video_manifest'], verdict: 'not_verifiable' },
    ],
    [
      'a manifest that lacks fields',
      { manifest: ({ last_link: _, ...manifest }) => manifest },
      ['video_manifest_incomplete'],
      'video_manifest_incomplete',
      { found: ['missing_field'], first_missing_field: '/last_link' },
    ],
    [
      'no nonce',
      { hasNonce: false },
      ['session_nonce_mismatch'],
      'session_nonce_mismatch',
      { found: ['missing', 'other_seed'] },
    ],
  ]
  it.each(cases)('with %s is found out', async (_, upload, codes, code, evidence) => {
    const json = await judgeUpload(upload.recording ?? HONEST, upload)
    expect(codesOf(json).filter((one) => one !== 'hardware_backing_absent')).toEqual(codes)
    expect(evidenceOf(json, code)).toMatchObject(evidence)
  })
})

describe('a streamed video', () => {
  it('passes when it is honest', async () => {
    const session = await openSession(60)
    for (const [index, { data }] of HONEST.entries()) {
      const { status, json, text } = await put(session.session_id, index, data)
      expect(status, text).toBe(200)
      expect(json).toMatchObject({ index, bytes: data.length, sha256: sha256(data) })
    }
    const json = await judgeStream(session, HONEST)
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
    expect(json).toMatchObject({ provenance_status: 'verified' })
    expect((await look(session.session_id)).json).toMatchObject({ state: 'closed', chunk_count: SECONDS })
  })
})

interface Upload {
  recording: VideoChunk[]
  file: Buffer
  manifest: (manifest: VideoManifest) => Partial<VideoManifest> | undefined
  issuedSecondsAgo: number
  hasNonce: boolean
}

interface Session {
  session_id: string
  session_nonce: string
}

async function openSession(secondsAgo: number, more: { device_id?: string } = {}): Promise<Session> {
  service.clock.now = new Date(Date.now() - secondsAgo * 1_000)
  const { sessions } = await service.captures.issue(caller, { count: 1, ...more })
  service.clock.now = new Date()
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  return session
}

/** What the phone signs speaks of the honest bytes, whatever is sent. */
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

async function judgeStream(
  { session_id, session_nonce }: Session,
  recording: VideoChunk[],
): Promise<Record<string, unknown>> {
  return service.judge(caller, streamBody({ session_id, session_nonce }, recording))
}

function streamBody({ session_id, session_nonce }: Session, recording: VideoChunk[]) {
  return shoot(phone, {
    photo: joinChunks(recording),
    capturedAt: new Date(Date.now() - 50_000),
    media: { session_id },
    videoManifest: makeVideoManifest(session_nonce, recording),
    sessionNonce: session_nonce,
  })
}

function put(sessionId: string, index: number | string, data: Uint8Array, headers: Record<string, string> = {}) {
  return service.call(caller, `/v1/claims/attest/sessions/${sessionId}/chunks/${index}`, {
    method: 'PUT',
    body: data,
    headers: { 'Content-Type': 'video/mp4', ...headers },
  })
}

function look(sessionId: string) {
  return service.call(caller, `/v1/claims/attest/sessions/${sessionId}`)
}

function shiftFrom(chunks: readonly VideoChunk[], from: number, us: number): VideoChunk[] {
  return chunks.map((chunk, index) =>
    index < from ? chunk : { ...chunk, firstPtsUs: chunk.firstPtsUs + us, lastPtsUs: chunk.lastPtsUs + us },
  )
}

function flipped(data: Buffer): Buffer {
  const copy = Buffer.from(data)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1
  return copy
}

function sha256(data: Uint8Array = Buffer.alloc(0)): string {
  return createHash('sha256').update(data).digest('hex')
}
