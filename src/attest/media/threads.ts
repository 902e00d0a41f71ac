// Parsers run on bytes that strangers send, so they run in threads: what loops, crashes or eats memory there ends with its
// thread and is the answer to that one request. One request is in a thread at a time; all others wait out here, so that ending
// the thread costs none of them anything.

import { Worker } from 'node:worker_threads'

/** What could be found out. A refusal is a value: a stuck or unreadable file is an answer about that file. */
export type Inspection<V> = { ok: true; value: V } | { ok: false; code: InspectionCode; detail: string }

/** `missing` (not there, or can't be opened), `busy` and `closed` say nothing about what is in the file: ask again later. */
export type InspectionCode = 'unreadable' | 'timeout' | 'crashed' | 'missing' | 'busy' | 'closed'

/** What a thread says: `ready` once, then `done` once for each request. `isSpent` asks for another thread for the next one. */
export type Answer<V> = { op: 'ready' } | { op: 'done'; inspection: Inspection<V>; isSpent?: boolean }

export interface ThreadsOptions<Request> {
  /** The thread's file. */
  thread: URL
  /** Started when first needed. */
  threads: number
  /** For one request, from its start in the thread. */
  limitMs: number
  /** Waiting requests, beyond which the answer is `busy`. */
  maxWaiting: number
  /** Asked when a thread is started. */
  workerData?: () => unknown
  /** What overtakes the others while it waits. */
  isUrgent?: (request: Request) => boolean
}

export interface Threads<Request> {
  submit<V>(request: Request): Promise<Inspection<V>>
  close(): void
}

interface Task<Request> {
  request: Request
  settle(inspection: Inspection<unknown>): void
}

interface Lane<Request> {
  worker: Worker | undefined
  isReady: boolean
  task: Task<Request> | undefined
  timer: NodeJS.Timeout | undefined
}

// Loading the image library takes 0.1 to 0.3 s on an idle machine; it is not the file's fault when it takes longer.
const START_LIMIT_MS = 30_000
// Of JavaScript memory. Pixels and WebAssembly are outside of it: the libraries' own limits bound those.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

const CLOSED = { ok: false, code: 'closed', detail: 'The inspector is shutting down.' } as const

export function createThreads<Request>({
  thread,
  threads,
  limitMs,
  maxWaiting,
  workerData = () => undefined,
  isUrgent = () => true,
}: ThreadsOptions<Request>): Threads<Request> {
  const lanes: Lane<Request>[] = Array.from({ length: threads }, () => newLane())
  const urgent: Task<Request>[] = []
  const patient: Task<Request>[] = []
  let isClosed = false

  function submit<V>(request: Request): Promise<Inspection<V>> {
    if (isClosed) return Promise.resolve(CLOSED)
    if (urgent.length + patient.length >= maxWaiting) {
      return Promise.resolve({ ok: false, code: 'busy', detail: 'Too many files are waiting to be inspected.' })
    }
    return new Promise((settle) => {
      const queue = isUrgent(request) ? urgent : patient
      // The thread answers a request with its own kind of value; its file ties the two together on its side.
      queue.push({ request, settle: (inspection) => settle(inspection as Inspection<V>) })
      for (const lane of lanes) advance(lane)
    })
  }

  function advance(lane: Lane<Request>): void {
    if (lane.task !== undefined) return
    const task = urgent.shift() ?? patient.shift()
    if (task === undefined) return
    lane.task = task
    if (lane.worker === undefined) start(lane)
    else if (lane.isReady) send(lane, task)
  }

  function start(lane: Lane<Request>): void {
    // No environment and no flags: the thread needs no secret, and flags of the process may not fit a thread.
    const worker = new Worker(thread, {
      env: {},
      execArgv: [],
      resourceLimits: RESOURCE_LIMITS,
      workerData: workerData(),
    })
    // The timer of a request keeps the process alive while there is work; an idle thread must not.
    worker.unref()
    lane.worker = worker
    lane.isReady = false
    worker.on('message', (answer: Answer<unknown>) => receive(lane, worker, answer))
    worker.on('messageerror', () => drop(lane, worker, 'crashed', 'The inspection gave no readable answer.'))
    worker.on('error', (error) => drop(lane, worker, 'crashed', crashDetail(error)))
    worker.on('exit', () => drop(lane, worker, 'crashed', 'The inspection ended without an answer.'))
    watch(lane, START_LIMIT_MS)
  }

  function send(lane: Lane<Request>, task: Task<Request>): void {
    watch(lane, limitMs)
    lane.worker?.postMessage(task.request)
  }

  function watch(lane: Lane<Request>, delayMs: number): void {
    const { worker } = lane
    clearTimeout(lane.timer)
    lane.timer = setTimeout(() => {
      if (worker !== undefined) drop(lane, worker, 'timeout', `The inspection took longer than ${delayMs} ms.`)
    }, delayMs)
  }

  function receive(lane: Lane<Request>, worker: Worker, answer: Answer<unknown>): void {
    if (lane.worker !== worker) return
    if (answer.op === 'ready') {
      lane.isReady = true
      if (lane.task === undefined) clearTimeout(lane.timer)
      else send(lane, lane.task)
      return
    }
    if (answer.isSpent === true) forget(lane, worker)
    finish(lane, answer.inspection)
  }

  /** Ends a thread that can't be trusted any more; what was in it is answered, what waits gets a new one. */
  function drop(lane: Lane<Request>, worker: Worker, code: InspectionCode, detail: string): void {
    if (lane.worker !== worker) return
    forget(lane, worker)
    finish(lane, { ok: false, code, detail })
  }

  function forget(lane: Lane<Request>, worker: Worker): void {
    lane.worker = undefined
    lane.isReady = false
    // Not awaited: a native call that never returns holds up the end of its thread, but nobody else.
    void worker.terminate()
  }

  function finish(lane: Lane<Request>, inspection: Inspection<unknown>): void {
    clearTimeout(lane.timer)
    const { task } = lane
    lane.task = undefined
    task?.settle(inspection)
    advance(lane)
  }

  return {
    submit,
    close() {
      isClosed = true
      for (const task of [...urgent.splice(0), ...patient.splice(0)]) task.settle(CLOSED)
      for (const lane of lanes) {
        if (lane.worker !== undefined) drop(lane, lane.worker, CLOSED.code, CLOSED.detail)
      }
    },
  }
}

const newLane = () => ({ worker: undefined, isReady: false, task: undefined, timer: undefined })

const crashDetail = (error: unknown): string =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'The inspection ran out of memory.'
    : 'The inspection crashed.'
