// An Idempotency-Key of verify says who executes. It names one token and its action for as long as the token is kept: the same
// key with anything else is a mistake of the caller, whatever the answer would be. No verdict is stored with it.

import { type Executed, markExecuted } from '#src/authorize/tokens/rows.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'

/** Who executes: the principal, and the digest of its Idempotency-Key if it sent one. */
export interface Execution {
  by: string
  key: string | null
}

/** @param executed What the key has executed. @throws {Failure} `idempotency_key_reused`. */
export function checkKey(asked: Executed, executed: Executed | undefined): void {
  if (executed === undefined) return
  const { jti, actionHash, payloadHash } = executed
  const isSame = jti === asked.jti && actionHash === asked.actionHash && payloadHash === asked.payloadHash
  if (!isSame) throw keyReused()
}

/** Of a token whose row is locked and not executed. @throws {Failure} `idempotency_key_reused`. */
export async function execute(tx: Tx, jti: string, execution: Execution): Promise<void> {
  let isMarked: boolean
  try {
    isMarked = await markExecuted(tx, jti, execution)
  } catch (error) {
    // A verification of another token at the same time.
    if (error instanceof Error && 'constraint' in error && error.constraint === 'intents_execution_key') {
      throw keyReused()
    }
    throw error
  }
  if (!isMarked) throw new Error('a token was executed while its row was locked')
}

function keyReused(): Failure {
  return new Failure(
    'idempotency_key_reused',
    'This Idempotency-Key has executed another token, or this one for another action. Choose a new key.',
  )
}
