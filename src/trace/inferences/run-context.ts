// Whether an agent may run a model now, and what its kill switch asks of the run.

import { type AgentFacts, readAgents } from '#src/agents/registry/rows.ts'
import { type AgentSessionStatus, readAgentSession } from '#src/agents/registry/session-rows.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type CheckFacts, isBlocking, isUncounted, type KillSwitch, modeFor } from '../canaries/judge.ts'
import { findKillSwitch } from '../canaries/kill-switch.ts'
import { type TraceRow, toCheckedReading } from '../canaries/traces.ts'
import { lockedFailure, type TripSubject } from '../locks/locks.ts'
import { findLockOf, type LockInForce, readLiveLock } from '../locks/rows.ts'
import type { CanaryRequest, ProbeSetFacts } from '../models/protocol.ts'

export interface RunContext {
  killSwitch: KillSwitch
  /** Lock in force for the session or its agent. */
  lock: LockInForce | undefined
  /** Whether the session itself is locked, or the agent where there is no session. */
  isSubjectLocked: boolean
  agent: AgentFacts | undefined
  sessionStatus: AgentSessionStatus | undefined
}

export async function readRunContext(tx: Tx, subject: TripSubject): Promise<RunContext> {
  const { agentId, agentSessionId } = subject
  const [{ settings }, lock, own, agents, session] = await Promise.all([
    findKillSwitch(tx),
    readLiveLock(tx, subject),
    findLockOf(tx, subject),
    agentId === null ? undefined : readAgents(tx, [agentId]),
    agentSessionId === null ? undefined : readAgentSession(tx, agentSessionId),
  ])
  const agent = agentId === null ? undefined : agents?.get(agentId)
  return { killSwitch: settings, lock, isSubjectLocked: own !== undefined, agent, sessionStatus: session?.status }
}

/** @throws {Failure} `session_canary_locked` with `lock_id`; `agent_suspended`; `agent_session_ended`. */
export function refuseRun({ lock, agent, sessionStatus }: RunContext, { agentSessionId }: TripSubject): void {
  if (lock !== undefined) throw lockedFailure(lock.lockIds)
  if (agent?.status === 'suspended') throw new Failure('agent_suspended', `The agent ${agent.id} is suspended.`)
  if (sessionStatus === 'ended') {
    throw new Failure('agent_session_ended', `The session ${agentSessionId} has ended: open another.`)
  }
}

/** The answer where the kill switch refuses what was not read, and the model takes no reading that counts. */
export function unreadRefusal(model: string): Failure {
  return new Failure('backend_capability_missing', {
    detail:
      `The kill switch refuses what no canary has read, and the model ${model} has no probe that counts. ` +
      'GET /v1/trace/models shows its probes.',
    members: { model, capability: 'canary' },
  })
}

/**
 * For `judgeCheck`: the readings of a run, as fresh as it is. They are of the whole completion that is given out, whatever
 * its length.
 */
export function checkFactsOf(trace: TraceRow, { killSwitch, lock, isSubjectLocked }: RunContext): CheckFacts {
  return {
    at: trace.createdAt.toISOString(),
    agent_session_id: trace.agentSessionId,
    agent_id: trace.agentId,
    kill_switch: killSwitch,
    reading: toCheckedReading(trace),
    lock_id: lock?.lockId ?? null,
    is_subject_locked: isSubjectLocked,
  }
}

/** How the model is asked for readings, so that what it withholds is what the kill switch then judges as a trip. */
export function canaryRequestOf(killSwitch: KillSwitch, agentId: string | null, probes: ProbeSetFacts): CanaryRequest {
  if (!isBlocking(modeFor(killSwitch, agentId))) return { onTrip: 'continue' }
  const isLeftOut = isUncounted(killSwitch)
  return {
    onTrip: 'withhold',
    families: probes.families.map(({ family, threshold: own, status }) => {
      const setting = killSwitch.families.find((one) => one.family === family)
      const enabled = setting?.enabled !== false && !isLeftOut({ probe_status: status })
      return { family, threshold: setting?.threshold ?? own, enabled }
    }),
  }
}
