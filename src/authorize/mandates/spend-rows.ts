// What was spent under mandates: one row for each period of a budget, changed by guarded statements only, and one for each
// charge of a token, so that exactly what was charged is released.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { MandateFacts } from './judge.ts'

export interface MandateCharge {
  jti: string
  /** As read in this transaction under `lock: 'update'`. */
  facts: MandateFacts
  /** Decimal text; null where the action has none: then no level has a budget. */
  amount: string | null
}

export interface ReleasedCharge {
  mandate_id: string
  /** A calendar date in the mandate's time zone. */
  period_start: string
  /** Decimal text. */
  amount: string
  currency: string
}

/**
 * Charges the budget of every level, root first, in one round trip. false: one of them has not enough left, and nothing of
 * this transaction may be kept.
 */
export async function chargeMandate(_tx: Tx, _scope: Scope, _charge: MandateCharge): Promise<boolean> {
  throw new Error('not yet')
}

/** Credits exactly what the token was charged: the same periods of the same levels. Empty: nothing was, or it was before. */
export async function releaseMandate(_tx: Tx, _scope: Scope, _jti: string): Promise<ReleasedCharge[]> {
  throw new Error('not yet')
}
