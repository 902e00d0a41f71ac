// Refused acts on orders are recorded like the acts themselves (21 CFR 1311.150), each in a transaction of its own, since that of
// the act is rolled back. What is recorded has the code of the refusal, and nothing of the order but its id and hash.

import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { recordClinicalAct } from '../prescribers/acts.ts'
import { findOrder } from './rows.ts'
import type { OrderAct } from './state.ts'

interface RefusalsDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
}

/** Runs an act, and records its refusal. */
export type RecordRefusals = <Result>(
  acting: Acting,
  refused: { id: string; act: OrderAct },
  work: () => Promise<Result>,
) => Promise<Result>

export function createRecordRefusals({ db, ledger }: RefusalsDeps): RecordRefusals {
  return async (acting, refused, work) => {
    try {
      return await work()
    } catch (error) {
      if (isRefusal(error)) await record(acting, refused, error)
      throw error
    }
  }

  async function record(acting: Acting, { id, act }: { id: string; act: OrderAct }, failure: Failure): Promise<void> {
    await db.tenant(acting, async (tx) => {
      const row = await findOrder(tx, acting, id)
      if (row === undefined) return
      const isSignature = act === 'sign' || act === 'cosign'
      await recordClinicalAct(tx, acting, ledger, {
        action: isSignature ? 'order.signature_refused' : 'order.refused',
        subject: id,
        inputs: { act, cause: causeOf(failure), order_hash: row.orderHash, status: row.status },
      })
    })
  }
}

// A repeat with an Idempotency-Key is answered with what the first request did. What names no order of the account is about none.
function isRefusal(error: unknown): error is Failure {
  if (!(error instanceof Failure) || error.status >= 500) return false
  return error.status !== 404 && error.code !== 'environment_mismatch' && !error.code.startsWith('idempotency_')
}

/** Of findings about an assertion, the finding: `used` and `counter_went_back` are different incidents. */
function causeOf({ code, errors, members }: Failure): string {
  if (code === 'invalid_request') return errors?.[0]?.code ?? code
  return code === 'clinical_policy_denied' ? String(members.matched_rule_id) : code
}
