// A TCP relay that can be slow, stalled, cut or reset. It runs as a process of its own: all traffic between the system
// and its stores goes through it, and the process that drives a run must not slow that down.

import { type ChildProcess, fork } from 'node:child_process'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface Relay {
  port: number
  /** The targets of new connections: each in turn, and the next one when it refuses. */
  target(ports: readonly number[]): void
  /** Each chunk arrives this much later, in both directions. 0: no later. */
  slow(latencyMs: number): void
  /** No bytes move, and neither side is told; connections stay. */
  stall(): void
  /** Same as `stall`, permanently, but new connections work: the host has vanished, and another one has its address. */
  abandon(): void
  /** Ends every connection and accepts no new one. */
  cut(): void
  /** Ends every connection by a reset. */
  reset(): void
  /** Returns to the initial state. */
  restore(): void
  close(): void
}

interface Pair {
  client: Socket
  upstream: Socket
}

export async function startRelay(ports: readonly number[] = []): Promise<Relay> {
  let targets = ports
  let turn = 0
  let latencyMs = 0
  let isStalled = false
  let isCut = false
  const pairs = new Set<Pair>()
  const abandoned = new Set<Pair>()

  function join(client: Socket, tried: number): void {
    const port = targets[(turn + tried) % Math.max(1, targets.length)]
    if (port === undefined || tried >= targets.length) return void client.resetAndDestroy()
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    upstream.once('error', () => {
      if (upstream.connecting || upstream.bytesRead + upstream.bytesWritten === 0) return
      client.resetAndDestroy()
    })
    const refuse = () => join(client, tried + 1)
    upstream.once('error', refuse)
    upstream.once('connect', () => {
      upstream.removeListener('error', refuse)
      const pair = { client, upstream }
      pairs.add(pair)
      forward(client, upstream)
      forward(upstream, client)
      for (const socket of [client, upstream]) {
        socket.on('close', () => {
          pairs.delete(pair)
          client.destroy()
          upstream.destroy()
        })
      }
      if (isStalled) for (const socket of [client, upstream]) socket.pause()
    })
    client.once('close', () => upstream.destroy())
  }

  function forward(from: Socket, to: Socket): void {
    let lastDue = 0
    const write = (chunk: Buffer) => {
      if (to.destroyed) return
      if (!to.write(chunk)) from.pause()
    }
    from.on('data', (chunk: Buffer) => {
      if (latencyMs === 0 && performance.now() >= lastDue) return write(chunk)
      // The first bytes leave first, also when the relay becomes faster in between.
      lastDue = Math.max(lastDue, performance.now() + latencyMs)
      setTimeout(write, lastDue - performance.now(), chunk)
    })
    from.on('end', () => to.end())
    to.on('drain', () => {
      if (!isStalled) from.resume()
    })
  }

  const server: Server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => client.destroy())
    if (isCut) return void client.resetAndDestroy()
    turn += 1
    join(client, 0)
  })
  const each = (act: (socket: Socket) => void) => {
    for (const { client, upstream } of [...pairs]) for (const socket of [client, upstream]) act(socket)
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    target: (next) => {
      targets = next
    },
    slow: (ms) => {
      latencyMs = ms
    },
    stall() {
      isStalled = true
      each((socket) => socket.pause())
    },
    abandon() {
      each((socket) => socket.removeAllListeners('drain').pause())
      for (const pair of pairs) abandoned.add(pair)
      pairs.clear()
    },
    cut() {
      isCut = true
      each((socket) => socket.destroy())
    },
    reset: () => each((socket) => socket.resetAndDestroy()),
    restore() {
      latencyMs = 0
      isCut = false
      isStalled = false
      each((socket) => socket.resume())
    },
    close() {
      server.close()
      for (const pair of abandoned) pairs.add(pair)
      each((socket) => socket.destroy())
    },
  }
}

type Order = 'slow' | 'stall' | 'cut' | 'reset' | 'restore'

export interface Relays<Name extends string> {
  ports: Record<Name, number>
  target(name: Name, ports: readonly number[]): Promise<void>
  order(name: Name, order: Order, latencyMs?: number): Promise<void>
  stop(): void
}

/** Relays in a process of their own. They have no target until `target`. */
export async function startRelays<Name extends string>(names: readonly Name[]): Promise<Relays<Name>> {
  const child = fork(fileURLToPath(import.meta.url), names, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ask = asker(child)
  const ports = (await ask({ what: 'ports' })) as Record<Name, number>
  return {
    ports,
    target: async (name, targets) => void (await ask({ what: 'target', name, targets })),
    order: async (name, order, latencyMs = 0) => void (await ask({ what: 'order', name, order, latencyMs })),
    stop: () => void child.kill('SIGKILL'),
  }
}

type Question =
  | { what: 'ports' }
  | { what: 'target'; name: string; targets: readonly number[] }
  | { what: 'order'; name: string; order: Order; latencyMs: number }

function asker(child: ChildProcess): (question: Question) => Promise<unknown> {
  let last = 0
  const waiting = new Map<number, (answer: unknown) => void>()
  child.on('message', ({ n, answer }: { n: number; answer: unknown }) => {
    waiting.get(n)?.(answer)
    waiting.delete(n)
  })
  return (question) =>
    new Promise((resolve, reject) => {
      last += 1
      waiting.set(last, resolve)
      child.send({ n: last, question }, (error) => error && reject(error))
    })
}

if (import.meta.main) await serve(process.argv.slice(2))

async function serve(names: readonly string[]): Promise<void> {
  const relays = new Map<string, Relay>()
  for (const name of names) relays.set(name, await startRelay())
  process.on('disconnect', () => process.exit(0))
  process.on('message', ({ n, question }: { n: number; question: Question }) => {
    process.send?.({ n, answer: obey(relays, question) })
  })
}

function obey(relays: ReadonlyMap<string, Relay>, question: Question): unknown {
  if (question.what === 'ports') return Object.fromEntries([...relays].map(([name, { port }]) => [name, port]))
  const relay = relays.get(question.name)
  if (relay === undefined) throw new Error(`there is no relay ${question.name}`)
  if (question.what === 'target') relay.target(question.targets)
  else if (question.order === 'slow') relay.slow(question.latencyMs)
  else relay[question.order]()
  return true
}
