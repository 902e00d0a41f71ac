import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { EXAMPLE_PACKET } from './packet-example.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/claims/:id/timeline': {
    description:
      'The timeline has captures and their results, earlier results too, the steps of cases, and the events about the ' +
      'claim. Events are kept for a limited time, so old ones may be missing.',
    answers: {
      200: {
        example: listed({
          at: '2026-11-20T15:11:04.310Z',
          kind: 'attestation.evaluated',
          subject_id: IDS.attestation,
          by: null,
          details: { risk_status: 'review', risk_score: 40, provenance_status: 'verified', replaced_at: null },
        }),
      },
    },
  },
  'GET /v1/claims/:id/evidence': {
    description:
      'The packet has the submissions, the findings, the certificates of the devices, and what people decided and ' +
      'when. It is signed as a whole and part by part, so that `npm run evidence -- verify FILE` can check it ' +
      'offline. The PDF is a document to read, with the same packet as an attachment. A packet has at most 100 ' +
      'attestations, newest first; `next_cursor` leads to older ones. Keys without the scope `escalate` get no notes ' +
      'of adjusters. Each export is logged.',
    headers: { Accept: '`application/pdf` for the document; `application/json` when absent.' },
    answers: { 200: { example: EXAMPLE_PACKET } },
  },
}
