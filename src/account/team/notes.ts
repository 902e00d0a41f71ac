import { SESSION } from '#src/account/sessions/notes.ts'
import { ACTORS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const USER = 'usr_01m7x7ennfe7dsmvdzwjp06y9w'

const INVITE = {
  invite_id: 'inv_01m7x7ennfe7dsmvdzwjp06y9z',
  email: 'robin@example.com',
  role: 'analyst',
  status: 'pending',
  invited_by: ACTORS.user,
  created_at: '2026-11-20T15:11:00.000Z',
  sent_at: '2026-11-20T15:11:00.000Z',
  expires_at: '2026-11-27T15:11:00.000Z',
  accepted_at: null,
  user_id: null,
  revoked_at: null,
}

const MEMBER = {
  user_id: USER,
  email: 'mika@example.com',
  role: 'analyst',
  status: 'active',
  created_at: '2026-11-20T15:00:00.000Z',
  last_login_at: '2026-11-20T15:11:00.000Z',
  deprovisioned_at: null,
}

const ENDED = {
  ...MEMBER,
  sessions_ended: 2,
  invites_revoked: [INVITE.invite_id],
  keys_created: ['key_live_01m7x7em5b4e4hv6x9s8n1q0tj'],
}

const REMOVAL = { ...ENDED, status: 'deprovisioned', deprovisioned_at: '2026-11-20T15:20:00.000Z' }

const KEYS_GRANT =
  'An API key grants no role that can do more than the key (`role_limit`): `admin` takes every scope, `approver` the scope ' +
  '`escalate`, `developer` the scopes attest, verify, intent and screen, each without an end, `ip_allow` or `products`.'

export const NOTES: Record<string, Note> = {
  'POST /v1/org/users/invite': {
    description:
      'The mail contains a link that works once, for 7 days. An address has one pending invite. Only an owner who has just signed in invites an ' +
      `owner, and no API key does. ${KEYS_GRANT} An account may send 200 invites an hour, and five a day to one address.`,
    examples: { 'An analyst': { email: 'robin@example.com', role: 'analyst' } },
    answers: { 200: { example: INVITE } },
    problems: ['beta_access_required', 'role_limit', 'session_required', 'rate_limited', 'conflict'],
  },
  'GET /v1/org/invites': {
    description: 'Ended invites are listed for 30 days after the day on which they would have expired.',
    answers: { 200: { example: listed(INVITE) } },
  },
  'GET /v1/org/invites/:id': {
    description: 'Ended invites are kept for 30 days after the day on which they would have expired.',
    answers: { 200: { example: INVITE } },
  },
  'POST /v1/org/invites/:id/resend': {
    description: `Works for a pending or an expired invite. The new link works for 7 days, and the invite belongs to its new sender. ${KEYS_GRANT}`,
    answers: { 200: { example: INVITE } },
    problems: [
      'not_found',
      'beta_access_required',
      'role_limit',
      'session_required',
      'rate_limited',
      'conflict',
      'invalid_state_transition',
    ],
  },
  'DELETE /v1/org/invites/:id': {
    description: 'Its link no longer works. Revoking an invite that was revoked or has expired changes nothing.',
    answers: { 200: { example: { ...INVITE, status: 'revoked', revoked_at: '2026-11-20T15:20:00.000Z' } } },
    problems: ['not_found', 'invalid_state_transition', 'session_required'],
  },
  'POST /v1/org/invites/accept': {
    description:
      'No session is needed: the token proves that the caller reads the mailbox. With a session of another address, ' +
      'where the address belongs to a user already, and while the account is closed, the answer is 409 and the invite stays pending. Where that user is of ' +
      'another account, `errors` says at `/close_own_account` what to do: `session_required`, `leave_first`, `other_users`, ' +
      '`account_not_empty`, `account_suspended`, `being_erased` or `confirmation_required`. With `close_own_account: true` a person who is signed in as the only ' +
      'user of an account that has nothing yet, or is closed, leaves it: it is closed, in the same transaction. A token that does not ' +
      'work is `invalid_request` at `/token`, whatever the reason, also where the API key that sent it has expired or was revoked. Login links of the address stop working. ' +
      '`Idempotency-Key` is ignored: a token works once.',
    examples: {
      'A token': { token: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s' },
      'With the closure of an own account': {
        token: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
        close_own_account: true,
      },
    },
    answers: { 200: { example: { ...SESSION, method: 'invite' } } },
    problems: [
      'csrf_token_invalid',
      'session_expired',
      'beta_access_required',
      'plan_required',
      'rate_limited',
      'conflict',
      'sso_required',
    ],
  },
  'GET /v1/org/users': {
    description:
      'A removed user stays listed: a removed address returns only by an invite, and the audit log names the id.',
    answers: { 200: { example: listed(MEMBER) } },
  },
  'GET /v1/org/users/:id': {
    description: '`status` is `deprovisioned` after the user was removed, or left.',
    answers: { 200: { example: MEMBER } },
  },
  'PATCH /v1/org/users/:id': {
    description:
      'The sessions of the user end; the session that changes its own user’s role goes on with new cookies. Only an owner whose ' +
      `session began less than 10 minutes ago grants or takes the role owner, and no API key does. ${KEYS_GRANT} The last owner keeps it. Pending invites that the user could ` +
      'not send any more are revoked. API keys that the user created go on working, and are listed.',
    examples: { 'To approver': { role: 'approver' } },
    answers: { 200: { example: { ...ENDED, role: 'approver', previous_role: 'admin' } } },
    problems: ['not_found', 'role_limit', 'session_required', 'session_expired', 'conflict', 'last_owner'],
  },
  'DELETE /v1/org/users/:id': {
    description:
      'Removing a removed user changes nothing. API keys that the user created go on working, and are listed. The last ' +
      'owner can’t be removed, and removing an owner takes a session that began less than 10 minutes ago. Possible on every plan.',
    answers: { 200: { example: REMOVAL } },
    problems: ['not_found', 'role_limit', 'session_required', 'session_expired', 'last_owner'],
  },
  'DELETE /v1/org/users/me': {
    description: 'The last owner can’t leave. An owner leaves with a session that began less than 10 minutes ago.',
    answers: { 200: { example: REMOVAL } },
    problems: ['not_found', 'last_owner'],
  },
}
