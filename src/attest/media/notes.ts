import { DIGEST, IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const media = {
  media_id: IDS.media,
  sha256: DIGEST,
  size: 204811,
  content_type: 'image/jpeg',
  width: 4032,
  height: 3024,
  created_at: '2026-11-20T15:11:02.000Z',
}

export const NOTES: Record<string, Note> = {
  'POST /v1/media': {
    description:
      'The body is the raw bytes. The content type is detected from the bytes and must agree with the header. ' +
      'Uploading the same bytes again answers the same `media_id`. Unreferenced media are deleted after 7 days.',
    headers: { 'Content-Digest': '`sha-256=:<base64>:` (RFC 9530): compared with the received bytes.' },
    answers: { 200: { example: media } },
  },
  'GET /v1/media/:id': {
    description: 'Returns the uploaded bytes unchanged, as an attachment. The ETag is the SHA-256 in hex.',
    headers: {
      Range: '`bytes=0-1023`: one range (RFC 9110 14.2).',
      'If-Range': 'An ETag: the range applies only while the ETag is the same.',
    },
    answers: {
      200: { description: 'The whole archive.', headers: { 'Accept-Ranges': '`bytes`.' } },
      206: {
        description: 'The requested range.',
        headers: {
          'Accept-Ranges': '`bytes`.',
          'Content-Range': 'The range of this answer, and the size of the whole.',
        },
      },
    },
    problems: ['range_not_satisfiable'],
  },
  'GET /v1/media/:id/metadata': {
    description:
      'The answer contains no bytes of the media. `width` and `height` are as stored in the file, before any ' +
      'rotation, and null for a video.',
    answers: {
      200: {
        example: {
          ...media,
          uploaded_at: '2026-11-20T15:11:02.000Z',
          claim_ids: [IDS.claim],
          has_more_claims: false,
        },
      },
    },
  },
  'GET /v1/media/:id/thumbnail': {
    description:
      'The picture is made at the first request. The answer is 404 where the service can not read the pixels (HEIC), ' +
      'or not within 8 s and 768 MB. The service decodes one picture of an account at a time: while 64 more wait, the ' +
      'answer is 503 with `Retry-After`.',
  },
}
