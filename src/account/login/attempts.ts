// Limits on what strangers may attempt: counted in Postgres, in the caller's transaction, so that they hold over all
// processes and never open while Redis is away. A window slides: within any `withinMs` there are at most `most`. What is
// refused does not count.

import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Failure } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

export interface AttemptLimit {
  /** Names what is attempted: limits of different names count apart. */
  name: string
  most: number
  withinMs: number
}

/** A limit, and for what it counts: an address, a client's network, or both. */
export interface AttemptCount {
  limit: AttemptLimit
  subject: readonly string[]
}

/** What a refused caller has to wait. */
export interface AttemptRefusal {
  retryAfterSeconds: number
}

/** Counted attempts of a process, which remembers what was refused. */
export interface Attempts {
  /**
   * Call it before the caller takes a place in a queue, or a connection.
   * @throws {Failure} `rate_limited` for what `count` has refused and would refuse again.
   */
  check(counted: readonly AttemptCount[], at: Date): void
  /** Same as `countAttempt`. */
  count(tx: Tx, counted: readonly AttemptCount[], at: Date): Promise<AttemptRefusal | undefined>
  /** Takes back what was counted at `at`: the attempt was refused for another reason, and had no effect. */
  giveBack(tx: Tx, counted: readonly AttemptCount[], at: Date): Promise<void>
}

// Some 2 MB. Forgotten refusals cost a place and a statement each.
const MAX_REMEMBERED = 10_000
// Another process may have given back what filled the window, so Postgres is asked again after this time.
const REMEMBERED_MS = 60_000

export function createAttempts(): Attempts {
  // The key is the hash of limit and subject.
  const refusals = new LRUCache<string, { freeAt: number; knownUntil: number }>({ max: MAX_REMEMBERED })
  const nameOf = (count: AttemptCount) => hashOf(count).toString('base64')
  return {
    check(counted, at) {
      if (refusals.size === 0) return
      for (const count of counted) {
        const { freeAt = 0, knownUntil = 0 } = refusals.get(nameOf(count)) ?? {}
        const leftMs = freeAt - at.getTime()
        if (leftMs > 0 && knownUntil > at.getTime()) throw tooManyAttempts({ retryAfterSeconds: secondsOf(leftMs) })
      }
    },
    count: (tx, counted, at) =>
      countAttempt(tx, counted, at, (hash, freeAt) => {
        refusals.set(hash.toString('base64'), { freeAt, knownUntil: at.getTime() + REMEMBERED_MS })
      }),
    async giveBack(tx, counted, at) {
      await uncountAttempt(tx, counted, at)
      for (const count of counted) refusals.delete(nameOf(count))
    },
  }
}

/**
 * Counts one attempt under each limit, in order, or under none when one of them is reached. The caller commits the
 * transaction in either case. Transactions that count under several limits name them in the same order, so that they
 * don't deadlock.
 */
export async function countAttempt(
  tx: Tx,
  counted: readonly AttemptCount[],
  at: Date,
  onRefused: (hash: Buffer, freeAt: number) => void = () => {},
): Promise<AttemptRefusal | undefined> {
  for (const [index, count] of counted.entries()) {
    const { limit } = count
    const hash = hashOf(count)
    const [row] = await tx.query<{ isAllowed: boolean; first: Date }>(
      `INSERT INTO attempts (subject_hash, times, is_allowed, expires_at) VALUES ($1, ARRAY[$2::timestamptz], true, $5)
       ON CONFLICT (subject_hash) DO UPDATE SET (times, is_allowed, expires_at) = (
         SELECT CASE WHEN count(*) < $4::int THEN array_agg(t ORDER BY t) || $2::timestamptz ELSE array_agg(t ORDER BY t) END,
           count(*) < $4::int, $5::timestamptz
         FROM unnest(attempts.times) AS t WHERE t > $3::timestamptz)
       RETURNING is_allowed AS "isAllowed", times[1] AS first`,
      [hash, at, new Date(at.getTime() - limit.withinMs), limit.most, new Date(at.getTime() + limit.withinMs)],
    )
    if (row === undefined) throw new Error('an attempt was not counted')
    if (!row.isAllowed) {
      const freeAt = row.first.getTime() + limit.withinMs
      onRefused(hash, freeAt)
      await uncountAttempt(tx, counted.slice(0, index), at)
      return { retryAfterSeconds: secondsOf(freeAt - at.getTime()) }
    }
  }
  return undefined
}

async function uncountAttempt(tx: Tx, counted: readonly AttemptCount[], at: Date): Promise<void> {
  for (const count of counted) {
    await tx.query(
      `UPDATE attempts SET times = times[:array_position(times, $2::timestamptz) - 1]
         || times[array_position(times, $2::timestamptz) + 1:]
       WHERE subject_hash = $1 AND $2::timestamptz = ANY(times)`,
      [hashOf(count), at],
    )
  }
}

/** Starts counters anew. */
export async function clearAttempts(tx: Tx, counted: readonly AttemptCount[]): Promise<void> {
  await tx.query('DELETE FROM attempts WHERE subject_hash = ANY($1::bytea[])', [counted.map(hashOf)])
}

const hashOf = ({ limit, subject }: AttemptCount): Buffer => sha256(JSON.stringify([limit.name, ...subject]))

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

export function tooManyAttempts({ retryAfterSeconds }: AttemptRefusal): Failure {
  return new Failure('rate_limited', {
    detail: `Too many attempts: try again in ${retryAfterSeconds} seconds.`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

/** What one client can choose from: its IPv4 address, or the /64 network of its IPv6 address. */
export function networkOf(ip: string): string {
  return prefixOf(ip, 64)
}

/** What one subscriber can choose from: an IPv4 address, or the /48 of an IPv6 address, which has 65,536 networks. */
export function siteOf(ip: string): string {
  return prefixOf(ip, 48)
}

export interface ClientLimits {
  network: AttemptLimit
  site: AttemptLimit
}

/** Limits of a client. A site has five times the limit of a network. */
export function limitsOfClient(limit: AttemptLimit): ClientLimits {
  return { network: limit, site: { ...limit, name: `${limit.name} site`, most: 5 * limit.most } }
}

/** The counts of a client: under one limit of its network and, for IPv6, under a wider one of its site. */
export function countsOfClient(ip: string, { network, site }: ClientLimits): AttemptCount[] {
  const counts = [{ limit: network, subject: [networkOf(ip)] }]
  return ipaddr.IPv6.isValid(ip) ? [...counts, { limit: site, subject: [siteOf(ip)] }] : counts
}

function prefixOf(ip: string, bits: number): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip
  const bytes = ipaddr.IPv6.parse(ip).toByteArray()
  return bytes.slice(0, bits / 8).join('.')
}

/** Deletes counters that no longer limit anything; returns how many. */
export function purgeAttempts(db: Pick<Database, 'system'>, now: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM attempts WHERE subject_hash IN
         (SELECT subject_hash FROM attempts WHERE expires_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [now, limit],
    ),
  )
}
