import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createBulkWork, inParts, PART_LINES } from '#src/platform/bulk-work.ts'

describe('the parts of bulk work', () => {
  const partsOf = async (chunks: readonly (readonly number[])[]) => {
    const parts: (readonly number[])[] = []
    for await (const part of inParts(chunks)) parts.push(part)
    return parts
  }

  it('have 250 lines at most, and never lines of two chunks', async () => {
    const parts = await partsOf([Array(600).fill(0), [], [1], Array(250).fill(2)])
    expect(parts.map(({ length }) => length)).toEqual([250, 250, 100, 1, 250])
    expect(PART_LINES).toBe(250)
  })

  it('have each line once, in its order', async () => {
    const sizes = fc.array(fc.nat(700), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(sizes, async (counts) => {
        let next = 0
        const chunks = counts.map((count) => Array.from({ length: count }, () => next++))
        expect((await partsOf(chunks)).flat()).toEqual(chunks.flat())
      }),
    )
  })
})

describe('the turns of bulk transactions', () => {
  const open: PromiseWithResolvers<void>[] = []
  const begun: string[] = []
  let bulkWork: ReturnType<typeof createBulkWork>

  beforeEach(() => {
    open.length = 0
    begun.length = 0
    bulkWork = createBulkWork({ connections: 4 })
  })

  const start = (account: string, lines: number) => {
    const end = Promise.withResolvers<void>()
    open.push(end)
    return bulkWork(account, lines, () => {
      begun.push(`${account} ${lines}`)
      return end.promise
    })
  }
  const settled = () => new Promise<void>((done) => setImmediate(done))

  it('has two large ones of different accounts at once, and a small one of a third account beside them', async () => {
    const all = [start('a', 10_000), start('a', 9_000), start('b', 1_000), start('c', 5_000), start('d', PART_LINES)]
    await settled()
    expect(begun).toEqual(['a 10000', 'b 1000', 'd 250'])
    open[2]?.resolve()
    await settled()
    expect(begun.slice(3)).toEqual(['c 5000'])
    for (const end of open) end.resolve()
    await Promise.all(all)
  })

  it('follow each other without a pause', async () => {
    const all = [start('a', 10_000), start('a', 9_000)]
    open[0]?.resolve()
    await all[0]
    await settled()
    expect(begun).toEqual(['a 10000', 'a 9000'])
    open[1]?.resolve()
    await Promise.all(all)
  })

  it('lets eight of an account wait, and refuses the next', async () => {
    const all = Array.from({ length: 9 }, () => start('a', 10))
    await expect(start('a', 10)).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'Retry-After': '5' },
    })
    for (const end of open) end.resolve()
    await Promise.all(all)
  })

  it('never has two of one account at once, whatever is asked for, and runs all', async () => {
    const works = fc.array(
      fc.record({
        account: fc.constantFrom('a', 'b', 'c'),
        lines: fc.constantFrom(1, 250, 251, 10_000),
        turns: fc.nat(5),
      }),
      { maxLength: 24 },
    )
    await fc.assert(
      fc.asyncProperty(works, async (asked) => {
        const run = createBulkWork({ connections: 4 })
        const running: string[] = []
        const overlaps: string[] = []
        let ran = 0
        const perAccount = new Map<string, number>()
        // Beyond these, works are refused.
        const admitted = asked.filter(({ account }) => {
          perAccount.set(account, (perAccount.get(account) ?? 0) + 1)
          return (perAccount.get(account) ?? 0) <= 9
        })
        await Promise.all(
          admitted.map(({ account, lines, turns }) =>
            run(account, lines, async () => {
              if (running.includes(account)) overlaps.push(account)
              running.push(account)
              for (let turn = 0; turn < turns; turn += 1) await settled()
              running.splice(running.indexOf(account), 1)
              ran += 1
            }),
          ),
        )
        expect(overlaps).toEqual([])
        expect(ran).toBe(admitted.length)
      }),
    )
  })
})
