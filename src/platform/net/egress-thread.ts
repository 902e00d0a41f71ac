// The inside of an egress thread: it calls addresses that the main thread has checked, over TLS, and ends a call on
// request.

import { parentPort, workerData } from 'node:worker_threads'
import { type CallerRequest, createCaller, type Destination, type Untimed } from './caller.ts'
import { createManualDeadline, type EndReason } from './deadline.ts'
import { createHandshakes } from './handshakes.ts'
import { createSecureConnectors } from './tls.ts'

export interface EgressData {
  ca: string | undefined
  heavyMs: number | undefined
}

export type ToThread =
  | { op: 'call'; id: number; to: Destination; request: CallerRequest }
  | { op: 'end'; id: number; reason: EndReason }

/** `fault`: an error of this service, not of the receiver. */
export type FromThread = { id: number } & ({ answer: Untimed } | { fault: string })

const { ca, heavyMs }: EgressData = workerData
const caller = createCaller({
  // The account is part of the key: the processor time of a handshake is charged to the account that caused it.
  keyOf: ({ account, target, address }) => `${account} ${target.origin} ${address}`,
  connectorOf: createSecureConnectors({ ca, handshakes: createHandshakes({ heavyMs }) }),
})
const calls = new Map<number, (reason: EndReason) => void>()

parentPort?.on('message', (message: ToThread) => {
  if (message.op === 'call') void run(message)
  else calls.get(message.id)?.(message.reason)
})

async function run({ id, to, request }: Extract<ToThread, { op: 'call' }>): Promise<void> {
  const { end, ...deadline } = createManualDeadline()
  calls.set(id, end)
  try {
    const answer = await caller.call(to, request, deadline)
    if (answer.ok) {
      const body = ownBytes(answer.body)
      return tell({ id, answer: { ...answer, body } }, [body.buffer])
    }
    if (answer.partial === undefined) return tell({ id, answer })
    const body = ownBytes(answer.partial.body)
    tell({ id, answer: { ...answer, partial: { ...answer.partial, body } } }, [body.buffer])
  } catch (error) {
    tell({ id, fault: error instanceof Error ? error.message : String(error) })
  } finally {
    calls.delete(id)
  }
}

// Moved, not copied: the bytes of a small body lie in a pool with others.
function ownBytes(body: Buffer): Buffer<ArrayBuffer> {
  return Buffer.from(new Uint8Array(body).buffer)
}

function tell(message: FromThread, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved)
}
