import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { idParam, idParams, several } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { mediaTypeView } from '../media/routes.ts'
import { MAX_CHUNK_BYTES, MAX_CHUNKS } from '../video/limits.ts'
import type { ChunkRow, StreamRow } from './stream-rows.ts'
import type { Streams } from './streams.ts'

const chunkView = z
  .object({
    capture_session_id: z.string(),
    index: z.number().int(),
    sha256: z.string(),
    bytes: z.number().int(),
    arrived_at: timestampView.describe(
      'By the server’s clock. A chunk that is sent again keeps the time of its first arrival.',
    ),
  })
  .meta({ id: 'Chunk' })

const statusView = z.enum(['open', 'closed']).meta({ id: 'CaptureSessionStatus' })

const sessionView = z
  .object({
    capture_session_id: z.string(),
    status: statusView.describe('closed: it was submitted and accepts no more chunks.'),
    device_id: z.string().nullable(),
    claim_reference: z.string().nullable(),
    issued_at: timestampView,
    expires_at: timestampView,
    attestation_id: z.string().nullable().describe('The capture that used its nonce.'),
    media_id: z.string().nullable().describe('The video that was made of its chunks.'),
    content_type: mediaTypeView.nullable().describe('As the first chunk said it.'),
    chunk_count: z.number().int(),
    total_bytes: z.number().int(),
  })
  .meta({ id: 'CaptureSession' })

const streamView = extended(
  sessionView,
  {
    next_index: z.number().int().describe('The first index that has not arrived.'),
    received: z
      .array(z.object({ first: z.number().int(), last: z.number().int() }).meta({ id: 'ChunkRun' }))
      .describe('Runs of indices.'),
  },
  { id: 'CaptureStream' },
)

// A value that is no index has no chunk.
const chunkParams = z.object({
  id: idParam('cap'),
  index: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,3})$/, `must be a whole number from 0 to ${MAX_CHUNKS - 1}`)
    .transform(Number)
    .meta({ type: 'integer', minimum: 0, maximum: MAX_CHUNKS - 1, pattern: undefined }),
})

export function streamRoutes(streams: Streams): Route[] {
  return [
    listEndpoint(
      {
        path: '/v1/claims/attest/sessions',
        operationId: 'listCaptureSessions',
        sdk: 'claims.captures.list',
        summary: 'Capture sessions without their nonces, newest first',
        scope: 'attest',
        permission: 'claims.read',
        query: {
          ...listQuery,
          status: several(statusView).optional(),
          device_id: z.string().max(64).optional().describe('Those that only this device may use.'),
        },
        item: sessionView,
      },
      ({ caller, query }) => streams.list(caller, query),
      toSessionView,
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/claims/attest/sessions/:id',
        operationId: 'getCaptureSession',
        sdk: 'claims.captures.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('cap'),
        summary: 'The chunks of a streamed capture that have arrived',
        scope: 'attest',
        permission: 'claims.read',
        view: streamView,
        status: [200],
      },
      async ({ caller, params }) => toStreamView(await streams.find(caller, params.id)),
    ),
    endpoint(
      {
        method: 'PUT',
        path: '/v1/claims/attest/sessions/:id/chunks/:index',
        operationId: 'uploadChunk',
        sdk: 'claims.captures.uploadChunk',
        effect: 'write',
        kind: 'upload',
        summary: 'Send one chunk of a video while it is recorded',
        scope: 'attest',
        permission: 'claims.submit',
        params: chunkParams,
        rawBody: { contentTypes: ['video/mp4', 'video/quicktime', 'video/webm'], isHashed: true },
        maxBodyBytes: MAX_CHUNK_BYTES,
        view: chunkView,
        status: [200],
      },
      async ({ caller, params, stream, header, signal, idempotencyKey }) => {
        const length = header('content-length')
        const chunk = await streams.put({
          scope: caller,
          sessionId: params.id,
          index: params.index,
          stream,
          contentType: header('content-type') ?? '',
          contentLength: length === undefined ? undefined : Number(length),
          contentDigest: header('content-digest'),
          signal,
          idempotencyKey,
        })
        return toChunkView(params.id, chunk)
      },
      async ({ caller, params }) => toChunkView(params.id, await streams.getChunk(caller, params.id, params.index)),
    ),
  ]
}

function toChunkView(sessionId: string, { index, sha256, bytes, arrivedAt }: ChunkRow): z.input<typeof chunkView> {
  return { capture_session_id: sessionId, index, sha256, bytes, arrived_at: arrivedAt.toISOString() }
}

function toStreamView({ stream, chunks }: { stream: StreamRow; chunks: ChunkRow[] }): z.input<typeof streamView> {
  const received: { first: number; last: number }[] = []
  for (const { index } of chunks) {
    const run = received.at(-1)
    if (run?.last === index - 1) run.last = index
    else received.push({ first: index, last: index })
  }
  const [start] = received
  return {
    ...toSessionView(stream),
    // Of the chunks that are listed here, whatever arrived while they were read.
    chunk_count: chunks.length,
    total_bytes: chunks.reduce((sum, { bytes }) => sum + bytes, 0),
    next_index: start?.first === 0 ? start.last + 1 : 0,
    received,
  }
}

function toSessionView(stream: StreamRow): z.input<typeof sessionView> {
  return {
    capture_session_id: stream.id,
    status: stream.mediaId === null && stream.consumedBy === null ? 'open' : 'closed',
    device_id: stream.deviceId,
    claim_reference: stream.claimReference,
    issued_at: stream.issuedAt.toISOString(),
    expires_at: stream.expiresAt.toISOString(),
    attestation_id: stream.consumedBy,
    media_id: stream.mediaId,
    content_type: stream.contentType,
    chunk_count: stream.chunkCount,
    total_bytes: stream.totalBytes,
  }
}
