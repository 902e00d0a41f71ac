// A capture that is sent while it is recorded. Each chunk is stored on arrival and timed by Postgres's clock, so an
// interrupted phone can resume, and a sender can't submit in a second what takes a minute to record.

import type { Readable } from 'node:stream'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { again, type IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import { parseContentDigest } from '#src/platform/http/request-headers.ts'
import { checkIdFilter } from '#src/platform/http/validate.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Eraser } from '../media/erase.ts'
import { MAX_VIDEO_BYTES } from '../media/media.ts'
import { findMedia, insertMedia, type Media } from '../media/rows.ts'
import { isMediaType, type MediaType, SNIFF_BYTES, sniffType } from '../media/sniff.ts'
import { MAX_CHUNK_BYTES, MAX_CHUNKS } from '../video/limits.ts'
import {
  type ChunkRow,
  closeStream,
  countStreams,
  findChunk,
  findChunks,
  findStream,
  findStreams,
  findUnreleased,
  insertChunk,
  lockStream,
  releaseChunks,
  type StreamRow,
} from './stream-rows.ts'

export interface ChunkUpload {
  scope: Scope
  sessionId: string
  index: number
  stream: Readable
  /** As declared; parameters are ignored. */
  contentType: string
  contentLength?: number | undefined
  /** The Content-Digest header (RFC 9530). */
  contentDigest?: string | undefined
  /** Aborted when the client disconnects. */
  signal?: AbortSignal
  idempotencyKey?: IdempotencyKey | undefined
}

export type StreamListQuery = ListQuery & {
  /** Any of these. */
  status?: readonly ('open' | 'closed')[] | undefined
  device_id?: string | undefined
}

export interface StreamsDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'put' | 'openRead' | 'exists'>
  pager: Pager
  now: () => Date
}

export type Streams = ReturnType<typeof createStreams>

// Chunks that arrive during assembly restart it; after this many restarts the phone is still recording.
const ASSEMBLY_TRIES = 3

