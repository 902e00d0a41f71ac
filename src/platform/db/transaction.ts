// The statements of one transaction. The statements of one turn of the event loop go to Postgres as one group: one
// write here, one wake-up there, and one answer. Nothing is sent after the end of the transaction: it would reach the
// connection's next user.

import type pg from 'pg'
import { createCauses } from './causes.ts'
import type { Tx } from './database.ts'
import type { Driver, Statement } from './driver.ts'

export interface Transaction {
  tx: Tx
  /** Sends the first statements, with those of this turn that follow them. */
  begin(statements: readonly Statement[]): Promise<unknown>
  commit(): Promise<void>
  rollback(): Promise<void>
}

type Row = Record<string, unknown>

interface Waiting {
  statement: Statement
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

const COMMIT: Statement = { text: 'COMMIT', values: [] }

export function openTransaction(client: pg.PoolClient, driver: Driver): Transaction {
  const causeOf = createCauses()
  let group: Waiting[] = []
  const last: (() => Promise<unknown>)[] = []
  /** Called when the statements of a turn are complete: may add the last one. */
  let completeTurn: (() => void) | undefined
  let hasEnded = false

  function add(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      // After the microtasks of this turn, which may add more.
      if (group.length === 0) process.nextTick(send)
      group.push({ statement, resolve, reject })
    })
  }

  function send(): void {
    completeTurn?.()
    const sent = group
    group = []
    if (sent.length === 0) return
    driver.cork(client)
    driver.ask(client, statementsOf(sent)).then(
      (answers) => sent.forEach(({ resolve }, index) => void resolve(answers[index] ?? [])),
      (error: unknown) => sent.forEach(({ reject }) => void reject(error)),
    )
  }

  function checkOpen(): void {
    if (hasEnded) throw new Error('the transaction has ended')
  }

  const tx: Tx = {
    async query<R>(text: string, values: readonly unknown[] = []) {
      checkOpen()
      try {
        return (await add({ text, values })) as R[]
      } catch (error) {
        throw await causeOf(error)
      }
    },
    async adhoc<R>(text: string, values: readonly unknown[] = []) {
      checkOpen()
      send()
      driver.cork(client)
      try {
        const { rows } = await client.query(text, [...values])
        return rows as R[]
      } catch (error) {
        throw await causeOf(error)
      }
    },
    withCommit(write) {
      last.push(write)
    },
  }

  return {
    tx,
    begin(statements) {
      const begun = Promise.all(statements.map(add))
      begun.catch(causeOf)
      return begun
    },
    async commit() {
      const written = last.length === 0 ? undefined : Promise.all(last.map((write) => write()))
      let hasFailed = false
      written?.catch(() => {
        hasFailed = true
      })
      // Decided after the microtasks of this turn: by then a write that fails before it sends anything has failed.
      let committed: Promise<unknown> | undefined
      await new Promise<void>((decided) => {
        completeTurn = () => {
          completeTurn = undefined
          // Only in one group a COMMIT is skipped when a statement before it can't even be sent.
          if (!hasFailed && driver.areOneTransaction(client, [...statementsOf(group), COMMIT])) {
            hasEnded = true
            committed = add(COMMIT)
          }
          decided()
        }
        if (group.length === 0) process.nextTick(send)
      })
      if (committed === undefined) {
        await written
        hasEnded = true
        committed = add(COMMIT)
      }
      try {
        await Promise.all([written, committed])
      } catch (error) {
        throw await causeOf(error)
      }
    },
    async rollback() {
      hasEnded = true
      send()
      await client.query('ROLLBACK')
    },
  }
}

const statementsOf = (group: readonly Waiting[]) => group.map(({ statement }) => statement)
