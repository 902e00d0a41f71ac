import { ACTORS, IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const open = { account_id: IDS.account, closed_at: null, closed_by: null, erased_after: null }
const closed = {
  account_id: IDS.account,
  closed_at: '2026-11-20T15:11:04.310Z',
  closed_by: ACTORS.user,
  erased_after: '2026-12-20T15:11:04.310Z',
}

export const NOTES: Record<string, Note> = {
  'GET /v1/account/closure': {
    description: 'Takes the session of an owner.',
    answers: { 200: { example: closed } },
  },
  'POST /v1/account/closure': {
    description:
      'Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). From the next request on, API keys and other users get `account_suspended`; jobs and ' +
      'webhook deliveries wait. Owners can read, export everything and undo the closure. After 30 days all rows and media ' +
      'of the account are erased. See [the account]({base_url}/docs/account/account#closing-the-account).',
    examples: { 'By its name': { confirm: 'Example Insurance' } },
    answers: { 200: { example: closed } },
    problems: ['conflict'],
  },
  'DELETE /v1/account/closure': {
    description:
      'Within 30 days, with a session that began less than 10 minutes ago. Keys and sessions work again, and what waited goes on.',
    answers: { 200: { example: open } },
    problems: ['conflict'],
  },
}
