// https runs in separate threads, because the server decides how long a handshake takes. A slow handshake blocks
// neither the process nor the accounts of the other threads. An account is always in the same thread. Deadlines are
// kept in the main thread, so that an answer never waits for an egress thread. Threads start at the first call.

import { Worker } from 'node:worker_threads'
import { type Connector, interruption, type Untimed } from './caller.ts'
import type { EgressData, FromThread, ToThread } from './egress-thread.ts'

export interface EgressOptions {
  ca?: string | undefined
  threads?: number
  /** The thread's file. Tests replace it with a thread that misbehaves. */
  thread?: URL
  /** A thread that does not react to the end of a call for this long is replaced. */
  stuckMs?: number
  /** Processor time of a handshake that spends its account's budget. Tests fit it to their machine. */
  heavyMs?: number
}

interface Lane {
  worker: Worker | undefined
  calls: Map<number, Call>
  /** Time of the thread's last message. */
  heardAt: number
}

interface Call {
  address: string
  settle(answer: Untimed): void
  fail(error: Error): void
}

// A thread reports the status that came before the deadline if it reacts; otherwise the answer has no status.
const GRACE_MS = 500
// A handshake takes a fraction of a second at most (MAX_HANDSHAKE_BYTES): after this time the thread hangs.
const STUCK_MS = 10_000

export function createEgress({
  ca,
  threads = 2,
  thread = new URL('./egress-thread.ts', import.meta.url),
  stuckMs = STUCK_MS,
  heavyMs,
}: EgressOptions = {}): Connector {
  const lanes = Array.from({ length: threads }, (): Lane => ({ worker: undefined, calls: new Map(), heardAt: 0 }))
  const ending = new Set<Promise<unknown>>()
  let isClosed = false
  let lastId = 0

  function start(lane: Lane): Worker {
    const workerData: EgressData = { ca, heavyMs }
    // No environment and no flags: the thread needs no secret, and the process's flags may not suit a thread.
    const worker = new Worker(thread, { env: {}, execArgv: [], name: 'egress', workerData })
    // The deadline of a call keeps the process alive; an idle thread must not.
    worker.unref()
    lane.worker = worker
    worker.on('message', (message: FromThread) => {
      lane.heardAt = performance.now()
      const call = lane.calls.get(message.id)
      if (call === undefined) return
      if ('fault' in message) call.fail(new Error(`an egress thread failed in an https call: ${message.fault}`))
      else call.settle(restored(message.answer))
    })
    for (const event of ['error', 'messageerror', 'exit'] as const) {
      worker.on(event, () => drop(lane, worker, 'the thread of the connection ended'))
    }
    return worker
  }

  /** Ends a thread. Its calls are answered, and the next call starts another thread. */
  function drop(lane: Lane, worker: Worker, detail: string): void {
    if (lane.worker !== worker) return
    lane.worker = undefined
    const problem = { ok: false, code: 'reset', detail, isOurs: true } as const
    for (const { address, settle } of [...lane.calls.values()]) settle({ ...problem, address })
    const ended = worker.terminate().finally(() => ending.delete(ended))
    ending.add(ended)
  }

  return {
    call({ target, address, account }, { method, headers, body, maxResponseBytes }, deadline) {
      if (isClosed)
        return Promise.resolve({
          ok: false,
          code: 'reset',
          detail: 'closed',
          address,
          isUnconnected: true,
          isOurs: true,
        })
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
        // A copy that can be moved: the caller keeps its own, which may lie in a pool with other bytes.
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

// FNV-1a: ids have common prefixes.
function laneOf(account: string, count: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < account.length; at += 1) hash = Math.imul(hash ^ account.charCodeAt(at), 0x01000193) >>> 0
  return hash % count
}

// A Buffer arrives in a message as a Uint8Array.
function restored(answer: Untimed): Untimed {
  if (answer.ok) return { ...answer, body: bufferOf(answer.body) }
  const { partial } = answer
  return partial === undefined ? answer : { ...answer, partial: { ...partial, body: bufferOf(partial.body) } }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
