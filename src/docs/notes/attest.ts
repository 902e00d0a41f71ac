// Notes on captures and batches for the API reference.

import { z } from 'zod'
import { resultEnd, resultLine } from '#src/attest/batches/views.ts'
import { batchLine } from '#src/attest/claims/submission.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IDS, listed } from './examples.ts'

const PREFER =
  '`wait=N`: how many seconds to wait for the evaluation, 0 to 30; 10 when absent (RFC 7240). The answer ' +
  'says in Preference-Applied what was applied.'
const WAITED = { 'Preference-Applied': 'What was applied of Prefer.' }
const QUEUED = {
  description: 'Accepted, but not evaluated yet. Read Location after Retry-After seconds.',
  headers: { Location: 'Where the result will be.', 'Retry-After': 'Seconds.' },
}

const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

export const capture = {
  external_id: 'app-7/0001',
  claim: {
    reference: 'CLM-2026-001',
    loss_location: { lat: 52.5163, lng: 13.3777 },
    loss_at: '2026-11-20T14:00:00.000Z',
    line: 'auto',
  },
  media_type: 'image',
  media: { media_id: IDS.media },
  bundle: {
    version: 1,
    captured_at: '2026-11-20T15:11:00.000Z',
    sensor_hash: DIGEST,
    gps: { lat: 52.5163, lng: 13.3777, accuracy_m: 4.7, mock: false },
    biometric: { gated: true, method: 'face' },
    device_id: IDS.device,
    session_nonce: 'zWvO0m5X1o2cS6nE7q3kq8n1w2Yt4uVb5xR9aLd0PfM',
  },
  // The two base64 texts are shortened: no certificate and no signature is that small.
  certificate_chain: ['MIIB'],
  signature: { alg: 'ES256', value: 'MEUCIQ' },
}

export const evaluated = {
  attestation_id: IDS.attestation,
  claim_id: IDS.claim,
  status: 'evaluated',
  external_id: 'app-7/0001',
  batch_id: null,
  media_id: IDS.media,
  device_id: IDS.device,
  accepted_at: '2026-11-20T15:11:04.120Z',
  provenance_status: 'verified',
  risk_status: 'review',
  risk_score: 40,
  factors: [
    {
      code: 'hardware_backing_absent',
      points: 40,
      evidence: {
        compared: 'hardware tier that the server verified',
        expected: 'tee or better',
        found: 'none',
        why: 'no_evidence',
        device_state: 'enrolled',
      },
    },
  ],
  advisory_factors: [
    {
      code: 'exif_missing',
      evidence: { compared: 'EXIF block of the media', expected: 'readable', found: 'missing' },
    },
  ],
  observations: [],
  hardware_tier: 'none',
  evaluated_at: '2026-11-20T15:11:04.310Z',
  rules_version: 'attest-rules/4',
  policy_version: 0,
  result_jws: 'eyJhbGciOiJFUzI1NiIs...',
}

const { provenance_status: _p, risk_status: _r, risk_score: _s, ...rest } = evaluated
const queued = {
  ...Object.fromEntries(Object.entries(rest).filter(([name]) => /_id$|^accepted_at$/.test(name))),
  status: 'queued',
}

const summary = {
  batch_id: IDS.batch,
  accepted: 3,
  rejected_count: 1,
  repeated_count: 0,
  created_at: '2026-11-20T15:20:00.000Z',
  cancelled_at: null,
}

const batch = {
  ...summary,
  counts: { queued: 3, running: 0, evaluated: 0, failed: 0, cancelled: 0 },
  settled: 0,
  risk_histogram: { passed: 0, review: 0, failed: 0 },
  rate_per_second: null,
  estimated_finish_at: null,
  rejected: [
    { line: 4, errors: [{ pointer: '/media/media_id', code: 'not_found', detail: `There is no media ${IDS.media}.` }] },
  ],
}

const chunk = {
  session_id: IDS.session,
  index: 0,
  sha256: DIGEST,
  bytes: 812_544,
  arrived_at: '2026-11-20T15:11:02.310Z',
}

const issued = {
  session_id: IDS.session,
  session_nonce: 'zWvO0m5X1o2cS6nE7q3kq8n1w2Yt4uVb5xR9aLd0PfM',
  issued_at: '2026-11-20T15:10:58.000Z',
  expires_at: '2026-11-20T15:20:58.000Z',
}

const streamed = {
  session_id: IDS.session,
  state: 'open',
  device_id: IDS.device,
  issued_at: '2026-11-20T15:10:58.000Z',
  expires_at: '2026-11-20T15:20:58.000Z',
  content_type: 'video/mp4',
  chunk_count: 3,
  total_bytes: 2_437_632,
  next_index: 2,
  received: [
    { first: 0, last: 1 },
    { first: 3, last: 3 },
  ],
}

const streamedCapture = {
  ...capture,
  media_type: 'video',
  media: { session_id: IDS.session },
  bundle: {
    ...capture.bundle,
    video_manifest: {
      chunk_count: 1,
      total_bytes: 812_544,
      duration_us: 2_000_000,
      codec: 'avc1.42E01E',
      timescale: 90_000,
      chain_seed: capture.bundle.session_nonce,
      chunks: [
        {
          index: 0,
          sha256: DIGEST,
          bytes: 812_544,
          frames: 60,
          first_pts_us: 0,
          last_pts_us: 2_000_000,
          link: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
        },
      ],
      last_link: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
    },
  },
}

