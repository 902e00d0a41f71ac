// The pools of connections to Postgres. A host that vanishes sends nothing, not even a reset, and the kernel repeats what it
// could not deliver for 15 minutes (tcp_retries2). So a connection that stays silent for longer than a statement may take is
// closed here. Only public options of the driver are used.

import { Socket } from 'node:net'
import pg from 'pg'

interface PoolLimits {
  size: number
  /** Postgres ends a statement after this time. */
  statementTimeoutMs: number
}

interface PoolsOptions {
  /** Settings of every pool. */
  config: pg.PoolConfig
  /** How often the silence of a connection is counted. */
  periodMs: number
  onError: (error: Error) => void
}

// Postgres's answer that it ended the statement is on its way meanwhile.
const MARGIN_MS = 5_000
export const SILENCE_PERIOD_MS = 5_000
// Limit of silent periods for a connection that is older than the loss of another one: most likely its host has
// vanished too.
const SUSPECT_PERIODS = 4
// The kernel asks a silent peer after this time, and closes the connection after ten unanswered probes of 1 s each.
const KEEP_ALIVE_DELAY_MS = 10_000

export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS }

interface Connection {
  socket: Socket
  /** After how many silent periods a connection in use is closed. */
  maxPeriods: number
  isInUse: boolean
  silentPeriods: number
  /** Bytes read when the last period ended. */
  bytesRead: number
  /** How many losses there had been when it was opened. */
  losses: number
}

/** Pools of one database. What the silence of a connection of one shows holds for those of the others. */
export function createPools({ config, periodMs, onError }: PoolsOptions) {
  const open = new Set<Connection>()
  let losses = 0

  function maxPeriodsOf(connection: Connection): number {
    if (connection.losses < losses) return SUSPECT_PERIODS
    return connection.isInUse ? connection.maxPeriods : Number.POSITIVE_INFINITY
  }

  function watch(socket: Socket, maxPeriods: number): Connection {
    const connection = { socket, maxPeriods, isInUse: false, silentPeriods: 0, bytesRead: 0, losses }
    open.add(connection)
    socket.once('close', () => open.delete(connection))
    // Node restarts this timer, the same object, at each read and write.
    socket.setTimeout(periodMs)
    // When this process itself has stood still, answers wait in the kernel: they are read before the decision.
    socket.on('timeout', () => void setImmediate(endPeriod, connection, socket.bytesRead))
    return connection
  }

  function endPeriod(connection: Connection, bytesRead: number): void {
    const { socket } = connection
    if (socket.destroyed || socket.bytesRead !== bytesRead) return
    connection.silentPeriods = bytesRead === connection.bytesRead ? connection.silentPeriods + 1 : 1
    connection.bytesRead = bytesRead
    const maxPeriods = maxPeriodsOf(connection)
    // Without work nothing is counted, and an idle process is not woken: the next write starts the timer again.
    if (maxPeriods === Number.POSITIVE_INFINITY) return
    if (connection.silentPeriods < maxPeriods) return void socket.setTimeout(periodMs)
    if (connection.losses === losses) losses += 1
    for (const one of open) {
      // An idle connection is not counted. It would fail its next caller, and costs no more than a replacement.
      const isLeft = !one.isInUse && one.losses < losses
      if (isLeft || one.silentPeriods >= maxPeriodsOf(one)) close(one)
    }
  }

  function close({ socket, silentPeriods, isInUse }: Connection): void {
    const reason = isInUse
      ? `Postgres sent nothing for ${(silentPeriods * periodMs) / 1_000} s`
      : 'Postgres sent nothing to another connection'
    const error = new Error(`${reason}: the connection is closed`)
    // The code of a connection that the kernel gave up: whether a COMMIT arrived is unknown in both cases.
    socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
  }

  return ({ size, statementTimeoutMs }: PoolLimits): pg.Pool => {
    const maxPeriods = Math.ceil((statementTimeoutMs + MARGIN_MS) / SILENCE_PERIOD_MS)
    const connections = new WeakMap<pg.ClientBase, Connection>()
    class WatchedClient extends pg.Client {
      constructor(options?: pg.ClientConfig) {
        const socket = new Socket()
        super({ ...options, stream: () => socket })
        connections.set(this, watch(socket, maxPeriods))
      }
    }
    const pool = new pg.Pool({
      ...config,
      ...KEEP_ALIVE,
      max: size,
      statement_timeout: statementTimeoutMs,
      Client: WatchedClient as NonNullable<pg.PoolConfig['Client']>,
    })
    const use = (client: pg.ClientBase, isInUse: boolean) => {
      const connection = connections.get(client)
      if (connection === undefined) return
      connection.isInUse = isInUse
      connection.silentPeriods = 0
    }
    pool.on('acquire', (client) => use(client, true))
    pool.on('release', (_, client) => use(client, false))
    pool.on('error', onError)
    // The pool removes its error listener from a client that is checked out: without one, a cut connection would end
    // the process.
    pool.on('connect', (client) => client.on('error', onError))
    return pool
  }
}
