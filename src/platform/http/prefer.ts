// RFC 7240: the part of the Prefer request header that we support, and the answer to a caller that waited.

import { z } from 'zod'
import { type Reply, reply } from './endpoint.ts'

const DEFAULT_WAIT_SECONDS = 10
const MAX_WAIT_SECONDS = 30

const WAIT = `must be a whole number from 0 to ${MAX_WAIT_SECONDS}`

/** `?wait=30`: the same for a GET. */
export const waitQuery = z
  .string()
  .regex(/^[0-9]{1,2}$/, WAIT)
  .transform(Number)
  .refine((value) => value <= MAX_WAIT_SECONDS, WAIT)
  // A query is text; a client generator should see the number in it.
  .meta({ type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS, pattern: undefined })

export interface Preference {
  waitSeconds: number
  /** Value for `Preference-Applied` (RFC 7240 3); absent when the caller sent no preference that we support. */
  applied?: string
}

// RFC 7240 2: preference = token [ BWS "=" BWS word ] *( OWS ";" [ OWS parameter ] ). Sticky, so that each character is
// read once, whatever a stranger sends.
const PREFERENCE = /\s*([!#$%&'*+\-.^_`|~0-9a-z]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[!#$%&'*+\-.^_`|~0-9a-z]+))?/iy
const REST = /(?:[^",]|"(?:[^"\\]|\\.)*")*/y

/**
 * How long the caller wants to wait for a queued result. `wait=N` in seconds (RFC 7240 4.3), at most {@link
 * MAX_WAIT_SECONDS}; a header that is malformed or has no `wait` means {@link DEFAULT_WAIT_SECONDS}.
 */
export function parsePrefer(header: string | undefined): Preference {
  const wait = header === undefined ? undefined : findPreference(header, 'wait')
  if (wait === undefined || !/^[0-9]{1,9}$/.test(wait)) return { waitSeconds: DEFAULT_WAIT_SECONDS }
  const waitSeconds = Math.min(Number(wait), MAX_WAIT_SECONDS)
  return { waitSeconds, applied: `wait=${waitSeconds}` }
}

/**
 * 200 with a finished result, or 202 with where and when to ask for a queued one.
 * @param applied What was applied of the header Prefer.
 * @param status For a replay: the status of the first answer, whatever the state of its subject now.
 */
export function replyWaited<V>(
  view: V,
  {
    isQueued,
    location,
    applied,
    retryAfterSeconds,
    status = isQueued ? 202 : 200,
  }: {
    isQueued: boolean
    location: string
    applied?: string | undefined
    /** Seconds that a client should leave between two reads of something that waits in a queue. */
    retryAfterSeconds: number
    status?: number | undefined
  },
): Reply<V> {
  const headers: Record<string, string> = applied === undefined ? {} : { 'Preference-Applied': applied }
  if (status === 202) headers.Location = location
  if (isQueued) headers['Retry-After'] = String(retryAfterSeconds)
  return reply(status, view, headers)
}

// RFC 7240 2: if a preference occurs more than once, the first counts.
function findPreference(header: string, name: string): string | undefined {
  let at = 0
  while (at < header.length) {
    PREFERENCE.lastIndex = at
    const match = PREFERENCE.exec(header)
    const isWhole =
      match !== null && /^\s*(?:[,;]|$)/.test(header.slice(PREFERENCE.lastIndex, PREFERENCE.lastIndex + 64))
    if (isWhole && match[1]?.toLowerCase() === name) {
      const word = match[2] ?? ''
      return word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word
    }
    REST.lastIndex = match === null ? at : PREFERENCE.lastIndex
    REST.exec(header)
    if (header[REST.lastIndex] !== ',') return undefined
    at = REST.lastIndex + 1
  }
  return undefined
}
