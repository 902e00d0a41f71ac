import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createTransactionBatcher } from '#src/platform/batching.ts'

/** Connections that the test hands out one by one. */
function makePier() {
  const waiting: (() => void)[] = []
  const crossings: string[][] = []
  const connect = () => new Promise<void>((resolve) => waiting.push(resolve))
  const free = async () => {
    waiting.shift()?.()
    await new Promise((done) => setImmediate(done))
  }
  return { connect, free, crossings }
}

const refusal = (code: string) => {
  const error = new pg.DatabaseError('refused', 0, 'error')
  error.code = code
  return error
}

describe('a transaction batcher', () => {
  it('runs items of one key together, in order, without items that come later', async () => {
    const { connect, free, crossings } = makePier()
    const board = createTransactionBatcher<string, string>({
      keyOf: (item) => item.charAt(0),
      async run(depart) {
        await connect()
        const aboard = depart()
        crossings.push([...aboard])
        return aboard.map((item) => item.toUpperCase())
      },
    })
    const first = ['a1', 'b1', 'a2', 'b2', 'a3'].map(board)
    await free()
    const late = board('a4')
    await free()
    await free()
    expect(await Promise.all([...first, late])).toEqual(['A1', 'B1', 'A2', 'B2', 'A3', 'A4'])
    expect(crossings).toEqual([['a1', 'a2', 'a3'], ['b1', 'b2'], ['a4']])
  })

  it('runs items beyond the largest size in the next batch', async () => {
    const { connect, free, crossings } = makePier()
    const board = createTransactionBatcher<number, number>({
      maxSize: 2,
      async run(depart) {
        await connect()
        crossings.push(depart().map(String))
        return depart()
      },
    })
    const answers = [1, 2, 3, 4, 5].map(board)
    for (const _ of answers) await free()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5])
    expect(crossings).toEqual([['1', '2'], ['3', '4'], ['5']])
  })

  it('waits for a running batch at its concurrency limit, and adds items that come meanwhile', async () => {
    const { connect, free, crossings } = makePier()
    const board = createTransactionBatcher<number, number>({
      maxRunning: 1,
      maxSize: 2,
      async run(depart) {
        await connect()
        crossings.push(depart().map(String))
        await connect()
        return depart()
      },
    })
    const answers = [1, 2, 3].map(board)
    await free()
    answers.push(...[4, 5].map(board))
    for (let turn = 0; turn < 5; turn += 1) await free()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5])
    expect(crossings).toEqual([['1', '2'], ['3', '4'], ['5']])
  })

  it('retries items alone when Postgres refused them together', async () => {
    const crossings: number[][] = []
    const board = createTransactionBatcher<number, number>({
      async run(depart) {
        await Promise.resolve()
        const aboard = depart()
        crossings.push([...aboard])
        if (aboard.includes(2)) throw refusal('22P02')
        return aboard
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(board))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(crossings).toEqual([[1, 2, 3], [1], [2], [3]])
  })

  it.each([
    ['a connection that was cut', () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['a server that shuts down', () => refusal('57P01')],
    ['a connection that broke', () => refusal('08006')],
    ['a server without resources', () => refusal('53300')],
    ['a lock that was not to be had in time', () => refusal('55P03')],
    ['a defect of ours', () => new TypeError('x is not a function')],
  ])('never retries after %s', async (_what, make) => {
    let crossings = 0
    const board = createTransactionBatcher<number, number>({
      async run(depart) {
        await Promise.resolve()
        crossings += 1
        depart()
        throw make()
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(board))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(crossings).toBe(1)
  })

  it('rejects all items when there are more or fewer results than items, and runs nothing again', async () => {
    let crossings = 0
    const board = createTransactionBatcher<number, number>({
      async run(depart) {
        await Promise.resolve()
        crossings += 1
        return depart().slice(1)
      },
    })
    const settled = await Promise.allSettled([1, 2].map(board))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(crossings).toBe(1)
  })

  it('does not add an item to a batch that failed at once', async () => {
    let isBroken = true
    const board = createTransactionBatcher<number, number>({
      run(depart) {
        if (isBroken) throw new Error('no pool')
        return Promise.resolve(depart())
      },
    })
    await expect(board(1)).rejects.toThrow('no pool')
    isBroken = false
    expect(await board(2)).toBe(2)
  })
})
