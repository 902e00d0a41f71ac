/**
 * Reads Retry-After (RFC 9110 10.2.3): seconds or an HTTP date. Milliseconds from `now`, or undefined for anything
 * else.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined || value.length > 40) return undefined
  if (/^[0-9]+$/.test(value)) return Number(value) * 1_000
  // Only the form that RFC 9110 5.6.7 allows senders: Date.parse alone would read nearly any text as some date.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return undefined
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
