// Spaces the requests of a run by the RateLimit fields of the answers (draft-ietf-httpapi-ratelimit-headers-10), so that a
// narrow limit is used up evenly and the service refuses nothing.

import { setTimeout as delay } from 'node:timers/promises'

type Headers = Record<string, string | string[] | undefined>

export interface PaceOptions {
  /** Requests that may be on their way at the same time: the answers do not count these yet. */
  connections: number
  now?: () => number
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

export type Pace = ReturnType<typeof createPace>

export function createPace({ connections, now = () => performance.now(), sleep = pause }: PaceOptions) {
  let intervalMs = 0
  let nextAt = 0

  return {
    /** Waits for the turn of the next request. */
    async turn(signal: AbortSignal): Promise<void> {
      const at = Math.max(now(), nextAt)
      nextAt = at + intervalMs
      const waitMs = at - now()
      if (waitMs > 0) await sleep(waitMs, signal)
    },

    /** Reads the fields of an answer. Without them, as where the limits are off, requests are not spaced. */
    learn(headers: Headers): void {
      const quota = fieldOf(headers['ratelimit-policy'], 'q')
      const windowSeconds = fieldOf(headers['ratelimit-policy'], 'w')
      const left = fieldOf(headers.ratelimit, 'r')
      const isKnown = quota !== undefined && quota > 0 && windowSeconds !== undefined && left !== undefined
      intervalMs = isKnown && left <= connections ? (windowSeconds * 1_000) / quota : 0
      // Another program uses the same key: its requests are not spaced by this run.
      if (left === 0) nextAt = Math.max(nextAt, now() + (fieldOf(headers.ratelimit, 't') ?? 1) * 1_000)
    },

    /** Time between two requests while the limit is near; otherwise 0. */
    intervalMs: (): number => intervalMs,
  }
}

// A parameter of the first member: `"default";q=10;w=1`.
function fieldOf(header: string | string[] | undefined, name: string): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  const [member = ''] = (text ?? '').split(',')
  const value = new RegExp(`;\\s*${name}=(\\d{1,9})(?![\\d.])`).exec(member)?.[1]
  return value === undefined ? undefined : Number(value)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal })
}
