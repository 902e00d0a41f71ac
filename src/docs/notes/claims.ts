// Notes on claims for the API reference.

import type { Note } from '#src/platform/http/openapi.ts'
import { capture, evaluated } from './attest.ts'
import { IDS, listed } from './examples.ts'

const claim = {
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

const compared = {
  attestation_id: IDS.attestation,
  media_id: IDS.media,
  state: 'compared',
  not_comparable: null,
  earlier: [
    {
      claim_id: 'clm_test_01m7wz3kq4fm2v7d0r8s6t5x9b',
      attestation_id: 'att_test_01m7wz3kq5e8g1h4j6n9p2w7ya',
      kind: 'similar_media',
      distance_bits: 2,
    },
  ],
  earlier_more: 0,
  later: [],
}

export const CLAIM_NOTES: Record<string, Note> = {
  'GET /v1/claims': {
    description:
      'All captures with one `claim.reference` are one claim. It has the highest score, the worst provenance and ' +
      'all codes of them. A claim must match all filters.',
    answers: { 200: { example: { object: 'list', data: [claim], has_more: false, next_cursor: null } } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/claims/:id': {
    description: 'Each attestation comes with what was submitted, so that its signature can be checked again.',
    answers: { 200: { example: { ...claim, attestations: listed({ ...evaluated, submission }) } } },
  },
  'GET /v1/claims/:id/duplicates': {
    description:
      'Other claims of the account that show the same bytes, or a picture whose 64-bit perceptual hash differs in ' +
      'six bits or less. The search runs after the evaluation: `pending` says that it has not run yet.',
    answers: { 200: { example: { object: 'list', data: [compared], has_more: false, next_cursor: null } } },
  },
  'DELETE /v1/claims/:id': {
    description:
      'Immediate and permanent: media, thumbnails and positions are deleted, hashes, factors and `result_jws` ' +
      'stay. Later captures with the same reference are 409. A 503 says that not all bytes are deleted yet: send ' +
      'it again.',
    answers: { 200: { example: { ...claim, loss_location: null, erased_at: '2026-11-28T09:00:00.000Z' } } },
  },
}
