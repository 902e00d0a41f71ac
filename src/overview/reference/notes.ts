import { listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/reason-codes': {
    description:
      'All of them in one page, in the order in which they are answered. Rules of a policy may answer with reasons of their ' +
      'own, which are not here. The same texts are in [the guide]({base_url}/docs/authorize/reasons).',
    answers: {
      200: {
        example: listed({
          code: 'gps_absent',
          places: ['factor'],
          meaning: 'The bundle has no position, or one that is too inexact or simulated.',
          points: 30,
          remedy: 'Allow the app to read the position, and capture where there is reception.',
        }),
      },
    },
  },
  'GET /v1/roles': {
    description:
      'All of them in one page, the one with the most permissions first. What a session may do is in `permissions` of ' +
      '`GET /v1/auth/session`: the plan and the state of the account take some away.',
    answers: {
      200: {
        example: listed({
          role: 'developer',
          permissions: [
            {
              permission: 'keys.manage',
              allows: 'create, list, change, rotate and revoke API keys',
              environments: ['sandbox', 'live'],
            },
          ],
        }),
      },
    },
  },
  'GET /v1/changelog': {
    description:
      'The changelog of this service as data. With `If-None-Match` the answer is 304 until the changelog has changed.',
    answers: {
      200: {
        example: listed({
          version: '1.1.0',
          date: '2026-11-20',
          changes: [{ section: 'Account', text: 'The search finds agents by their name.' }],
        }),
      },
    },
  },
}
