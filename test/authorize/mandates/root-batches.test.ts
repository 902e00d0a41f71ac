import { describe, expect, it } from 'vitest'
import { createRootBatches, type Decided, type RootItem, Undone } from '#src/authorize/mandates/root-batches.ts'

const SCOPE = { accountId: 'acc_1', environment: 'sandbox' } as const

interface Named extends RootItem {
  name: string
}

const item = (name: string, mandateId = 'root', signal = new AbortController().signal): Named => ({
  name,
  mandateId,
  signal,
  scope: SCOPE,
})

/** Batches whose transactions begin at once and end when they are told to. `become` says what becomes of a transaction. */
function start(options: { maxWaitMs?: number; become?: (names: string[]) => Decided<string>[] } = {}) {
  const { become = (names) => names.map((name) => ({ result: name })), ...more } = options
  const taken: string[][] = []
  let ends = Promise.withResolvers<void>()
  const batches = createRootBatches<Named, string>({
    random: () => 0.5,
    ...more,
    async decideAll(_first, take) {
      const names = take().map(({ name }) => name)
      taken.push(names)
      await ends.promise
      return become(names)
    },
  })
  return {
    ...batches,
    taken,
    end() {
      ends.resolve()
    },
    hold() {
      ends = Promise.withResolvers<void>()
    },
  }
}

const lockTimeout = () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })

describe('executions of one root', () => {
  it('that wait are decided in one transaction, in the order of their arrival, beside those of another root', async () => {
    const { decide, learn, taken, end } = start()
    learn('child', 'root')
    const first = decide(item('a'))
    const others = [
      decide(item('b', 'child')),
      decide(item('c')),
      decide(item('d', 'other')),
      decide(item('e', 'child')),
    ]
    expect(taken).toEqual([['a'], ['d']])
    end()
    expect(await Promise.all([first, ...others])).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(taken).toEqual([['a'], ['d'], ['b', 'c', 'e']])
  })

  it('of two accounts or environments are never decided together', async () => {
    const { decide, taken, end } = start()
    const scopes = [SCOPE, { ...SCOPE, accountId: 'acc_2' }, { ...SCOPE, environment: 'live' as const }]
    const all = scopes.map((scope, index) => decide({ ...item(String(index)), scope }))
    expect(taken).toEqual([['0'], ['1'], ['2']])
    end()
    await Promise.all(all)
  })

  it('are split over transactions of bounded size', async () => {
    const { decide, taken, end } = start()
    const all = Array.from({ length: 70 }, (_, index) => decide(item(String(index))))
    end()
    expect(await Promise.all(all)).toEqual(Array.from({ length: 70 }, (_, index) => String(index)))
    expect(taken.map(({ length }) => length)).toEqual([1, 32, 32, 5])
  })

  it('keep their own errors: one that is refused does not affect the others', async () => {
    const become = (names: string[]) =>
      names.map((name) => (name === 'c' ? { error: new Error('refused') } : { result: name }))
    const { decide, end } = start({ become })
    const all = ['a', 'b', 'c', 'd'].map((name) => decide(item(name)))
    end()
    expect(await Promise.allSettled(all)).toMatchObject([
      { value: 'a' },
      { value: 'b' },
      { reason: { message: 'refused' } },
      { value: 'd' },
    ])
  })

  it('whose transaction was undone are tried alone, in order, so that only the one that fails is answered an error', async () => {
    const { decide, taken, end } = start({
      become(names) {
        if (names.includes('c')) throw new Undone(new Error('a fault'), names.length)
        return names.map((name) => ({ result: name }))
      },
    })
    const all = ['a', 'b', 'c', 'd'].map((name) => decide(item(name)))
    end()
    expect(await Promise.allSettled(all)).toMatchObject([
      { value: 'a' },
      { value: 'b' },
      { reason: { message: 'a fault' } },
      { value: 'd' },
    ])
    expect(taken).toEqual([['a'], ['b', 'c', 'd'], ['b'], ['c'], ['d']])
  })

  it('are tried again after a lock timeout, until they have waited for too long', async () => {
    let left = 3
    const become = (names: string[]) => {
      left -= 1
      if (left >= 0) throw new Undone(lockTimeout(), names.length)
      return names.map((name) => ({ result: name }))
    }
    const { decide, taken, end } = start({ become })
    end()
    expect(await decide(item('a'))).toBe('a')
    expect(taken).toHaveLength(4)

    const stuck = start({
      maxWaitMs: 20,
      become: (names) => {
        throw new Undone(lockTimeout(), names.length)
      },
    })
    stuck.end()
    await expect(stuck.decide(item('a'))).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('are refused when they wait for too long, with a Retry-After that spreads, and are not decided later', async () => {
    const { decide, taken, end } = start({ maxWaitMs: 20 })
    const running = decide(item('a'))
    const late = decide(item('b'))
    await expect(late).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '3' } })
    end()
    // What has begun is waited for.
    expect(await running).toBe('a')
    expect(await decide(item('c'))).toBe('c')
    expect(taken.flat()).toEqual(['a', 'c'])
  })

  it('are not decided where the client has left before, and do not affect the others', async () => {
    const { decide, taken, end } = start()
    const leaving = new AbortController()
    const first = decide(item('a'))
    const gone = decide(item('b', 'root', leaving.signal))
    const next = decide(item('c'))
    leaving.abort(new Error('left'))
    await expect(gone).rejects.toThrow('left')
    await expect(decide(item('d', 'root', leaving.signal))).rejects.toThrow('left')
    end()
    expect(await Promise.all([first, next])).toEqual(['a', 'c'])
    expect(taken).toEqual([['a'], ['c']])
  })
})
