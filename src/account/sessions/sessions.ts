// Sessions of signed-in users: 256 random bits in a cookie, of which the database knows the SHA-256. Each request reads
// the row, so that an ended session, a removed user and a changed role take effect on the next request.

import { randomBytes } from 'node:crypto'
import { createLookup } from '#src/account/keys/lookup.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { SessionRow } from '#src/platform/http/caller.ts'
import { closureOf } from '#src/platform/http/closed.ts'
import type { Origin } from '#src/platform/http/principal.ts'
import { newAccountId } from '#src/platform/ids.ts'
import {
  endBySecret,
  insertSession,
  type SessionLookupRow,
  type SignInMethod,
  selectBySecrets,
  touchSession,
} from './rows.ts'

/** Without a request for this long, a session has ended. */
export const IDLE_MS = 60 * 60_000
const MAX_AGE_MS = 12 * 60 * 60_000
const TOUCH_AFTER_MS = 60_000

interface SessionsDeps {
  db: Pick<Database, 'system' | 'readSystem'>
  now: () => Date
  /** Called when `last_seen_at` could not be written; requests don't wait for it. */
  onError?: (error: unknown) => void
}

export interface SignIn {
  accountId: string
  userId: string
  method: SignInMethod
  isSandboxOnly?: boolean
  origin?: Origin | undefined
}

export interface SignedIn {
  id: string
  /** For the cookie; it can't be shown again. */
  secret: string
  expiresAt: Date
  maxAgeSeconds: number
}

export type Sessions = ReturnType<typeof createSessions>

export function createSessions({ db, now, onError = () => {} }: SessionsDeps) {
  const lookUp = createLookup<SessionLookupRow>(db, 'session look-up', selectBySecrets)
  const touching = new Map<string, Promise<void>>()

  /** Runs in the transaction that consumes the person's proof, such as a login link. */
  async function create(tx: Tx, wanted: SignIn): Promise<SignedIn> {
    const id = newAccountId('uss')
    const secret = randomBytes(32).toString('base64url')
    const at = now()
    const expiresAt = new Date(at.getTime() + MAX_AGE_MS)
    await insertSession(tx, { ...wanted, id, secretHash: sha256(secret), at, expiresAt })
    return { id, secret, expiresAt, maxAgeSeconds: MAX_AGE_MS / 1_000 }
  }

  /** The session of a cookie, ended or not; notes that it is in use. */
  async function find(secret: string): Promise<SessionRow | undefined> {
    const row = await lookUp(sha256(secret))
    if (row === undefined) return undefined
    const at = now().getTime()
    const hasEnded =
      row.ended_at !== null ||
      row.deprovisioned_at !== null ||
      row.expires_at.getTime() <= at ||
      row.last_seen_at.getTime() + IDLE_MS <= at
    if (!hasEnded) noteUse(row, at)
    return {
      sessionId: row.id,
      userId: row.user_id,
      accountId: row.account_id,
      role: row.role,
      plan: row.plan,
      products: row.products,
      closure: closureOf(row),
      isSandboxOnly: row.is_sandbox_only,
      hasEnded,
      suspendedAt: row.suspended_at ?? undefined,
    }
  }

  function noteUse(row: SessionLookupRow, at: number): void {
    if (at - row.last_seen_at.getTime() < TOUCH_AFTER_MS || touching.has(row.id)) return
    const written = db
      .system('session use', (tx) => touchSession(tx, row, new Date(at)), { isDurable: false })
      .catch(onError)
      .finally(() => touching.delete(row.id))
    touching.set(row.id, written)
  }

  /** Resolves when every noted use is written; for an ordered shutdown. */
  async function settle(): Promise<void> {
    await Promise.all(touching.values())
  }

  return {
    create,
    find,
    /** Ends the session that a browser has, when it signs in anew: no session of an earlier person stays open. */
    endBySecret: (tx: Tx, secret: string): Promise<void> => endBySecret(tx, sha256(secret), now()),
    settle,
  }
}
