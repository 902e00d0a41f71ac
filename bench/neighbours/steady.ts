// The honest tenant: requests that are sent at their times, whether or not earlier ones have been answered, and the
// webhooks that they cause. Measures latency from the time at which a request was due, at a rate that is a light load
// for the service.

import { createServer } from 'node:http'
import { Pool } from 'undici'

export interface Ask {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The status that an honest caller gets; several where it depends on the progress of the work. */
  status: number | readonly number[]
  /** Called with the body of a good answer. */
  after?(body: Buffer): void
}

export interface Routine {
  /** The route, `GET /v1/claims/:id`, and in parentheses what is special about the request. */
  name: string
  /** Undefined: there is nothing left to request. */
  next(): Ask | undefined
  perSecond: number
}

/** The samples of one name (a route, or deliveries) in a phase. */
export interface Seen {
  latenciesMs: number[]
  /** Answers that no honest caller should get, with their counts. */
  failures: Record<string, number>
}

export type Observed = Map<string, Seen>

const CONNECTIONS = 256
// A real caller would have given up by then; it counts as a failure that took this long.
const GIVE_UP_MS = 20_000
const TICK_MS = 2

export interface Steady {
  /** Sends what is due during this time, and returns when everything has been answered. */
  run(seconds: number): Promise<Observed>
  close(): Promise<void>
}

export function createSteady({
  port,
  key,
  routines,
}: {
  port: number
  key: string
  routines: readonly Routine[]
}): Steady {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 })

  async function send({ name }: Routine, ask: Ask, dueAt: number, observed: Observed): Promise<void> {
    const outcome = await answerOf(ask)
    const seen = seenOf(observed, name)
    seen.latenciesMs.push(performance.now() - dueAt)
    if (typeof outcome === 'string') seen.failures[outcome] = (seen.failures[outcome] ?? 0) + 1
    else ask.after?.(outcome)
  }

  async function answerOf({ method, path, headers, body, status }: Ask): Promise<Buffer | string> {
    try {
      const answer = await pool.request({
        method,
        path,
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: body ?? null,
        signal: AbortSignal.timeout(GIVE_UP_MS),
      })
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      if ([status].flat().includes(answer.statusCode)) return bytes
      return `${answer.statusCode} ${/"code":"([a-z_]+)"/.exec(bytes.toString('latin1', 0, 2_000))?.[1] ?? ''}`.trim()
    } catch (error) {
      return error instanceof Error ? error.name : 'no answer'
    }
  }

  return {
    async run(seconds) {
      const observed: Observed = new Map()
      const startedAt = performance.now()
      const due = planOf(routines, seconds)
      const sent: Promise<void>[] = []
      for (let next = 0; next < due.length; ) {
        const elapsed = performance.now() - startedAt
        for (let one = due[next]; one !== undefined && one.atMs <= elapsed; one = due[next]) {
          next += 1
          const ask = one.routine.next()
          if (ask !== undefined) sent.push(send(one.routine, ask, startedAt + one.atMs, observed))
        }
        await new Promise((done) => setTimeout(done, TICK_MS))
      }
      await Promise.all(sent)
      return observed
    },
    close: () => pool.close(),
  }
}

/** When each request is due, in order: each routine at its own rate, out of step with the others. */
export function planOf(routines: readonly Routine[], seconds: number): { atMs: number; routine: Routine }[] {
  return routines
    .flatMap((routine, index) => {
      const periodMs = 1_000 / routine.perSecond
      // Each is due at least once, and none after the end.
      const spanMs = Math.min(periodMs, seconds * 1_000)
      const offsetMs = (spanMs * ((index * 7) % routines.length)) / routines.length
      const count = Math.ceil((seconds * 1_000 - offsetMs) / periodMs)
      return Array.from({ length: count }, (_, turn) => ({ atMs: offsetMs + turn * periodMs, routine }))
    })
    .sort((left, right) => left.atMs - right.atMs)
}

export function seenOf(observed: Observed, name: string): Seen {
  const seen = observed.get(name) ?? { latenciesMs: [], failures: {} }
  observed.set(name, seen)
  return seen
}

export interface Receipt {
  /** Time of the event, ms of Unix time. */
  createdAt: number
  latencyMs: number
}

export interface Receiver {
  url: string
  /** Every delivery so far. */
  receipts: Receipt[]
  close(): Promise<void>
}

/** Receives webhooks, and records how long each event took to arrive. */
export async function startReceiver(): Promise<Receiver> {
  const receipts: Receipt[] = []
  const server = createServer(async (req, res) => {
    const at = performance.timeOrigin + performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    res.writeHead(204).end()
    const { created_at: createdAt } = JSON.parse(Buffer.concat(chunks).toString())
    receipts.push({ createdAt: Date.parse(createdAt), latencyMs: at - Date.parse(createdAt) })
  })
  server.keepAliveTimeout = 75_000
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    receipts,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
