// The facts about a video: its stored bytes, read once from end to end, beside its manifest.

import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { inSpan } from '#src/platform/trace.ts'
import { type ChunkRow, findChunks, findStream } from '../captures/stream-rows.ts'
import type { Facts } from '../factors/facts.ts'
import { createWalker, type Walked } from '../video/container.ts'
import { examineVideo } from '../video/examine.ts'
import type { ReceivedVideo, VideoFacts, VideoManifest } from '../video/facts.ts'
import type { SubmittedRow } from './rows.ts'

export interface VideoFactsDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'openRead'>
}

type Submitted = Pick<SubmittedRow, 'submission' | 'mediaSha256' | 'mediaContentType'>

export type ReadVideo = (job: Pick<RunningJob, 'scope' | 'signal'>, submitted: Submitted) => Promise<VideoFacts | null>

/** Null for what is no video. @throws {Error} when the bytes can't be read now. */
export function createReadVideo({ db, store }: VideoFactsDeps): ReadVideo {
  return async (job, submitted) => {
    const { submission, mediaSha256, mediaContentType } = submitted
    if (submission.media_type !== 'video') return null
    const manifest = submission.bundle?.video_manifest ?? null
    const { stream: sessionId } = submission
    const sent = sessionId === undefined ? undefined : await findSent(job.scope, sessionId)
    const sizes = sent?.chunks.map(({ bytes }) => bytes) ?? sizesOf(manifest)
    const sha256 = mediaSha256.toString('hex')
    const told = sent?.chunks ?? manifest?.chunks ?? []
    const reading = await inSpan(
      () => ({ name: 'read video' }),
      async () => {
        const pieces = await readPieces(await open(job.scope, sha256), {
          sizes,
          type: mediaContentType,
          signal: job.signal,
        })
        // Every piece is what was said of it: so is the whole. Else it may be the store that has damaged it, and nobody is
        // to blame for that before it is known.
        const isAsTold = told.length > 0 && told.every((chunk, index) => chunk.sha256 === pieces.pieces[index]?.sha256)
        if (!isAsTold || pieces.looseBytes > 0) await checkWhole(await open(job.scope, sha256), sha256, job.signal)
        return pieces
      },
    )
    return examineVideo({
      manifest,
      received: sent === undefined ? uploaded(reading) : streamed(reading, sent),
      nonce: submission.bundle?.session_nonce ?? null,
      container: reading.container,
      footage: reading.footage,
    })
  }

  async function findSent(scope: Scope, sessionId: string): Promise<Sent> {
    const [stream, chunks] = await db.tenant(scope, (tx) =>
      Promise.all([findStream(tx, sessionId), findChunks(tx, sessionId)]),
    )
    if (stream === undefined) throw new Error('the session of the stream is gone')
    return { nonce: stream.nonce, chunks }
  }

  async function open(scope: Scope, sha256: string): Promise<Readable> {
    const blob = await store.openRead(scope, sha256)
    if (blob === undefined) throw new Error('the video is missing from the store')
    return blob.stream
  }
}

/** What a video says instead of what is said of images. */
export function withVideo(video: VideoFacts | null): Partial<Pick<Facts, 'video' | 'exif'>> {
  return video === null ? {} : { video, exif: { state: 'not_applicable' } }
}

interface Sent {
  nonce: string
  chunks: ChunkRow[]
}

interface Pieces extends Walked {
  bytes: number
  /** Those that are whole, in their order. */
  pieces: { sha256: string; bytes: number }[]
  looseBytes: number
}

async function checkWhole(source: Readable, sha256: string, signal: AbortSignal): Promise<void> {
  const whole = createHash('sha256')
  await eachBuffer(source, signal, (buffer) => whole.update(buffer))
  if (whole.digest('hex') !== sha256) throw new Error('the bytes in the store are not those of their name')
}

/**
 * Reads a stream to its end: the hash of each piece of these sizes, what the container is and what it says of its video. Memory and the time
 * between two turns of the event loop are those of one buffer of the stream, whatever its length.
 */
export async function readPieces(
  source: Readable,
  { sizes, type, signal }: { sizes: readonly number[]; type: string; signal: AbortSignal },
): Promise<Pieces> {
  const walker = createWalker(type, cutsOf(sizes))
  const pieces: Pieces['pieces'] = []
  let bytes = 0
  let piece: { hash: Hash; left: number; size: number } | undefined
  const next = () => {
    const size = sizes[pieces.length]
    piece = size === undefined ? undefined : { hash: createHash('sha256'), left: size, size }
  }
  const finish = () => {
    while (piece?.left === 0) {
      pieces.push({ sha256: piece.hash.digest('hex'), bytes: piece.size })
      next()
    }
  }
  next()
  finish()
  await eachBuffer(source, signal, (buffer) => {
    walker.push(buffer)
    bytes += buffer.byteLength
    for (let at = 0; at < buffer.byteLength && piece !== undefined; ) {
      const part = buffer.subarray(at, at + piece.left)
      piece.hash.update(part)
      piece.left -= part.byteLength
      at += part.byteLength
      finish()
    }
  })
  const told = pieces.reduce((sum, { bytes: size }) => sum + size, 0)
  return { bytes, pieces, looseBytes: bytes - told, ...walker.end() }
}

function cutsOf(sizes: readonly number[]): number[] {
  let end = 0
  return sizes.map((size) => {
    end += size
    return end
  })
}

async function eachBuffer(source: Readable, signal: AbortSignal, take: (buffer: Buffer) => unknown): Promise<void> {
  try {
    for await (const buffer of source as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      take(buffer)
    }
  } finally {
    if (!source.destroyed) {
      source.destroy()
      await once(source, 'close')
    }
  }
}

// As far as the manifest says how long its chunks are.
function sizesOf(manifest: VideoManifest | null): number[] {
  const sizes: number[] = []
  for (const { bytes } of manifest?.chunks ?? []) {
    if (bytes === undefined) break
    sizes.push(bytes)
  }
  return sizes
}

function uploaded({ bytes, pieces, looseBytes }: Pieces): ReceivedVideo {
  const chunks = pieces.map((piece, index) => ({ ...piece, index, arrivedAtMs: null }))
  return { source: 'upload', bytes, chunks, looseBytes, streamNonce: null }
}

function streamed({ bytes, pieces, looseBytes }: Pieces, { nonce, chunks }: Sent): ReceivedVideo {
  return {
    source: 'stream',
    bytes,
    chunks: pieces.flatMap((piece, place) => {
      const row = chunks[place]
      return row === undefined ? [] : [{ ...piece, index: row.index, arrivedAtMs: row.arrivedAt.getTime() }]
    }),
    looseBytes,
    streamNonce: nonce,
  }
}
