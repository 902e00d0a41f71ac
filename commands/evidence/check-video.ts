// Checks a video's findings from its manifest: the links, the digests and the nonce are in the packet, and so are the
// manifest's indices and times. Whether the bytes have these digests, and what their container says, needs the
// original. When chunks arrived, and whether a nonce was used before, only the signed result tells.

import type { Readable } from 'node:stream'
import { type CheckFinding, finding, skipped } from '#client/verify/packet-findings.ts'
import { isObject as isRecord } from '#client/verify/records.ts'
import { manifest as manifestSchema } from '#src/attest/claims/video-manifest.ts'
import { jsonOf } from '#src/attest/evidence/digests.ts'
import type { PacketAttestation } from '#src/attest/evidence/views.ts'
import type { CapturedFacts } from '#src/attest/factors/facts.ts'
import { judgeFrames } from '#src/attest/factors/frames.ts'
import { judgeLiveness } from '#src/attest/factors/liveness.ts'
import { judgeSession } from '#src/attest/factors/session.ts'
import { RULES_VERSION } from '#src/attest/factors/table.ts'
import { judgeVideoManifest } from '#src/attest/factors/video-manifest.ts'
import type { Evidence } from '#src/attest/media/declared.ts'
import { examineVideo } from '#src/attest/video/examine.ts'
import type { ReceivedVideo, VideoFacts, VideoManifest } from '#src/attest/video/facts.ts'
import { type Pieces, readPieces, sizesOf } from '#src/attest/video/pieces.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'

/** The original with this digest, when it was given. */
export type OpenMedia = (media: { sha256: string; size: number; mediaId: string }) => Readable | undefined

type Result = NonNullable<PacketAttestation['result']>

const LINKS = ['link', 'last_link', 'duplicate']
const NONCE = ['missing', 'other_seed']
const COUNTED = ['no_video_manifest', 'no_chunks', 'missing_field', 'index_gap', 'count_differs', 'bytes_differ']
const RECEIVED = ['chunk_missing', 'chunk_surplus']
const TIMES = [
  'presentation_times',
  'gap',
  'gap_budget',
  'chunk_too_short',
  'chunk_too_long',
  'video_too_long',
  'stated_duration',
  'frame_rate',
  'chunk_rate',
  'end',
]
const CONTAINER = [
  'container',
  'container_limits',
  'container_duration',
  'container_frames',
  'fragment_times',
  'fragment_frames',
  'codec',
  'timescale',
]

export async function checkVideo(one: PacketAttestation, openMedia: OpenMedia | undefined): Promise<CheckFinding[]> {
  const { result, submission, media } = one
  const { bundle } = submission
  if (submission.media_type !== 'video' || result === null || !isRecord(bundle)) return []
  const part = `attestations/${one.attestation_id}`
  const parsed = manifestSchema.optional().safeParse(bundle.video_manifest)
  if (!parsed.success) return [finding(part, 'video manifest', false, 'it can not be read')]
  const manifest: VideoManifest | null = parsed.data ?? null

  const told = toldBy(result)
  const sizes = sizesOf(manifest?.chunks ?? [])
  // If the chunks of a stream have other lengths than listed, nothing tells which bytes of the original belong to
  // which.
  const isUpload = submission.stream === undefined
  const isWhole = !told.manifest.some((problem) => RECEIVED.includes(problem))
  const isDivisible = isUpload || (isWhole && sizes.reduce((sum, bytes) => sum + bytes, 0) === media.size)
  const source = isDivisible
    ? openMedia?.({ sha256: media.sha256, size: media.size, mediaId: media.media_id })
    : undefined
  const { signal } = new AbortController()
  const pieces = source && (await readPieces(source, { sizes, type: media.content_type, signal }))
  const shown = judgedBy(one, bundle, manifest, pieces)

  const isToldByRules = result.rules_version === RULES_VERSION
  const compare = (check: string, a: unknown, b: unknown) => {
    const [said, found] = [canonicalize(jsonOf(a)), canonicalize(jsonOf(b))]
    return finding(part, check, said === found, `the result says ${said}, the packet shows ${found}`)
  }
  const only = (list: readonly string[], decidable: readonly string[]) =>
    list.filter((name) => decidable.includes(name)).sort()
  const decidable = isUpload || (isWhole && told.frames.digest === undefined) ? [...COUNTED, ...RECEIVED] : COUNTED
  return [
    compare('video chain', pick(told.frames, LINKS), pick(shown.frames, LINKS)),
    compare('video manifest', only(told.manifest, decidable), only(shown.manifest, decidable)),
    compare('video nonce', only(told.nonce, NONCE), only(shown.nonce, NONCE)),
    compare('video times', only(told.times, TIMES), only(shown.times, TIMES)),
    checkDigest(part, told.evidence.frame_hash_mismatch, manifest),
    ...(pieces === undefined
      ? [skipped(part, 'video bytes', 'the original is needed for the digests of its chunks and its container')]
      : [compare('video chunks', pick(told.frames, ['digest']), pick(shown.frames, ['digest']))]),
    ...(pieces === undefined
      ? []
      : [
          isToldByRules
            ? compare('video container', only(told.times, CONTAINER), only(shown.times, CONTAINER))
            : skipped(part, 'video container', `it was judged by ${result.rules_version}`),
        ]),
  ]
}

