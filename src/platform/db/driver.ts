// How statements reach Postgres. All that uses the driver below its public interface is in this file, behind one switch.
// The driver describes the columns at every execution, sends a Sync after every statement and writes each message to the
// socket by itself. With the switch on, statements that are sent together share one Sync and one write, and each
// connection describes a statement once.

import type { Duplex } from 'node:stream'
import pg from 'pg'
import { IN_FAILED_TRANSACTION } from './causes.ts'

export interface Statement {
  /** Fixed: it is prepared. */
  text: string
  values: readonly unknown[]
}

export interface Driver {
  /**
   * Runs statements in order and returns the rows of each. In a transaction, none has an effect after the first
   * failure.
   */
  ask(client: pg.PoolClient, statements: readonly Statement[]): Promise<Row[][]>
  /**
   * Whether these statements would be sent with one Sync. Then outside of a transaction they form one implicitly
   * (PostgreSQL manual, "Pipelining" of the extended query protocol): a failure rolls all of them back.
   */
  areOneTransaction(client: pg.PoolClient, statements: readonly Statement[]): boolean
  /** Sends what is written until the end of this turn of the event loop together. */
  cork(client: pg.PoolClient): void
}

type Row = Record<string, unknown>
/** A statement as a connection knows it. */
interface Prepared {
  name: string
  columns: readonly { name: string; parse: (text: string) => unknown }[]
}

/** What we use of the driver below its public interface. */
interface Wire {
  bind(config: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void
  execute(): void
  sync(): void
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils

interface DriverOptions {
  /** How values of each type are read. */
  types: pg.CustomTypesConfig
  /** Without them, every statement is a query of the driver's public interface. */
  usesInternals: boolean
}

export function createDriver({ types, usesInternals }: DriverOptions): Driver {
  return usesInternals ? createInternals(types) : PUBLIC
}

const PUBLIC: Driver = {
  ask: (client, statements) => inOrder(statements, async (one) => (await query(client, one)).rows),
  areOneTransaction: () => false,
  cork() {},
}

async function query(client: pg.PoolClient, { text, values }: Statement): Promise<pg.QueryResult<Row>> {
  try {
    const result = await client.query<Row>({ name: nameOf(text), text, values: [...values] })
    checkCommitted(text, result.command)
    return result
  } catch (error) {
    // After a value that can't be written (a cycle) the driver closes the statement but believes that it is there.
    if (error instanceof TypeError) names.delete(text)
    throw error
  }
}

/** Postgres answers the COMMIT of a failed transaction with a rollback, and with no error. @param tag The first word of its answer. */
function checkCommitted(text: string, tag: string): void {
  if (text !== 'COMMIT' || tag === 'COMMIT') return
  const detail = 'the transaction was rolled back: a statement before its COMMIT had failed'
  throw Object.assign(new pg.DatabaseError(detail, detail.length, 'error'), { code: IN_FAILED_TRANSACTION })
}

/** Sent without waiting for each other: the pool's connections pipeline queries. */
async function inOrder(
  statements: readonly Statement[],
  run: (statement: Statement) => Promise<Row[]>,
): Promise<Row[][]> {
  const settled = await Promise.allSettled(statements.map(run))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

function createInternals(types: pg.CustomTypesConfig): Driver {
  // Prepared statements by their text. A statement whose columns change fails permanently on its connection ("cached
  // plan must not change result type"), so a known entry is never wrong.
  const known = new WeakMap<pg.PoolClient, Map<string, Prepared>>()
  const preparedFor = (client: pg.PoolClient, statements: readonly Statement[]) => {
    const here = known.get(client)
    return statements.map(({ text }) => here?.get(text))
  }

  // The driver's own path: it prepares a statement that is new here, and describes the columns.
  async function learn(client: pg.PoolClient, statement: Statement): Promise<Row[]> {
    const { fields, rows } = await query(client, statement)
    const columns = fields.map((field) => ({
      name: field.name,
      parse: types.getTypeParser(field.dataTypeID, 'text') as (text: string) => unknown,
    }))
    const here = known.get(client) ?? new Map<string, Prepared>()
    known.set(client, here.set(statement.text, { name: nameOf(statement.text), columns }))
    return rows
  }

  return {
    cork: corkWrites,
    areOneTransaction: (client, statements) => preparedFor(client, statements).every((one) => one !== undefined),
    async ask(client, statements) {
      const prepared = preparedFor(client, statements)
      if (prepared.every((one) => one !== undefined)) return send(client, statements, prepared)
      return inOrder(statements, (statement) => learn(client, statement))
    },
  }
}

// Each write is a system call here and a wake-up there.
function corkWrites(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

const names = new Map<string, string>()
let lastName = 0

// A fixed text has one name on every connection.
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    lastName += 1
    name = `s${lastName}`
    names.set(text, name)
  }
  return name
}

async function send(
  client: pg.PoolClient,
  statements: readonly Statement[],
  prepared: readonly Prepared[],
): Promise<Row[][]> {
  const answers: Row[][] = []
  let rows: Row[] = []
  let failure: unknown
  // The driver calls this from its socket, where an exception would end the process.
  const guarded = (work: () => void) => {
    try {
      work()
    } catch (error) {
      failure ??= error
    }
  }
  await new Promise<void>((resolve, reject) => {
    const query = Object.assign(new pg.Query(''), {
      submit(wire: Wire) {
        guarded(() => {
          for (const [index, { values }] of statements.entries()) {
            wire.bind({ statement: prepared[index]?.name ?? '', values, valueMapper: prepareValue })
            wire.execute()
          }
        })
        wire.sync()
        return null
      },
      handleDataRow({ fields }: { fields: readonly (string | null)[] }) {
        guarded(() => void rows.push(toRow(prepared[answers.length]?.columns ?? [], fields)))
      },
      handleCommandComplete({ text: tag }: { text: string }) {
        guarded(() => checkCommitted(statements[answers.length]?.text ?? '', tag))
        answers.push(rows)
        rows = []
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    })
    client.query(query as unknown as pg.Submittable)
  }).catch((error: unknown) => {
    // The error was created where the socket is read; its stack should show the caller.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  })
  if (failure !== undefined) throw failure
  return answers
}

function toRow(columns: Prepared['columns'], fields: readonly (string | null)[]): Row {
  const row: Row = {}
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index]
    const text = fields[index]
    if (column !== undefined) row[column.name] = text == null ? null : column.parse(text)
  }
  return row
}
