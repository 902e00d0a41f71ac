// The facts about a video: its stored bytes, read once from end to end, and its manifest.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { createSlice, runInSlices } from '#src/platform/slices.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { inSpan } from '#src/platform/trace.ts'
import { type ChunkRow, findChunks, findStream } from '../captures/stream-rows.ts'
import type { Facts } from '../factors/facts.ts'
import { examineInSteps } from '../video/examine.ts'
import type { ReceivedVideo, VideoFacts } from '../video/facts.ts'
import { eachBuffer, type Pieces, readPieces, sizesOf } from '../video/pieces.ts'
import type { SubmittedRow } from './submission-rows.ts'

export interface VideoFactsDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'openRead'>
}

type Submitted = Pick<SubmittedRow, 'submission' | 'mediaSha256' | 'mediaContentType'>

export type ReadVideo = (
  job: Pick<RunningJob, 'scope' | 'signal'>,
  submitted: Submitted,
  judged?: VideoFacts | null,
) => Promise<VideoFacts | null>

/**
 * Null for media that is no video. A stream whose session was deleted since it was `judged` keeps the facts of that
 * result: its nonce and the arrival times of its chunks stand nowhere else. @throws {Error} when the bytes can't be read now.
 */
export function createReadVideo({ db, store }: VideoFactsDeps): ReadVideo {
  return async (job, submitted, judged = null) => {
    const { submission, mediaSha256, mediaContentType } = submitted
    if (submission.media_type !== 'video') return null
    const manifest = submission.bundle?.video_manifest ?? null
    const { stream: sessionId } = submission
    const sent = sessionId === undefined ? undefined : await findSent(job.scope, sessionId)
    if (sent === 'gone') {
      if (judged === null) throw new Error('the session of the stream is gone')
      return judged
    }
    const sizes = sent?.chunks.map(({ bytes }) => bytes) ?? sizesOf(manifest?.chunks ?? [])
    const sha256 = mediaSha256.toString('hex')
    const told = sent?.chunks ?? manifest?.chunks ?? []
    const reading = await inSpan(
      () => ({ name: 'read video' }),
      async () => {
        const pieces = await readPieces(await open(job.scope, sha256), {
          sizes,
          type: mediaContentType,
          signal: job.signal,
          slice: createSlice(),
        })
        // If every chunk has its declared digest, the whole file has too. Otherwise the store may have damaged it, so
        // the whole file is checked before the capture is blamed.
        const isAsTold = told.length > 0 && told.every((chunk, index) => chunk.sha256 === pieces.pieces[index]?.sha256)
        if (!isAsTold || pieces.looseBytes > 0) await checkWhole(await open(job.scope, sha256), sha256, job.signal)
        return pieces
      },
    )
    const steps = examineInSteps({
      manifest,
      received: sent === undefined ? uploaded(reading) : streamed(reading, sent),
      nonce: submission.bundle?.session_nonce ?? null,
      container: reading.container,
      footage: reading.footage,
    })
    return runInSlices(steps)
  }

  async function findSent(scope: Scope, sessionId: string): Promise<Sent | 'gone'> {
    const [stream, chunks] = await db.tenant(scope, (tx) =>
      Promise.all([findStream(tx, sessionId), findChunks(tx, sessionId)]),
    )
    return stream === undefined ? 'gone' : { nonce: stream.nonce, chunks }
  }

  async function open(scope: Scope, sha256: string): Promise<Readable> {
    const blob = await store.openRead(scope, sha256)
    if (blob === undefined) throw new Error('the video is missing from the store')
    return blob.stream
  }
}

/** The video facts take the place of the image facts. */
export function withVideo(video: VideoFacts | null): Partial<Pick<Facts, 'video' | 'exif'>> {
  return video === null ? {} : { video, exif: { state: 'not_applicable' } }
}

interface Sent {
  nonce: string
  chunks: ChunkRow[]
}

async function checkWhole(source: Readable, sha256: string, signal: AbortSignal): Promise<void> {
  const whole = createHash('sha256')
  await eachBuffer(source, signal, (buffer) => whole.update(buffer))
  if (whole.digest('hex') !== sha256) throw new Error('the bytes in the store don’t match their SHA-256')
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
