// Reports of outcomes, during a guard and after a restart.

import { ConflictError, NotFoundError } from '../core/errors.ts'
import type { Countersign } from '../countersign.ts'
import type { Outcome } from './journal.ts'

/** Ids of the tokens whose guards run in this process. Only those of an earlier process are resumed. */
export const guardedNow = new Set<string>()

// The result of the action waits for the report.
const OPTIONS = { timeoutMs: 10_000, maxRetries: 2 }

/**
 * `recorded`: the service has this outcome or an earlier one, which is final. `not_executed`: no verification has executed the
 * token so far.
 * @throws {NotFoundError} where the service keeps no such token.
 */
export async function reportOutcome(
  { intent: { executions } }: Pick<Countersign, 'intent'>,
  jti: string,
  status: Outcome,
): Promise<'recorded' | 'not_executed'> {
  try {
    await executions.report(jti, { status }, OPTIONS)
    return 'recorded'
  } catch (error) {
    if (!(error instanceof ConflictError) || error.code !== 'invalid_state_transition') throw error
  }
  try {
    await executions.retrieve(jti, OPTIONS)
    return 'recorded'
  } catch (error) {
    if (error instanceof NotFoundError) return 'not_executed'
    throw error
  }
}
