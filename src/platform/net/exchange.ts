// One request and its answer, on undici's lowest interface: the stream and the signal that its request() makes for each
// call cost as much as the call itself.

import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'

export type HttpExchange =
  | { received: Received }
  | {
      error: Error
      /** The status that came before the body failed. */
      status: number | undefined
    }

interface Received {
  status: number
  /** Names in lower case; repeated ones joined by a comma. */
  headers: ReadonlyMap<string, string>
  body: Buffer
  isTruncated: boolean
}

type Fields = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

// No code reads this error: the answer has been given by then.
const OVER = new Error('the call is over')

/**
 * Never rejects. The part of the body after `maxBytes` is not read: the connection is dropped, and that is no error.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  maxBytes: number,
  deadline: Deadline,
): Promise<HttpExchange> {
  return new Promise((done) => {
    const chunks: Buffer[] = []
    let size = 0
    let status: number | undefined
    let fields: Fields = {}
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    let stopWaiting = () => {}

    const end = (how: HttpExchange) => {
      if (isOver) return
      isOver = true
      stopWaiting()
      done(how)
    }
    const receive = (isTruncated: boolean) => {
      if (status === undefined) return end({ error: OVER, status })
      end({ received: { status, headers: flatten(fields), body: Buffer.concat(chunks), isTruncated } })
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        // The connection was not ready in time. The next call can use it.
        if (isOver) started.abort(OVER)
      },
      onResponseStart(_, code, given) {
        // 103 and other interim responses come before the answer.
        if (code < 200) return
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
      onResponseError: (_, error) => end({ error, status }),
    })
    stopWaiting = deadline.onEnd(() => {
      end({ error: OVER, status })
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
