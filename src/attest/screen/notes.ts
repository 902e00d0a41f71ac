import { z } from 'zod'
import { DIGEST, IDS } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { screenLine } from './requests.ts'

const thresholds = { genai: { review: 0.5, likely: 0.8 }, deepfake: { review: 0.5, likely: 0.8 } }

const settings = {
  version: 2,
  digest: DIGEST,
  changed_at: '2026-11-20T15:11:04.310Z',
  changed_by: { type: 'key', id: IDS.key, label: 'deployments' },
  document: { thresholds },
}

const queued = {
  screening_id: IDS.screening,
  status: 'queued',
  failure: null,
  claim_id: IDS.claim,
  screening_batch_id: null,
  batch_line: null,
  media_id: IDS.media,
  media_sha256: DIGEST,
  genai_score: null,
  deepfake_score: null,
  models: [],
  review_recommended: null,
  factors: [],
  observations: [],
  detector: null,
  is_cached: false,
  created_at: '2026-11-20T15:11:04.310Z',
  completed_at: null,
  erased_at: null,
}

const scored = {
  ...queued,
  status: 'succeeded',
  genai_score: 0.97,
  deepfake_score: 0.03,
  models: [{ model: 'midjourney', score: 0.91 }],
  review_recommended: true,
  factors: [
    {
      code: 'ai_generated_likely',
      evidence: {
        compared: 'genai score of the detector with the threshold of the account',
        expected: 'below 0.8',
        found: 0.97,
        detector: 'sightengine',
        detector_version: '1',
        screening_id: IDS.screening,
      },
    },
  ],
  detector: { name: 'sightengine', version: '1', thresholds },
  completed_at: '2026-11-20T15:11:05.910Z',
}

const unavailable = {
  ...queued,
  status: 'failed',
  failure: { code: 'no_detector', detail: 'This deployment has no detector.' },
  completed_at: '2026-11-20T15:11:04.410Z',
}

const rejectedLine = {
  line: 3,
  errors: [{ pointer: '/media_id', code: 'not_found', detail: 'names no media: upload it with POST /v1/media first' }],
}

const batch = {
  screening_batch_id: IDS.batch,
  status: 'queued',
  failure: null,
  accepted: 2,
  rejected_count: 1,
  counts: { queued: 2, running: 0, succeeded: 0, failed: 0, cancelled: 0 },
  created_at: '2026-11-20T15:11:04.310Z',
}

const endedBatch = { ...batch, status: 'succeeded', counts: { ...batch.counts, queued: 0, succeeded: 2 } }

const LINES = `{"media_id":"${IDS.media}","claim_id":"${IDS.claim}"}
{"media_id":"${IDS.media}"}
`

const PREFER =
  '`wait=N`: seconds to wait for the scores, 0 to 30; 10 when absent (RFC 7240). Preference-Applied in the answer ' +
  'says what was applied.'
const WAITED = { 'Preference-Applied': 'The part of Prefer that was applied.' }
const LATER = { Location: 'Address of the scores.', 'Retry-After': 'Seconds.' }

export const NOTES: Record<string, Note> = {
  'POST /v1/media/screen': {
    description:
      'Waits up to `Prefer: wait=N` seconds (10 when absent, at most 30): 200 with the scores, or 202 and `Location`. ' +
      'Only images are screened; a video fails with `video`. Without a detector the screening fails with ' +
      '`no_detector`; a score is never invented. Scores are advisory: they never count toward a risk score. The same ' +
      'bytes are scored once per detector, each time with the current thresholds. An address as media is refused: ' +
      'upload the bytes.',
    headers: { Prefer: PREFER },
    examples: {
      uploaded: { claim_id: IDS.claim, media: { media_id: IDS.media } },
      inline: { media: { content_type: 'image/jpeg', data: '/9j/4AAQSkZJRgABAQ==' } },
    },
    answers: {
      200: { description: 'The screening has ended: `succeeded` or `failed`.', headers: WAITED, example: scored },
      202: { description: 'The screening is still queued.', headers: { ...LATER, ...WAITED }, example: queued },
    },
    problems: ['not_found', 'environment_mismatch', 'claim_erased'],
  },
  'GET /v1/media/screenings': {
    description: 'Filters by claim, media, batch, status, factor or time.',
    answers: {
      200: {
        description: 'One page of the list.',
        example: { object: 'list', data: [scored], has_more: false, next_cursor: null },
      },
    },
    problems: ['environment_mismatch'],
  },
  'GET /v1/media/screenings/:id': {
    description:
      '`wait` keeps the request open until the screening has ended, for that many seconds at most; `status` says ' +
      'whether it has ended.',
    answers: { 200: { description: 'The current state of the screening.', example: unavailable } },
  },
  'POST /v1/media/screenings/batches': {
    description:
      'A wrong line does not affect the others: `rejected` says why. Single screenings run before those of a batch. ' +
      'List the screenings of the batch with `GET /v1/media/screenings?screening_batch_id=...`.',
    bodies: {
      'application/x-ndjson': { schema: screenLine, isLines: true, examples: { 'Two images': LINES } },
      'application/json': { schema: z.array(screenLine).min(1), examples: { 'One image': [{ media_id: IDS.media }] } },
    },
    answers: {
      202: {
        description: 'The accepted lines are queued.',
        headers: { Location: 'Address of its progress.' },
        example: { ...batch, rejected: [rejectedLine] },
      },
    },
  },
  'GET /v1/media/screenings/batches': {
    description: 'The refused lines of a batch are a list of their own.',
    answers: {
      200: {
        description: 'One page of the list.',
        example: { object: 'list', data: [endedBatch], has_more: false, next_cursor: null },
      },
    },
  },
  'GET /v1/media/screenings/batches/:id': {
    description: '`wait` keeps the request open until every accepted line has ended, for that many seconds at most.',
    answers: { 200: { description: 'The progress so far.', example: endedBatch } },
  },
  'GET /v1/media/screenings/batches/:id/rejected': {
    description:
      'Each line has the reasons of its refusal. Accepted lines are in `GET ' +
      '/v1/media/screenings?screening_batch_id=...`.',
    answers: {
      200: {
        description: 'One page of the list.',
        example: { object: 'list', data: [rejectedLine], has_more: false, next_cursor: null },
      },
    },
  },
  'GET /v1/account/screening': {
    description:
      'Each of the two models has two thresholds: a score of at least `review` recommends a review, and a score of at ' +
      'least `likely` raises an advisory factor. `version` 0 is the defaults. To change the thresholds, change ' +
      '`document` and send it back, with the ETag as `If-Match`.',
    answers: { 200: { description: 'The settings.', example: settings } },
  },
  'PUT /v1/account/screening': {
    description:
      'The thresholds apply to screenings that end later; ended screenings keep their result. The same document again ' +
      'changes nothing. Without `If-Match` the answer is 428, and with the ETag of another version 412.',
    headers: { 'If-Match': 'Required. The ETag of the version to replace, such as `"2"`, or `*` for any.' },
    examples: { stricter: { document: { thresholds: { ...thresholds, genai: { review: 0.4, likely: 0.7 } } } } },
    answers: { 200: { description: 'The settings.', example: settings } },
    problems: ['precondition_failed', 'precondition_required'],
  },
}

export const EVENTS: EventNotes = {
  'screening.completed': {
    example: {
      screening_id: IDS.screening,
      claim_id: IDS.claim,
      genai_score: 0.97,
      deepfake_score: 0.03,
      factors: ['ai_generated_likely'],
      detector: { name: 'sightengine', version: '1' },
    },
  },
}
