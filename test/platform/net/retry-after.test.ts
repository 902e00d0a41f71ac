import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'

interface Vectors {
  retry_after: { now: string; cases: { value: string; delay_ms: number | null }[] }
}
const { retry_after: vectors }: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/webhooks/schedule.json', import.meta.url), 'utf8'),
)

describe('Retry-After', () => {
  it.each(vectors.cases)('reads "$value" as $delay_ms', ({ value, delay_ms }) => {
    expect(parseRetryAfter(value, new Date(vectors.now)) ?? null).toBe(delay_ms)
  })

  it('is undefined when the header is absent', () => {
    expect(parseRetryAfter(undefined, new Date())).toBeUndefined()
  })
})
