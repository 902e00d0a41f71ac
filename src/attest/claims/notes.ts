import { DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { certificate } from '../trust/notes.ts'

const PREFER =
  '`wait=N`: seconds to wait for the evaluation, 0 to 30; 10 when absent (RFC 7240). Preference-Applied in the answer ' +
  'says what was applied.'
const WAITED = { 'Preference-Applied': 'The part of Prefer that was applied.' }
const QUEUED = {
  description: 'Accepted, but not evaluated yet. Read Location after Retry-After seconds.',
  headers: { Location: 'Address of the result.', 'Retry-After': 'Seconds.' },
}

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
  status: 'succeeded',
  external_id: 'app-7/0001',
  batch_id: null,
  media_id: IDS.media,
  device_id: IDS.device,
  accepted_at: '2026-11-20T15:11:04.120Z',
  failure: null,
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
  rules_version: 'attest-rules/7',
  policy_version: 0,
  result_jws: 'eyJhbGciOiJFUzI1NiIs...',
}

const { provenance_status: _p, risk_status: _r, risk_score: _s, ...rest } = evaluated
const queued = {
  ...Object.fromEntries(Object.entries(rest).filter(([name]) => /_id$|^accepted_at$/.test(name))),
  status: 'queued',
  failure: null,
}

const streamedCapture = {
  ...capture,
  media_type: 'video',
  media: { capture_session_id: IDS.session },
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

export const claim = {
  claim_id: IDS.claim,
  reference: 'CLM-2026-001',
  line: 'auto',
  loss_location: { lat: 52.5163, lng: 13.3777 },
  loss_at: '2026-11-20T14:00:00.000Z',
  risk_status: 'review',
  risk_score: 40,
  provenance_status: 'verified',
  factor_codes: ['hardware_backing_absent'],
  advisory_codes: ['exif_missing'],
  case_id: null,
  created_at: '2026-11-20T15:11:04.120Z',
  updated_at: '2026-11-20T15:11:04.310Z',
  erased_at: null,
}

const { external_id: _e, media: _m, ...submission } = capture

export const NOTES: Record<string, Note> = {
  'POST /v1/claims/attest': {
    description:
      'The signature covers the canonical form (RFC 8785) of `bundle`: see the [guide]({base_url}/docs/attest/integrate). ' +
      'A fault of the capture is not an error: a bad signature or a used nonce is a factor of a result with status ' +
      '200. The same `external_id` with the same content is the same attestation, without a time limit.',
    headers: { Prefer: PREFER },
    examples: { 'A photo that was uploaded before': capture, 'A video that was streamed': streamedCapture },
    answers: {
      200: { description: 'The result: the evaluation ended in time.', headers: WAITED, example: evaluated },
      202: { ...QUEUED, headers: { ...QUEUED.headers, ...WAITED }, example: queued },
    },
    problems: ['not_found', 'environment_mismatch', 'claim_erased', 'external_id_reused', 'not_ready'],
  },
  'GET /v1/attestations/:id': {
    description: 'With `wait` the service answers when the evaluation has ended, or when the time is over.',
    answers: {
      200: {
        headers: { 'Retry-After': 'Seconds until the next read, while the attestation is `queued`.' },
        example: evaluated,
      },
    },
  },
  'POST /v1/attestations/:id/retry': {
    description:
      'Takes an attestation whose `status` is `failed` (`failure.detail` says why) or `cancelled`. A cancelled ' +
      'capture counts as submitted now. Other statuses are 409, and so is a cancelled capture that was submitted ' +
      'again meanwhile.',
    answers: { 202: { example: queued } },
    problems: ['invalid_state_transition', 'external_id_reused', 'claim_erased', 'conflict'],
  },
  'GET /v1/claims': {
    description:
      'All captures with one `claim.reference` are one claim. The claim has the highest score, the worst provenance ' +
      'and all codes of its captures. A claim must match all filters. `device_id` finds claims with captures that ' +
      'name the device or are signed by its key. `order_by=updated` puts the claim that changed last first; a claim ' +
      'that changes while the pages are read may appear twice.',
    answers: { 200: { example: { object: 'list', data: [claim], has_more: false, next_cursor: null } } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/claims/:id': {
    description: 'Its captures are at `GET /v1/claims/{id}/attestations`.',
    answers: { 200: { example: claim } },
  },
  'GET /v1/claims/:id/attestations': {
    description: 'Each attestation has its submission, so that you can check the signature again.',
    answers: { 200: { example: listed({ ...evaluated, submission, certificates: [certificate] }) } },
  },
}

export const EVENTS: EventNotes = {
  'attestation.created': {
    example: {
      attestation_id: IDS.attestation,
      claim_id: IDS.claim,
      risk_score: 40,
      risk_status: 'review',
      provenance_status: 'verified',
      factor_codes: ['hardware_backing_absent'],
      advisory_codes: ['exif_missing'],
    },
  },
  'claim.provenance_updated': {
    example: {
      claim_id: IDS.claim,
      previous: { provenance_status: 'verified', risk_status: 'review', risk_score: 40 },
      current: { provenance_status: 'broken', risk_status: 'failed', risk_score: 90 },
      added_factors: ['sensor_hash_mismatch'],
      removed_factors: [],
    },
  },
  'claim.escalated': {
    example: {
      claim_id: IDS.claim,
      risk_score: 90,
      factor_codes: ['sensor_hash_mismatch', 'hardware_backing_absent'],
      case_id: IDS.case,
    },
  },
}
