import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { EXAMPLE_PACKET } from './packet-example.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/claims/:id/timeline': {
    description:
      'Captures and their results, earlier ones too, the steps of its cases, and the events about the claim. Events are ' +
      'kept for a limited time, so old ones may be missing.',
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
      'What was submitted, what was found, the certificates of the devices, what people decided and when: signed ' +
      'as a whole and part by part, so that it can be checked offline with `npm run evidence -- verify FILE`. As a ' +
      'PDF it is a document to read, with the same packet as an attachment. 100 attestations at most, newest ' +
      'first; `next_cursor` leads to older ones. What adjusters noted is withheld from keys without the scope ' +
      '`escalate`. Each export is logged.',
    headers: { Accept: '`application/pdf` for the document; `application/json` when absent.' },
    answers: { 200: { example: EXAMPLE_PACKET } },
  },
}
