// Prepared statements without work that the driver repeats. The driver describes the columns at every execution and
// sends a Sync after every statement, which makes each a separate answer. Here statements that are sent together share
// one Sync, and each connection describes a statement once.

import pg from 'pg'

export interface Statement {
  /** Fixed: it is prepared. */
  text: string
  values: readonly unknown[]
}

export interface Pipelines {
  /** Runs statements in order and returns the rows of each. After the first failure none is run. */
  ask(client: pg.PoolClient, statements: readonly Statement[]): Promise<Row[][]>
  /**
   * Whether this connection has run all of them before. Then they are sent with one Sync, and outside of a transaction
   * they form one implicitly (PostgreSQL manual, "Pipelining" of the extended query protocol): a failure rolls all of
   * them back.
   */
  areKnown(client: pg.PoolClient, statements: readonly Statement[]): boolean
}

type Row = Record<string, unknown>
type Columns = readonly { name: string; parse: (text: string) => unknown }[]

/** What we use of the driver below its public interface. */
interface Wire {
  bind(config: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void
  execute(): void
  sync(): void
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils

/** @param types How values of each type are read. */
export function createPipelines(types: pg.CustomTypesConfig): Pipelines {
  // By statement name. A statement whose columns change fails permanently on its connection ("cached plan must not
  // change result type"), so a known entry is never wrong.
  const known = new WeakMap<pg.PoolClient, Map<string, Columns>>()
  const columnsOf = (client: pg.PoolClient, statements: readonly Statement[]) =>
    statements.map(({ text }) => known.get(client)?.get(nameOf(text)))

  // The driver's own path: it prepares a statement that is new here, and describes the columns.
  async function learn(client: pg.PoolClient, { text, values }: Statement): Promise<Row[]> {
    const name = nameOf(text)
    const { fields, rows } = await client.query<Row>({ name, text, values: [...values] })
    const columns = fields.map((field) => ({
      name: field.name,
      parse: types.getTypeParser(field.dataTypeID, 'text') as (text: string) => unknown,
    }))
    const here = known.get(client) ?? new Map<string, Columns>()
    known.set(client, here.set(name, columns))
    return rows
  }

  return {
    areKnown: (client, statements) => columnsOf(client, statements).every((columns) => columns !== undefined),
    async ask(client, statements) {
      const columns = columnsOf(client, statements)
      if (columns.every((one) => one !== undefined)) return send(client, statements, columns)
      const settled = await Promise.allSettled(statements.map((statement) => learn(client, statement)))
      return settled.map((one) => {
        if (one.status === 'rejected') throw one.reason
        return one.value
      })
    },
  }
}

const names = new Map<string, string>()

// A fixed text has one name on every connection.
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `s${names.size + 1}`
    names.set(text, name)
  }
  return name
}

async function send(
  client: pg.PoolClient,
  statements: readonly Statement[],
  columns: readonly Columns[],
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
          for (const { text, values } of statements) {
            wire.bind({ statement: nameOf(text), values, valueMapper: prepareValue })
            wire.execute()
          }
        })
        wire.sync()
        return null
      },
      handleDataRow({ fields }: { fields: readonly (string | null)[] }) {
        guarded(() => void rows.push(toRow(columns[answers.length] ?? [], fields)))
      },
      handleCommandComplete() {
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

function toRow(columns: Columns, fields: readonly (string | null)[]): Row {
  const row: Row = {}
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index]
    const text = fields[index]
    if (column !== undefined) row[column.name] = text == null ? null : column.parse(text)
  }
  return row
}
