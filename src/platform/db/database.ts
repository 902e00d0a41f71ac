// The two roles. Tenant rows are reached through `tenant`, where row-level security compares both halves of the scope.
// Work that has no tenant yet (dispatch, claim, key look-up) goes through `system`, whose role has grants on named
// columns only. Nothing else opens a transaction, and no query runs outside of one: the login role itself may read
// nothing.

import pg from 'pg'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { Scope } from '#src/platform/ids.ts'
import { inSpan } from '#src/platform/trace.ts'
import { createAdmission } from './admission.ts'
import { createPools, SILENCE_PERIOD_MS } from './connections.ts'
import { createDriver, type Statement } from './driver.ts'
import { BEGIN, BEGIN_SNAPSHOT, systemSettings, tenantSettings } from './settings.ts'
import { openTransaction } from './transaction.ts'

export type { Statement } from './driver.ts'

export { APP_ROLE, SYSTEM_ROLE } from './settings.ts'

/**
 * A transaction. It is the first parameter of every function that touches rows, so that code without one does not
 * compile.
 */
export interface Tx {
  /** Runs a fixed statement as a named prepared one (1.4 to 1.7 times as fast as a plain parametrised query). */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /**
   * Runs a statement whose text varies (list filters), without preparing it: each text would stay on the connection.
   */
  adhoc<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /**
   * Calls `write` when the work has ended, and sends its statements together with the COMMIT: a round trip less. It must
   * send all of them at once and read nothing of their answers that could still undo the transaction. Several are called in
   * order.
   */
  withCommit(write: () => Promise<unknown>): void
}

export interface Database {
  /**
   * `isSnapshot: true` makes all of its statements read one moment, and only read. `isDurable: false` does not wait for
   * the disk at commit: never for accept or settle.
   */
  tenant<R>(
    scope: Scope,
    work: (tx: Tx) => Promise<R>,
    options?: { isSnapshot?: boolean; isDurable?: boolean },
  ): Promise<R>
  /**
   * `reason` says in the log and in pg_stat_activity why the tenant boundary was crossed. `isDurable: false` does not
   * wait for the disk at commit: right for dispatch and claim, whose loss reconcile repairs; never for accept or
   * settle.
   */
  system<R>(reason: string, work: (tx: Tx) => Promise<R>, options?: { isDurable?: boolean }): Promise<R>
  /**
   * One reading statement in the system role, in one round trip: a third of the cost of `system`. `statement` is called
   * when a connection is free, so that it can include what arrived meanwhile.
   */
  readSystem<Row>(reason: string, statement: () => Statement): Promise<Row[]>
  /**
   * The same for one writing statement, which does not wait for the disk: for dispatch and claim, whose loss reconcile
   * repairs; never for accept or settle.
   */
  writeSystem<Row>(reason: string, statement: () => Statement): Promise<Row[]>
  /**
   * Short reading statements in the tenant role, in one round trip; returns the rows of each. Statements of one scope
   * that wait for a connection share it: a slow one would delay the others.
   */
  readTenant<Rows extends readonly unknown[]>(
    scope: Scope,
    statements: { [Index in keyof Rows]: Statement },
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }>
  close(): Promise<void>
}

/** Connections of one of this process's pools. */
export interface PoolState {
  total: number
  idle: number
  /** Transactions that wait for a connection. */
  waiting: number
}

/** States by the role that the pools serve. */
export type PoolStates = Record<'tenant' | 'system', PoolState>

interface DatabaseOptions {
  url: string
  /** Connections of this process for tenants. 4 by default: eight kinds of processes share Postgres's limit. */
  poolSize?: number
  /**
   * Connections for work that has no tenant: key look-ups, readiness, claims, leases. They must not wait behind a
   * tenant's locks.
   */
  systemPoolSize?: number
  /**
   * Whether statements that have no tenant end after 15 s. Default: false, and they end after 60 s, as retention and the
   * erasure of accounts need. To be set where others wait for these connections, for the connections to a host that
   * vanished are replaced a few seconds after this time.
   */
  limitsSystemStatements?: boolean
  /** How often the silence of a connection is counted: 5 s by default. Connections are replaced after 4 or 13 of them. */
  silencePeriodMs?: number
  /**
   * Whether statements are sent through internals of the driver, which is faster. Default: true. To be turned off when
   * an update of the driver breaks them.
   */
  usesDriverInternals?: boolean
  onError?: (error: Error) => void
}

// numeric stays text: amounts are compared as decimals, never as binary floats. int8 counters fit a double here.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

// A process that freezes during a transaction (a stopped container, a suspended machine) keeps its row locks until
// Postgres ends it. Workers that take over its jobs wait for them with all their connections.
const TIMEOUTS = {
  idle_in_transaction_session_timeout: 10_000,
  // For system transactions. Longer than for tenants, whose locks they may have to wait for.
  lock_timeout: 3_000,
}
const STATEMENT_TIMEOUT_MS = 60_000
const LIMITED_STATEMENT_TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5_000

// Readers that share a transaction: some dozens of kilobytes of answers, and no long wait for the last one.
const MAX_READERS = 32
// One read is answered here while Postgres works on the other. More at once would carry fewer statements each, at the
// price of a transaction.
const MAX_READS_RUNNING = 2

