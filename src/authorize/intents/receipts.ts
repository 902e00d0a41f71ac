// A receipt proves to others what verify answered: signed with the record key, whose public half stays published
// permanently. It is signed after the decision has committed, so it never says what did not happen.

import type { Json } from '#src/platform/crypto/canonical.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { Verified } from './settling.ts'

/** Type in the header: it keeps receipts apart from tokens and from other signed results. */
const RECEIPT_TYP = 'verify-receipt+jwt'

interface ReceiptDeps {
  signingKeys: Pick<SigningKeys, 'signRecord'>
  baseUrl: string
  log: Log
}

/**
 * Signs what was answered. null when it can't be signed now: the decision stands, and a verification with the same
 * Idempotency-Key gets another receipt.
 */
export function createSignReceipt({ signingKeys, baseUrl, log }: ReceiptDeps) {
  return async ({ accountId, environment }: Scope, verified: Verified): Promise<string | null> => {
    const { decisionId, facts, outcome } = verified
    const payload: Json = {
      iss: baseUrl,
      sub: accountId,
      env: environment,
      iat: Math.floor(Date.parse(facts.at) / 1_000),
      decision_id: decisionId,
      jti: facts.token?.jti ?? null,
      valid: outcome.valid,
      reason: outcome.reason,
      evaluated_at: facts.at,
      executed: outcome.valid && facts.request.execute,
      already_executed: outcome.already_executed,
      action_hash: facts.request.action_hash,
      payload_hash: facts.request.payload_hash,
      context_hash: facts.request.context_hash,
    }
    try {
      return await signingKeys.signRecord(environment, RECEIPT_TYP, payload)
    } catch (error) {
      log.error({ err: error }, 'a receipt was not signed')
      return null
    }
  }
}
