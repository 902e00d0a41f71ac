// An honest packet of a video, and what the cases change of it.

import type { PacketAttestation } from '#src/attest/evidence/views.ts'
import { RULES_VERSION } from '#src/attest/factors/table.ts'
import {
  joinChunks,
  makeVideoManifest,
  recordVideo,
  type VideoChunk,
  type VideoManifest,
} from '../../../capture-kit/video.ts'
import {
  ATTESTATION,
  BUNDLE,
  hexDigest,
  makeAttestation,
  makePacket,
  type Result,
  resultPayload,
  signPacket,
} from './packet-parts.ts'
import type { PacketFinding } from './packets.ts'
import { signRecord } from './records.ts'

export const PART = `attestations/${ATTESTATION}`
export const NONCE = BUNDLE.session_nonce
export const OTHER_NONCE = 'A'.repeat(43)
export const HASH = '0'.repeat(64)
export const RECORDING = recordVideo({ seed: 7, chunks: 5, chunkMs: 200 })
export const FILE = joinChunks(RECORDING)
export const MANIFEST = makeVideoManifest(NONCE, RECORDING)

/** What the signed result says of the video. */
export interface Said {
  chain?: Record<string, { count: number; first_index: number }>
  /** Index of the first wrong digest. */
  digest?: { first_bad_index: number; expected?: string; found: string }
  manifest?: string[]
  nonce?: string[]
  times?: string[]
}

export interface Filmed {
  /** Value that the device signed; null: the bundle has none. */
  manifest?: object | null
  /** null: the bundle has none. */
  nonce?: string | number | null
  capturedAt?: string | number
  file?: Buffer
  says?: Said
  stream?: string
  rulesVersion?: string
  edit?: (one: PacketAttestation) => unknown
}

export function film(filmed: Filmed = {}): { packet: object; originals: string[] } {
  const { manifest = MANIFEST, nonce = NONCE, file = FILE, says = {} } = filmed
  const { session_nonce: _, ...statement } = BUNDLE
  const bundle = {
    ...statement,
    ...(nonce !== null && { session_nonce: nonce }),
    ...(filmed.capturedAt !== undefined && { captured_at: filmed.capturedAt }),
    sensor_hash: hexDigest(file),
    ...(manifest !== null && { video_manifest: manifest }),
  }
  const factors = factorsOf(says)
  const one = makeAttestation({
    bundle,
    mediaType: 'video',
    media: { sha256: hexDigest(file), size: file.byteLength, content_type: 'video/mp4' },
    result: {
      factors,
      risk_score: factors.reduce((sum, { points }) => sum + points, 0),
      rules_version: filmed.rulesVersion ?? RULES_VERSION,
    },
  })
  if (filmed.stream !== undefined) one.submission.stream = filmed.stream
  filmed.edit?.(one)
  return { packet: signPacket(makePacket([one])), originals: [file.toString('base64')] }
}

// Video as a phone without the capture app sends it.
export function plainVideo() {
  return film({
    says: { manifest: ['no_video_manifest'] },
    edit(one) {
      Object.assign(one, { bundle_sha256: null, key: null, certificates: { source: 'none', chain: [] } })
      Object.assign(one.submission, { bundle: undefined, signature: undefined })
      if (one.result !== null) one.result.result_jws = signRecord('attest-result+jwt', resultPayload(one, one.result))
    },
  })
}

export const withoutOriginal = (filmed: Filmed) => ({ ...film(filmed), originals: null })

export function factorsOf({ chain, digest, manifest, nonce, times }: Said): Result['factors'] {
  const common = { compared: '', expected: '', found: '' }
  return [
    ...(nonce ? [{ code: 'session_nonce_mismatch', points: 70, evidence: { ...common, found: nonce } }] : []),
    ...(chain
      ? [{ code: 'frame_hash_mismatch', points: 50, evidence: { ...common, ...digest, problems: chain } }]
      : []),
    ...(times ? [{ code: 'liveness_check_failed', points: 40, evidence: { ...common, failed: times } }] : []),
    ...(manifest ? [{ code: 'video_manifest_incomplete', points: 40, evidence: { ...common, found: manifest } }] : []),
  ] as never
}

export const failed = (...checks: string[]): PacketFinding[] => checks.map((check) => [PART, check, 'failed'])
export const skipped = (...checks: string[]): PacketFinding[] => checks.map((check) => [PART, check, 'skipped'])
export const NO_DIGEST = skipped('video digest')
export const first = { count: 1, first_index: 0 }

/** The manifest with a changed chunk, or with other members. */
export function listed(change: (manifest: VideoManifest) => unknown, of: VideoManifest = MANIFEST): VideoManifest {
  const copy = structuredClone(of)
  change(copy)
  return copy
}
export const chunk = (index: number, members: object) =>
  listed(({ chunks }) => Object.assign(chunks[index] ?? {}, members))
/** The manifest of other chunks, whose chain fits. */
export const chained = (change: (chunks: VideoChunk[]) => VideoChunk[]) =>
  makeVideoManifest(NONCE, change([...RECORDING]))
export const shifted = (byUs: number, from = 3) =>
  chained((chunks) =>
    chunks.map((one, index) =>
      index < from ? one : { ...one, firstPtsUs: one.firstPtsUs + byUs, lastPtsUs: one.lastPtsUs + byUs },
    ),
  )

export const CHANGED = [...RECORDING].with(2, { ...(RECORDING[2] as VideoChunk), data: changedData(2) })
export const CHANGED_FILE = joinChunks(CHANGED)
export const CHANGED_DIGEST = {
  first_bad_index: 2,
  expected: MANIFEST.chunks[2]?.sha256 ?? '',
  found: hexDigest(changedData(2)),
}
export const TWO_SECONDS = recordVideo({ seed: 7, chunks: 5, chunkMs: 2_000 })
/** Frames of two seconds, listed as if they were of a fifth of one. */
export const HURRIED = TWO_SECONDS.map((one, index) => ({ ...(RECORDING[index] as VideoChunk), data: one.data }))

export function changedData(index: number): Buffer {
  const data = Buffer.from(RECORDING[index]?.data ?? '')
  data[data.length - 1] = (data[data.length - 1] ?? 0) ^ 1
  return data
}
