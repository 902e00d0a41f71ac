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
      'The raw bytes as the body. The content type is detected from the bytes and must agree. Uploading the same ' +
      'bytes again answers the same `media_id`. Unreferenced media are deleted after 7 days.',
    headers: { 'Content-Digest': '`sha-256=:<base64>:` (RFC 9530): compared with what arrives.' },
    answers: { 200: { example: media } },
  },
  'GET /v1/media/:id': {
    description: 'Byte for byte as it was uploaded, as an attachment. Its ETag is the SHA-256 in hex.',
    headers: {
      Range: '`bytes=0-1023`: one range (RFC 9110 14.2).',
      'If-Range': 'An ETag: the range only counts while it is the same.',
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
      'What is shown of it without its bytes. `width` and `height` are as stored in the file, before any rotation, and ' +
      'null for a video.',
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
      'Made at the first request. 404 where the pixels can not be read here (HEIC), or not within 8 s and 768 MB. An ' +
      'account has one picture decoded at a time: with 64 more waiting it is 503 with `Retry-After`.',
  },
}
