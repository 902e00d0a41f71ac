// Idempotency-Key: a client that lost an answer sends its request again, and the effect happens once. The proof is a
// row in the transaction of the effect, so that neither exists without the other. The row says which rows the effect
// made and not what was answered: a replay shows their current state, and a secret that is shown once is not shown
// again.

import { Failure } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { deleteInSteps } from '#src/platform/retention.ts'
import { actorOf, type Principal } from './principal.ts'
import type { Parsed } from './validate.ts'

/**
 * What a handler passes to its domain, for `once`. The same key of another principal, or on another route, account or
 * environment, is a different key.
 */
export interface IdempotencyKey {
  scope: Scope
  /** Method and pattern, such as `POST /v1/media`. */
  route: string
  /** SHA-256 of the principal and the key. */
  digest: Buffer
  /**
   * The status of success that the effect's transaction stores. For routes that may wait, it is the status without
   * waiting.
   */
  status: number
  /** Set when the effect existed already and repeating the work was the replay: see `again`. */
  isReplayed: boolean
  /** SHA-256 of method, path and body; undefined while the body has not been read to its end. */
  fingerprint(): Buffer | undefined
  /** Sets the environment of a request whose body names it; call this before `once`. */
  belongsTo(scope: Scope): void
  /** Sets the digest of the body: SHA-256 of its canonical form, or of its bytes where it is streamed. */
  bodyIs(digest: Buffer): void
}

/** The effect of a key. */
export interface Effect {
  fingerprint: Buffer
  /** The status of the first answer and of every replay. */
  status: number
  /** In the route's own format; null when repeating the work is the replay. */
  subject: string | null
}

export type FindEffect = (key: IdempotencyKey) => Promise<Effect | undefined>

/** Stores the status of the first answer when it differs from the one stored with the effect. */
export type KeepStatus = (key: IdempotencyKey, status: number) => Promise<void>

const MAX_KEY_LENGTH = 255
const VISIBLE_ASCII = /^[\x21-\x7e]+$/
const RETRY_AFTER_SECONDS = '1'

/** The header's value, undefined when it is absent, or what is wrong with it. */
export function parseIdempotencyKey(header: string | undefined): Parsed<string | undefined> {
  if (header === undefined) return { ok: true, value: undefined }
  if (header.length <= MAX_KEY_LENGTH && VISIBLE_ASCII.test(header)) return { ok: true, value: header }
  const detail = `must have 1 to ${MAX_KEY_LENGTH} visible ASCII characters and be sent once`
  return { ok: false, errors: [{ pointer: 'Idempotency-Key', code: 'invalid_value', detail }] }
}

interface Place {
  scope: Scope
  /** Another principal must not be shown what this one made. A user keeps their keys from one session to the next. */
  principal: Principal
  route: string
  /** The values of the path's parameters: with `route`, the path. */
  path: Record<string, string>
  status: number
}

export function createIdempotencyKey(value: string, { scope, principal, route, path, status }: Place): IdempotencyKey {
  let body: Buffer | undefined
  return {
    scope,
    route,
    digest: sha256(`${actorOf(principal).id} ${value}`),
    status,
    isReplayed: false,
    fingerprint: () => (body === undefined ? undefined : sha256(JSON.stringify([route, path, body.toString('hex')]))),
    belongsTo({ accountId, environment }) {
      this.scope = { accountId, environment }
    },
    bodyIs(digest) {
      body = digest
    },
  }
}

/**
 * Does `work` unless the key has done it before. Call it first in its transaction, or first after the locks that `work`
 * needs, so that a repeat is detected before it does anything.
 * @param key Undefined when the request has none: then this is `work` and nothing else.
 * @param subjectOf How the route's replay finds what was made.
 * @throws {Failure} `idempotency_in_progress`, which the endpoint turns into the replay when the effect exists by then;
 * `idempotency_key_reused`; and what `work` throws, after which nothing is stored.
 */
export async function once<R>(
  tx: Tx,
  key: IdempotencyKey | undefined,
  work: (tx: Tx) => Promise<R>,
  subjectOf: (made: R) => string,
): Promise<R> {
  if (key === undefined) return work(tx)
  if (await isKnown(tx, key)) throw inProgress()
  const made = await work(tx)
  await insertEffect(tx, key, subjectOf(made))
  return made
}

/**
 * Refuses a repeat before costly work outside of a transaction: `once` refuses it only afterwards. Two concurrent
 * requests may both pass; one of them is answered with what the other stored.
 * @throws {Failure} as `once` for a repeat.
 */
