// Accounts whose requests are refused: those that the operator suspended, and closed ones. Owners of a closed account
// may read, export everything and undo the closure, until it is erased.

import { Failure } from '#src/failure.ts'

/** When an account was closed and when it is erased. */
export interface ClosureTimes {
  closedAt: Date
  /** 30 days later. After a suspension that ended meanwhile, 30 days after its end. Postgres computes it. */
  erasedAfter: Date
}

/** Columns of `accounts`. */
export interface ClosureColumns {
  closed_at: Date | null
  erased_after: Date | null
}

export function closureOf({ closed_at, erased_after }: ClosureColumns): ClosureTimes | undefined {
  return closed_at === null || erased_after === null ? undefined : { closedAt: closed_at, erasedAfter: erased_after }
}

/** Whether the account is erased or being erased: its users can't sign in any more. */
export function isOver(erasedAfter: Date | null | undefined, now: Date): boolean {
  return erasedAfter != null && erasedAfter <= now
}

/** @throws {Failure} `account_suspended` when the account is closed and its owner may not make the request. */
export function checkOpen(
  closure: ClosureTimes | undefined,
  { isAllowed, now }: { isAllowed: boolean; now: Date },
): void {
  if (closure === undefined || (isAllowed && !isOver(closure.erasedAfter, now))) return
  const until = closure.erasedAfter.toISOString()
  throw new Failure(
    'account_suspended',
    `This account was closed at ${closure.closedAt.toISOString()}. Until ${until} an owner who is signed in can read, export everything and undo the closure.`,
  )
}

/** @throws {Failure} `account_suspended`, without the operator's reason. */
export function checkSuspension({ suspendedAt }: { suspendedAt: Date | undefined }): void {
  if (suspendedAt === undefined) return
  throw new Failure(
    'account_suspended',
    `This account was suspended at ${suspendedAt.toISOString()}. Ask the operator of the service.`,
  )
}
