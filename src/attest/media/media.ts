// Photos and videos as evidence: stored exactly as sent, named by their hash. A media id is given only to bytes that
// are safely in the store. Order: bytes on disk, then the row. A crash between the two leaves bytes without a row.

import type { Readable } from 'node:stream'
import { Failure, invalidField } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { parseContentDigest } from '#src/platform/http/request-headers.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { type InlineBytes, partsOf } from '#src/platform/owned-bytes.ts'
import type { BlobSource, BlobStore, OpenBlob, StagedBlob } from '#src/platform/store/blobs.ts'
import type { Decoder } from './decoder.ts'
import { type Dimensions, judgeDimensions, readDimensions } from './dimensions.ts'
import type { Inspector } from './inspector.ts'
import { findClaimsOfMedia, findMedia, findUploadedAt, insertMedia, type Media } from './rows.ts'
import { isMediaType, MEDIA_TYPES, type MediaType, SNIFF_BYTES, sniffType } from './sniff.ts'
import { ANIMATED, isStill } from './still.ts'
import type { InspectionCode } from './threads.ts'
import { createThumbnails } from './thumbnails.ts'

export const MAX_IMAGE_BYTES = 100_000_000
export const MAX_VIDEO_BYTES = 2 * 1024 ** 3
/** That are named with a medium. */
export const MAX_CLAIMS = 100

const PIECE_BYTES = 512 * 1024
// The thread takes files in the order in which they come, and a slow one moves aside after a second. Two of an account: one
// slow file does not hold up its others.
const INSPECTED_OF_ONE_ACCOUNT = 2
const MAX_WAITING_EACH = 200

export interface Upload {
  scope: Scope
  stream: BlobSource
  /** The stream transfers ownership of its chunks: see `PutOptions`. */
  ownsChunks?: boolean
  /** Declared type; parameters are ignored. */
  contentType: string
  contentLength?: number | undefined
  /** The Content-Digest header (RFC 9530). */
  contentDigest?: string | undefined
  /** Aborted when the client disconnects: no row is inserted, because the client would never learn its id. */
  signal?: AbortSignal
  idempotencyKey?: IdempotencyKey | undefined
}

export interface MediaDeps {
  db: Database
  store: BlobStore
  inspector: Inspector
  decoder: Pick<Decoder, 'thumbnail'>
  now?: () => Date
}

