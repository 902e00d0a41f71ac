import { ACTORS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const ID = 'sct_01m7x7ennfe7dsmvdzwjp06y9x'
const TOKEN = {
  scim_token_id: ID,
  last4: 'x7Qa',
  status: 'active',
  created_at: '2026-11-20T15:11:04.310Z',
  created_by: ACTORS.user,
  last_used_at: null,
  revoked_at: null,
}

export const NOTES: Record<string, Note> = {
  'POST /v1/auth/scim-tokens': {
    description:
      'The token is shown once. It calls /v1/scim/v2 and nothing else. Two of an account are live at a time, so that one replaces ' +
      'the other without an interruption.',
    answers: { 200: { example: { ...TOKEN, token: 'svc_scim_…' } } },
    problems: ['limit_reached'],
  },
  'GET /v1/auth/scim-tokens': {
    description: 'Revoked ones too.',
    answers: { 200: { example: listed(TOKEN) } },
  },
  'DELETE /v1/auth/scim-tokens/:id': {
    description: 'Revoking a revoked token changes nothing.',
    answers: { 200: { example: { ...TOKEN, status: 'revoked', revoked_at: '2026-11-20T16:02:11.000Z' } } },
  },
}
