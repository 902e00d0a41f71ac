import { expect, it } from 'vitest'
import { retryWhileSlow } from '#src/platform/db/retry.ts'

const withCode = (code: string) => Object.assign(new Error('told by its code'), { code })

// The driver, its pool, the admission before the pool, and Postgres itself, each in its own words.
it.concurrent.each([
  new Error('timeout exceeded when trying to connect'),
  new Error("timeout exceeded when trying to connect: 5000 ms in this account's queue"),
  new Error('Connection terminated due to connection timeout'),
  new Error('timeout expired'),
  new Error('Query read timeout'),
  withCode('57014'),
  withCode('55P03'),
  withCode('ETIMEDOUT'),
  new Error('wrapped', { cause: withCode('57014') }),
])('repeats a step of a start after %o', async (slow) => {
  const seen: unknown[] = []
  let tries = 0
  const step = async () => {
    tries += 1
    if (tries <= 2) throw slow
    return tries
  }
  expect(await retryWhileSlow(step, (error) => seen.push(error))).toBe(3)
  expect(seen).toEqual([slow, slow])
})

it.concurrent.each([
  withCode('ECONNREFUSED'),
  withCode('28P01'),
  withCode('57P03'),
  new Error('Cannot use a pool after calling end on the pool'),
])('ends a start that fails with %o', async (error) => {
  let tries = 0
  const step = async () => {
    tries += 1
    throw error
  }
  await expect(retryWhileSlow(step)).rejects.toBe(error)
  expect(tries).toBe(1)
})
