// What follows an attempt that failed, or that could not begin: the next attempt, the end of the delivery, an open
// circuit, or the end of the endpoint.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'
import type { OutboundAnswer } from '#src/platform/net/outbound.ts'
import type { AttemptLog } from './attempt-log.ts'
import { type Begun, endDelivery, findStanding, finishFailed, outcomeOf } from './attempts.ts'
import { cancelWaiting, disableEndpoint } from './backlog.ts'
import { judgeCircuit } from './circuit.ts'
import { type FailureRun, openCircuit, recordFailure, takeProbe } from './circuit-rows.ts'
import { type DisabledReason, lockEndpoint } from './rows.ts'
import { isHopeless, MAX_ATTEMPTS, nextDelayMs } from './schedule.ts'
import { countOutcomes } from './statistics.ts'

export interface FailedDeps {
  now: () => Date
  random: () => number
  timeDivisor: number
  /** Called when an endpoint was disabled. */
  onDisabled: (reason: string) => void
  /** Called when a circuit opened, or stays open after a probe. */
  onParked: (openMs: number) => void
}

interface FailedAttempt {
  begun: Pick<
    Begun,
    'deliveryId' | 'attempt' | 'attemptOfRound' | 'startedAt' | 'endpointId' | 'url' | 'deliveryCreatedAt'
  >
  scope: Scope
  answer: OutboundAnswer
  log: AttemptLog
}

// Until the clock holds the jobs of the closed account, at most a minute later.
const CLOSED_WAIT_MS = 10_000
// A delivery that was on its way to its worker when the circuit opened. The probe needs at most as long.
const PARKED_WAIT_MS = 5_000
const GONE = 410

function reasonToDisable(run: FailureRun, status: number | null): DisabledReason | undefined {
  if (status === GONE) return 'gone'
  return isHopeless(run) ? 'failing' : undefined
}

export type Unbegun = JobOutcome | { kind: 'probe' }

export function createFailedAttempts({ now, random, timeDivisor, onDisabled, onParked }: FailedDeps) {
  /** Writes the failure of an attempt and what follows from it. */
  async function fail(tx: Tx, { begun, scope, answer, log }: FailedAttempt, job: RunningJob): Promise<JobOutcome> {
    const { deliveryId, attempt, attemptOfRound, startedAt, endpointId, url } = begun
    const status = answer.status ?? null
    const error = answer.ok ? null : answer.code
    const result = { deliveryId, attempt, startedAt, responseStatus: status, error, durationMs: answer.durationMs, log }
    // What the service itself refused, or could not do, says nothing of the receiver.
    const isOurs = !answer.ok && answer.isOurs === true
    const run = isOurs ? undefined : await recordFailure(tx, { endpointId, deliveryId, url })
    const reason = run?.isLive === true ? reasonToDisable(run, status) : undefined
    await countOutcomes(tx, scope, [outcomeOf(begun, { isDelivered: false, durationMs: answer.durationMs })])
    if (run !== undefined && (!run.isLive || reason !== undefined)) {
      await finishFailed(tx, result, { end: run.isLive ? 'failed' : 'cancelled' })
      if (reason !== undefined && (await disableEndpoint(tx, scope, { endpointId, reason }))) onDisabled(reason)
      await job.settle(tx)
      return { kind: 'settled' }
    }
    const received = answer.ok ? answer : answer.partial
    const retryAfterMs = parseRetryAfter(received?.headers.get('retry-after'), now())
    const openMs = run && judgeCircuit(run, { retryAfterMs, random, timeDivisor })
    if (openMs !== undefined) {
      await openCircuit(tx, scope, endpointId, openMs)
      onParked(openMs)
    }
    const delayMs = nextDelayMs({ attempt: attemptOfRound, retryAfterMs, random, timeDivisor })
    await finishFailed(tx, result, delayMs === undefined ? { end: 'failed' } : { delayMs })
    if (delayMs === undefined) {
      await job.settle(tx)
      return { kind: 'settled' }
    }
    return { kind: 'retry', error: answer.ok ? `status ${status}` : `${answer.code}: ${answer.detail}`, delayMs }
  }

  /** Why no attempt began, as the outcome that the job needs. `probe`: it may begin now, as the probe of its circuit. */
  async function explain(tx: Tx, deliveryId: string, job: RunningJob): Promise<Unbegun> {
    const standing = await findStanding(tx, deliveryId)
    if (standing?.status === 'pending') {
      const { endpointId, isDirect, circuitMs } = standing
      if (standing.endpointStatus === 'disabled' || standing.isEndpointDeleted) {
        // Read without the lock: enabled since then, it has new deliveries, which must not be cancelled with the old ones.
        if ((await lockEndpoint(tx, endpointId))?.status === 'enabled') {
          return { kind: 'defer', reason: 'its endpoint was enabled', delayMs: 0 }
        }
        await endDelivery(tx, deliveryId, 'cancelled')
        await cancelWaiting(tx, endpointId)
      } else if (standing.attemptsOfRound >= MAX_ATTEMPTS) await endDelivery(tx, deliveryId, 'failed')
      // After a crash between an attempt's end and the job's: the row says when the next attempt is due.
      else if (standing.waitMs > 0 || standing.isAccountClosed || circuitMs === null) {
        const reason = 'the next attempt is not due yet, or the account is suspended or closed'
        const waitMs = Math.max(standing.waitMs, standing.isAccountClosed ? CLOSED_WAIT_MS : 0)
        return { kind: 'defer', reason, delayMs: Math.ceil(waitMs) }
      } else if (await takeProbe(tx, { endpointId, deliveryId, isDirect })) return { kind: 'probe' }
      else {
        const delayMs = Math.ceil(circuitMs > 0 && !isDirect ? circuitMs : PARKED_WAIT_MS / timeDivisor)
        return { kind: 'defer', reason: 'the circuit of its endpoint is open', delayMs }
      }
    }
    await job.settle(tx)
    return { kind: 'settled' }
  }

  return { fail, explain }
}
