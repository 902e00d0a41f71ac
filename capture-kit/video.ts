// A video as a capture app records it: a few frames at a time, hashed into a chain during the recording. The file is
// small and has a real structure; its frames are noise, because the service does not decode them.

import { createHash } from 'node:crypto'
import { mp4Parts, u32, u64 } from './mp4.ts'
import { createDice } from './scene.ts'
import { webmParts } from './webm.ts'

/** One piece of the file, with the times of its frames. */
export interface VideoChunk {
  data: Buffer
  frames: number
  /** Microseconds since the recording began. */
  firstPtsUs: number
  /** The end, exclusive. */
  lastPtsUs: number
}

/** The signed list of chunks. Field names are those of the API. */
export interface VideoManifest {
  chunk_count: number
  total_bytes: number
  duration_us: number
  codec: string
  timescale: number
  chain_seed: string
  chunks: {
    index: number
    sha256: string
    bytes: number
    frames: number
    first_pts_us: number
    last_pts_us: number
    link: string
  }[]
  last_link: string
}

/** MP4 in fragments, QuickTime with its index at the end, WebM as a browser records it. */
export type VideoContainer = 'mp4' | 'mov' | 'webm'

export const VIDEO_TYPES: Readonly<Record<VideoContainer, string>> = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
}

/** The frames of one chunk. */
export interface ChunkFrames {
  startMs: number
  lengthMs: number
  frames: number
  data: Buffer
}

const FRAMES_PER_SECOND = 30
const MANIFESTS: Readonly<Record<VideoContainer, { codec: string; timescale: number }>> = {
  mp4: { codec: 'avc1.42E01E', timescale: 90_000 },
  mov: { codec: 'avc1.42E01E', timescale: 90_000 },
  webm: { codec: 'vp8', timescale: 1_000 },
}

/**
 * `seed` generates the noise: two recordings of one seed are the same bytes. The file is the concatenation of all data.
 */
export function recordVideo({
  seed,
  chunks,
  chunkMs = 1_000,
  chunkBytes = 0,
  container = 'mp4',
}: {
  seed: number
  chunks: number
  chunkMs?: number
  /** The minimum per chunk; the noise repeats. */
  chunkBytes?: number
  container?: VideoContainer
}): VideoChunk[] {
  const dice = createDice(seed)
  const frames = Math.max(1, Math.round((chunkMs * FRAMES_PER_SECOND) / 1_000))
  const recorded = Array.from({ length: chunks }, (_, index): ChunkFrames => {
    const noise = Buffer.from(Array.from({ length: 64 + Math.floor(dice() * 64) }, () => Math.floor(dice() * 256)))
    const data = Buffer.alloc(Math.max(noise.length, chunkBytes, frames), noise)
    return { startMs: index * chunkMs, lengthMs: chunkMs, frames, data }
  })
  const parts = container === 'webm' ? webmParts(recorded) : mp4Parts(recorded, { isFragmented: container === 'mp4' })
  return parts.map((data, index) => ({
    data,
    frames,
    firstPtsUs: index * chunkMs * 1_000,
    lastPtsUs: (index + 1) * chunkMs * 1_000,
  }))
}

/** The chain over chunks, seeded by a session's nonce. */
export function makeVideoManifest(
  nonce: string,
  chunks: readonly VideoChunk[],
  container: VideoContainer = 'mp4',
): VideoManifest {
  let link = hash(Buffer.from('cap-chain/v1'), Buffer.from(nonce, 'base64url'))
  const listed = chunks.map(({ data, frames, firstPtsUs, lastPtsUs }, index) => {
    const digest = hash(data)
    link = hash(Buffer.from([1]), link, u32(index), u64(firstPtsUs), u64(lastPtsUs), u64(data.length), digest)
    return {
      index,
      sha256: digest.toString('hex'),
      bytes: data.length,
      frames,
      first_pts_us: firstPtsUs,
      last_pts_us: lastPtsUs,
      link: link.toString('hex'),
    }
  })
  return {
    chunk_count: chunks.length,
    total_bytes: listed.reduce((sum, { bytes }) => sum + bytes, 0),
    duration_us: (chunks.at(-1)?.lastPtsUs ?? 0) - (chunks[0]?.firstPtsUs ?? 0),
    ...MANIFESTS[container],
    chain_seed: nonce,
    chunks: listed,
    last_link: link.toString('hex'),
  }
}

export function joinChunks(chunks: readonly VideoChunk[]): Buffer {
  return Buffer.concat(chunks.map(({ data }) => data))
}

function hash(...parts: Uint8Array[]): Buffer {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}
