import { expect, it } from 'vitest'
import { endsWithin, failsNoEarlier, timeStep } from '#src/platform/time-limit.ts'
import { until } from '../support/until.ts'

const LIMIT_MS = 60
// A timer is exact to a millisecond.
const AT_LEAST_MS = LIMIT_MS - 2

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

function makeLog() {
  const said: { level: string; step?: unknown; message: unknown }[] = []
  const as =
    (level: string) =>
    (fields: { step?: unknown } | string, message?: string): void => {
      said.push({ level, step: typeof fields === 'string' ? undefined : fields.step, message })
    }
  return { said, log: { debug: as('debug'), warn: as('warn') } }
}

it('the duration of a step of stopping is in the log, and a slow step is named while it runs', async () => {
  const { said, log } = makeLog()
  expect(await timeStep(log, 'quick', async () => 'its result', 60_000)).toBe('its result')
  expect(said).toEqual([{ level: 'debug', step: 'quick', message: expect.any(String) }])

  const ending = Promise.withResolvers<void>()
  const slow = timeStep(log, 'slow', () => ending.promise, 1)
  await until(() => said.some(({ level }) => level === 'warn'))
  expect(said.at(-1)).toMatchObject({ level: 'warn', step: 'slow' })
  ending.resolve()
  await slow
  expect(said.at(-1)).toMatchObject({ level: 'debug', step: 'slow' })
})

it('a step that fails is in the log, and its error reaches the caller', async () => {
  const { said, log } = makeLog()
  await expect(timeStep(log, 'broken', () => Promise.reject(new Error('why')), 60_000)).rejects.toThrow('why')
  expect(said).toMatchObject([{ level: 'debug', step: 'broken' }])
})

it('work is waited for until its limit, and its error counts until then', async () => {
  expect(await endsWithin(Promise.resolve(), 60_000)).toBe(true)
  expect(await endsWithin(new Promise(() => {}), 1)).toBe(false)
  await expect(endsWithin(Promise.reject(new Error('why')), 60_000)).rejects.toThrow('why')
})
