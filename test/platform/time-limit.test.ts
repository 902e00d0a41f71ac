import { expect, it } from 'vitest'
import { endsWithin, failsNoEarlier } from '#src/platform/time-limit.ts'

const LIMIT_MS = 60
// A timer is exact to a millisecond.
const AT_LEAST_MS = LIMIT_MS - 2

it('work is waited for no longer than its limit, and its failure after that has no listener', async () => {
  expect(await endsWithin(Promise.resolve(1), 10_000)).toBe(true)
  expect(await endsWithin(new Promise(() => {}), 1)).toBe(false)
  await expect(endsWithin(Promise.reject(new Error('x')), 10_000)).rejects.toThrow('x')
})

it('a failure shows nothing of how soon it came, and success does not wait', async () => {
  const timeOf = async (work: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await expect(failsNoEarlier(LIMIT_MS, work)).rejects.toThrow('refused')
    return performance.now() - startedAt
  }
  const refuse = async () => {
    throw new Error('refused')
  }
  expect(await timeOf(refuse)).toBeGreaterThan(AT_LEAST_MS)
  expect(await timeOf(() => new Promise((_, fail) => setTimeout(fail, 10, new Error('refused'))))).toBeGreaterThan(
    AT_LEAST_MS,
  )
  // Later than the limit: at once.
  expect(await timeOf(() => new Promise((_, fail) => setTimeout(fail, 90, new Error('refused'))))).toBeGreaterThan(88)
  // A limit that would outlast the test.
  expect(await failsNoEarlier(1_000_000, async () => 7)).toBe(7)
})
