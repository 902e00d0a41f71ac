import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createTransactionBatcher } from '#src/platform/batching.ts'

/** Connections that the test hands out one by one. */
function makeConnections() {
  const waiting: (() => void)[] = []
  const batches: string[][] = []
  const connect = () => new Promise<void>((resolve) => waiting.push(resolve))
  const free = async () => {
    waiting.shift()?.()
    await new Promise((done) => setImmediate(done))
  }
  return { connect, free, batches }
}

const refusal = (code: string) => {
  const error = new pg.DatabaseError('refused', 0, 'error')
  error.code = code
  return error
}

describe('a transaction batcher', () => {
  it('runs items of one key together, in order, without items that come later', async () => {
    const { connect, free, batches } = makeConnections()
    const add = createTransactionBatcher<string, string>({
      keyOf: (item) => item.charAt(0),
      async run(take) {
        await connect()
        const items = take()
        batches.push([...items])
        return items.map((item) => item.toUpperCase())
      },
    })
    const first = ['a1', 'b1', 'a2', 'b2', 'a3'].map(add)
    await free()
    const late = add('a4')
    await free()
    await free()
    expect(await Promise.all([...first, late])).toEqual(['A1', 'B1', 'A2', 'B2', 'A3', 'A4'])
    expect(batches).toEqual([['a1', 'a2', 'a3'], ['b1', 'b2'], ['a4']])
  })

  it('runs items beyond the largest size in the next batch', async () => {
    const { connect, free, batches } = makeConnections()
    const add = createTransactionBatcher<number, number>({
      maxSize: 2,
      async run(take) {
        await connect()
        batches.push(take().map(String))
        return take()
      },
    })
    const answers = [1, 2, 3, 4, 5].map(add)
    for (const _ of answers) await free()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5])
    expect(batches).toEqual([['1', '2'], ['3', '4'], ['5']])
  })

  it('waits for a running batch at its concurrency limit, and adds items that come meanwhile', async () => {
    const { connect, free, batches } = makeConnections()
    const add = createTransactionBatcher<number, number>({
      maxRunning: 1,
      maxSize: 2,
      async run(take) {
        await connect()
        batches.push(take().map(String))
        await connect()
        return take()
      },
    })
    const answers = [1, 2, 3].map(add)
    await free()
    answers.push(...[4, 5].map(add))
    for (let turn = 0; turn < 5; turn += 1) await free()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5])
    expect(batches).toEqual([['1', '2'], ['3', '4'], ['5']])
  })

  it('runs a batch beside one that hangs, after it has waited for its time', async () => {
    const batches: string[][] = []
    const ends: (() => void)[] = []
    const add = createTransactionBatcher<string, string>({
      maxRunning: 2,
      patienceMs: 1,
      async run(take) {
        await Promise.resolve()
        const items = take()
        batches.push([...items])
        if (items.includes('hangs')) await new Promise<void>((end) => ends.push(end))
        return items
      },
    })
    const first = add('hangs')
    await new Promise((done) => setImmediate(done))
    const others = ['a', 'b'].map(add)
    expect(batches).toEqual([['hangs']])
    expect(await Promise.all(others)).toEqual(['a', 'b'])
    expect(batches).toEqual([['hangs'], ['a', 'b']])
    for (const end of ends) end()
    expect(await first).toBe('hangs')
  })

  it('retries items alone when Postgres refused them together', async () => {
    const batches: number[][] = []
    const add = createTransactionBatcher<number, number>({
      async run(take) {
        await Promise.resolve()
        const items = take()
        batches.push([...items])
        if (items.includes(2)) throw refusal('22P02')
        return items
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(add))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]])
  })

  it.each([
    ['a connection that was cut', () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['a server that shuts down', () => refusal('57P01')],
    ['a connection that broke', () => refusal('08006')],
    ['a server without resources', () => refusal('53300')],
    ['a lock that was not to be had in time', () => refusal('55P03')],
    ['a defect of ours', () => new TypeError('x is not a function')],
  ])('never retries after %s', async (_what, make) => {
    let batches = 0
    const add = createTransactionBatcher<number, number>({
      async run(take) {
        await Promise.resolve()
        batches += 1
        take()
        throw make()
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(add))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(batches).toBe(1)
  })

  it('rejects all items when there are more or fewer results than items, and runs nothing again', async () => {
    let batches = 0
    const add = createTransactionBatcher<number, number>({
      async run(take) {
        await Promise.resolve()
        batches += 1
        return take().slice(1)
      },
    })
    const settled = await Promise.allSettled([1, 2].map(add))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches).toBe(1)
  })

  it('does not add an item to a batch that failed at once', async () => {
    let isBroken = true
    const add = createTransactionBatcher<number, number>({
      run(take) {
        if (isBroken) throw new Error('no pool')
        return Promise.resolve(take())
      },
    })
    await expect(add(1)).rejects.toThrow('no pool')
    isBroken = false
    expect(await add(2)).toBe(2)
  })
})