export function createMedia({ db, store, inspector, decoder, now = () => new Date() }: MediaDeps) {
  const findThumbnail = createThumbnails({ store, decoder })
  const withSlot = createFairSemaphore({
    slots: Number.POSITIVE_INFINITY,
    slotsEach: INSPECTED_OF_ONE_ACCOUNT,
    maxWaitingEach: MAX_WAITING_EACH,
    maxWaiting: Number.POSITIVE_INFINITY,
    refusal: { detail: 'Too many files of this account are waiting to be inspected. Try again.', retryAfterSeconds: 2 },
  })

  /**
   * Streams an upload into the store. The same bytes again are the same media.
   * @throws {Failure} `unsupported_media_type`, `payload_too_large`, `invalid_request` (empty, wrong type, wrong
   * digest, unreadable, too many pixels), `service_unavailable`, and any failure of the stream.
   */
  async function upload({
    scope,
    stream,
    contentType,
    contentLength,
    contentDigest,
    signal,
    idempotencyKey,
    ownsChunks = false,
  }: Upload): Promise<Media> {
    const type = parseType(contentType)
    const maxBytes = MEDIA_TYPES[type].kind === 'image' ? MAX_IMAGE_BYTES : MAX_VIDEO_BYTES
    if (contentLength !== undefined && contentLength > maxBytes) {
      throw new Failure('payload_too_large', `${type} may have ${maxBytes} bytes.`)
    }
    const expected = contentDigest === undefined ? undefined : parseContentDigest(contentDigest)
    let dimensions: Dimensions | undefined
    const { sha256, size } = await store.put(scope, stream, {
      maxBytes,
      ownsChunks,
      onHead(head, isWhole) {
        if (!hasType(type, head, isWhole)) return false
        const found = dimensionsOfHead(type, head)
        const isKnownStill = isStill(type, head) ?? (isWhole || undefined)
        if (isKnownStill === false) throw unreadable(ANIMATED)
        if (HEAD_DECIDES.has(type) && isKnownStill) dimensions = found
        return (found !== undefined && isKnownStill === true) || MEDIA_TYPES[type].kind === 'video'
      },
      async onStaged(staged) {
        if (expected !== undefined && expected !== staged.sha256) throw wrongDigest(staged.sha256)
        if (MEDIA_TYPES[type].kind === 'image') dimensions ??= await inspectDimensions(scope, type, staged)
      },
    })
    idempotencyKey?.bodyIs(Buffer.from(sha256, 'hex'))
    if (signal?.aborted) throw new Failure('request_timeout', 'The client went away before it had its answer.')
    const media: Media = {
      id: newId('med', scope.environment, now().getTime()),
      sha256,
      size,
      contentType: type,
      width: dimensions?.width ?? null,
      height: dimensions?.height ?? null,
      createdAt: now(),
    }
    const insert = async (tx: Tx) => {
      const row = await insertMedia(tx, scope, media)
      if (row === undefined) throw beingErased()
      return row
    }
    const row = await db.tenant(scope, (tx) => once(tx, idempotencyKey, insert, ({ id }) => id))
    // An eraser checks rows, and we store the bytes before the row. In rare cases these bytes existed before and were
    // erased between our two steps. From now on the row protects them, so one check is enough.
    if (!(await store.exists(scope, sha256))) throw beingErased()
    return row
  }

  // For files that the head does not decide: HEIC, AVIF and TIFF, dimensions beyond the first 256 KiB, and damaged headers.
  // An image without readable dimensions is refused.
  async function inspectDimensions({ accountId }: Scope, type: MediaType, { path }: StagedBlob): Promise<Dimensions> {
    const inspection = await withSlot(accountId, () => inspector.inspect(path, accountId))
    if (!inspection.ok) {
      if (isBusy(inspection)) throw tryAgain(inspection.detail)
      throw unreadable(inspection.detail)
    }
    const { format, width, height, exif } = inspection.value
    if (format === null || width === null || height === null) {
      throw unreadable('detail' in exif ? exif.detail : 'its format is unknown')
    }
    // Only the library that reads a HEIF file knows its codec for certain.
    if (type !== `image/${format}`) throw wrongType(type, `image/${format}`)
    return acceptDimensions({ width, height })
  }

  /** @throws {Failure} `environment_mismatch`, `not_found`. */
  async function get(scope: Scope, id: string): Promise<Media> {
    checkId(id, 'med', scope.environment)
    const media = await db.tenant(scope, (tx) => findMedia(tx, id))
    if (media === undefined) throw new Failure('not_found', `There is no media ${id}, or it was erased.`)
    return media
  }

  return {
    upload,
    get,

    /**
     * With its claims, newest first: one more than `MAX_CLAIMS` where there are more.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async describe(scope: Scope, id: string): Promise<Media & { uploadedAt: Date; claimIds: string[] }> {
      const media = await get(scope, id)
      const [uploadedAt = media.createdAt, claimIds] = await db.tenant(scope, (tx) =>
        Promise.all([findUploadedAt(tx, id), findClaimsOfMedia(tx, id, MAX_CLAIMS + 1)]),
      )
      return { ...media, uploadedAt, claimIds }
    },

    /** Stores media from a JSON body, under the same rules as an upload. Frees the pieces of `InlineBytes`. */
    storeInline(
      scope: Scope,
      { contentType, data }: { contentType: string; data: InlineBytes | Uint8Array },
    ): Promise<Media> {
      const { byteLength } = data
      const isArray = data instanceof Uint8Array
      const stream = inTurns(isArray ? { byteLength, pieces: [data] } : data)
      return upload({ scope, stream, ownsChunks: !isArray, contentType, contentLength: byteLength })
    },

    /** The bytes, or a range of them. The caller reads the stream or destroys it. */
    async open(scope: Scope, media: Media, range?: { first: number; last: number }): Promise<Readable> {
      const blob = await store.openRead(scope, media.sha256, range === undefined ? {} : { range })
      if (blob === undefined) throw new Error(`the blob of ${media.id} is not in the store`)
      return blob.stream
    },

    findThumbnail,

    /**
     * Opens the picture that `findThumbnail` finds.
     * @throws {Failure} `not_found` with the reason when there is no picture.
     */
    async thumbnail(scope: Scope, media: Media): Promise<OpenBlob> {
      const found = await findThumbnail(scope, media)
      if ('stream' in found) return found
      const detail = `There is no thumbnail of this ${media.contentType}. ${found.detail} The original can be downloaded.`
      throw new Failure('not_found', detail)
    },
  }
}

