import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {
  'GET /v1/search': {
    description:
      'Finds objects of one environment whose id, claim reference or external id begins with the text, members of the ' +
      'account by their e-mail address, and agents by their name, in any case. It shows only what the caller may read ' +
      'by the routes of that type. An id is searched from its type on, such as `clm_`. See ' +
      '[the overview]({base_url}/docs/reference/overview#search).',
    answers: {
      200: {
        example: {
          data: [
            { type: 'claim', id: IDS.claim, title: 'CLM-2026-00417' },
            { type: 'agent', id: IDS.agent, title: 'Claims assistant' },
          ],
          truncated: false,
        },
      },
    },
    problems: ['environment_mismatch'],
  },
}