export function createStreams({ db, store, pager, now }: StreamsDeps) {
  /** Checks before the body is read: refuses what can't be accepted at the cost of a few rows. */
  async function admit(upload: ChunkUpload, type: MediaType, expected: string | undefined) {
    const { scope, sessionId, index, contentLength = 0 } = upload
    const [stream, chunk] = await db.tenant(scope, (tx) =>
      Promise.all([findStream(tx, sessionId), findChunk(tx, sessionId, index)]),
    )
    if (stream === undefined) throw noSession(sessionId)
    if (chunk === undefined) checkRoom(stream, type, contentLength)
    else if (expected !== undefined && expected !== chunk.sha256) throw otherBytes(chunk)
    return chunk
  }

  /**
   * Stores one chunk. The same bytes again are the same chunk, with the first arrival time.
   * @throws {Failure} `not_found`, `environment_mismatch` for the session, `conflict` for other bytes at this index and
   * for a closed stream, `payload_too_large`, `invalid_request` (empty, wrong digest, wrong type),
   * `service_unavailable`.
   */
  async function put(upload: ChunkUpload): Promise<ChunkRow> {
    const { scope, sessionId, index, idempotencyKey, signal } = upload
    checkId(sessionId, 'cap', scope.environment)
    const type = parseType(upload.contentType)
    const expected = upload.contentDigest === undefined ? undefined : parseContentDigest(upload.contentDigest)
    const known = await admit(upload, type, expected)
    const { sha256, size } = await store.put(scope, upload.stream, {
      maxBytes: MAX_CHUNK_BYTES,
      ownsChunks: true,
      onHead: (head, isWhole) => hasHead(head, isWhole, index === 0 ? type : undefined),
      async onStaged(staged) {
        if (expected !== undefined && expected !== staged.sha256) throw wrongDigest(staged.sha256)
        // Checked before the bytes are stored: bytes without an owner would stay for a week.
        if (known !== undefined && known.sha256 !== staged.sha256) throw otherBytes(known)
      },
    })
    idempotencyKey?.bodyIs(Buffer.from(sha256, 'hex'))
    if (signal?.aborted) throw new Failure('request_timeout', 'The client went away before it had its answer.')
    const take = async (tx: Tx): Promise<ChunkRow> => {
      const stream = await lockStream(tx, sessionId)
      if (stream === undefined) throw noSession(sessionId)
      const there = await findChunk(tx, sessionId, index)
      if (there !== undefined) {
        if (there.sha256 !== sha256) throw otherBytes(there)
        return there
      }
      checkRoom(stream, type, size)
      await keep(tx, scope, { sha256, size, type })
      return insertChunk(tx, scope, sessionId, { index, sha256, bytes: size, contentType: type })
    }
    const row = await db.tenant(scope, (tx) => again(tx, idempotencyKey, take))
    // As for any upload: bytes first, then the row. Bytes that were erased between the two must be sent again.
    if (known === undefined && !(await store.exists(scope, sha256))) throw beingErased()
    return row
  }

  async function keep(
    tx: Tx,
    scope: Scope,
    { sha256, size, type }: { sha256: string; size: number; type: MediaType },
  ): Promise<Media> {
    const createdAt = now()
    const media = await insertMedia(tx, scope, {
      id: newId('med', scope.environment, createdAt.getTime()),
      sha256,
      size,
      contentType: type,
      width: null,
      height: null,
      createdAt,
    })
    if (media === undefined) throw beingErased()
    return media
  }

  /** The stream of a session, and its chunks so far. @throws {Failure} `not_found`, `environment_mismatch`. */
  async function find(scope: Scope, sessionId: string): Promise<{ stream: StreamRow; chunks: ChunkRow[] }> {
    checkId(sessionId, 'cap', scope.environment)
    const [stream, chunks] = await db.tenant(scope, (tx) =>
      Promise.all([findStream(tx, sessionId), findChunks(tx, sessionId)]),
    )
    if (stream === undefined) throw noSession(sessionId)
    return { stream, chunks }
  }

  /** Newest first. @throws {Failure} `environment_mismatch`, `invalid_request` at `?device_id` or `?cursor`. */
  async function list(scope: Scope, query: StreamListQuery): Promise<CountedPage<StreamRow>> {
    checkIdFilter('device_id', query.device_id, 'dev', scope)
    // Both statuses are all sessions.
    const isOpen = query.status?.length === 1 ? query.status[0] === 'open' : undefined
    const filter = { isOpen, deviceId: query.device_id, ...createdBetween(query) }
    const list = { route: 'GET /v1/claims/attest/sessions', scope, query }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => findStreams(tx, scope, filter, page),
      count: (tx) => countStreams(tx, scope, filter),
    })
  }

  /** @throws {Failure} `not_found`, `environment_mismatch`. */
  async function getChunk(scope: Scope, sessionId: string, index: number): Promise<ChunkRow> {
    checkId(sessionId, 'cap', scope.environment)
    const chunk = await db.tenant(scope, (tx) => findChunk(tx, sessionId, index))
    if (chunk === undefined) throw new Failure('not_found', `${sessionId} has no chunk ${index}.`)
    return chunk
  }

  /**
   * Assembles the chunks to one media object and closes the stream; a repeated call returns the same media.
   * @throws {Failure} `not_found`, `environment_mismatch`, `invalid_request` when no chunk has arrived, `conflict`
   * while chunks still arrive, `service_unavailable`.
   */
  async function assemble(scope: Scope, sessionId: string): Promise<Media> {
    for (let tries = 0; tries < ASSEMBLY_TRIES; tries += 1) {
      const { stream, chunks } = await find(scope, sessionId)
      if (stream.mediaId !== null) return getMedia(scope, stream.mediaId)
      const { contentType } = stream
      if (contentType === null || chunks.length === 0) throw nothingArrived()
      const { sha256, size } = await store.put(scope, concatenate(scope, chunks), {
        maxBytes: MAX_VIDEO_BYTES,
        ownsChunks: true,
      })
      const media = await db.tenant(scope, async (tx) => {
        const locked = await lockStream(tx, sessionId)
        if (locked?.mediaId !== null || locked.chunkCount !== stream.chunkCount) return undefined
        const kept = await keep(tx, scope, { sha256, size, type: contentType })
        await closeStream(tx, sessionId, kept.id)
        return kept
      })
      if (media === undefined) continue
      if (!(await store.exists(scope, sha256))) throw beingErased()
      return media
    }
    throw new Failure('not_ready', {
      detail: 'Chunks of this session are still arriving: submit it when the last one was answered.',
      errors: [{ pointer: '/media/capture_session_id', code: 'still_arriving', detail: 'takes chunks at this moment' }],
    })
  }

  async function getMedia(scope: Scope, id: string): Promise<Media> {
    const media = await db.tenant(scope, (tx) => findMedia(tx, id))
    if (media === undefined) throw gone()
    return media
  }

  async function* concatenate(scope: Scope, chunks: readonly ChunkRow[]): AsyncGenerator<Uint8Array> {
    for (const { sha256 } of chunks) {
      const blob = await store.openRead(scope, sha256)
      if (blob === undefined) throw gone()
      yield* blob.stream
    }
  }

  return { put, find, list, getChunk, assemble }
}