export type MediaDomain = ReturnType<typeof createMedia>

function parseType(contentType: string): MediaType {
  const [type = ''] = contentType.split(';')
  const name = type.trim().toLowerCase()
  if (isMediaType(name)) return name
  throw new Failure('unsupported_media_type', `Content-Type must be one of ${Object.keys(MEDIA_TYPES).join(', ')}.`)
}

// In these formats the dimensions stand at a fixed place. The others store them in a structure that only the image library
// parses.
const HEAD_DECIDES: ReadonlySet<MediaType> = new Set(['image/jpeg', 'image/png', 'image/webp'])

// These two checks run here and not in the thread: they read a bounded number of fixed places, and most uploads need no
// more.

/** False when the type needs more bytes to detect. */
function hasType(type: MediaType, head: Uint8Array, isWhole: boolean): boolean {
  if (head.byteLength === 0) throw badBody('empty_body', 'The body is empty: send the bytes of one image or video.')
  const found = sniffType(head)
  if (found === undefined && !isWhole && head.byteLength < SNIFF_BYTES) return false
  if (found !== type) throw wrongType(type, found ?? 'no accepted type')
  return true
}

function dimensionsOfHead(type: MediaType, head: Uint8Array): Dimensions | undefined {
  const dimensions = readDimensions(type, head)
  return dimensions === undefined ? undefined : acceptDimensions(dimensions)
}

function acceptDimensions(dimensions: Dimensions): Dimensions {
  const refusal = judgeDimensions(dimensions)
  if (refusal !== undefined) throw badBody('too_many_pixels', refusal)
  return dimensions
}

const isBusy = ({ code }: { code: InspectionCode }): boolean => code === 'busy' || code === 'closed'

const tryAgain = (detail: string): Failure => new Failure('service_unavailable', `${detail} Try again.`)

const beingErased = (): Failure => tryAgain('The same bytes were being erased when they arrived.')

/** A finding about the whole body: the empty JSON pointer. */
const badBody = (code: FieldErrorCode, detail: string): Failure =>
  new Failure('invalid_request', { detail, errors: [{ pointer: '', code, detail }] })

const unreadable = (reason: string): Failure =>
  badBody('unreadable_media', `The image can't be read: ${reason.replace(/\.$/, '')}.`)

const wrongType = (declared: MediaType, found: string): Failure =>
  invalidField('Content-Type', 'content_type_mismatch', `says ${declared}, but the bytes are ${found}`)

const wrongDigest = (sha256: string): Failure =>
  invalidField('Content-Digest', 'digest_mismatch', `does not match the received bytes: their SHA-256 is ${sha256}`)

// Hashing 15 MB at once would block the event loop for 40 ms.
async function* inTurns(data: InlineBytes): AsyncGenerator<Uint8Array> {
  let since = 0
  for (const part of partsOf(data, PIECE_BYTES)) {
    // Parts that wait for the disk yield to other work; those that don't must yield explicitly.
    since += part.byteLength
    if (since >= PIECE_BYTES) await new Promise(setImmediate)
    if (since >= PIECE_BYTES) since = 0
    yield part
  }
}
