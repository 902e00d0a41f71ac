import type { Note } from '#src/platform/http/openapi.ts'
import { MAX_CASES, MAX_CLAIMS } from './analytics.ts'

const period = { from: '2026-11-18T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' }
const guide = 'See [analytics]({base_url}/docs/reference/analytics).'
const few = (most: number) => most.toLocaleString('en')

export const NOTES: Record<string, Note> = {
  'GET /v1/analytics/claims': {
    description: `Counts the claims that came in, by day and by the risk status that they have now. A period of more than ${few(MAX_CLAIMS)} claims is refused with \`range_too_large\`: ask for a shorter one. ${guide}`,
    answers: {
      200: {
        example: {
          ...period,
          days: [
            { day: '2026-11-18', total: 412, pending: 0, passed: 377, review: 29, failed: 6 },
            { day: '2026-11-19', total: 398, pending: 3, passed: 360, review: 27, failed: 8 },
          ],
        },
      },
    },
  },
  'GET /v1/analytics/factors': {
    description: `Counts the cases that ended in the period by their outcome, and for each factor and advisory code how many of their claims have it: a factor that stands at as many legitimate claims as fraudulent ones tells nothing. A case that was opened again has not ended. A period of more than ${few(MAX_CASES)} cases is refused with \`range_too_large\`. ${guide}`,
    answers: {
      200: {
        example: {
          ...period,
          cases: { fraud: 4, legitimate: 31, other: 5 },
          factors: [
            { code: 'signature_invalid', points: 70, cases: { fraud: 3, legitimate: 0, other: 1 } },
            { code: 'gps_absent', points: 30, cases: { fraud: 2, legitimate: 14, other: 2 } },
            { code: 'exif_missing', points: null, cases: { fraud: 1, legitimate: 6, other: 0 } },
          ],
        },
      },
    },
  },
}
