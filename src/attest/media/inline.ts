import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { InlineBytes } from '#src/platform/owned-bytes.ts'
import type { Media } from './rows.ts'

/** Stores inline media as an upload does. */
export type StoreInline = (scope: Scope, media: { contentType: string; data: InlineBytes }) => Promise<Media>

export type MediaMember = { media_id: string } | { content_type: string; data: string }

/** The bytes of `data`: see `Request`. */
export type BytesOf = (data: string) => InlineBytes

/**
 * Replaces the member `media` of a request by its id. @throws {Failure} as an upload, with pointers into the request.
 */
export async function storeIfInline(
  storeInline: StoreInline,
  scope: Scope,
  media: MediaMember,
  bytesOf: BytesOf,
): Promise<{ media_id: string }> {
  if ('media_id' in media) return media
  try {
    const stored = await storeInline(scope, { contentType: media.content_type, data: bytesOf(media.data) })
    return { media_id: stored.id }
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error
    // The upload's own errors refer to a body and its headers; here both are members of the request.
    const pointer = error.code === 'unsupported_media_type' ? '/media/content_type' : '/media/data'
    throw new Failure(error.code, {
      detail: error.message,
      errors: [{ pointer, code: error.errors?.[0]?.code ?? error.code, detail: error.message }],
      cause: error,
    })
  }
}
