import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type Caller, endpoint, type Route, type StreamReply } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { MAX_VIDEO_BYTES, type MediaDomain } from './media.ts'
import { parseRange, type RangeAnswer } from './request-headers.ts'
import type { Media } from './rows.ts'
import { MEDIA_TYPES } from './sniff.ts'

export const mediaView = z
  .object({
    media_id: z.string(),
    sha256: z.string(),
    size: z.number().int(),
    content_type: z.string(),
    width: z.number().int().nullable(),
    height: z.number().int().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Media' })

export function mediaRoutes(media: MediaDomain): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/media',
        operationId: 'uploadMedia',
        tag: 'Media',
        summary: 'Upload a photo (up to 100 MB) or a video (up to 2 GiB). The same bytes are the same media_id.',
        scope: 'attest',
        permission: 'claims.submit',
        rawBody: { contentTypes: Object.keys(MEDIA_TYPES), isHashed: true },
        maxBodyBytes: MAX_VIDEO_BYTES,
        view: mediaView,
        status: [200],
      },
      async ({ caller, stream, header, signal, idempotencyKey }) => {
        const length = header('content-length')
        const uploaded = await media.upload({
          scope: caller,
          stream,
          ownsChunks: true,
          contentType: header('content-type') ?? '',
          contentLength: length === undefined ? undefined : Number(length),
          contentDigest: header('content-digest'),
          signal,
          idempotencyKey,
        })
        return toView(uploaded)
      },
      async ({ caller }, id) => toView(await media.get(caller, id)),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/media/:id',
        operationId: 'downloadMedia',
        params: idParams('med'),
        tag: 'Media',
        summary: 'Download the original bytes, or one range of them.',
        scope: 'verify',
        permission: 'claims.read',
        view: z.never(),
        status: [200, 206],
        streams: { contentType: 'application/octet-stream' },
      },
      async ({ caller, params, header }) => {
        const found = await media.get(caller, params.id)
        const headers = originalHeaders(found)
        // RFC 9110 13.1.5: a client that has another representation gets the whole one.
        const condition = header('if-range')
        const range = condition === undefined || condition === headers.ETag ? header('range') : undefined
        return download(media, caller, found, parseRange(range, found.size), headers)
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/media/:id/thumbnail',
        operationId: 'downloadThumbnail',
        params: idParams('med'),
        tag: 'Media',
        summary: 'A small upright picture (WebP, 320 pixels at its longest side) without metadata.',
        scope: 'verify',
        permission: 'claims.read',
        view: z.never(),
        status: [200],
        streams: { contentType: 'image/webp' },
      },
      async ({ caller, params }) => {
        const { stream, size } = await media.thumbnail(caller, await media.get(caller, params.id))
        return { status: 200, stream, headers: { 'Content-Type': 'image/webp', 'Content-Length': String(size) } }
      },
    ),
  ]
}

async function download(
  media: MediaDomain,
  caller: Caller,
  found: Media,
  range: RangeAnswer,
  headers: Record<string, string>,
): Promise<StreamReply> {
  if (range.kind === 'unsatisfiable') {
    throw new Failure('range_not_satisfiable', {
      detail: `The media has ${found.size} bytes.`,
      headers: { 'Content-Range': `bytes */${found.size}` },
    })
  }
  if (range.kind === 'whole') {
    const stream = await media.open(caller, found)
    return { status: 200, stream, headers: { ...headers, 'Content-Length': String(found.size) } }
  }
  const { first, last } = range
  const stream = await media.open(caller, found, { first, last })
  const part = { 'Content-Range': `bytes ${first}-${last}/${found.size}`, 'Content-Length': String(last - first + 1) }
  return { status: 206, stream, headers: { ...headers, ...part } }
}

// An attachment: uploaded content is never rendered in the service's own origin.
const originalHeaders = ({ id, sha256, contentType }: Media) => ({
  'Content-Type': contentType,
  'Content-Disposition': `attachment; filename="${id}.${MEDIA_TYPES[contentType].extension}"`,
  ETag: `"${sha256}"`,
  'Accept-Ranges': 'bytes',
})

const toView = ({ id, sha256, size, contentType, width, height, createdAt }: Media): z.input<typeof mediaView> => ({
  media_id: id,
  sha256,
  size,
  content_type: contentType,
  width,
  height,
  created_at: createdAt.toISOString(),
})
