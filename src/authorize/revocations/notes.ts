import { ACTORS, EVENT_ACTOR, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const REVOCATION = 'rev_test_01m7x7m2a1e4e8k5v3d9s6q0tc'

const wanted = {
  scope: 'session',
  agent_session_id: 'shopping-4711',
  reason: 'The agent bought something that nobody had asked for',
}

const revocation = {
  revocation_id: REVOCATION,
  scope: 'session',
  jti: null,
  agent_session_id: 'shopping-4711',
  device_id: null,
  reason: wanted.reason,
  revoked_by: ACTORS.key,
  tokens_revoked: 2,
  created_at: '2026-11-20T15:11:02.000Z',
  expires_at: null,
}

const stopped = {
  stopped: true,
  stop_id: 'stp_test_01m7x7m2a1e4e8k5v3d9s6q0td',
  reason: 'Payments to an unknown account',
  stopped_by: ACTORS.key,
  stopped_at: '2026-11-20T15:11:02.000Z',
  resumed_by: null,
  resumed_at: null,
}

export const NOTES: Record<string, Note> = {
  'POST /v1/intent/revocations': {
    description:
      'From the commit on, no verify of any process accepts a token that the revocation ends: one token, or every ' +
      'unexpired token of an agent session or a device. These tokens stay revoked. A revoked session or device gets ' +
      'no new tokens, until `expires_at` where that is given. A longer existing revocation stays as it is. Send the ' +
      'member that belongs to the scope: `jti`, `agent_session_id` or `device_id`. Publishable keys revoke tokens ' +
      'only.',
    examples: { 'An agent session': wanted },
    answers: { 200: { example: revocation } },
    problems: ['environment_mismatch', 'not_found', 'account_key_required'],
  },
  'GET /v1/intent/revocations': {
    description: 'The list includes revocations that have expired, and revocations of devices in their registry.',
    answers: { 200: { example: listed(revocation) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/intent/revocations/:id': {
    description: 'A revocation never changes.',
    answers: { 200: { example: revocation } },
  },
  'GET /v1/intent/status/:jti': {
    description:
      'A relying party that verified a token offline calls this. `revoked` stays `revoked` after the token has ' +
      'expired. A verify also checks the policy, the agent and the account. Tokens that expired a month ago are not ' +
      'found.',
    answers: {
      200: {
        example: {
          jti: 'jti_test_01m7x7kz8ye4e8k5v3d9s6q0ta',
          status: 'revoked',
          revoked: true,
          revoked_scope: 'session',
          revoked_at: '2026-11-20T15:11:02.000Z',
          expires_at: '2026-11-20T15:14:10.000Z',
        },
      },
    },
  },
  'POST /v1/intent/stop': {
    description:
      'Authorize answers 409 `account_stopped`, and verify `policy_denied` with `matched_rule_id` `system:stop`, until the ' +
      'agents are resumed. A stop while one is in force changes nothing.',
    examples: { 'An emergency': { reason: stopped.reason } },
    answers: { 200: { example: stopped } },
  },
  'POST /v1/intent/resume': {
    description: 'Tokens that have not expired meanwhile verify again. Without a stop the request changes nothing.',
    answers: {
      200: {
        example: { ...stopped, stopped: false, resumed_by: ACTORS.key, resumed_at: '2026-11-20T15:41:30.000Z' },
      },
    },
  },
  'GET /v1/intent/stop': {
    description: 'The answer is the last stop, whether it is in force or lifted.',
    answers: { 200: { example: stopped } },
  },
}

export const EVENTS: EventNotes = {
  'intent.revoked': {
    example: {
      revocation_id: REVOCATION,
      scope: 'session',
      agent_session_id: 'shopping-4711',
      reason: wanted.reason,
      actor: EVENT_ACTOR,
    },
  },
}
