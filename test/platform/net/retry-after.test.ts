import { expect, it } from 'vitest'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'

it('an absent Retry-After is undefined', () => {
  expect(parseRetryAfter(undefined, new Date())).toBeUndefined()
})
