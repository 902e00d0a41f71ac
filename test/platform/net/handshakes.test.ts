import { describe, expect, it } from 'vitest'
import { createHandshakes } from '#src/platform/net/handshakes.ts'

/** Handshakes on a clock and a processor of the test's: each piece takes as long as it says. */
function makeHandshakes() {
  let nowMs = 0
  let cpuMs = 0
  const handshakes = createHandshakes({ budgetMs: 100, heavyMs: 40, now: () => nowMs, cpu: () => cpuMs })
  const done: string[] = []
  return {
    ...handshakes,
    done,
    pass: (ms: number) => {
      nowMs += ms
    },
    /** Resolves in the turn in which the piece was run or refused. */
    piece: (account: string, ms: number, label = account) =>
      new Promise<string | undefined>((settle) =>
        handshakes.enqueue(account, {
          run() {
            cpuMs += ms
            done.push(label)
            settle(undefined)
          },
          refuse: settle,
        }),
      ),
  }
}

describe('the handshake budget of an account', () => {
  it('limits the time of its handshakes per minute, and refuses further ones', async () => {
    const { piece, refusal, pass } = makeHandshakes()
    for (let count = 0; count < 10; count += 1) expect(await piece('a', 10)).toBeUndefined()
    expect(await piece('a', 10)).toContain('100 ms')
    expect(refusal('a')).toContain('60 s')
    expect(refusal('b')).toBeUndefined()
    pass(59_999)
    expect(refusal('a')).toContain('1 s')
    pass(1)
    expect(refusal('a')).toBeUndefined()
    expect(await piece('a', 10)).toBeUndefined()
  })

  it('is spent by one heavy handshake', async () => {
    const { piece, refusal } = makeHandshakes()
    expect(await piece('a', 39)).toBeUndefined()
    expect(refusal('a')).toBeUndefined()
    expect(await piece('a', 40)).toBeUndefined()
    expect(refusal('a')).toBeDefined()
  })

  it('refuses waiting handshakes when it is spent', async () => {
    const { piece } = makeHandshakes()
    const answers = await Promise.all([piece('a', 50), piece('a', 50), piece('b', 1), piece('a', 50)])
    expect(answers.map((answer) => answer === undefined)).toEqual([true, false, true, false])
  })
})

describe('pieces of handshakes', () => {
  it('are run one per turn of the loop, accounts in turn', async () => {
    const { piece, done } = makeHandshakes()
    const all = [
      piece('a', 1, 'a1'),
      piece('a', 1, 'a2'),
      piece('a', 1, 'a3'),
      piece('b', 1, 'b1'),
      piece('c', 1, 'c1'),
    ]
    const perTurn: number[] = []
    while (done.length < all.length) {
      const before = done.length
      await new Promise((resolve) => setImmediate(resolve))
      perTurn.push(done.length - before)
    }
    expect(Math.max(...perTurn)).toBe(1)
    expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  })
})