interface Told {
  evidence: Record<string, Evidence | undefined>
  /** By problem: the count, and the first. */
  frames: Record<string, unknown>
  manifest: string[]
  nonce: string[]
  times: string[]
}

function toldBy({ factors }: Pick<Result, 'factors'>): Told {
  const evidence = Object.fromEntries(factors.map((factor) => [factor.code, factor.evidence as Evidence]))
  const problems = evidence.frame_hash_mismatch?.problems
  return {
    evidence,
    frames: isRecord(problems) ? problems : {},
    manifest: textsOf(evidence.video_manifest_incomplete?.found),
    nonce: textsOf(evidence.session_nonce_mismatch?.found),
    times: textsOf(evidence.liveness_check_failed?.failed),
  }
}

/** What the factors find in the available data. */
function judgedBy(
  { accepted_at, submission, media }: PacketAttestation,
  bundle: Record<string, unknown>,
  manifest: VideoManifest | null,
  pieces: Pieces | undefined,
): Told {
  const nonce = typeof bundle.session_nonce === 'string' ? bundle.session_nonce : null
  const video = examineVideo({
    manifest,
    received: receivedOf(submission.stream, media.size, manifest, pieces),
    nonce,
    container: pieces?.container ?? { state: 'sane', reason: null, offset: null },
    footage: pieces?.footage ?? null,
  })
  const facts = factsOf(bundle, { acceptedAt: new Date(accepted_at), nonce, video })
  const found = [judgeFrames(facts), judgeVideoManifest(facts), judgeSession(facts), judgeLiveness(facts)]
  return toldBy({ factors: found.filter((factor) => factor !== null) })
}

// Without its bytes a chunk is assumed to be the listed one, which gives no finding.
function receivedOf(
  stream: string | undefined,
  size: number,
  manifest: VideoManifest | null,
  pieces: Pieces | undefined,
): ReceivedVideo {
  const listed = manifest?.chunks ?? []
  let end = 0
  const whole = sizesOf(listed).flatMap((bytes, index) => {
    end += bytes
    const sha256 = (pieces?.pieces[index]?.sha256 ?? listed[index]?.sha256 ?? '').toLowerCase()
    return end <= size ? [{ index, bytes, sha256, arrivedAtMs: null }] : []
  })
  const looseBytes = size - whole.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    source: stream === undefined ? 'upload' : 'stream',
    bytes: size,
    chunks: whole,
    looseBytes,
    streamNonce: null,
  }
}

function factsOf(
  bundle: Record<string, unknown>,
  { acceptedAt, nonce, video }: { acceptedAt: Date; nonce: string | null; video: VideoFacts },
): CapturedFacts {
  const capturedAt = new Date(typeof bundle.captured_at === 'string' ? bundle.captured_at : Number.NaN)
  return {
    acceptedAt,
    // An unreadable time is no reference for measurements.
    bundle: {
      capturedAt: Number.isNaN(capturedAt.getTime()) ? acceptedAt : capturedAt,
      sensorHash: '',
      gps: null,
      biometric: null,
      deviceId: null,
      sessionNonce: nonce,
    },
    media: { sha256: '', contentType: '', mediaType: 'video' },
    signature: null,
    chain: null,
    device: null,
    session: null,
    exif: { state: 'not_applicable' },
    video,
    lossLocation: null,
    policy: { geofenceMetres: 0, thresholds: { review: 0, failed: 0 } },
  }
}

// The evidence names the digest that the manifest lists, so it must be listed there.
function checkDigest(part: string, evidence: Evidence | undefined, manifest: VideoManifest | null): CheckFinding {
  const problems = isRecord(evidence?.problems) ? evidence.problems : {}
  const first = isRecord(problems.digest) ? problems.digest.first_index : undefined
  if (evidence === undefined || typeof first !== 'number' || first !== evidence.first_bad_index) {
    return skipped(part, 'video digest', 'no digest was found wrong first')
  }
  const listed = manifest?.chunks?.[first]?.sha256?.toLowerCase()
  const isListed = listed !== undefined && evidence.expected === listed && evidence.found !== listed
  return finding(part, 'video digest', isListed, `chunk ${first} is not listed with the digest that was expected`)
}

function pick(problems: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(problems).filter(([name]) => names.includes(name)))
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
