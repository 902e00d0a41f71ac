// What a closed account may still do: its owners read, export everything and undo the closure, for 30 days.

import { Failure } from '#src/failure.ts'

/** Migration 0036 has this number too: Postgres deletes nothing of an account earlier. */
export const CLOSURE_DAYS = 30
const DAY_MS = 86_400_000

export function erasedAfter(closedAt: Date): Date {
  return new Date(closedAt.getTime() + CLOSURE_DAYS * DAY_MS)
}

/** Whether the account is being erased or was: nobody signs in to it any more. */
export function isOver(closedAt: Date | null | undefined, now: Date): boolean {
  return closedAt != null && erasedAfter(closedAt) <= now
}

/** @throws {Failure} `account_suspended` when the account is closed and the request is none that its owner may make. */
export function checkOpen(closedAt: Date | undefined, { isAllowed, now }: { isAllowed: boolean; now: Date }): void {
  if (closedAt === undefined) return
  const until = erasedAfter(closedAt)
  if (isAllowed && until > now) return
  throw new Failure(
    'account_suspended',
    `This account was closed at ${closedAt.toISOString()}. Until ${until.toISOString()} an owner who is signed in can read, export everything and undo the closure.`,
  )
}
