import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const publicKey = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }

const active = {
  agent_id: IDS.agent,
  name: 'Travel desk',
  owner: 'travel@example.com',
  status: 'active',
  suspensions: [],
  public_key: publicKey,
  public_key_thumbprint: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  metadata: { team: 'travel', tier: 2 },
  created_by: IDS.key,
  created_at: '2026-11-20T15:11:02.000Z',
  updated_at: '2026-11-20T15:11:02.000Z',
}

const byHand = {
  cause: 'manual',
  lock_id: null,
  reason: 'Books flights that nobody asked for.',
  suspended_by: IDS.key,
  suspended_at: '2026-11-20T16:00:00.000Z',
}

const byLock = {
  cause: 'lock',
  lock_id: IDS.lock,
  reason: 'session_canary_locked',
  suspended_by: null,
  suspended_at: '2026-11-20T15:11:04.310Z',
}

const open = {
  agent_session_id: IDS.agentSession,
  agent_id: IDS.agent,
  status: 'open',
  metadata: { run: '2026-11-20/7' },
  created_by: IDS.key,
  created_at: '2026-11-20T15:11:03.000Z',
  ended_by: null,
  ended_at: null,
}

export const NOTES: Record<string, Note> = {
  'POST /v1/agents': {
    description:
      'Software that acts for somebody. Tokens, sessions and locks name it by `agent_id`. `public_key` says who it is ' +
      'to others: the service keeps it and signs nothing with it.',
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
    description: 'An agent must match all filters. `owner` is compared exactly.',
    answers: { 200: { example: listed(active) } },
  },
  'GET /v1/agents/:id': {
    description: '`suspensions` shows why an agent is suspended: each cause is lifted by itself.',
    answers: { 200: { example: { ...active, status: 'suspended', suspensions: [byLock, byHand] } } },
  },
  'PATCH /v1/agents/:id': {
    description: 'Members that are absent keep their values; `public_key: null` removes the key. It needs `escalate`.',
    examples: { 'Hand it over': { owner: 'platform@example.com' } },
    answers: { 200: { example: { ...active, owner: 'platform@example.com', updated_at: '2026-11-21T08:00:00.000Z' } } },
  },
  'POST /v1/agents/:id/suspend': {
    description:
      'From its commit on, every verify of a token of the agent answers `agent_suspended`, in every process. An agent ' +
      'that is suspended manually stays as it is. Other requests do not count against the rate limit of this one.',
    examples: { 'Stop it': { reason: byHand.reason } },
    answers: { 200: { example: { ...active, status: 'suspended', suspensions: [byHand] } } },
  },
  'POST /v1/agents/:id/unsuspend': {
    description:
      'Lifts the manual suspension. While a session lock holds the agent it is 409 `conflict` with `lock_id`, and ' +
      'nothing changes: clear the lock. An active agent is 409 `invalid_state_transition`.',
    answers: { 200: { example: active } },
    problems: ['conflict', 'invalid_state_transition'],
  },
  'POST /v1/agents/:id/sessions': {
    description:
      'One run of the agent. Its id goes into authorize, verify and check as `agent_session_id`, and says whose ' +
      'session it is. A suspended agent opens none.',
    examples: { 'A run': { metadata: { run: '2026-11-20/7' } } },
    answers: { 200: { example: open } },
    problems: ['conflict'],
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
      200: { example: { ...open, status: 'ended', ended_by: IDS.key, ended_at: '2026-11-20T15:31:00.000Z' } },
    },
  },
}
