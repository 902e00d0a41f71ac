// Work of the process `sequence`: rows get their order after their commit, so that no transaction waits for a counter and no
// reader overlooks a row that committed late. Any number of processes may do it at once: one holds an account's lock.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { sha256 } from './crypto/digest.ts'
import type { Database, Statement, Tx } from './db/database.ts'
import type { Scope } from './ids.ts'
import { type Loop, repeat } from './jobs/loops.ts'
import type { Log } from './log.ts'
import { nextSequencePauseMs, PAUSE_SEQUENCE_MS, type SequenceRound } from './sequence-interval.ts'
import { isUnavailable } from './unavailable.ts'

/** One kind of rows that are put in order. */
export interface Sequence {
  /** The label of its metrics. */
  name: string
  /** Accounts and environments with rows to order, `limit` at most, in ascending order after the given one. */
  findScopes(after: Scope, limit: number): Statement
  /**
   * Orders rows of these scopes in the caller's transaction, which holds their locks: `maxRows` at most, each scope its share.
   * Returns for how many seconds each row has waited.
   */
  append(tx: Tx, scopes: readonly Scope[], maxRows: number): Promise<number[]>
  /** Returns one row: for how many `seconds` the oldest row waits, or null. */
  findOldest(): Statement
}

interface SequencerDeps {
  db: Pick<Database, 'system' | 'readSystem'>
  log: Pick<Log, 'warn'>
  metrics: SequenceMetrics
  limits?: { scopes: number; rows: number }
}

// A transaction of some 50 ms. More would hold its locks for longer than a spare process should wait.
const LIMITS = { scopes: 256, rows: 4_096 }
const SET_ASIDE_MS = 30_000
const FIRST: Scope = { accountId: '', environment: 'sandbox' }

export type SequenceMetrics = ReturnType<typeof createSequenceMetrics>

export function createSequenceMetrics(registry: Registry) {
  return {
    appended: new Counter({
      name: 'countersign_sequence_appended_total',
      help: 'Rows that got their place, by kind: leaves of the decision ledger, positions of events.',
      labelNames: ['sequence'],
      registers: [registry],
    }),
    lag: new Histogram({
      name: 'countersign_sequence_lag_seconds',
      help: 'Time from the insert of a row until it got its place.',
      labelNames: ['sequence'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 600],
      registers: [registry],
    }),
    failures: new Counter({
      name: 'countersign_sequence_failures_total',
      help: 'Appends of one account that failed; they are tried again after 30 s, and other accounts go on.',
      labelNames: ['sequence'],
      registers: [registry],
    }),
  }
}

/** The age of the oldest row without a place, read when the process is scraped. */
export function collectOldest(
  registry: Registry,
  db: Pick<Database, 'readSystem'>,
  sequences: readonly Sequence[],
): void {
  new Gauge({
    name: 'countersign_sequence_oldest_seconds',
    help: 'Age of the oldest row that has no place yet; 0 without one.',
    labelNames: ['sequence'],
    registers: [registry],
    async collect() {
      for (const { name, findOldest } of sequences) {
        const [row] = await db.readSystem<{ seconds: number | null }>(`sequence ${name}`, findOldest)
        this.set({ sequence: name }, Math.max(0, row?.seconds ?? 0))
      }
    },
  })
}

/** Runs every sequence in its own loop until closed. Closing waits for the rounds in progress. */
export function runSequences(sequences: readonly Sequence[], deps: SequencerDeps & { log: Log }): Loop {
  const loops = sequences.map((sequence) => {
    const sequencer = createSequencer(sequence, deps)
    let pauseMs = PAUSE_SEQUENCE_MS
    return repeat(
      async () => {
        pauseMs = nextSequencePauseMs(pauseMs, await sequencer.round())
        return pauseMs
      },
      deps.log.child({ task: sequence.name }),
    )
  })
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
}