function checkRoom(stream: StreamRow, type: MediaType, bytes: number): void {
  if (stream.mediaId !== null || stream.consumedBy !== null) {
    throw new Failure('invalid_state_transition', {
      detail: 'The session was submitted: its stream takes no more chunks.',
      members: { allowed: ['open'], current_status: 'closed' },
    })
  }
  if (stream.contentType !== null && stream.contentType !== type) {
    throw invalidField('Content-Type', 'content_type_mismatch', `must be ${stream.contentType}, as of the first chunk`)
  }
  if (stream.chunkCount >= MAX_CHUNKS)
    throw new Failure('payload_too_large', `A stream has ${MAX_CHUNKS} chunks at most.`)
  if (stream.totalBytes + bytes > MAX_VIDEO_BYTES) {
    throw new Failure('payload_too_large', `The chunks of a stream have ${MAX_VIDEO_BYTES} bytes at most.`)
  }
}

function parseType(contentType: string): MediaType {
  const name = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (isMediaType(name) && name.startsWith('video/')) return name
  throw new Failure('unsupported_media_type', 'Content-Type must be video/mp4, video/quicktime or video/webm.')
}

/** The first chunk must begin like a file of its type; the others may hold any bytes. */
function hasHead(head: Uint8Array, isWhole: boolean, type: MediaType | undefined): boolean {
  if (head.byteLength === 0) {
    const detail = 'The body is empty: send the bytes of one chunk.'
    throw new Failure('invalid_request', { detail, errors: [{ pointer: '', code: 'empty_body', detail }] })
  }
  if (type === undefined) return true
  const found = sniffType(head)
  if (found === undefined && !isWhole && head.byteLength < SNIFF_BYTES) return false
  if (found === type) return true
  const bytes = found ?? 'the beginning of none of the types that are accepted'
  throw invalidField('Content-Type', 'content_type_mismatch', `says ${type}, but the bytes are ${bytes}`)
}

const noSession = (id: string): Failure => new Failure('not_found', `There is no capture session ${id}.`)

const otherBytes = ({ index, sha256 }: ChunkRow): Failure => {
  const detail = `Chunk ${index} is here already with other bytes: their SHA-256 is ${sha256}.`
  return new Failure('conflict', { detail, errors: [{ pointer: '', code: 'chunk_differs', detail }] })
}

const wrongDigest = (sha256: string): Failure =>
  invalidField('Content-Digest', 'digest_mismatch', `is not of the bytes that arrived: their SHA-256 is ${sha256}`)

const beingErased = (): Failure =>
  new Failure('service_unavailable', 'The same bytes were being erased when they came again. Try again.')

const nothingArrived = (): Failure =>
  invalidField('/media/capture_session_id', 'no_chunks', 'names a session of which no chunk has arrived')

const gone = (): Failure => {
  const detail = 'The chunks of this session were erased.'
  return new Failure('not_found', {
    detail,
    errors: [{ pointer: '/media/capture_session_id', code: 'not_found', detail }],
  })
}

// Per run of retention.
const STREAMS_OF_A_PASS = 100

/** Erases the bytes of assembled chunks. Returns the number of streams. */
export async function releaseStreams(
  { db, eraser }: { db: Pick<Database, 'tenant'>; eraser: Pick<Eraser, 'eraseTaken'> },
  scope: Scope,
  signal: AbortSignal,
): Promise<number> {
  const ids = await db.tenant(scope, (tx) => findUnreleased(tx, STREAMS_OF_A_PASS))
  let released = 0
  for (const id of ids) {
    if (signal.aborted) break
    await eraser.eraseTaken(scope, await db.tenant(scope, (tx) => releaseChunks(tx, [id])))
    released += 1
  }
  return released
}
