// One request and its answer, on undici's lowest interface: the stream and the signal that its request() makes for each
// call cost as much as the call itself.

import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'
import type { PartialAnswer } from './outbound.ts'

export type HttpExchange = {
  /** From the request's start on a connection to the head of its answer. */
  firstByteMs: number | null
} & (
  | { received: Received }
  | {
      error: Error
      /** The status that came before the body failed, with what came of the answer. */
      status: number | undefined
      partial: PartialAnswer | undefined
    }
)

interface Received {
  status: number
  /** Names in lower case; repeated ones joined by a comma. */
  headers: ReadonlyMap<string, string>
  body: Buffer
  isTruncated: boolean
}

type Fields = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/** Code of the error when an answer has no valid status. */
export const INVALID_STATUS = 'INVALID_STATUS'

// No code reads this error: the answer has been given by then.
const OVER = new Error('the call is over')

interface ExchangeOptions {
  maxBytes: number
  deadline: Deadline
  /** The request is on a connection. */
  onStart(): void
}

/**
 * Never rejects. The part of the body after `maxBytes` is not read: the connection is dropped, and that is no error.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { maxBytes, deadline, onStart }: ExchangeOptions,
): Promise<HttpExchange> {
  return new Promise((done) => {
    const chunks: Buffer[] = []
    let size = 0
    let status: number | undefined
    let fields: Fields = {}
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    let startedAt: number | undefined
    let firstByteMs: number | null = null
    let stopWaiting = () => {}

    const end = (how: { received: Received } | { error: Error }) => {
      if (isOver) return
      isOver = true
      stopWaiting()
      if ('received' in how) return done({ ...how, firstByteMs })
      const partial = status === undefined ? undefined : { headers: flatten(fields), body: Buffer.concat(chunks) }
      done({ ...how, status, partial, firstByteMs })
    }
    const receive = (isTruncated: boolean) => {
      if (status === undefined) return end({ error: OVER })
      end({ received: { status, headers: flatten(fields), body: Buffer.concat(chunks), isTruncated } })
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        startedAt = performance.now()
        onStart()
        // The connection was not ready in time. The next call can use it.
        if (isOver) started.abort(OVER)
      },
      onResponseStart(_, code, given) {
        // RFC 9110 15: a status is 100 at least. The parser lets 000 pass.
        if (code < 100) {
          const line = `the status ${String(code).padStart(3, '0')}, which is below 100`
          end({ error: Object.assign(new Error(line), { code: INVALID_STATUS }) })
          return void controller?.abort(OVER)
        }
        // 103 and other interim responses come before the answer.
        if (code < 200) return
        if (startedAt !== undefined) firstByteMs = Math.round(performance.now() - startedAt)
        status = code
        fields = given
      },
      onResponseData(current, chunk) {
        if (isOver) return
        const fitting = chunk.subarray(0, maxBytes - size)
        chunks.push(fitting)
        size += fitting.length
        if (fitting.length === chunk.length) return
        receive(true)
        current.abort(OVER)
      },
      onResponseEnd: () => receive(false),
      onResponseError: (_, error) => end({ error }),
    })
    stopWaiting = deadline.onEnd(() => {
      end({ error: OVER })
      controller?.abort(OVER)
    })
    // The deadline may have ended before this line, or the call may have failed at once.
    if (isOver) stopWaiting()
  })
}

function flatten(fields: Fields): Map<string, string> {
  const flat = new Map<string, string>()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) flat.set(name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value)
  }
  return flat
}

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