export function createSequencer(sequence: Sequence, { db, log, metrics, limits = LIMITS }: SequencerDeps) {
  const { name } = sequence
  // Rounds go through the accounts in turn, so that none waits until those before it have nothing left.
  let after = FIRST
  const asideUntil = new Map<string, number>()

  async function round(): Promise<SequenceRound> {
    const found = await findNext()
    const scopes = found.filter((scope) => !isAside(scope))
    if (scopes.length === 0) return { count: 0, isFull: false }
    const count = await append(scopes)
    return { count, isFull: count >= limits.rows || found.length >= limits.scopes }
  }

  async function findNext(): Promise<Scope[]> {
    const find = () => db.readSystem<Scope>(`sequence ${name}`, () => sequence.findScopes(after, limits.scopes))
    let found = await find()
    if (found.length === 0 && after !== FIRST) {
      after = FIRST
      found = await find()
    }
    after = (found.length >= limits.scopes ? found.at(-1) : undefined) ?? FIRST
    return found
  }

  // An account whose rows can't be ordered must not stop the others.
  async function append(scopes: readonly Scope[]): Promise<number> {
    try {
      return await appendTogether(scopes)
    } catch (error) {
      if (isUnavailable(error)) throw error
      const [only] = scopes
      if (only !== undefined && scopes.length === 1) {
        setAside(only, error)
        return 0
      }
      let count = 0
      for (const scope of scopes) count += await append([scope])
      return count
    }
  }

  async function appendTogether(scopes: readonly Scope[]): Promise<number> {
    const waits = await db.system(`sequence ${name}`, async (tx) => {
      const locked = await lockScopes(tx, name, scopes)
      return locked.length === 0 ? [] : sequence.append(tx, locked, limits.rows)
    })
    for (const seconds of waits) metrics.lag.observe({ sequence: name }, Math.max(0, seconds))
    if (waits.length > 0) metrics.appended.inc({ sequence: name }, waits.length)
    return waits.length
  }

  function setAside(scope: Scope, error: unknown): void {
    metrics.failures.inc({ sequence: name })
    log.warn(
      { task: name, account: scope.accountId, environment: scope.environment, err: error },
      'a sequence was not appended; the account is set aside for a while',
    )
    asideUntil.set(nameOf(scope), performance.now() + SET_ASIDE_MS)
  }

  function isAside(scope: Scope): boolean {
    const until = asideUntil.get(nameOf(scope))
    if (until === undefined) return false
    if (until > performance.now()) return true
    asideUntil.delete(nameOf(scope))
    return false
  }

  return { round }
}

/** The scopes whose locks no other process holds. What their rows are must be read by a later statement. */
async function lockScopes(tx: Tx, name: string, scopes: readonly Scope[]): Promise<Scope[]> {
  const keys = scopes.map((scope) => lockKey(name, scope))
  const locked = await tx.query<{ index: number }>(
    `SELECT index::int FROM unnest($1::bigint[]) WITH ORDINALITY AS given (key, index) WHERE pg_try_advisory_xact_lock(key)`,
    [keys],
  )
  return locked.flatMap(({ index }) => scopes[index - 1] ?? [])
}

function lockKey(name: string, scope: Scope): string {
  return sha256(JSON.stringify(['sequence', name, scope.accountId, scope.environment]))
    .readBigInt64BE()
    .toString()
}

function nameOf({ accountId, environment }: Scope): string {
  return `${accountId} ${environment}`
}

/** SQL: distinct scopes of a table by one index entry each. @param condition Of the partial index that it reads. */
export function distinctScopes(table: string, condition: string, after: Scope, limit: number): Statement {
  const next = (than: string) =>
    `SELECT account_id, environment FROM ${table} WHERE ${condition} AND (account_id, environment) > ${than}
       ORDER BY account_id, environment LIMIT 1`
  return {
    text: `WITH RECURSIVE scope AS (
        (${next('($1, $2)')})
        UNION ALL
        SELECT next.* FROM scope CROSS JOIN LATERAL (${next('(scope.account_id, scope.environment)')}) next
      )
      SELECT account_id AS "accountId", environment FROM scope LIMIT $3`,
    values: [after.accountId, after.environment, limit],
  }
}
