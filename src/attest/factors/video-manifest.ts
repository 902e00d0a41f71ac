import { quote } from '#src/platform/sanitize.ts'
import type { VideoFacts } from '../video/facts.ts'
import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

type Problem =
  | 'no_video_manifest'
  | 'no_chunks'
  | 'missing_field'
  | 'index_gap'
  | 'count_differs'
  | 'bytes_differ'
  | 'chunk_missing'
  | 'chunk_surplus'

/**
 * The verdict that describes the fault best: `missing` lacks something in the middle, `truncated_tail` only its end;
 * `inconsistent` was received as listed, but the manifest contradicts itself.
 */
type Verdict = 'not_verifiable' | 'missing' | 'truncated_tail' | 'surplus' | 'inconsistent'

/**
 * `video_manifest_incomplete`: one factor, however much is missing; `found` lists what, `first_bad_index` says where.
 */
export function judgeVideoManifest(facts: CapturedFacts): ScoredFactor<'video_manifest_incomplete'> | null {
  if (facts.media.mediaType !== 'video') return null
  const { video } = facts
  if (video === undefined || video === null || video.manifest === null) {
    return scored('video_manifest_incomplete', {
      compared: 'video_manifest of the bundle',
      expected: 'a manifest of all chunks',
      found: ['no_video_manifest'],
      verdict: 'not_verifiable',
      first_bad_index: null,
      received_bytes: video?.received.bytes ?? null,
    })
  }
  const { manifest, received } = video
  const problems = problemsOf(video, manifest)
  if (problems.length === 0) return null
  return scored('video_manifest_incomplete', {
    compared: 'indices, counts and fields of the manifest, and the chunks received',
    expected: { chunks: manifest.statedCount, bytes: manifest.statedBytes },
    found: problems,
    verdict: verdictOf(video),
    first_bad_index: firstBadIndex(video, manifest),
    listed_chunks: manifest.listedCount,
    listed_bytes: manifest.listedBytes,
    received_chunks: received.chunks,
    received_bytes: received.bytes,
    missing_chunks: received.missing?.count ?? 0,
    surplus_chunks: received.surplus?.count ?? 0,
    loose_bytes: received.looseBytes,
    missing_fields: manifest.missingFields?.count ?? 0,
    first_missing_field: quote(manifest.missingFields?.first ?? ''),
    source: video.source,
  })
}

function problemsOf({ received }: VideoFacts, manifest: NonNullable<VideoFacts['manifest']>): Problem[] {
  const { statedCount, listedCount, statedBytes, listedBytes, missingFields, misplaced } = manifest
  const problems: Problem[] = []
  if (listedCount === 0) problems.push('no_chunks')
  if (missingFields !== null) problems.push('missing_field')
  if (misplaced !== null) problems.push('index_gap')
  if (statedCount !== null && statedCount !== listedCount) problems.push('count_differs')
  // Chunks received in other sizes are reported by missing, surplus and digests.
  if (statedBytes !== null && listedBytes !== null && statedBytes !== listedBytes) problems.push('bytes_differ')
  if (received.missing !== null) problems.push('chunk_missing')
  if (received.surplus !== null || (received.missing === null && received.looseBytes > 0))
    problems.push('chunk_surplus')
  return problems
}

function verdictOf(video: VideoFacts): Verdict {
  const { received, manifest } = video
  const { missing, surplus, looseBytes } = received
  if (manifest?.missingFields != null) return 'not_verifiable'
  if (missing !== null) return missing.isTail && cutWithin(video) === undefined ? 'truncated_tail' : 'missing'
  return surplus !== null || looseBytes > 0 ? 'surplus' : 'inconsistent'
}

function firstBadIndex(video: VideoFacts, { misplaced }: NonNullable<VideoFacts['manifest']>): number | null {
  const { missing, surplus } = video.received
  const places = [cutWithin(video), misplaced?.index, missing?.index, surplus?.index].filter((one) => one !== undefined)
  return places.length === 0 ? null : Math.min(...places)
}

// A file is divided by the sizes that the manifest lists. Removing bytes from a chunk, or inserting some, shifts all
// later chunks: then no chunk from there on matches, although only the end seems to be missing or too long.
function cutWithin({ source, received, chain }: VideoFacts): number | undefined {
  const digest = chain?.digest
  if (source !== 'upload' || digest == null) return undefined
  if (received.missing === null && received.looseBytes === 0) return undefined
  return digest.count === received.chunks - digest.index ? digest.index : undefined
}
