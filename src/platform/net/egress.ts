// https runs in threads of its own, for a handshake takes as long as the server wants it to: what it holds up there is neither
// the process nor the accounts of the other thread. An account is always in one thread. Deadlines are kept out here, so that
// an answer never waits for a thread. Threads start at the first call.

import { Worker } from 'node:worker_threads'
import { type Connector, interruption, type Untimed } from './caller.ts'
import type { EgressData, FromThread, ToThread } from './egress-thread.ts'

export interface EgressOptions {
  ca?: string | undefined
  threads?: number
  /** The thread's file. Another one only where a test wants a thread that misbehaves. */
  thread?: URL
  /** After which a thread that does not react to the end of a call is replaced. */
  stuckMs?: number
}

interface Lane {
  worker: Worker | undefined
  calls: Map<number, Call>
  /** When its thread last said anything. */
  heardAt: number
}

interface Call {
  address: string
  settle(answer: Untimed): void
  fail(error: Error): void
}

// A thread tells the status that came before the deadline, if it reacts; if not, there is an answer without it.
const GRACE_MS = 500
// A handshake takes a fraction of a second at most (MAX_HANDSHAKE_BYTES): beyond this the thread hangs.
const STUCK_MS = 10_000

export function createEgress({
  ca,
  threads = 2,
  thread = new URL('./egress-thread.ts', import.meta.url),
  stuckMs = STUCK_MS,
}: EgressOptions = {}): Connector {
  const lanes = Array.from({ length: threads }, (): Lane => ({ worker: undefined, calls: new Map(), heardAt: 0 }))
  const ending = new Set<Promise<unknown>>()
  let isClosed = false
  let lastId = 0

  function start(lane: Lane): Worker {
    const workerData: EgressData = { ca }
    // No environment and no flags: the thread needs no secret, and flags of the process may not fit a thread.
    const worker = new Worker(thread, { env: {}, execArgv: [], name: 'egress', workerData })
    // The deadline of a call keeps the process alive; an idle thread must not.
    worker.unref()
    lane.worker = worker
    worker.on('message', (message: FromThread) => {
      lane.heardAt = performance.now()
      const call = lane.calls.get(message.id)
      if (call === undefined) return
      if ('fault' in message) call.fail(new Error(`an https call failed of itself: ${message.fault}`))
      else call.settle(restored(message.answer))
    })
    for (const event of ['error', 'messageerror', 'exit'] as const) {
      worker.on(event, () => drop(lane, worker, 'the thread of the connection ended'))
    }
    return worker
  }

  /** Ends a thread; its calls are answered, and the next one starts another. */
  function drop(lane: Lane, worker: Worker, detail: string): void {
    if (lane.worker !== worker) return
    lane.worker = undefined
    for (const { address, settle } of [...lane.calls.values()]) settle({ ok: false, code: 'reset', detail, address })
    const ended = worker.terminate().finally(() => ending.delete(ended))
    ending.add(ended)
  }

  return {
    call({ target, address, account }, { method, headers, body, maxResponseBytes }, deadline) {
      if (isClosed) return Promise.resolve({ ok: false, code: 'reset', detail: 'closed', address, isUnconnected: true })
      const lane = lanes[laneOf(account, lanes.length)] ?? lanes[0]
      if (lane === undefined) throw new Error('there is no egress thread')
      const worker = lane.worker ?? start(lane)
      const id = ++lastId
      const post = (message: ToThread, moved: ArrayBuffer[] = []) => worker.postMessage(message, moved)

      return new Promise((done, refuse) => {
        let grace: NodeJS.Timeout | undefined
        const finish = () => {
          clearTimeout(grace)
          stopWaiting()
          lane.calls.delete(id)
        }
        lane.calls.set(id, {
          address,
          settle(answer) {
            finish()
            done(answer)
          },
          fail(error) {
            finish()
            refuse(error)
          },
        })
        // A copy that can be moved: the caller keeps its own, which may stand in a pool with other bytes.
        const sent = body && new Uint8Array(body)
        const request = { method, headers, maxResponseBytes, ...(sent && { body: sent }) }
        post({ op: 'call', id, to: { target, address, account }, request }, sent && [sent.buffer])
        const stopWaiting = deadline.onEnd(() => {
          const problem = interruption(deadline)
          if (problem === undefined) return
          const endedAt = performance.now()
          post({ op: 'end', id, reason: problem.code === 'timeout' ? 'timeout' : 'aborted' })
          grace = setTimeout(() => lane.calls.get(id)?.settle({ ok: false, ...problem, address }), GRACE_MS)
          setTimeout(() => {
            if (lane.heardAt < endedAt) drop(lane, worker, 'the thread of the connection did not react')
          }, stuckMs).unref()
        })
      })
    },

    async close() {
      isClosed = true
      for (const lane of lanes) if (lane.worker !== undefined) drop(lane, lane.worker, 'closed')
      await Promise.all(ending)
    },
  }
}

// FNV-1a: ids share their beginnings.
function laneOf(account: string, count: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < account.length; at += 1) hash = Math.imul(hash ^ account.charCodeAt(at), 0x01000193) >>> 0
  return hash % count
}

// What a message brings along of a Buffer is a Uint8Array.
function restored(answer: Untimed): Untimed {
  if (!answer.ok) return answer
  const { buffer, byteOffset, byteLength } = answer.body
  return { ...answer, body: Buffer.from(buffer, byteOffset, byteLength) }
}
