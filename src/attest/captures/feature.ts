import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { finishRule, oldRows, rowRule } from '#src/platform/retention.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createCaptures } from './captures.ts'
import { NOTES } from './notes.ts'
import { captureRoutes } from './routes.ts'
import { streamRoutes } from './stream-routes.ts'
import { purgeChunks } from './stream-rows.ts'
import { createStreams, releaseStreams } from './streams.ts'

export type CapturesFeature = ReturnType<typeof capturesFeature>

// A capture may arrive 30 days after its nonce expired; one more day tolerates clock differences.
const SESSION_DAYS = 31
const UNCLAIMED_CHUNK_DAYS = 7

/** Capture sessions with their nonces, and videos streamed chunk by chunk. */
export function capturesFeature(p: Platform, { eraser }: Pick<MediaFeature, 'eraser'>) {
  const captures = createCaptures(p)
  const streams = createStreams(p)
  return defineFeature(
    {
      name: 'captures',
      data: [
        { table: 'capture_sessions', key: ['id'], secrets: ['nonce'] },
        {
          table: 'capture_chunks',
          key: ['session_id', 'chunk_index'],
          blobs: {
            sha256: 't.sha256',
            contentType: "'video/chunk'",
            where: "NOT EXISTS (SELECT FROM media m WHERE m.sha256 = t.sha256 AND m.state = 'stored')",
          },
        },
      ],
      routes: [...captureRoutes(captures), ...streamRoutes(streams)],
      notes: NOTES,
      retention: [
        finishRule('streams', (scope, signal) => releaseStreams({ db: p.db, eraser }, scope, signal)),
        rowRule(p.db, 'capture_chunks', UNCLAIMED_CHUNK_DAYS, purgeChunks),
        rowRule(
          p.db,
          'capture_sessions',
          SESSION_DAYS,
          oldRows({
            table: 'capture_sessions',
            idType: 'cap',
            age: 'expires_at',
            // Without its session, a capture that waits for its evaluation would count as a replay.
            unless: [
              `SELECT FROM attestations WHERE attestations.id = capture_sessions.consumed_by
                 AND attestations.status IN ('queued', 'failed')`,
            ],
          }),
        ),
      ],
    },
    { captures, streams },
  )
}
