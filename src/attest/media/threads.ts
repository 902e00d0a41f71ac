// Runs parsers of untrusted bytes in worker threads: code that loops, crashes or exhausts memory ends with its thread,
// and only its request fails. A thread has one request at a time and all others wait here, so ending the thread affects
// none of them. Slow requests, known or detected, run in a separate thread for slow ones.

import { type ResourceLimits, Worker } from 'node:worker_threads'
import { createFairQueue, type FairQueue } from '#src/platform/fair-queue.ts'

/** The result of an inspection. A refusal is a value: a stuck or unreadable file is an answer about that file. */
export type Inspection<V> = { ok: true; value: V } | { ok: false; code: InspectionCode; detail: string }

/**
 * `missing` (not there, or can't be opened), `busy` (too many wait, or the parser can't be started) and `closed` say nothing
 * about the file's content: retry later. Only the decoder answers `too_large`.
 */
export type InspectionCode = 'unreadable' | 'too_large' | 'timeout' | 'crashed' | 'missing' | 'busy' | 'closed'

/**
 * Messages of a thread: `ready` once, then `done` once per request. `isSpent` asks for a new thread for the next
 * request.
 */
export type ThreadAnswer<V> = { op: 'ready' } | { op: 'done'; inspection: Inspection<V>; isSpent?: boolean }

export interface ThreadsOptions<Request> {
  /** The thread's file. */
  thread: URL
  /** Started when first needed; the slow thread is additional. */
  threads: number
  /** Per request, from its start in the thread that answers it. */
  limitMs: number
  /** After this time a request restarts in the slow thread: the longest that one file delays the others. */
  quickMs: number
  /** The most requests that wait for the threads, and for the slow one; beyond that the answer is `busy`, as the fair queue says whose. */
  maxWaiting: number
  /** Called when a thread is started. */
  workerData?: (isAside: boolean) => unknown
  /** Which requests start in the slow thread. */
  isSlow?: (request: Request) => boolean
  /** Requests of one owner keep their order, and owners take turns. Without it, all have one owner. */
  ownerOf?: (request: Request) => string
  /** Limits of one thread's JavaScript memory and stack. */
  resourceLimits?: ResourceLimits
  /** Ends each thread that had no request for this long. Without it the slow one alone is ended, after 30 s. */
  idleMs?: number
  /**
   * Limits of unanswered requests that became slow: of all owners, and of one. Beyond them the answer is `busy`: where an owner
   * has two more than the one that comes, for its newest.
   */
  seats?: { all: number; each: number }
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
  isAside: boolean
  worker: Worker | undefined
  isReady: boolean
  task: Task<Request> | undefined
  timer: NodeJS.Timeout | undefined
}

// Loading the image library takes 0.1 to 0.3 s on an idle machine; a longer start is not the file's fault.
const START_LIMIT_MS = 30_000
// Limits JavaScript memory only; the libraries' own limits bound pixels and WebAssembly.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 }

// The slow thread is seldom needed, and its memory is free again when it has ended.
const IDLE_ASIDE_MS = 30_000

const CLOSED = { ok: false, code: 'closed', detail: 'The inspector is shutting down.' } as const
const NOT_STARTED = { ok: false, code: 'busy', detail: 'The parser could not be started.' } as const
const BUSY = { ok: false, code: 'busy', detail: 'Too many files are waiting to be inspected.' } as const

