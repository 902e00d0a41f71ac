import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const locked = {
  lock_id: IDS.lock,
  status: 'locked',
  agent_session_id: IDS.agentSession,
  agent_id: IDS.agent,
  trace_id: IDS.trace,
  tripped_families: ['exfiltration'],
  source: 'check',
  jti: null,
  matched_rule_id: null,
  locked_at: '2026-11-20T15:11:04.310Z',
  cleared_at: null,
  cleared_by: null,
  note: null,
  agent_unsuspended: null,
}

export const NOTES: Record<string, Note> = {
  'GET /v1/trace/session-locks': {
    description:
      'Lists sessions and agents that canary trips locked under `block_and_lock`. `status=locked` lists the locks ' +
      'that wait for a review, with `order=asc` the oldest first. An agent session has one live lock at most; an ' +
      'agent may be held by the locks of several sessions.',
    answers: { 200: { example: listed(locked) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/trace/session-locks/:id': {
    description: '`trace_id` leads to the readings that tripped.',
    answers: { 200: { example: locked } },
  },
  'POST /v1/trace/session-locks/:id/clear': {
    description:
      'A person decides that the session may go on. `agent_unsuspended` is false where the lock suspended no agent, ' +
      'and where the agent stays suspended by another lock or manually. A lock is cleared once: a second request is ' +
      '409. The decision ledger has the note.',
    examples: { 'After a review': { note: 'The page that the agent read was quoted, not followed.' } },
    answers: { 200: { example: { lock_id: IDS.lock, status: 'cleared', agent_unsuspended: true } } },
    problems: ['invalid_state_transition'],
  },
}
