// The two doors. Tenant rows are reached through `tenant`, where row-level security compares both halves of the scope;
// what has no tenant yet (dispatch, claim, key look-up) goes through `system`, whose role has grants on named columns only.
// Nothing else opens a transaction, and no query runs outside of one: the login role itself may read nothing.

import type { Duplex } from 'node:stream'
import pg from 'pg'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { Scope } from '#src/platform/ids.ts'
import { inSpan } from '#src/platform/trace.ts'
import { createAdmission } from './admission.ts'
import { createPipelines, type Pipelines, type Statement } from './pipeline.ts'
import { BEGIN, BEGIN_SNAPSHOT, systemSettings, tenantSettings } from './settings.ts'

export type { Statement } from './pipeline.ts'

export { APP_ROLE, SYSTEM_ROLE } from './settings.ts'

/** A transaction. Comes first in every function that touches rows, so that a forgotten one can't compile. */
export interface Tx {
  /** Runs a fixed statement as a named prepared one (1.4 to 1.7 times a plain parametrised query). */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Runs a statement whose text varies (list filters), without preparing it: each text would stay on the connection. */
  adhoc<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

export interface Database {
  /**
   * `isSnapshot: true` reads all of its statements as of one moment, and can only read. `isDurable: false` gives up waiting
   * for the disk: never for accept or settle.
   */
  tenant<R>(
    scope: Scope,
    work: (tx: Tx) => Promise<R>,
    options?: { isSnapshot?: boolean; isDurable?: boolean },
  ): Promise<R>
  /** `reason` says in the log and in pg_stat_activity why the boundary was crossed. `isDurable: false` gives up
   * waiting for the disk: right for dispatch and claim, whose loss reconcile repairs; never for accept or settle. */
  system<R>(reason: string, work: (tx: Tx) => Promise<R>, options?: { isDurable?: boolean }): Promise<R>
  /** One reading statement through the system door, in one round trip: a third of what `system` takes for it. It is asked
   * for when a connection is free, so that what came meanwhile can be part of it. */
  readSystem<Row>(reason: string, statement: () => Statement): Promise<Row[]>
  /** Short reading statements through the tenant door, in one round trip; answers the rows of each. Those of one scope that
   * wait for a connection share it: a slow one would hold up the others. */
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

/** By the door that they serve. */
export type PoolStates = Record<'tenant' | 'system', PoolState>

interface DatabaseOptions {
  url: string
  /** Connections of this process for tenants. 4 by default: eight kinds of processes share Postgres's limit. */
  poolSize?: number
  /** Those for what has no tenant: key look-ups, readiness, claims, leases. They must not wait behind a tenant's locks. */
  systemPoolSize?: number
  onError?: (error: Error) => void
}

// numeric stays text: amounts are compared as decimals, never as binary floats. int8 counters fit a double here.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

// A process that freezes in mid-transaction (a stopped container, a suspended machine) keeps its row locks for as long as
// Postgres lets it, and whoever would take over its jobs waits behind them with every connection it has.
const TIMEOUTS = {
  idle_in_transaction_session_timeout: 10_000,
  // Of system transactions. Longer than that of tenants, whose locks they may have to wait for.
  lock_timeout: 3_000,
  statement_timeout: 60_000,
}
const CONNECT_TIMEOUT_MS = 5_000

// Of readers that share a transaction: some dozens of kilobytes of answers, and no long wait for the last of them.
const MAX_READERS = 32
// One is answered here while Postgres works on the other. More of them would carry fewer each, at the price of a transaction.
const MAX_READS_RUNNING = 2

export function createDatabase({
  url,
  poolSize = 4,
  systemPoolSize = 2,
  onError = () => {},
}: DatabaseOptions): Database & { pools(): PoolStates } {
  const openPool = (max: number) => {
    const pool = new pg.Pool({
      connectionString: url,
      max,
      pipeline: true,
      types,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 60_000,
      ...TIMEOUTS,
      application_name: 'countersign',
    })
    pool.on('error', onError)
    // A client that is checked out has no listener of the pool's: without one, a cut connection would end the process.
    pool.on('connect', (client) => client.on('error', onError))
    return pool
  }
  const tenantPool = openPool(poolSize)
  const systemPool = openPool(systemPoolSize)
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

  // One span per transaction and none per query: a trace shows how long Postgres took, not what it was asked.
  const spanned = <R>(door: string, work: () => Promise<R>): Promise<R> =>
    inSpan(
      () => ({ name: `transaction ${door}`, kind: 'client', attributes: { 'db.system.name': 'postgresql' } }),
      work,
    )
  const packets = createPipelines(types)

  async function transact<R>(
    connect: Connect,
    [begin, settings]: readonly [Statement, Statement],
    work: (tx: Tx) => Promise<R>,
  ): Promise<R> {
    const { client, release } = await connect()
    let broken: Error | boolean = false
    try {
      corkWrites(client)
      // Sent, not waited for: the first statement travels right behind it. Should it fail, whatever follows runs as the
      // login role, which may do nothing, and the failure surfaces before the commit.
      const begun = packets.ask(client, [begin, settings])
      begun.catch(() => {})
      const result = await work(transaction(client, packets))
      await begun
      await client.query('COMMIT')
      return result
    } catch (error) {
      // A connection that can't even roll back must not serve the next caller.
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError
      })
      throw error
    } finally {
      release(broken)
    }
  }

  async function read(
    connect: Connect,
    settings: Statement,
    statements: () => readonly Statement[],
  ): Promise<unknown[][]> {
    const { client, release } = await connect()
    let broken: Error | boolean = false
    try {
      corkWrites(client)
      const wanted = [settings, ...statements()]
      if (packets.areKnown(client, wanted)) return (await packets.ask(client, wanted)).slice(1)
      const [begun, answered, ended] = await Promise.allSettled([
        client.query('BEGIN'),
        packets.ask(client, wanted),
        client.query('COMMIT'),
      ])
      // Of a transaction that failed, COMMIT is a rollback: only a connection that can't do that serves nobody any more.
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
      const answers = await read(connectTenant(scope.accountId), tenantSettings(scope, { isReading: true }), () =>
        take().flatMap(({ statements }) => {
          sizes.push(statements.length)
          return statements
        }),
      )
      return sizes.map((size) => answers.splice(0, size))
    },
  })

  return {
    tenant: (scope, work, { isSnapshot = false, isDurable = true } = {}) =>
      spanned('tenant', () => {
        const begin = isSnapshot ? BEGIN_SNAPSHOT : BEGIN
        return transact(connectTenant(scope.accountId), [begin, tenantSettings(scope, { isDurable })], work)
      }),
    system: (reason, work, options) =>
      spanned(`system: ${reason}`, () => transact(connectSystem, [BEGIN, systemSettings(reason, options)], work)),
    readSystem: <Row>(reason: string, statement: () => Statement) =>
      spanned(`system: ${reason}`, async () => {
        const settings = systemSettings(reason, { isReading: true })
        const [rows = []] = await read(connectSystem, settings, () => [statement()])
        return rows as Row[]
      }),
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

// What is sent until the end of this turn leaves together: each write is a system call here and a wake-up there.
function corkWrites(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

function transaction(client: pg.PoolClient, packets: Pipelines): Tx {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      corkWrites(client)
      const [rows = []] = await packets.ask(client, [{ text, values }])
      return rows as Row[]
    },
    async adhoc<Row>(text: string, values: readonly unknown[] = []) {
      corkWrites(client)
      const result = await client.query(text, [...values])
      return result.rows as Row[]
    },
  }
}
