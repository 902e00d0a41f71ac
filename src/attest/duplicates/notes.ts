import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const compared = {
  attestation_id: IDS.attestation,
  media_id: IDS.media,
  status: 'compared',
  not_comparable: null,
  earlier: [
    {
      claim_id: 'clm_test_01m7wz3kq4fm2v7d0r8s6t5x9b',
      attestation_id: 'att_test_01m7wz3kq5e8g1h4j6n9p2w7ya',
      media_id: 'med_test_01m7wz3kq5e8g1h4j6n9p2w7yb',
      kind: 'similar_media',
      distance_bits: 2,
    },
  ],
  earlier_more: 0,
  later: [],
}

export const NOTES: Record<string, Note> = {
  'GET /v1/claims/:id/duplicates': {
    description:
      'Lists other claims of the account that show the same bytes, or a picture whose 64-bit perceptual hash differs ' +
      'in six bits or less and whose greys are the same block by block. The search runs after the evaluation: ' +
      '`pending` means that it has not run yet.',
    answers: { 200: { example: { object: 'list', data: [compared], has_more: false, next_cursor: null } } },
  },
}
