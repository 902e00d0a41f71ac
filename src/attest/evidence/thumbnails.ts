import { buffer } from 'node:stream/consumers'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { MediaDomain } from '../media/media.ts'
import type { NoThumbnail } from '../media/thumbnails.ts'

/** WebP, or why there is none; `gone`: the media were erased meanwhile. */
export type ThumbnailRead = Uint8Array | NoThumbnail['why'] | 'gone'

/** Reads thumbnails as the thumbnail route does. @throws {Failure} `service_unavailable`. */
export function createThumbnailReader(media: Pick<MediaDomain, 'get' | 'findThumbnail'>) {
  return async (scope: Scope, mediaId: string): Promise<ThumbnailRead> => {
    try {
      const found = await media.findThumbnail(scope, await media.get(scope, mediaId))
      return 'stream' in found ? await buffer(found.stream) : found.why
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return 'gone'
      throw error
    }
  }
}
