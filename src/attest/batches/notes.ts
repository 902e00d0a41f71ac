import { z } from 'zod'
import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { capture, evaluated } from '../claims/notes.ts'
import { batchLine } from '../claims/submission.ts'
import { resultEnd, resultLine } from './views.ts'

const summary = {
  batch_id: IDS.batch,
  status: 'queued',
  failure: null,
  accepted: 3,
  counts: { queued: 3, running: 0, succeeded: 0, failed: 0, cancelled: 0 },
  rejected_count: 1,
  repeated_count: 0,
  created_at: '2026-11-20T15:20:00.000Z',
  cancelled_at: null,
}

const batch = {
  ...summary,
  settled: 0,
  risk_histogram: { passed: 0, review: 0, failed: 0 },
  rate_per_second: null,
  estimated_finish_at: null,
}

const rejectedLine = {
  line: 4,
  errors: [{ pointer: '/media/media_id', code: 'not_found', detail: `There is no media ${IDS.media}.` }],
}

const line = { ...capture, external_id: 'app-7/0002' }

export const NOTES: Record<string, Note> = {
  'POST /v1/claims/batches': {
    description:
      'Each value is a body of POST /v1/claims/attest whose media are uploaded already. A line may have 64 KiB, the ' +
      'body 256 MiB, and an array 20 MiB. A bad line does not affect the others; an incomplete body stores nothing.',
    bodies: {
      'application/x-ndjson': {
        schema: batchLine,
        isLines: true,
        examples: { 'Two captures': `${JSON.stringify(capture)}\n${JSON.stringify(line)}\n` },
      },
      'application/json': { schema: z.array(batchLine).min(1), examples: { 'One capture': [capture] } },
    },
    answers: {
      202: { headers: { Location: 'Address of its progress.' }, example: { ...batch, rejected: [rejectedLine] } },
    },
  },
  'GET /v1/claims/batches': {
    description: 'The list has summaries. Read one batch for its risks, its rate and its expected end.',
    answers: { 200: { example: listed(summary) } },
  },
  'GET /v1/claims/batches/:id': {
    description:
      'The batch is done when `settled` equals `accepted`. With `wait` the service answers then, or when the time is ' +
      'over.',
    answers: { 200: { example: batch } },
  },
  'GET /v1/claims/batches/:id/rejected': {
    description: 'The lines are the same as in the answer to the upload.',
    answers: { 200: { example: listed(rejectedLine) } },
  },
  'GET /v1/claims/batches/:id/results': {
    description:
      'The download ends before the first line that has not ended; with `include=pending` it continues. Each line has ' +
      'a `cursor` to resume after it. The last line is `{"object": "cursor", "next_cursor": ..., "is_complete": ' +
      '...}`: without it the download is incomplete.',
    answers: {
      200: {
        stream: {
          schema: z.union([resultLine, resultEnd]),
          isLines: true,
          examples: {
            'One result and the end': [
              JSON.stringify({ line: 1, cursor: 'AAE', is_repeat: false, ...evaluated, batch_id: IDS.batch }),
              JSON.stringify({ object: 'cursor', next_cursor: null, is_complete: true }),
              '',
            ].join('\n'),
          },
        },
      },
    },
  },
  'POST /v1/claims/batches/:id/cancel': {
    description:
      'Running evaluations continue to their end. `cancelled` counts the lines that this call cancelled. A capture ' +
      'that was cancelled before its evaluation counts as never submitted: its `external_id` and its session nonce ' +
      'are free, and it may be submitted or retried.',
    answers: {
      200: {
        example: {
          ...batch,
          cancelled_at: '2026-11-20T15:20:01.000Z',
          status: 'running',
          counts: { queued: 0, running: 1, succeeded: 0, failed: 0, cancelled: 2 },
          settled: 2,
          cancelled: 2,
        },
      },
    },
  },
}
