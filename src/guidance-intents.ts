// What callers are told about errors that only intents have: a token is not issued for what was ended.

import type { Guidance } from './guidance.ts'

const NO = 'No. The same request fails the same way.'

export const INTENT_GUIDANCE = {
  agent_session_ended: {
    happened: 'The agent session has ended: it takes no more requests.',
    remedy: 'Open another with POST /v1/agents/{id}/sessions, or name another session of your own.',
    repeat: NO,
    example: { detail: 'The session ses_test_01m7x7p0d7c4e4hv6x9s8n1q0w has ended: open another.' },
  },
  agent_session_revoked: {
    happened: 'The agent session was revoked: it gets no more intent tokens.',
    remedy:
      'Start a new agent session, if the person who revoked this one agrees. GET /v1/intent/revocations has the reason.',
    repeat: NO,
    example: { detail: 'The agent session was revoked at 2026-11-20T15:11:02.000Z.' },
  },
  device_revoked: {
    happened: 'The device was revoked, in its registry or for intent tokens. A revocation is final.',
    remedy: 'Use another device. GET /v1/admin/devices/{id} or GET /v1/intent/revocations has the reason.',
    repeat: NO,
    example: { detail: 'The device was revoked at 2026-11-20T15:11:02.000Z.' },
  },
  approval_already_decided: {
    happened:
      'The approval has ended, by a decision, its expiry or a revocation, or this person or API key has decided it before.',
    remedy: 'Read it with GET /v1/approvals/{id}. A new POST /v1/intent/authorize opens a new approval.',
    repeat: NO,
    example: {
      detail: 'apr_test_01m7x7m0a1e4e8k5v3d9s6q0tc is denied: it is decided once.',
      members: { approval_status: 'denied' },
    },
  },
  confirmer_not_eligible: {
    happened:
      'The person may not confirm these facts; `cause` says why: `tier` (a prescriber of tier 3 confirms, or an owner while no ' +
      'other prescriber has tier 3), `same_person` (the person entered a fact, or made the API key that did), `own_facts` or ' +
      '`not_a_member`.',
    remedy: 'Let another person confirm the facts.',
    repeat: NO,
    example: {
      detail: 'The person who entered a fact, or made the API key that did, may not confirm it.',
      members: { cause: 'same_person' },
    },
  },
  prescriber_exists: {
    happened: 'The user or the NPI has a prescriber already; `member` says which of the two.',
    remedy: 'Read or correct the prescriber that `prescriber_id` names.',
    repeat: NO,
    example: {
      detail: 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x has this NPI: a user and an NPI have one prescriber each.',
      members: { prescriber_id: 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x', member: 'npi' },
    },
  },
  approver_not_eligible: {
    happened:
      'The person may not decide this approval; `cause` says why: `role`, `separation_of_duties` (the person asked ' +
      'for the action, or answers for its agent), `not_a_member`, or `same_key` for an API key that authorized the ' +
      'action.',
    remedy: 'Have another person decide it. `roles` of the approval says who may.',
    repeat: NO,
    example: {
      detail: 'The person who asked for the action, or answers for its agent, may not decide it: duties are separated.',
      members: { cause: 'separation_of_duties' },
    },
  },
  agent_held_by_lock: {
    happened: 'A session lock holds the agent: it was suspended when a canary tripped.',
    remedy:
      'A person looks at the trace and clears the lock that `lock_id` names with ' +
      'POST /v1/trace/session-locks/{lock_id}/clear, which also resumes the agent.',
    repeat: 'Not until the lock is cleared.',
    example: {
      detail: 'The agent is held by lck_test_01m7x7p0d7c4e4hv6x9s8n1q0u: clear that lock.',
      members: { lock_id: 'lck_test_01m7x7p0d7c4e4hv6x9s8n1q0u' },
    },
  },
  agent_suspended: {
    happened: 'The agent is suspended or retired: it gets no tokens and opens no sessions.',
    remedy:
      'A person reviews the agent and unsuspends it with POST /v1/agents/{id}/unsuspend. Verifications of its tokens ' +
      'answer `agent_suspended` until then. A retired agent stays so: use another one.',
    repeat: 'Not until the agent is unsuspended.',
    example: { detail: 'The agent agt_test_01m7x7p0d7c4e4hv6x9s8n1q0t is suspended.' },
  },
  canary_tripped: {
    happened:
      'A canary of the agent tripped, and the kill switch refuses: the reading that the token would be bound to, or the newest ' +
      'trip of the session or its agent. No token is issued.',
    remedy:
      'A person looks at the trace that `trace_id` names. Under `block_and_lock` the session is locked too: POST ' +
      '/v1/trace/session-locks/{lock_id}/clear ends that.',
    repeat:
      'Not until the trip is older than `max_age_s` of the kill switch, or its lock is cleared; and with another reading.',
    example: {
      detail: 'The canary exfiltration tripped in trc_test_01m7x7p0d7c4e4hv6x9s8n1q0v: no token is issued.',
      members: {
        trace_id: 'trc_test_01m7x7p0d7c4e4hv6x9s8n1q0v',
        tripped_families: ['exfiltration'],
        lock_id: 'lck_test_01m7x7p0d7c4e4hv6x9s8n1q0u',
      },
    },
  },
  session_canary_locked: {
    happened: 'The agent session, or its agent, is locked: a canary tripped under `block_and_lock`.',
    remedy:
      'A person looks at the trace and clears the lock that `lock_id` names with ' +
      'POST /v1/trace/session-locks/{lock_id}/clear, and each other one that `detail` names.',
    repeat: 'Not until each lock is cleared.',
    example: {
      detail:
        'The agent session or the agent is locked after a canary trip: a person has to clear lck_test_01m7x7p0d7c4e4hv6x9s8n1q0u.',
      members: { lock_id: 'lck_test_01m7x7p0d7c4e4hv6x9s8n1q0u' },
    },
  },
  account_stopped: {
    happened: 'The account has stopped its agents in this environment: no intent token is issued, and none verifies.',
    remedy: 'Wait until a person lifts the stop. GET /v1/intent/stop has the reason.',
    repeat: 'Only after the stop is lifted.',
    example: { detail: 'The account has stopped since 2026-11-20T15:11:02.000Z: no token is issued.' },
  },
} as const satisfies Record<string, Guidance>
