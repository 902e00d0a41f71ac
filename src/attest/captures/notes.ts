import { DIGEST, IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const chunk = {
  capture_session_id: IDS.session,
  index: 0,
  sha256: DIGEST,
  bytes: 812_544,
  arrived_at: '2026-11-20T15:11:02.310Z',
}

const issued = {
  capture_session_id: IDS.session,
  session_nonce: 'zWvO0m5X1o2cS6nE7q3kq8n1w2Yt4uVb5xR9aLd0PfM',
  issued_at: '2026-11-20T15:10:58.000Z',
  expires_at: '2026-11-20T15:20:58.000Z',
}

const session = {
  capture_session_id: IDS.session,
  status: 'open',
  device_id: IDS.device,
  claim_reference: null,
  issued_at: '2026-11-20T15:10:58.000Z',
  expires_at: '2026-11-20T15:20:58.000Z',
  attestation_id: null,
  media_id: null,
  content_type: 'video/mp4',
  chunk_count: 3,
  total_bytes: 2_437_632,
}

const streamed = {
  ...session,
  next_index: 2,
  received: [
    { first: 0, last: 1 },
    { first: 3, last: 3 },
  ],
}

export const NOTES: Record<string, Note> = {
  'POST /v1/claims/attest/sessions': {
    description:
      'A nonce in a bundle proves that the capture is younger than the nonce. It is valid for one capture, taken ' +
      'from 5 minutes before `issued_at` to 5 minutes after `expires_at`; the submission itself may come up to 30 ' +
      'days later. Fetch a few while there is a network.',
    examples: { 'Ten for one device': { count: 10, device_id: IDS.device } },
    answers: { 200: { example: { sessions: [issued] } } },
    problems: ['not_found', 'environment_mismatch', 'device_revoked'],
  },
  'GET /v1/claims/attest/sessions': {
    description:
      'Filters by status, device or time of issue. A session is listed for 31 days after it expired; nonces are shown ' +
      'only when they are issued.',
    answers: { 200: { example: { object: 'list', data: [session], has_more: false, next_cursor: null } } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/claims/attest/sessions/:id': {
    description:
      'A phone calls this after a lost connection or a restart: `next_index` is the next chunk to send, and ' +
      '`received` has the indices that have arrived, as runs. The nonce is not shown again.',
    answers: { 200: { example: streamed } },
  },
  'PUT /v1/claims/attest/sessions/:id/chunks/:index': {
    description:
      'The body is the raw bytes of one chunk, 64 MiB at most. Chunks may come in any order; chunk 0 begins the file. ' +
      'Sending the same bytes again keeps the chunk and its arrival time; other bytes are 409. Send `Content-Digest` ' +
      'to have a damaged transfer refused. After the session is submitted (`media: {"capture_session_id": ...}`), no ' +
      'more chunks are accepted. Unsubmitted chunks are deleted after 7 days.',
    headers: { 'Content-Digest': '`sha-256=:<base64>:` (RFC 9530) of the chunk.' },
    answers: { 200: { example: chunk } },
    problems: ['conflict', 'invalid_state_transition'],
  },
}
