import { Duplex } from 'node:stream'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createDriver } from '#src/platform/db/driver.ts'

const types = new pg.TypeOverrides()
const STATEMENTS = [
  { text: 'SELECT $1 AS one', values: [1] },
  { text: 'SELECT 2 AS two', values: [] },
]

/** A client that has nothing but the public `query`; it answers with the text of each statement. */
function makePublicClient() {
  const sent: string[] = []
  const query = async ({ text, values }: pg.QueryConfig) => {
    sent.push(text)
    if (text === 'FAIL') throw new Error('refused')
    return { rows: [{ text, values }], fields: [] }
  }
  return { sent, client: { query } as unknown as pg.PoolClient }
}

describe('the driver without internals', () => {
  const driver = createDriver({ types, usesInternals: false })

  it('uses nothing but the public query of a client, however often a statement is repeated', async () => {
    const { client, sent } = makePublicClient()
    driver.cork(client)
    for (let time = 0; time < 3; time += 1) {
      expect(await driver.ask(client, STATEMENTS)).toEqual(STATEMENTS.map((statement) => [statement]))
      expect(driver.areOneTransaction(client, STATEMENTS)).toBe(false)
    }
    expect(sent).toHaveLength(6)
  })

  it('sends all statements before it reports the failure of one', async () => {
    const { client, sent } = makePublicClient()
    const asked = driver.ask(client, [{ text: 'FAIL', values: [] }, ...STATEMENTS])
    await expect(asked).rejects.toThrow('refused')
    expect(sent).toHaveLength(3)
  })
})

describe('the driver with internals', () => {
  it('sends what is written in one turn of the event loop as one write', async () => {
    const writes: number[] = []
    const stream = new Duplex({
      read() {},
      writev(chunks, done) {
        writes.push(chunks.length)
        done()
      },
    })
    const client = { connection: { stream } } as unknown as pg.PoolClient
    const driver = createDriver({ types, usesInternals: true })
    for (const text of ['one', 'two', 'three']) {
      driver.cork(client)
      stream.write(text)
    }
    await new Promise((done) => setImmediate(done))
    driver.cork(client)
    stream.write('four')
    await new Promise((done) => setImmediate(done))
    expect(writes).toEqual([3, 1])
  })
})
