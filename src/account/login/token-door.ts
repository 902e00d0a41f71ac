// The door for people without a key or session who hold a token: of a login link, an invite, a share, or a grant of a
// disclosure. The database knows the SHA-256 of a token alone, and the system role finds its row, because the token tells
// the account. Guesses count against the client, uses against the token. Each feature refuses every token that does not
// work in one way, and uses a token up with one UPDATE that has the conditions: of two transactions, one gets the row.

import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Origin } from '#src/platform/http/principal.ts'
import {
  type AttemptLimit,
  type AttemptRefusal,
  type ClientLimits,
  countsOfClient,
  createAttempts,
} from './attempts.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** Whether a text has the form of a token: 32 bytes in base64url. The state and the cookie of single sign-on have it too. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

interface TokenDoorDeps<Row> {
  find(tx: Tx, tokenHash: Buffer): Promise<Row | undefined>
  /** For tokens without a row: people behind one address don't lock each other out. */
  failures: ClientLimits
  /** For each token that has a row. */
  uses?: AttemptLimit
}

export function createTokenDoor<Row>({ find, failures, uses }: TokenDoorDeps<Row>) {
  const attempts = createAttempts()
  const countsOf = (token: string) =>
    uses === undefined ? [] : [{ limit: uses, subject: [sha256(token).toString('hex')] }]

  async function findRow(tx: Tx, token: string): Promise<Row | undefined> {
    return isToken(token) ? find(tx, sha256(token)) : undefined
  }

  return {
    findRow,

    /** Call it before a connection is taken. @throws {Failure} `rate_limited`. */
    check: (token: string, at: Date): void => attempts.check(countsOf(token), at),

    /** Counts a token that did not work. The caller commits the transaction. */
    countFailure: (tx: Tx, { ip }: Origin, at: Date): Promise<AttemptRefusal | undefined> =>
      attempts.count(tx, countsOfClient(ip, failures), at),

    /** Finds the row of a token and counts the attempt. The caller commits the transaction, whatever comes of it. */
    async open(
      tx: Tx,
      { token, origin, at }: { token: string; origin: Origin; at: Date },
    ): Promise<{ row: Row | undefined } | { limited: AttemptRefusal }> {
      const row = await findRow(tx, token)
      const counted = row === undefined ? countsOfClient(origin.ip, failures) : countsOf(token)
      const limited = await attempts.count(tx, counted, at)
      return limited === undefined ? { row } : { limited }
    },
  }
}

/**
 * Turns of strangers' requests. Keys and sessions are looked up on the same few connections: one of them is the most that
 * these requests take. Subscribers take turns, so that one that sends a thousand requests delays its own.
 * @param detail What a caller reads while too many wait.
 */
export function createStrangerTurns(detail: string) {
  return createFairSemaphore({
    slots: 1,
    slotsEach: 1,
    maxWaitingEach: 20,
    maxWaiting: 500,
    refusal: { detail, retryAfterSeconds: 2 },
  })
}