const ATTEST: Record<string, Note> = {
  'POST /v1/claims/attest/sessions': {
    description:
      'A nonce in a bundle proves that the capture is younger than the nonce. It is valid for one capture, taken ' +
      'from 5 minutes before `issued_at` to 5 minutes after `expires_at`; the submission itself may come up to 30 ' +
      'days later. Fetch a few while there is a network.',
    examples: { 'Ten for one device': { count: 10, device_id: IDS.device } },
    answers: { 200: { example: { sessions: [issued] } } },
    problems: ['not_found', 'environment_mismatch', 'conflict'],
  },
  'GET /v1/claims/attest/sessions/:id': {
    description:
      'For a phone that lost its connection or was restarted: `next_index` is the next chunk to send, `received` ' +
      'has the indices that have arrived, as runs. The nonce is not shown again.',
    answers: { 200: { example: streamed } },
  },
  'PUT /v1/claims/attest/sessions/:id/chunks/:index': {
    description:
      'The raw bytes of one chunk, 64 MiB at most, in any order; chunk 0 begins the file. The same bytes again are ' +
      'the same chunk and keep its arrival, other bytes are 409. Send `Content-Digest` to have a damaged transfer ' +
      'refused. After the session is submitted (`media: {"session_id": ...}`), no more are accepted. Unsubmitted ' +
      'chunks are deleted after 7 days.',
    headers: { 'Content-Digest': '`sha-256=:<base64>:` (RFC 9530) of the chunk.' },
    answers: { 200: { example: chunk } },
    problems: ['conflict'],
  },
  'POST /v1/claims/attest': {
    description:
      'The signature covers the canonical form (RFC 8785) of `bundle`: see the [guide]({base_url}/docs/integrate). ' +
      'A fault of the capture is not an error: a bad signature or a used nonce is a factor of a result with status ' +
      '200. The same `external_id` with the same content is the same attestation, without a time limit.',
    headers: { Prefer: PREFER },
    examples: { 'A photo that was uploaded before': capture, 'A video that was streamed': streamedCapture },
    answers: {
      200: { description: 'Evaluated in time: the result.', headers: WAITED, example: evaluated },
      202: { ...QUEUED, headers: { ...QUEUED.headers, ...WAITED }, example: queued },
    },
    problems: ['not_found', 'environment_mismatch', 'conflict'],
  },
  'GET /v1/attestations/:id': {
    description: 'With `wait` the answer comes when the evaluation has ended, or when the time is over.',
    answers: {
      200: { description: 'It has ended: `evaluated`, `failed` or `cancelled`.', example: evaluated },
      202: { ...QUEUED, example: queued },
    },
  },
  'POST /v1/attestations/:id/retry': {
    description:
      'For an attestation whose `status` is `failed` (`failure` says why) or `cancelled`: the latter is submitted ' +
      'again, as of now. Others are 409, and so is a cancelled capture that was submitted again meanwhile.',
    answers: { 202: { example: queued } },
    problems: ['invalid_state_transition', 'conflict'],
  },
}

const line = { ...capture, external_id: 'app-7/0002' }
const BATCHES: Record<string, Note> = {
  'POST /v1/claims/batches': {
    description:
      'Each value is a body of POST /v1/claims/attest whose media are uploaded already. 64 KiB a line, 256 MiB in ' +
      'all, 20 MiB as an array. A bad line does not affect the others; an incomplete body leaves nothing.',
    bodies: {
      'application/x-ndjson': {
        schema: batchLine,
        isLines: true,
        examples: { 'Two captures': `${JSON.stringify(capture)}\n${JSON.stringify(line)}\n` },
      },
      'application/json': { schema: z.array(batchLine).min(1), examples: { 'One capture': [capture] } },
    },
    answers: {
      202: { headers: { Location: 'Where to read its progress.' }, example: batch },
    },
  },
  'GET /v1/claims/batches': {
    description: 'Summaries; one batch shows its progress.',
    answers: { 200: { example: listed(summary) } },
  },
  'GET /v1/claims/batches/:id': {
    description: 'The batch is done when `settled` is `accepted`.',
    answers: { 200: { example: batch } },
  },
  'GET /v1/claims/batches/:id/results': {
    description:
      'Up to the first line that has not ended; `include=pending` goes on. Each line has a `cursor` to resume ' +
      'after it. The last one is `{"object": "cursor", "next_cursor": ..., "is_complete": ...}`: without it the ' +
      'download is not whole.',
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
      'Running evaluations are finished. `cancelled` counts the lines that this call cancelled. A capture that was ' +
      'cancelled before its evaluation counts as never submitted: its `external_id` and its session nonce are ' +
      'free, and it may be submitted or tried again.',
    answers: {
      200: {
        example: {
          ...batch,
          cancelled_at: '2026-11-20T15:20:01.000Z',
          counts: { queued: 0, running: 1, evaluated: 0, failed: 0, cancelled: 2 },
          settled: 2,
          cancelled: 2,
        },
      },
    },
  },
}

export const ATTEST_NOTES: Record<string, Note> = { ...ATTEST, ...BATCHES }
