// What became of actions: a token is executed by the first valid verification that was no mere check, and the executing
// caller reports once how the action ended.

import { findKeyRoots } from '#src/authorize/approvals/vote-rows.ts'
import {
  findIntent,
  type IntentOutcome,
  type IntentRow,
  lockIntent,
  recordOutcome,
} from '#src/authorize/tokens/rows.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { release } from './charging.ts'

export type ExecutionStatus = 'executed' | IntentOutcome

export interface Execution {
  jti: string
  status: ExecutionStatus
  executedAt: Date
  outcomeAt: Date | null
  actionHash: string
  payloadHash: string
}

interface ExecutionsDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
}

export function createExecutions({ db, ledger }: ExecutionsDeps) {
  return {
    /** @throws {Failure} `environment_mismatch`; `not_found`, also for a token that was not executed. */
    async get(scope: Scope, jti: string): Promise<Execution> {
      checkId(jti, 'jti', scope.environment)
      const row = await db.tenant(scope, (tx) => getOwned(findIntent(tx, jti), jti))
      const execution = executionOf(row)
      if (execution === undefined) throw new Failure('not_found', `No verification has executed ${jti}.`)
      return execution
    },

    /**
     * Records how the action ended.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_state_transition` when it was not executed or has an
     * outcome; `conflict` when another caller executed it.
     */
    async report(caller: Caller, jti: string, outcome: IntentOutcome, key?: IdempotencyKey): Promise<Execution> {
      checkId(jti, 'jti', caller.environment)
      note({ intent: jti })
      const actor = actorOf(caller.principal)
      const report = async (tx: Tx) => {
        const row = await getOwned(lockIntent(tx, jti), jti)
        const executedBy = await checkReporter(tx, row, actor.id)
        // What did not happen is not spent. The token stays used.
        const [at, released] = await Promise.all([
          readClock(tx),
          outcome === 'succeeded' ? {} : release(tx, caller, row),
        ])
        const [isRecorded] = await Promise.all([
          recordOutcome(tx, jti, { by: executedBy, outcome }),
          ledger.record(tx, caller, {
            kind: 'outcome',
            at,
            actor,
            subject: jti,
            reason: outcome,
            valid: null,
            inputs: { jti, action_hash: row.actionHash, payload_hash: row.payloadHash, ...released },
          }),
        ])
        if (!isRecorded) throw new Error('an outcome was reported while its row was locked')
        const reported = executionOf({ ...row, outcome, outcomeAt: at })
        if (reported === undefined) throw new Error('an executed token has no execution')
        return reported
      }
      return db.tenant(caller, (tx) => once(tx, key, report, () => jti))
    },
  }
}

export type Executions = ReturnType<typeof createExecutions>

/** Returns who executed it. @throws {Failure} as `report`. */
async function checkReporter(
  tx: Tx,
  { jti, executedAt, executedBy, outcome }: IntentRow,
  actorId: string,
): Promise<string> {
  if (executedAt === null || executedBy === null) {
    throw new Failure('invalid_state_transition', {
      detail: `No verification has executed ${jti}: there is no outcome to report.`,
      members: { allowed: [] },
    })
  }
  if (executedBy !== actorId && !(await isSameLine(tx, executedBy, actorId))) {
    throw new Failure('conflict', `Another caller executed ${jti}: only that caller reports its outcome.`)
  }
  if (outcome !== null) {
    throw new Failure('invalid_state_transition', {
      detail: `The outcome of ${jti} was reported as ${outcome} before, which is final.`,
      members: { allowed: [] },
    })
  }
  return executedBy
}

/** Whether both are keys of one line of rotations: the successor reports what the key before it has executed. */
async function isSameLine(tx: Tx, one: string, other: string): Promise<boolean> {
  const roots = await findKeyRoots(tx, [one, other])
  return roots.get(one) === roots.get(other)
}

function executionOf(row: IntentRow): Execution | undefined {
  const { jti, executedAt, outcome, outcomeAt, actionHash, payloadHash } = row
  if (executedAt === null) return undefined
  return { jti, status: outcome ?? 'executed', executedAt, outcomeAt, actionHash, payloadHash }
}