export async function refuseRepeat(tx: Tx, key: IdempotencyKey): Promise<void> {
  if (await isKnown(tx, key)) throw inProgress()
}

/**
 * For work that changes nothing the second time, whatever other requests have done since the first: a repeat does it
 * again, and answers what it finds. What can be undone (a role, a name) takes `once`. Throws as `once` does.
 */
export async function again<R>(tx: Tx, key: IdempotencyKey | undefined, work: (tx: Tx) => Promise<R>): Promise<R> {
  if (key === undefined) return work(tx)
  key.isReplayed = await isKnown(tx, key)
  const made = await work(tx)
  if (!key.isReplayed) await insertEffect(tx, key, null)
  return made
}

/** @throws {Failure} `idempotency_key_reused` when the effect belongs to another request. */
export function checkSameRequest(key: IdempotencyKey, effect: Pick<Effect, 'fingerprint'>): void {
  if (key.fingerprint()?.equals(effect.fingerprint)) return
  throw new Failure(
    'idempotency_key_reused',
    'This Idempotency-Key belongs to another request to this address: another path or another body. Choose a new key.',
  )
}

export function createFindEffect(db: Pick<Database, 'tenant'>): FindEffect {
  return (key) => db.tenant(key.scope, (tx) => findEffect(tx, key))
}

/** Does not wait for the disk. A crash of Postgres may lose a 200; the replay then says 202 with the same state. */
export function createKeepStatus(db: Pick<Database, 'tenant'>): KeepStatus {
  return async (key, status) => {
    const update = (tx: Tx) =>
      tx.query('UPDATE idempotency_keys SET status = $3 WHERE key_digest = $1 AND route = $2', [
        key.digest,
        key.route,
        status,
      ])
    await db.tenant(key.scope, update, { isDurable: false })
  }
}

/** Deletes keys a day after their effect. Returns how many. */
export function purgeIdempotencyKeys(db: Pick<Database, 'system'>): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM idempotency_keys WHERE (key_digest, route, account_id, environment) IN (
         SELECT key_digest, route, account_id, environment FROM idempotency_keys
         WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT $1)
       RETURNING 1`,
      [limit],
    ),
  )
}

function inProgress(): Failure {
  return new Failure('idempotency_in_progress', {
    detail: 'A request with this Idempotency-Key is being worked on: try again in a moment.',
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
}

/** Locks the key for the rest of the transaction, and says whether it has had an effect before. */
async function isKnown(tx: Tx, key: IdempotencyKey): Promise<boolean> {
  const [row] = await tx.query<{ isMine: boolean; fingerprint: Buffer | null }>(
    `SELECT pg_try_advisory_xact_lock($3::bigint) AS "isMine",
       (SELECT fingerprint FROM idempotency_keys WHERE key_digest = $1 AND route = $2) AS fingerprint`,
    [key.digest, key.route, lockOf(key)],
  )
  if (row?.fingerprint) {
    checkSameRequest(key, { fingerprint: row.fingerprint })
    return true
  }
  if (row?.isMine !== true) throw inProgress()
  return false
}

async function findEffect(tx: Tx, { digest, route }: IdempotencyKey): Promise<Effect | undefined> {
  const [row] = await tx.query<Effect>(
    `SELECT fingerprint, status, subject FROM idempotency_keys WHERE key_digest = $1 AND route = $2`,
    [digest, route],
  )
  return row
}

async function insertEffect(tx: Tx, key: IdempotencyKey, subject: string | null): Promise<void> {
  const fingerprint = key.fingerprint()
  if (fingerprint === undefined) throw new Error(`${key.route} has its effect before its body is whole`)
  const { accountId, environment } = key.scope
  const inserted = await tx.query(
    `INSERT INTO idempotency_keys (account_id, environment, key_digest, route, fingerprint, status, subject)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO NOTHING RETURNING 1`,
    [accountId, environment, key.digest, key.route, fingerprint, key.status, subject],
  )
  // The statement began before the other transaction's commit and took the lock after it: this transaction must roll
  // back.
  if (inserted.length === 0) throw inProgress()
}

// SHA-256 can't be steered: with a weaker hash one account could block another's keys.
function lockOf({ scope, route, digest }: IdempotencyKey): string {
  const name = JSON.stringify(['idempotency', scope.accountId, scope.environment, route, digest.toString('hex')])
  return sha256(name).readBigInt64BE().toString()
}
