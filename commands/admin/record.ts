// The record of what operators do to accounts.

import { userInfo } from 'node:os'
import { recordAudit } from '#src/account/audit/record.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Context } from './commands.ts'

export interface OperatorAct {
  /** The command's words, such as `account suspend`. */
  act: string
  account: string
  action: AuditAction
  /** What changed, never a secret. */
  before?: Json
  after: Json
  /** The change, as the line of the log has it; `after` when absent. */
  details?: Record<string, unknown>
}

/**
 * Every act on an account passes here, in the transaction that performs it, and becomes an entry of the account's audit log.
 * The line of the admin log comes before the commit, so that no act takes effect without one; an act that fails after it
 * gets a second line that says so.
 */
export async function recordOperatorAct(
  tx: Tx,
  { act, account, action, before, after, details = { after } }: OperatorAct,
  log: Context['log'],
): Promise<void> {
  const entry = { action, subjectId: account, before, after, isScoped: false }
  await recordAudit(tx, { kind: 'operator', accountId: account }, entry)
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
