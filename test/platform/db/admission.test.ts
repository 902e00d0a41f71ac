import { describe, expect, it } from 'vitest'
import { createAdmission } from '#src/platform/db/admission.ts'
import { isUnavailable } from '#src/platform/unavailable.ts'

// What still waits when a test ends must not be refused while a later file runs in this process.
const LONG_MS = 3_600_000

const turn = () => new Promise<void>((done) => setImmediate(done))

/** Admissions in the order in which they were given, each with its release. */
function makeHall(options: Partial<Parameters<typeof createAdmission>[0]> = {}) {
  const admission = createAdmission({ slots: 4, timeoutMs: LONG_MS, ...options })
  const entered: { name: string; leave: () => void }[] = []
  const enter = (name: string, account = name.charAt(0)) =>
    admission.enter(account).then((leave) => void entered.push({ name, leave }))
  const leave = async (name: string) => {
    const index = entered.findIndex((one) => one.name === name)
    entered.splice(index, 1)[0]?.leave()
    await turn()
  }
  return { admission, enter, leave, names: () => entered.map(({ name }) => name) }
}

describe('admission to a pool', () => {
  it('leaves one connection to the other accounts', async () => {
    const { admission, enter, names } = makeHall()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void enter(name)
    await turn()
    expect(names()).toEqual(['a1', 'a2', 'a3', 'b1'])
    expect(admission.waiting()).toBe(2)
  })

  it('serves accounts in turn, and each account in the order of its callers', async () => {
    const { enter, leave, names } = makeHall({ slots: 2, perAccount: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void enter(name)
    const order: string[] = []
    for (let step = 0; step < 7; step += 1) {
      await turn()
      const [first = ''] = names()
      order.push(first)
      await leave(first)
    }
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
  })

  it('skips an account that has its share, and returns to it later', async () => {
    const { enter, leave, names } = makeHall({ slots: 2 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void enter(name)
    await turn()
    expect(names()).toEqual(['a1', 'b1'])
    await leave('b1')
    expect(names()).toEqual(['a1', 'b2'])
    await leave('a1')
    expect(names()).toEqual(['b2', 'a2'])
  })

  it('releases a connection once, however often that is called', async () => {
    const admission = createAdmission({ slots: 1, timeoutMs: LONG_MS })
    const leave = await admission.enter('a')
    leave()
    leave()
    await admission.enter('a')
    const second = admission.enter('b')
    await turn()
    expect(admission.waiting()).toBe(1)
    void second
  })

  it('refuses a caller that waited for too long, and removes it from the queue', async () => {
    const { admission, enter, leave, names } = makeHall({ slots: 1, timeoutMs: 20 })
    await enter('a1')
    const error = await enter('a2').catch((reason: unknown) => reason)
    expect(isUnavailable(error)).toBe(true)
    expect(admission.waiting()).toBe(0)
    void enter('b1')
    await leave('a1')
    expect(names()).toEqual(['b1'])
  })
})
