import { SESSION } from '#src/account/sessions/notes.ts'
import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {
  'POST /v1/auth/magic-link': {
    description:
      'A link works once, for 10 minutes, beside earlier ones of the address; the first that is used voids the ' +
      'others. A mail is sent to known addresses, and to unknown addresses where people may sign up; the answer does ' +
      'not show which. A network, and a browser that signed in to the address before, may ask five times in 15 ' +
      'minutes for it. Beyond other limits (see the guide Login) the answer is the same, and no mail is sent. ' +
      '`Idempotency-Key` is ignored.',
    examples: { 'An address': { email: 'mika@example.com' } },
    answers: { 200: { example: { status: 'sent', link: 'https://claims.example.com/login/link#…', token: '…' } } },
    problems: ['not_found', 'csrf_token_invalid', 'beta_access_required', 'rate_limited'],
  },
  'POST /v1/auth/magic-link/verify': {
    description:
      'Sets the session cookie, the readable cookie `svc_csrf`, and `svc_browser`, by which limits on links recognize the ' +
      'browser later. Tokens that do not sign in are limited, and one that works is always accepted. A link that does not ' +
      'work is `invalid_request` at `/token`, whatever the reason. `Idempotency-Key` is ignored: a token works once.',
    examples: { 'A token': { token: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s' } },
    answers: { 200: { example: SESSION } },
    problems: ['csrf_token_invalid', 'session_expired', 'beta_access_required', 'sso_required', 'rate_limited'],
  },
}
