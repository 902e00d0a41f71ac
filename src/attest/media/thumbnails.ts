// Thumbnails of photos: made on the first request and stored next to the original. Decoding is the most expensive
// operation that a reader can trigger, and the uploader of the picture determines its cost. So each account decodes one
// picture at a time, and failures are remembered.

import { LRUCache } from 'lru-cache'
import { Failure } from '#src/failure.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobStore, OpenBlob } from '#src/platform/store/blobs.ts'
import type { Decoder } from './decoder.ts'
import type { Media } from './rows.ts'
import { MEDIA_TYPES } from './sniff.ts'

export interface ThumbnailsDeps {
  store: Pick<BlobStore, 'openRead' | 'withLocalFile' | 'putVariant' | 'exists' | 'delete'>
  decoder: Pick<Decoder, 'thumbnail'>
}

/** Why there is no thumbnail: the picture can't be decoded here, or not within the limits of time and memory. */
export interface NoThumbnail {
  why: 'unreadable' | 'too_costly'
  /** A sentence for the caller. */
  detail: string
}

const SIDE = 320
const VARIANT = `thumbnail-${SIDE}`
// An object store lends eight files at a time. Each account takes one of these slots.
const PICTURES_AT_ONCE = 8
// A page of a claims list shows some dozens.
const MAX_WAITING_EACH = 64
const MAX_WAITING = 1_000
const RETRY_AFTER_SECONDS = 2
const MAX_REMEMBERED = 10_000
// A machine that was overloaded once must not hide a picture as long as the process runs.
const TOO_COSTLY_MS = 10 * 60_000

export function createThumbnails({ store, decoder }: ThumbnailsDeps) {
  const making = new Map<string, Promise<NoThumbnail | undefined>>()
  const missing = new LRUCache<string, NoThumbnail>({ max: MAX_REMEMBERED })
  const withSlot = createFairSemaphore({
    slots: PICTURES_AT_ONCE,
    slotsEach: 1,
    maxWaitingEach: MAX_WAITING_EACH,
    maxWaiting: MAX_WAITING,
    refusal: {
      detail: 'Too many thumbnails of this account are waiting to be made. Try again.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  })

  /**
   * A small upright picture without metadata, as WebP.
   * @throws {Failure} `service_unavailable` when too many are waiting to be made.
   */
  return async function findThumbnail(scope: Scope, media: Media): Promise<OpenBlob | NoThumbnail> {
    const readThumbnail = () => store.openRead(scope, media.sha256, { variant: VARIANT })
    const found = await readThumbnail()
    if (found !== undefined) return found
    if (!hasPixels(media)) return NO_PIXELS
    const key = `${scope.accountId}/${media.id}`
    const known = missing.get(key)
    if (known !== undefined) return known
    const work = making.get(key) ?? make(key, scope, media).finally(() => making.delete(key))
    making.set(key, work)
    return (await work) ?? (await readThumbnail()) ?? GONE
  }

  async function make(key: string, scope: Scope, media: Media): Promise<NoThumbnail | undefined> {
    const decoded = await decode(scope, media)
    if (!decoded.ok) {
      const { code, detail } = decoded
      if (code === 'busy' || code === 'closed') {
        const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) }
        throw new Failure('service_unavailable', { detail: `${detail} Try again.`, headers })
      }
      if (code === 'missing') return GONE
      const none: NoThumbnail =
        code === 'unreadable' ? { why: code, detail: UNREADABLE } : { why: 'too_costly', detail }
      // 0: until it is evicted.
      missing.set(key, none, { ttl: code === 'unreadable' || code === 'too_large' ? 0 : TOO_COSTLY_MS })
      return none
    }
    await store.putVariant(scope, media.sha256, VARIANT, decoded.value.data)
    // The original may have been erased meanwhile, and its thumbnail must be deleted with it.
    if (!(await store.exists(scope, media.sha256))) await store.delete(scope, media.sha256, { variant: VARIANT })
    return undefined
  }

  function decode(scope: Scope, media: Media): ReturnType<Decoder['thumbnail']> {
    return withSlot(scope.accountId, () =>
      store.withLocalFile(scope, media.sha256, (path) => decoder.thumbnail(path, SIDE)),
    )
  }
}

const UNREADABLE = 'Its pixels can’t be read here.'
const NO_PIXELS: NoThumbnail = { why: 'unreadable', detail: UNREADABLE }
const GONE: NoThumbnail = { why: 'unreadable', detail: 'Its bytes were deleted.' }

// The image library is built without an HEVC decoder, so a HEIC file can be described but not decoded.
const hasPixels = ({ contentType }: Media): boolean =>
  MEDIA_TYPES[contentType].kind === 'image' && contentType !== 'image/heic'
