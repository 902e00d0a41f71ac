// Videos in addition to a fleet's photos: each is recorded and signed whole, and then its chunks are tampered with in
// transit.
import type { AttestBody, Device } from './device.ts'
import { type Expectation, expectationOf, VIDEO_KINDS, type VideoKind } from './findings.ts'
import type { FleetPlan } from './fleet.ts'
import { PLACES } from './stock.ts'
import { joinChunks, makeVideoManifest, recordVideo, type VideoChunk } from './video.ts'

export interface PlannedVideo {
  kind: VideoKind
  externalId: string
  /** Index into the plan's `devices`. */
  device: number
  /** Seed of the recorded noise. */
  scene: number
  capturedAt: Date
  expected: Expectation
}

export interface Footage {
  /** Signed before the chunks are tampered with. */
  body: AttestBody
  /** The chunks sent to the session, in this order. */
  chunks: { index: number; data: Buffer }[]
}

// A second in all: the service tolerates no longer recording that is sent as soon as its nonce is issued.
const CHUNKS = 5
const CHUNK_MS = 200
const BAD_CHUNK = 2

/**
 * Plans one video of each kind, by the first enrolled phone whose bundles need no assertion, dated at the plan's `now`.
 */
export function planVideos({ seed, now, devices }: FleetPlan): PlannedVideo[] {
  const enrolled = devices.flatMap(({ standing, hardware }, device) =>
    standing === 'enrolled' && hardware !== 'secure_enclave' ? [{ device, isProven: hardware !== 'none' }] : [],
  )
  const one = enrolled.find(({ isProven }) => isProven) ?? enrolled[0]
  if (one === undefined) throw new RangeError('the plan has no phone to film with')
  return VIDEO_KINDS.map((kind, index) => ({
    kind,
    externalId: `video-${seed}-${now.getTime().toString(36)}-${kind}`,
    device: one.device,
    scene: seed * VIDEO_KINDS.length + index,
    capturedAt: now,
    expected: expectationOf(kind, one.isProven),
  }))
}

export function film(
  { kind, externalId, scene, capturedAt }: PlannedVideo,
  device: Device,
  {
    deviceId,
    session,
  }: { deviceId: string | undefined; session: { capture_session_id: string; session_nonce: string } },
): Footage {
  const recorded = recordVideo({ seed: scene, chunks: CHUNKS, chunkMs: CHUNK_MS })
  const [{ lat, lng }] = PLACES
  const body = device.capture({
    photo: joinChunks(recorded),
    capturedAt,
    media: { capture_session_id: session.capture_session_id },
    gps: { lat, lng, accuracy_m: 5, mock: false },
    biometric: { gated: true, method: 'face' },
    deviceId,
    sessionNonce: session.session_nonce,
    videoManifest: makeVideoManifest(session.session_nonce, recorded),
    claim: { reference: externalId, loss_location: { lat, lng }, line: 'auto' },
    externalId,
  })
  return { body, chunks: sent(kind, recorded) }
}

function sent(kind: VideoKind, recorded: readonly VideoChunk[]): Footage['chunks'] {
  const chunks = recorded.map(({ data }, index) => ({ index, data }))
  if (kind === 'dropped_chunk') return chunks.toSpliced(BAD_CHUNK, 1)
  if (kind !== 'edited_chunk') return chunks
  return chunks.map((chunk) => (chunk.index === BAD_CHUNK ? { ...chunk, data: edited(chunk.data) } : chunk))
}

// The last byte belongs to a picture, so the file stays playable.
function edited(data: Buffer): Buffer {
  const changed = Buffer.from(data)
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
  return changed
}
