// An Idempotency-Key of verify names an attempt to run an action, so that a repeated request can be told from a second
// attempt. It belongs to one token and its action for as long as the token is kept: the same key with anything else is a mistake
// of the caller, whatever the reason would be. No verdict is stored with it.

import type { Executed, VerifiedIntent } from '#src/authorize/tokens/rows.ts'
import { Failure } from '#src/failure.ts'

/** Executing principal, and the digest of its Idempotency-Key if it sent one. */
export interface Executor {
  by: string
  key: string | null
}

/**
 * Whether a verification repeats the one that executed the token. One without a key never does: ten requests at once without a
 * key may be ten payments.
 */
export function isRetry(
  { executedBy, executionKey }: Pick<VerifiedIntent, 'executedBy' | 'executionKey'>,
  { by, key }: Executor,
): boolean {
  return key !== null && executedBy === by && executionKey === key
}

/**
 * @param asked undefined: no token of this account.
 * @param executed What the key has executed.
 * @throws {Failure} `idempotency_key_reused`.
 */
export function checkKey(asked: Executed | undefined, executed: Executed | undefined): void {
  if (executed === undefined) return
  const { jti, actionHash, payloadHash } = executed
  const isSame = jti === asked?.jti && actionHash === asked.actionHash && payloadHash === asked.payloadHash
  if (!isSame) throw keyReused()
}

/** Turns the error of two verifications that execute two tokens with one key at once into `idempotency_key_reused`. */
export function withKeyReuse(error: unknown): unknown {
  const isTaken = error instanceof Error && 'constraint' in error && error.constraint === 'intents_execution_key'
  return isTaken ? keyReused() : error
}

function keyReused(): Failure {
  return new Failure(
    'idempotency_key_reused',
    'This Idempotency-Key has executed another token, or this token for another action. Choose a new key.',
  )
}
