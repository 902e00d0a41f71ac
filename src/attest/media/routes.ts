import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { ReadAudit } from '#src/account/audit/reads.ts'
import { Failure } from '#src/failure.ts'
import { type Caller, endpoint, type Route, type StreamReply } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { parseByteRange, type RangeAnswer } from '#src/platform/http/request-headers.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { MAX_CLAIMS, MAX_VIDEO_BYTES, type MediaDomain } from './media.ts'
import type { Media } from './rows.ts'
import { MEDIA_TYPES, type MediaType } from './sniff.ts'

const types = Object.keys(MEDIA_TYPES) as MediaType[]
export const mediaTypeView = z.enum(types).meta({ id: 'MediaContentType' })

const mediaView = z
  .object({
    media_id: z.string(),
    sha256: z.string(),
    size: z.number().int(),
    content_type: mediaTypeView,
    width: z.number().int().nullable(),
    height: z.number().int().nullable(),
    created_at: timestampView,
  })
  .meta({ id: 'Media' })

const detailsView = extended(
  mediaView,
  {
    uploaded_at: timestampView.describe('When the same bytes were last uploaded.'),
    claim_ids: z.array(z.string()).max(MAX_CLAIMS).describe('Claims whose captures show the media, newest first.'),
    has_more_claims: z.boolean().describe(`true: more than ${MAX_CLAIMS} claims show the media.`),
  },
  { id: 'MediaDetails' },
)

/** @param recordRead Resolves when the audit log has the read: no byte is sent before. */
export function mediaRoutes(media: MediaDomain, recordRead: ReadAudit): Route[] {
  const read = (caller: Caller, { id }: Media, representation: 'original' | 'thumbnail') =>
    recordRead(caller, { action: 'media.read', subjectId: id, representation })

  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/media',
        operationId: 'uploadMedia',
        sdk: 'media.upload',
        effect: 'write',
        kind: 'upload',
        summary: 'Upload a photo (up to 100 MB) or a video (up to 2 GiB). The same bytes are the same media_id.',
        scope: 'attest',
        permission: 'claims.submit',
        rawBody: { contentTypes: types, isHashed: true },
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
        sdk: 'media.download',
        effect: 'read',
        kind: 'download',
        params: idParams('med'),
        summary: 'Download the original bytes, or one range of them.',
        scope: 'verify',
        permission: 'claims.read',
        audits: 'media.read',
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
        const parsed = parseByteRange(range, found.size)
        return download(found, parsed, headers, async (part) =>
          afterRecording(read(caller, found, 'original'), media.open(caller, found, part)),
        )
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/media/:id/metadata',
        operationId: 'getMedia',
        sdk: 'media.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('med'),
        summary: 'Read the type, size and dimensions of a photo or a video, and the claims that show it.',
        scope: 'verify',
        permission: 'claims.read',
        view: detailsView,
        status: [200],
      },
      async ({ caller, params }) => {
        const { claimIds, uploadedAt, ...found } = await media.describe(caller, params.id)
        return {
          ...toView(found),
          uploaded_at: uploadedAt.toISOString(),
          claim_ids: claimIds.slice(0, MAX_CLAIMS),
          has_more_claims: claimIds.length > MAX_CLAIMS,
        }
      },
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/media/:id/thumbnail',
        operationId: 'downloadThumbnail',
        sdk: 'media.downloadThumbnail',
        effect: 'read',
        kind: 'download',
        params: idParams('med'),
        summary: 'A small upright picture (WebP, 320 pixels at its longest side) without metadata.',
        scope: 'verify',
        permission: 'claims.read',
        audits: 'media.read',
        view: z.never(),
        status: [200],
        streams: { contentType: 'image/webp' },
      },
      async ({ caller, params }) => {
        const found = await media.get(caller, params.id)
        const thumbnail = await media.thumbnail(caller, found)
        const { size } = thumbnail
        const stream = await afterRecording(read(caller, found, 'thumbnail'), Promise.resolve(thumbnail.stream))
        return { status: 200, stream, headers: { 'Content-Type': 'image/webp', 'Content-Length': String(size) } }
      },
    ),
  ]
}

// The read is recorded while the store opens the file.
async function afterRecording(recording: Promise<void>, opening: Promise<Readable>): Promise<Readable> {
  const [recorded, opened] = await Promise.allSettled([recording, opening])
  if (opened.status === 'rejected') throw opened.reason
  if (recorded.status === 'fulfilled') return opened.value
  opened.value.destroy()
  throw recorded.reason
}

async function download(
  found: Media,
  range: RangeAnswer,
  headers: Record<string, string>,
  open: (part?: { first: number; last: number }) => Promise<Readable>,
): Promise<StreamReply> {
  if (range.kind === 'unsatisfiable') {
    throw new Failure('range_not_satisfiable', {
      detail: `The media has ${found.size} bytes.`,
      headers: { 'Content-Range': `bytes */${found.size}` },
    })
  }
  if (range.kind === 'whole') {
    const stream = await open()
    return { status: 200, stream, headers: { ...headers, 'Content-Length': String(found.size) } }
  }
  const { first, last } = range
  const stream = await open({ first, last })
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
