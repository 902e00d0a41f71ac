// What authorize refuses to issue a token for: what no verification could accept any more.

import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { checkId } from '#src/platform/ids.ts'
import type { KillSwitchTrip } from '#src/trace/canaries/conditions.ts'
import { lockedFailure } from '#src/trace/locks/locks.ts'
import type { AuthorizeRequest } from './bodies.ts'
import type { StateFacts } from './facts.ts'
import type { Under } from './read-limits.ts'
import { type BoundState, isOwnId, type Subjects } from './read-token-state.ts'

/** What is true of a request at one moment. */
export interface Seen {
  bound: BoundState
  state: StateFacts
}

export function checkIds(caller: Caller, body: AuthorizeRequest): void {
  const { environment } = caller
  checkSessionName(body.agent_session_id, environment)
  if (isOwnId(body.device_id, 'dev')) checkId(body.device_id, 'dev', environment)
  if (body.agent_id !== undefined) checkId(body.agent_id, 'agt', environment)
  if (body.trace_id !== undefined) checkId(body.trace_id, 'trc', environment)
  if (body.mandate_id !== undefined) checkId(body.mandate_id, 'mnd', environment)
  if (body.schedule_id !== undefined) checkId(body.schedule_id, 'sch', environment)
  if (body.order_id !== undefined) checkId(body.order_id, 'ord', environment)
}

/** Refuses what no verification could accept any more. */
export function refuse({ bound, state }: Seen, { agentId, agentSessionId, traceId }: Subjects, under: Under): void {
  const { agent, revocation, stop, lock, sessionAgentId } = bound
  if (agent?.status === 'missing') throw new Failure('not_found', `There is no agent ${agentId}.`)
  if (!bound.isSessionKnown) throw new Failure('not_found', `There is no agent session ${agentSessionId}.`)
  if (traceId !== null && bound.reading_hash === null) throw new Failure('not_found', `There is no trace ${traceId}.`)
  if (!bound.isTraceOwn) throw invalidField('/trace_id', 'mismatch', 'is a trace of another session or agent')
  const { mandateId, scheduleId, orderId } = under
  if (mandateId !== null && state.mandate === null) throw new Failure('not_found', `There is no mandate ${mandateId}.`)
  if (scheduleId !== null && state.schedule === null)
    throw new Failure('not_found', `There is no schedule ${scheduleId}.`)
  if (orderId !== null && state.order === null) throw new Failure('not_found', `There is no order ${orderId}.`)
  if (sessionAgentId !== null && sessionAgentId !== agentId) {
    throw invalidField('/agent_session_id', 'mismatch', 'is a session of another agent')
  }
  const ofAgent = state.mandate?.agent_id ?? null
  if (ofAgent !== null && ofAgent !== agentId) {
    throw invalidField('/mandate_id', 'mismatch', 'is a mandate of another agent')
  }
  if (stop !== null) {
    throw new Failure('account_stopped', `Stopped at ${stop.at}: ${stop.reason}. POST /v1/intent/resume ends that.`)
  }
  if (revocation !== null) {
    const code = revocation.scope === 'device' ? 'device_revoked' : 'agent_session_revoked'
    throw new Failure(code, `The ${revocation.scope} was revoked at ${revocation.at}.`)
  }
  if (bound.isSessionEnded)
    throw new Failure('agent_session_ended', `The session ${agentSessionId} has ended: open another.`)
  if (lock !== null) throw lockedFailure(bound.lockIds)
  if (agent?.status === 'suspended') throw new Failure('agent_suspended', `The agent ${agentId} is suspended.`)
}

export function trippedFailure({ trace_id, tripped_families }: KillSwitchTrip, lockId: string | undefined): Failure {
  return new Failure('canary_tripped', {
    detail: `The canary ${tripped_families.join(', ')} tripped in ${trace_id}: no token is issued.`,
    members: { trace_id, tripped_families, ...(lockId !== undefined && { lock_id: lockId }) },
  })
}
