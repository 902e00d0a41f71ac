import type { Note } from '#src/platform/http/openapi.ts'
import { claim } from '../claims/notes.ts'

export const NOTES: Record<string, Note> = {
  'DELETE /v1/claims/:id': {
    description:
      'The erasure is immediate and permanent: media, thumbnails and positions are deleted; hashes, factors and ' +
      '`result_jws` stay. Later captures with the same reference are 409. A 503 says that not all bytes are deleted ' +
      'yet: send the request again.',
    answers: { 200: { example: { ...claim, loss_location: null, erased_at: '2026-11-28T09:00:00.000Z' } } },
  },
}
