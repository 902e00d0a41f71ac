// A client that does what the API asks of it: after a 503 with Retry-After it waits and sends the same request again. A
// lock that times out after 0.9 s is an ordinary answer on a busy machine, and nothing was done.

import { setTimeout as delay } from 'node:timers/promises'

const PATIENCE_MS = 60_000
// A test need not wait for all of a longer pause: the server is its own.
const LONGEST_PAUSE_MS = 2_000

interface Answer {
  status: number
  retryAfter: string | null | undefined
}

/** Sends until the answer is no longer "come again", for a minute at most; then that is the answer. */
export async function sendAgain<A>(send: () => Promise<A>, read: (answer: A) => Answer): Promise<A> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await send()
    const { status, retryAfter } = read(answer)
    if (status !== 503 || !/^\d+$/.test(retryAfter ?? '') || performance.now() > deadline) return answer
    await delay(Math.min(Number(retryAfter) * 1_000, LONGEST_PAUSE_MS))
  }
}

/** `fetch` of a body that can be sent twice. */
export function fetchAgain(url: string, init: Omit<RequestInit, 'body'> & { body?: string } = {}): Promise<Response> {
  return sendAgain(
    () => fetch(url, init),
    ({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') }),
  )
}
