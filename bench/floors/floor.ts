// The common frame of every floor process.

import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers requests on a free port, and reports the port. */
export function serve(answer: RequestListener): void {
  // Same time-out as ours: a connection that waits for its turn must not be closed.
  const server = createServer({ keepAliveTimeout: 75_000 }, answer).listen(0, '127.0.0.1', () => {
    process.send?.({ ready: true, port: (server.address() as AddressInfo).port })
  })
  endInOrder()
}

/** Runs the tasks that the benchmark sends, one at a time. */
export function work<Task>(handle: (task: Task) => Promise<unknown>): void {
  process.on('message', (message: { task: Task }) => {
    void handle(message.task).then((answer) => process.send?.(answer))
  })
  endInOrder()
  process.send?.({ ready: true })
}

export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  return Buffer.concat(chunks)
}

// exit() and not a signal: only then is a CPU profile written.
function endInOrder(): void {
  process.on('SIGTERM', () => process.exit(0))
  process.on('disconnect', () => process.exit(0))
}

/** A setting that the benchmark must pass. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is missing`)
  return value
}
