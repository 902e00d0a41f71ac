import { buffer } from 'node:stream/consumers'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { MediaDomain } from '../media/media.ts'

/** Small pictures of photos, as anybody can have them; undefined where there are no pixels to be had. */
export function createThumbnails(media: Pick<MediaDomain, 'get' | 'thumbnail'>) {
  return async (scope: Scope, mediaId: string): Promise<Uint8Array | undefined> => {
    try {
      const { stream } = await media.thumbnail(scope, await media.get(scope, mediaId))
      return await buffer(stream)
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return undefined
      throw error
    }
  }
}