export function createDatabase({
  url,
  poolSize = 4,
  systemPoolSize = 2,
  limitsSystemStatements = false,
  silencePeriodMs = SILENCE_PERIOD_MS,
  usesDriverInternals: usesInternals = true,
  onError = () => {},
}: DatabaseOptions): Database & { pools(): PoolStates } {
  const openPool = createPools({
    config: {
      connectionString: url,
      pipeline: true,
      types,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 60_000,
      ...TIMEOUTS,
      application_name: 'countersign',
    },
    periodMs: silencePeriodMs,
    onError,
  })
  const tenantPool = openPool({ size: poolSize, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  const systemPool = openPool({
    size: systemPoolSize,
    statementTimeoutMs: limitsSystemStatements ? LIMITED_STATEMENT_TIMEOUT_MS : STATEMENT_TIMEOUT_MS,
  })
  const admission = createAdmission({ slots: poolSize, timeoutMs: CONNECT_TIMEOUT_MS })

  const connectSystem: Connect = async () => {
    const client = await systemPool.connect()
    return { client, release: (broken) => client.release(broken) }
  }
  const connectTenant =
    (account: string): Connect =>
    async () => {
      const leave = await admission.enter(account)
      try {
        const client = await tenantPool.connect()
        const release = (broken: Error | boolean) => {
          client.release(broken)
          leave()
        }
        return { client, release }
      } catch (error) {
        leave()
        throw error
      }
    }

  // One span per transaction and none per query: a trace shows how long Postgres took, not the statements.
  const spanned = <R>(role: string, work: () => Promise<R>): Promise<R> =>
    inSpan(
      () => ({ name: `transaction ${role}`, kind: 'client', attributes: { 'db.system.name': 'postgresql' } }),
      work,
    )
  const driver = createDriver({ types, usesInternals })

  async function transact<R>(
    connect: Connect,
    [begin, settings]: readonly [Statement, Statement],
    work: (tx: Tx) => Promise<R>,
  ): Promise<R> {
    const { client, release } = await connect()
    let broken: Error | boolean = false
    const transaction = openTransaction(client, driver)
    try {
      // Sent without waiting: the first statement follows at once. If it fails, the statements after it run as the
      // login role, which may do nothing, and the failure surfaces before the commit.
      const begun = transaction.begin([begin, settings])
      const result = await work(transaction.tx)
      await begun
      await transaction.commit()
      return result
    } catch (error) {
      // A connection that can't even roll back must not serve the next caller.
      await transaction.rollback().catch((rollbackError: Error) => {
        broken = rollbackError
      })
      throw error
    } finally {
      release(broken)
    }
  }

  async function runTogether(
    connect: Connect,
    settings: Statement,
    statements: () => readonly Statement[],
  ): Promise<unknown[][]> {
    const { client, release } = await connect()
    let broken: Error | boolean = false
    try {
      driver.cork(client)
      const wanted = [settings, ...statements()]
      if (driver.areOneTransaction(client, wanted)) return (await driver.ask(client, wanted)).slice(1)
      const [begun, answered, ended] = await Promise.allSettled([
        client.query('BEGIN'),
        driver.ask(client, wanted),
        client.query('COMMIT'),
      ])
      // COMMIT of a failed transaction is a rollback: only a connection that can't do even that is removed.
      if (ended.status === 'rejected') broken = toError(ended.reason)
      if (begun.status === 'rejected') throw begun.reason
      if (answered.status === 'rejected') throw answered.reason
      if (ended.status === 'rejected') throw ended.reason
      return answered.value.slice(1)
    } finally {
      release(broken)
    }
  }

  const readShared = createTransactionBatcher<{ scope: Scope; statements: readonly Statement[] }, unknown[][]>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    maxSize: MAX_READERS,
    maxRunning: MAX_READS_RUNNING,
    async run(take, { scope }) {
      const sizes: number[] = []
      const answers = await runTogether(
        connectTenant(scope.accountId),
        tenantSettings(scope, { isReading: true }),
        () =>
          take().flatMap(({ statements }) => {
            sizes.push(statements.length)
            return statements
          }),
      )
      return sizes.map((size) => answers.splice(0, size))
    },
  })

  const runSystem = <Row>(
    reason: string,
    options: { isReading?: boolean; isDurable?: boolean },
    statement: () => Statement,
  ): Promise<Row[]> =>
    spanned(`system: ${reason}`, async () => {
      const [rows = []] = await runTogether(connectSystem, systemSettings(reason, options), () => [statement()])
      return rows as Row[]
    })

  return {
    tenant: (scope, work, { isSnapshot = false, isDurable = true } = {}) =>
      spanned('tenant', () => {
        const begin = isSnapshot ? BEGIN_SNAPSHOT : BEGIN
        return transact(connectTenant(scope.accountId), [begin, tenantSettings(scope, { isDurable })], work)
      }),
    system: (reason, work, options) =>
      spanned(`system: ${reason}`, () => transact(connectSystem, [BEGIN, systemSettings(reason, options)], work)),
    readSystem: (reason, statement) => runSystem(reason, { isReading: true }, statement),
    writeSystem: (reason, statement) => runSystem(reason, { isDurable: false }, statement),
    readTenant: <Rows extends readonly unknown[]>(scope: Scope, statements: { [Index in keyof Rows]: Statement }) =>
      spanned('tenant', async () => {
        const answers = await readShared({ scope, statements })
        return answers as { [Index in keyof Rows]: Rows[Index][] }
      }),
    pools: () => ({
      tenant: { ...stateOf(tenantPool), waiting: admission.waiting() + tenantPool.waitingCount },
      system: stateOf(systemPool),
    }),
    close: async () => void (await Promise.all([tenantPool.end(), systemPool.end()])),
  }
}

interface Connection {
  client: pg.PoolClient
  /** @param broken Why the connection must not serve again. */
  release(broken: Error | boolean): void
}

type Connect = () => Promise<Connection>

function stateOf(pool: pg.Pool): PoolState {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
