// A manifest compared with the times in its file, over HTTP.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  joinChunks,
  makeVideoManifest,
  recordVideo,
  VIDEO_TYPES,
  type VideoChunk,
  type VideoContainer,
  type VideoManifest,
} from '../../../capture-kit/video.ts'
import { attestFixture, codesOf, evidenceOf, makePhone, type Phone, shoot } from './phone.ts'
import type { Session } from './recording.ts'
import { type Caller, type Service, startService } from './service.ts'

const CONTAINERS: readonly VideoContainer[] = ['mp4', 'mov', 'webm']
let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.close())
beforeEach(async () => {
  service.clock.now = undefined
  ;({ caller, phone } = await attestFixture({ service }))
})

describe.each(CONTAINERS)('a video in %s', (container) => {
  const recording = recordVideo({ seed: 2, chunks: 4, container })

  it('passes when it is honest, uploaded or streamed', async () => {
    for (const send of [upload, stream]) {
      const json = await judge(recording, { container, send, secondsAgo: 60 })
      expect(codesOf(json)).toEqual(['hardware_backing_absent'])
      expect(json).toMatchObject({ provenance_status: 'verified' })
    }
  })

  it('passes with free space and zero bytes after its end', async () => {
    const [last, ...others] = [...recording].reverse()
    const padded = { ...last, data: Buffer.concat([last?.data ?? Buffer.alloc(0), Buffer.alloc(70_000)]) } as VideoChunk
    const json = await judge([...others.reverse(), padded], { container, send: upload, secondsAgo: 60 })
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
  })

  it('of 12 s, finished before its nonce and claimed to last 0.6 s, is detected', async () => {
    const finished = recordVideo({ seed: 3, chunks: 6, chunkMs: 2_000, container })
    const claimed = finished.map((chunk, index) => {
      return { ...chunk, frames: 3, firstPtsUs: index * 100_000, lastPtsUs: (index + 1) * 100_000 }
    })
    const json = await judge(claimed, { container, send: stream, secondsAgo: 0 })
    expect(codesOf(json)).toEqual(['hardware_backing_absent', 'liveness_check_failed'])
    const { failed, expected, found } = evidenceOf(json, 'liveness_check_failed') as Record<string, unknown>
    const inFragments = ['container_duration', 'container_frames', 'fragment_times', 'fragment_frames']
    expect(failed).toEqual(container === 'mov' ? inFragments.slice(0, 2) : inFragments)
    expect(expected).toMatchObject({ file_us: expect.closeTo(12_000_000, -4) })
    expect(found).toEqual({ manifest_us: 600_000 })
  })

  it('whose manifest states another codec and timescale is detected', async () => {
    const other =
      container === 'webm' ? { codec: 'avc1.42E01E', timescale: 90_000 } : { codec: 'vp8', timescale: 1_000 }
    const json = await judge(recording, { container, send: upload, secondsAgo: 60, manifest: other })
    expect(codesOf(json)).toContain('liveness_check_failed')
    expect(evidenceOf(json, 'liveness_check_failed')).toMatchObject({
      failed: ['codec', 'timescale'],
      found: { manifest_codec: other.codec },
    })
  })
})

describe('the factors of a video', () => {
  const recording = recordVideo({ seed: 4, chunks: 5 })

  it('that lost bytes within a chunk name this chunk', async () => {
    const whole = joinChunks(recording)
    const cutAt = joinChunks(recording.slice(0, 3)).length + 20
    const file = Buffer.concat([whole.subarray(0, cutAt), whole.subarray(cutAt + 10)])
    const json = await judge(recording, { send: (_, session) => storeFile(file, session), secondsAgo: 60 })
    expect(evidenceOf(json, 'frame_hash_mismatch')).toMatchObject({ first_bad_index: 3 })
    expect(evidenceOf(json, 'video_manifest_incomplete')).toMatchObject({ verdict: 'missing', first_bad_index: 3 })
  })

  it('with another chunk count say that its manifest contradicts itself', async () => {
    const json = await judge(recording, { send: upload, secondsAgo: 60, manifest: { chunk_count: 6 } })
    expect(evidenceOf(json, 'video_manifest_incomplete')).toMatchObject({
      found: ['count_differs'],
      verdict: 'inconsistent',
      missing_chunks: 0,
    })
  })

  it('without a chunk in its manifest name no chunk before the first', async () => {
    const none = { chunks: [], chunk_count: 0, total_bytes: 0, duration_us: 0 }
    const json = await judge(recording, { send: upload, secondsAgo: 60, manifest: none })
    expect(codesOf(json)).not.toContain('frame_hash_mismatch')
    expect(evidenceOf(json, 'video_manifest_incomplete')).toMatchObject({ first_bad_index: null, received_chunks: 0 })
  })

  it('by another device do not say that it reused its own nonce', async () => {
    const other = await makePhone(service, caller, { name: 'Other' })
    const json = await judge(recording, { send: upload, secondsAgo: 60, deviceId: other.id })
    expect(evidenceOf(json, 'session_nonce_mismatch')).toMatchObject({ found: ['other_device'], used_by: null })
  })
})

type Send = (recording: readonly VideoChunk[], session: Session, type: string) => Promise<object>

interface Judged {
  send: Send
  secondsAgo: number
  container?: VideoContainer
  /** Signed in place of the true values. */
  manifest?: Partial<VideoManifest>
  /** The device that the nonce is issued for. */
  deviceId?: string | undefined
}

async function judge(
  recording: readonly VideoChunk[],
  { send, secondsAgo, container = 'mp4', manifest, deviceId }: Judged,
): Promise<Record<string, unknown>> {
  service.clock.now = new Date(Date.now() - secondsAgo * 1_000)
  const { sessions } = await service.captures.issue(caller, { count: 1, ...(deviceId && { device_id: deviceId }) })
  service.clock.now = undefined
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  const media = await send(recording, session, VIDEO_TYPES[container])
  const body = shoot(phone, {
    photo: joinChunks(recording),
    capturedAt: new Date(Date.now() - secondsAgo * 1_000),
    media: media as never,
    sessionNonce: session.session_nonce,
    videoManifest: { ...makeVideoManifest(session.session_nonce, recording, container), ...manifest },
  })
  return service.judge(caller, body)
}

async function storeFile(file: Buffer, _: Session, contentType = 'video/mp4'): Promise<object> {
  return { media_id: (await service.media.storeInline(caller, { contentType, data: file })).id }
}

function upload(recording: readonly VideoChunk[], session: Session, type: string): Promise<object> {
  return storeFile(joinChunks(recording), session, type)
}

async function stream(
  recording: readonly VideoChunk[],
  { capture_session_id }: Session,
  type: string,
): Promise<object> {
  for (const [index, { data }] of recording.entries()) {
    const { status, text } = await service.call(
      caller,
      `/v1/claims/attest/sessions/${capture_session_id}/chunks/${index}`,
      {
        method: 'PUT',
        body: data,
        headers: { 'Content-Type': type },
      },
    )
    expect(status, text).toBe(200)
  }
  return { capture_session_id }
}