export function createThreads<Request>({
  thread,
  threads,
  limitMs,
  quickMs,
  maxWaiting,
  workerData = () => undefined,
  isSlow = () => false,
  ownerOf = () => '',
  resourceLimits = RESOURCE_LIMITS,
  idleMs,
  seats,
}: ThreadsOptions<Request>): Threads<Request> {
  const lanes: Lane<Request>[] = [...Array.from({ length: threads }, () => newLane(false)), newLane(true)]
  const quick = createFairQueue<Task<Request>>({ max: maxWaiting })
  const slow = createFairQueue<Task<Request>>({ max: maxWaiting })
  // Also of the one that runs, which is the oldest of its owner and so never evicted.
  const seated = createFairQueue<Task<Request>>({ max: seats?.all, maxEach: seats?.each })
  let isClosed = false

  function submit<V>(request: Request): Promise<Inspection<V>> {
    if (isClosed) return Promise.resolve(CLOSED)
    return new Promise((settle) => {
      // The thread answers a request with its own kind of value; the thread's file ties the two types together.
      const task: Task<Request> = { request, settle: (inspection) => settle(inspection as Inspection<V>) }
      enqueue(isSlow(request) ? slow : quick, task)
      for (const lane of lanes) advance(lane)
    })
  }

  function enqueue(queue: FairQueue<Task<Request>>, task: Task<Request>): void {
    const refused = queue.push(ownerOf(task.request), task)
    if (refused !== undefined) answer(refused, BUSY)
  }

  function answer(task: Task<Request>, inspection: Inspection<unknown>): void {
    seated.remove(ownerOf(task.request), task)
    task.settle(inspection)
  }

  function advance(lane: Lane<Request>): void {
    if (lane.task !== undefined) return
    const task = (lane.isAside ? slow : quick).shift()
    if (task === undefined) return
    lane.task = task
    if (lane.worker === undefined) start(lane)
    else if (lane.isReady) send(lane, task)
  }

  function start(lane: Lane<Request>): void {
    // No environment and no flags: the thread needs no secret, and flags of the process may not be valid for a thread.
    const worker = new Worker(thread, {
      env: {},
      execArgv: [],
      resourceLimits,
      workerData: workerData(lane.isAside),
    })
    // The timer of a request keeps the process alive while there is work; an idle thread must not.
    worker.unref()
    lane.worker = worker
    lane.isReady = false
    worker.on('message', (answer: ThreadAnswer<unknown>) => receive(lane, worker, answer))
    worker.on('messageerror', () => drop(lane, worker, 'crashed', 'The inspection gave no readable answer.'))
    worker.on('error', (error) => drop(lane, worker, 'crashed', crashDetail(error)))
    worker.on('exit', () => drop(lane, worker, 'crashed', 'The inspection ended without an answer.'))
    watch(lane, START_LIMIT_MS, () => stop(lane, worker, START_LIMIT_MS))
  }

  function send(lane: Lane<Request>, task: Task<Request>): void {
    const { worker } = lane
    if (worker === undefined) return
    if (lane.isAside || quickMs >= limitMs) watch(lane, limitMs, () => stop(lane, worker, limitMs))
    else watch(lane, quickMs, () => takeOut(lane, worker, task))
    worker.postMessage(task.request)
  }

  function watch(lane: Lane<Request>, delayMs: number, act: () => void): void {
    clearTimeout(lane.timer)
    lane.timer = setTimeout(act, delayMs)
  }

  function stop(lane: Lane<Request>, worker: Worker, afterMs: number): void {
    drop(lane, worker, 'timeout', `The inspection took longer than ${afterMs} ms.`)
  }

  function takeOut(lane: Lane<Request>, worker: Worker, task: Task<Request>): void {
    endThread(lane, worker)
    lane.task = undefined
    const refused = seated.push(ownerOf(task.request), task)
    if (refused !== undefined) {
      slow.remove(ownerOf(refused.request), refused)
      answer(refused, BUSY)
    }
    if (refused !== task) enqueue(slow, task)
    for (const other of lanes) advance(other)
  }

  function receive(lane: Lane<Request>, worker: Worker, answer: ThreadAnswer<unknown>): void {
    if (lane.worker !== worker) return
    if (answer.op === 'ready') {
      lane.isReady = true
      if (lane.task === undefined) clearTimeout(lane.timer)
      else send(lane, lane.task)
      return
    }
    if (answer.isSpent === true) endThread(lane, worker)
    finish(lane, answer.inspection)
  }

  /** Ends a thread that can't be trusted any more. Its request is answered; waiting requests get a new thread. */
  function drop(lane: Lane<Request>, worker: Worker, code: InspectionCode, detail: string): void {
    if (lane.worker !== worker) return
    const { isReady } = lane
    endThread(lane, worker)
    // A thread that ends before it was ready says nothing about the request.
    finish(lane, isReady ? { ok: false, code, detail } : NOT_STARTED)
  }

  function endThread(lane: Lane<Request>, worker: Worker): void {
    clearTimeout(lane.timer)
    lane.worker = undefined
    lane.isReady = false
    // Not awaited: a native call that never returns delays the end of its thread, but no other request.
    void worker.terminate()
  }

  function finish(lane: Lane<Request>, inspection: Inspection<unknown>): void {
    clearTimeout(lane.timer)
    const { task, worker } = lane
    lane.task = undefined
    if (task !== undefined) answer(task, inspection)
    advance(lane)
    const restMs = idleMs ?? (lane.isAside ? IDLE_ASIDE_MS : undefined)
    if (restMs !== undefined && lane.task === undefined && worker !== undefined) {
      watch(lane, restMs, () => endThread(lane, worker))
      lane.timer?.unref()
    }
  }

  return {
    submit,
    close() {
      isClosed = true
      for (const task of [...quick.clear(), ...slow.clear()]) task.settle(CLOSED)
      for (const lane of lanes) {
        if (lane.worker === undefined) continue
        endThread(lane, lane.worker)
        finish(lane, CLOSED)
      }
    },
  }
}

const newLane = (isAside: boolean) => ({
  isAside,
  worker: undefined,
  isReady: false,
  task: undefined,
  timer: undefined,
})

const crashDetail = (error: unknown): string =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'The inspection ran out of memory.'
    : 'The inspection crashed.'
