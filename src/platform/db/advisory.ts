// Advisory locks on what a decision depends on and what may have no row to lock: an agent session, a device, an agent, the
// stop of an account. A decision holds them shared until its commit; what changes one of them (revoke, suspend, stop)
// takes it exclusively. So no decision commits after a change that it has not read.
//
// They are the first locks of their transaction, and all of them are taken by one statement in ascending order: two
// transactions never wait for each other in a circle.

import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export type LockedSubject = 'session' | 'device' | 'agent' | 'stop' | 'shares'

/** The key of a lock, for `lockShared` and `lockExclusive`. */
export type SubjectLock = string & { readonly lock: unique symbol }

/** @param id Of the subject; empty for the stop, of which an account has one in each environment. */
export function subjectLock({ accountId, environment }: Scope, kind: LockedSubject, id: string): SubjectLock {
  // SHA-256 can't be steered: with a weaker hash one account could make another wait for its locks.
  const name = JSON.stringify(['subject', accountId, environment, kind, id])
  return sha256(name).readBigInt64BE().toString() as SubjectLock
}

/**
 * Waits for those that hold one of the locks exclusively. Released at the end of the transaction.
 * @throws when it waits for longer than the transaction's `lock_timeout`.
 */
export async function lockShared(tx: Tx, locks: readonly SubjectLock[]): Promise<void> {
  await tx.query(
    `SELECT pg_advisory_xact_lock_shared(key) FROM (SELECT key FROM unnest($1::bigint[]) AS given (key) ORDER BY key) sorted`,
    [locks],
  )
}

/** Waits for all others that hold one of the locks. Otherwise as `lockShared`. */
export async function lockExclusive(tx: Tx, locks: readonly SubjectLock[]): Promise<void> {
  await tx.query(
    `SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1::bigint[]) AS given (key) ORDER BY key) sorted`,
    [locks],
  )
}
