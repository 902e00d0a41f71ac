// The cap of the month. What is used is read from Postgres at most once a second per account and process. A request waits
// for that read only when nothing is known of the account or it is close to its cap, so that on the way to accept nothing
// is added. In exchange an account may go over its cap by what it sends within a second.

import type { Plan } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Scope } from '#src/platform/ids.ts'
import { isMetered } from './meter.ts'
import { selectUse, type UseRow } from './rows.ts'

// The cap is a sum that is read, not a counter in a row: such a row would put the captures of an account one after the other.
// So an account may pass its cap by what it sends within this time, and is never refused by an older number.
const FRESH_MS = 1_000
// Below this share of the cap, a value that is no longer fresh still lets a request pass while it is read again.
const NEAR = 0.9
// Accounts that are remembered. Another one costs a read.
const MAX_ACCOUNTS = 10_000

interface Known extends UseRow {
  readAtMs: number
  /** Let through since: they are counted once they are accepted. */
  admitted: number
}

interface CapsDeps {
  db: Pick<Database, 'readTenant'>
  now: () => Date
  /** Milliseconds of a clock that only advances. */
  monotonic?: () => number
}

/** A caller, as far as its cap depends on it. */
export type Capped = Pick<Caller, 'accountId' | 'environment' | 'plan'>

export type Caps = ReturnType<typeof createCaps>

export function createCaps({ db, now, monotonic = () => performance.now() }: CapsDeps) {
  const known = new Map<string, Known>()
  const reading = new Map<string, Promise<Known>>()

  /** `monthly_cap_exceeded` when the month's operations are used up; undefined while there is room. */
  async function check({ accountId, environment, plan }: Capped): Promise<Failure | undefined> {
    const cap = capOf({ environment, plan })
    if (cap === undefined) return undefined
    let use = known.get(accountId)
    const isFresh = use !== undefined && monotonic() - use.readAtMs <= FRESH_MS && now() < use.resetsAt
    if (use !== undefined && isFresh && isSpent(use, cap)) return capExceeded(plan, use.resetsAt, now())
    if (use === undefined || needsRead(use, { isFresh, cap })) use = await read(accountId)
    else if (!isFresh) void read(accountId).catch(() => {})
    if (isSpent(use, cap)) return capExceeded(plan, use.resetsAt, now())
    use.admitted += 1
    return undefined
  }

  function needsRead(use: Known, { isFresh, cap }: { isFresh: boolean; cap: number }): boolean {
    if (now() >= use.resetsAt) return true
    const estimate = use.used + use.waiting + use.admitted
    return isFresh ? estimate >= cap : estimate >= cap * NEAR
  }

  function read(accountId: string): Promise<Known> {
    const running = reading.get(accountId)
    if (running !== undefined) return running
    const started = readNow(accountId).finally(() => reading.delete(accountId))
    reading.set(accountId, started)
    return started
  }

  async function readNow(accountId: string): Promise<Known> {
    const readAtMs = monotonic()
    const scope: Scope = { accountId, environment: 'live' }
    const [[row]] = await db.readTenant<[UseRow]>(scope, [selectUse(accountId, MOST)])
    if (row === undefined) throw new Error('Postgres returned no sum')
    const use = { ...row, readAtMs, admitted: 0 }
    // Deleted first, so that the oldest one is the first of the map.
    known.delete(accountId)
    known.set(accountId, use)
    if (known.size > MAX_ACCOUNTS) for (const [oldest] of known.entries().take(1)) known.delete(oldest)
    return use
  }

  return { check }
}

/** How much a batch may still accept. */
export interface Room {
  left: number
  /** Why a batch of which nothing was accepted is refused. */
  refusal(members: Record<string, unknown>): Failure
}

/** Thrown when another batch of the account is being accepted: try again when that has ended. */
export const ROOM_TAKEN = Symbol('another batch of the account takes up its room')

/**
 * The room below the cap, which no other batch of the account takes until the transaction ends. Send it together with
 * other statements. @throws {ROOM_TAKEN}
 */
export async function takeRoom(tx: Tx, { accountId, environment, plan }: Capped, now: Date): Promise<Room> {
  const cap = capOf({ environment, plan })
  if (cap === undefined) return UNLIMITED
  const { text, values } = selectUse(accountId, cap)
  // Two statements: the second sees what the last holder of the lock has committed.
  const [[lock], [use]] = await Promise.all([
    tx.query<{ isMine: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isMine"', [
      `monthly cap ${accountId}`,
    ]),
    tx.query<UseRow>(text, values),
  ])
  if (lock?.isMine !== true) throw ROOM_TAKEN
  if (use === undefined) throw new Error('Postgres returned no sum')
  return {
    left: Math.max(0, cap - use.used - use.waiting),
    refusal: (members) => capExceeded(plan, use.resetsAt, now, members),
  }
}

export const UNLIMITED: Room = {
  left: Number.POSITIVE_INFINITY,
  refusal: () => new Failure('monthly_cap_exceeded', 'The monthly operations are used up.'),
}

/** What a line beyond the cap is refused with. */
export const BEYOND_CAP: FieldError = {
  pointer: '',
  code: 'monthly_cap_exceeded',
  detail: 'is beyond the plan’s metered operations of this month',
}

// Of what waits no more has to be counted than any cap holds.
const MOST = Math.max(
  ...Object.values(PLAN_LIMITS).map(({ monthly: { isHard, operations } }) => (isHard ? operations : 0)),
)

/** Undefined where nothing is refused. */
function capOf({ environment, plan }: { environment: Scope['environment']; plan: Plan }): number | undefined {
  const { isHard, operations } = PLAN_LIMITS[plan].monthly
  return isHard && isMetered({ environment }) ? operations : undefined
}

function isSpent({ used, waiting }: UseRow, cap: number): boolean {
  return used + waiting >= cap
}

function capExceeded(plan: Plan, resetsAt: Date, now: Date, members: Record<string, unknown> = {}): Failure {
  const included = PLAN_LIMITS[plan].monthly.operations.toLocaleString('en')
  const seconds = Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000))
  return new Failure('monthly_cap_exceeded', {
    detail: `The plan ${plan} includes ${included} metered operations a month, and they are used up.`,
    members: { resets_at: resetsAt.toISOString(), ...members },
    headers: { 'Retry-After': String(seconds) },
  })
}
