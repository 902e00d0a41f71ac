import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const publicKey = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }

const active = {
  agent_id: IDS.agent,
  name: 'Travel desk',
  owner: 'travel@example.com',
  status: 'active',
  suspensions: [],
  retired_at: null,
  retired_by: null,
  retired_reason: null,
  public_key: publicKey,
  public_key_thumbprint: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  metadata: { team: 'travel', tier: 2 },
  version: 1,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:02.000Z',
  updated_at: '2026-11-20T15:11:02.000Z',
}

const byHand = {
  cause: 'manual',
  lock_id: null,
  reason: 'Books flights that nobody asked for.',
  suspended_by: ACTORS.key,
  suspended_at: '2026-11-20T16:00:00.000Z',
}

const byLock = {
  cause: 'lock',
  lock_id: IDS.lock,
  reason: 'session_canary_locked',
  suspended_by: ACTORS.service,
  suspended_at: '2026-11-20T15:11:04.310Z',
}

const open = {
  agent_session_id: IDS.agentSession,
  agent_id: IDS.agent,
  status: 'open',
  metadata: { run: '2026-11-20/7' },
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:03.000Z',
  ended_by: null,
  ended_at: null,
}

export const NOTES: Record<string, Note> = {
  'POST /v1/agents': {
    description:
      'An agent is software that acts on another party’s behalf. Tokens, sessions and locks name the agent by ' +
      '`agent_id`. `public_key` identifies it to others: the service stores the key and signs nothing with it.',
    examples: {
      'With a key of its own': {
        name: 'Travel desk',
        owner: 'travel@example.com',
        public_key: publicKey,
        metadata: { team: 'travel', tier: 2 },
      },
    },
    answers: { 200: { example: active } },
  },
  'GET /v1/agents': {
    description:
      'An agent must match all filters, and any of the given values of `status`. `owner` is compared exactly.',
    answers: { 200: { example: listed(active) } },
  },
  'GET /v1/agents/:id': {
    description: '`suspensions` shows why an agent is suspended: each cause is lifted separately.',
    answers: { 200: { example: { ...active, status: 'suspended', suspensions: [byLock, byHand] } } },
  },
  'PATCH /v1/agents/:id': {
    description:
      'Members that are absent keep their values; `public_key: null` removes the key. It needs `escalate`. A retired agent ' +
      'is 409 `invalid_state_transition`.',
    headers: IF_MATCH,
    examples: { 'Hand it over': { owner: 'platform@example.com' }, 'Another name': { name: 'Travel and hotels' } },
    answers: {
      200: {
        example: { ...active, owner: 'platform@example.com', version: 2, updated_at: '2026-11-21T08:00:00.000Z' },
      },
    },
    problems: ['precondition_failed', 'invalid_state_transition'],
  },
  'POST /v1/agents/:id/suspend': {
    description:
      'From the commit on, every verify of a token of the agent answers `agent_suspended`, in every process. An agent ' +
      'that is suspended manually, or retired, stays as it is. Other requests do not count against the rate limit of this one.',
    examples: { 'Stop it': { reason: byHand.reason } },
    answers: { 200: { example: { ...active, status: 'suspended', suspensions: [byHand] } } },
  },
  'POST /v1/agents/:id/unsuspend': {
    description:
      'Lifts the manual suspension. While a session lock holds the agent, the answer is 409 `agent_held_by_lock` with ' +
      '`lock_id`, and nothing changes: clear the lock. An agent that is active or retired is 409 ' +
      '`invalid_state_transition`.',
    answers: { 200: { example: active } },
    problems: ['agent_held_by_lock', 'invalid_state_transition'],
  },
  'POST /v1/agents/:id/retire': {
    description:
      'Retiring is permanent. From the commit on, every verify of a token of the agent, under any mandate, answers ' +
      '`agent_suspended`, and its open sessions have ended. The agent gets no tokens, sessions or mandates, and can ' +
      'not be changed or unsuspended. Its records stay. It needs `escalate`. A retired agent stays as it is.',
    examples: { 'Replaced by another one': { reason: 'Its tasks were taken over.' } },
    answers: {
      200: {
        example: {
          ...active,
          status: 'retired',
          retired_at: '2026-11-21T08:00:00.000Z',
          retired_by: ACTORS.key,
          retired_reason: 'Its tasks were taken over.',
          version: 2,
          updated_at: '2026-11-21T08:00:00.000Z',
        },
      },
    },
  },
  'POST /v1/agents/:id/sessions': {
    description:
      'A session is one run of the agent. Send its id to authorize, verify and check as `agent_session_id`: it names ' +
      'the agent too. An agent that is suspended or retired opens no session.',
    examples: { 'A run': { metadata: { run: '2026-11-20/7' } } },
    answers: { 200: { example: open } },
    problems: ['agent_suspended'],
  },
  'GET /v1/agents/sessions': {
    description: 'A session must match all filters. Sessions that ended are kept for 90 days after their end.',
    answers: { 200: { example: listed(open) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/agents/:id/sessions': {
    description: 'Sessions that ended are kept for 90 days after their end.',
    answers: { 200: { example: listed(open) } },
  },
  'GET /v1/agents/:id/sessions/:session': {
    description: 'A session of another agent is not found.',
    answers: { 200: { example: open } },
  },
  'POST /v1/agents/:id/sessions/:session/end': {
    description: 'A session that has ended stays as it is. A lock on it stays too.',
    answers: {
      200: { example: { ...open, status: 'ended', ended_by: ACTORS.key, ended_at: '2026-11-20T15:31:00.000Z' } },
    },
  },
}
