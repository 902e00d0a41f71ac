// Image parsers run on bytes that strangers send, so they run in a thread: what loops, crashes or eats memory there ends
// with its thread and is the answer to that one request. One request is in the thread at a time; all others wait out here,
// so that ending the thread costs none of them anything.

import { Worker } from 'node:worker_threads'
import type { ImageFacts } from './exif.ts'
import type { ThreadAnswer, ThreadRequest, Thumbnail } from './inspector-thread.ts'

/** What could be found out. A refusal is a value: a stuck or unreadable file is an answer about that file. */
export type Inspection<V> = { ok: true; value: V } | { ok: false; code: InspectionCode; detail: string }

/** `missing` (not there, or can't be opened), `busy` and `closed` say nothing about what is in the file: ask again later. */
export type InspectionCode = 'unreadable' | 'timeout' | 'crashed' | 'missing' | 'busy' | 'closed'

export interface Inspector {
  /** Format, sides and EXIF of an image file. */
  inspect(path: string): Promise<Inspection<ImageFacts>>
  /** A small upright picture without metadata, `maxSide` pixels at its longest side. */
  thumbnail(path: string, maxSide: number): Promise<Inspection<Thumbnail>>
  close(): Promise<void>
}

export interface InspectorOptions {
  /** Threads, started when first needed. One inspects about a thousand photos per second. */
  threads?: number
  /** For one request, from its start in the thread. Honest files take milliseconds, a thumbnail of 60 megapixels a second. */
  limitMs?: number
  /** Waiting requests, beyond which the answer is `busy`. */
  maxWaiting?: number
  /** The thread's file. Another one only where a test wants a thread that misbehaves. */
  thread?: URL
}

interface Task {
  request: ThreadRequest
  settle(inspection: Inspection<unknown>): void
}

interface Lane {
  worker: Worker | undefined
  isReady: boolean
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

// Loading the image library takes 0.1 to 0.3 s on an idle machine; it is not the file's fault when it takes longer.
const START_LIMIT_MS = 30_000
// Of JavaScript memory. Pixels are outside of it: the image library's own limits bound those.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

export function createInspector(options: InspectorOptions = {}): Inspector {
  const { threads = 1, limitMs = 5_000, maxWaiting = 1_000 } = options
  const thread = options.thread ?? new URL('./inspector-thread.ts', import.meta.url)
  const lanes: Lane[] = Array.from({ length: threads }, () => newLane())
  // A thumbnail takes as long as fifty inspections, and an upload waits for an inspection.
  const waiting: Record<ThreadRequest['op'], Task[]> = { inspect: [], thumbnail: [] }
  let isClosed = false

  function submit<V>(request: ThreadRequest): Promise<Inspection<V>> {
    if (isClosed) return Promise.resolve({ ok: false, code: 'closed', detail: 'The inspector is shutting down.' })
    if (waiting.inspect.length + waiting.thumbnail.length >= maxWaiting) {
      return Promise.resolve({ ok: false, code: 'busy', detail: 'Too many files are waiting to be inspected.' })
    }
    return new Promise((settle) => {
      // The thread answers a request with its own kind of value; ThreadAnswer ties the two together on its side.
      waiting[request.op].push({ request, settle: (inspection) => settle(inspection as Inspection<V>) })
      for (const lane of lanes) advance(lane)
    })
  }

  function advance(lane: Lane): void {
    if (lane.task !== undefined) return
    const task = waiting.inspect.shift() ?? waiting.thumbnail.shift()
    if (task === undefined) return
    lane.task = task
    if (lane.worker === undefined) start(lane)
    else if (lane.isReady) send(lane, task)
  }

  function start(lane: Lane): void {
    // No environment and no flags: the thread needs no secret, and flags of the process may not fit a thread.
    const worker = new Worker(thread, { env: {}, execArgv: [], resourceLimits: RESOURCE_LIMITS })
    // The timer of a request keeps the process alive while there is work; an idle thread must not.
    worker.unref()
    lane.worker = worker
    lane.isReady = false
    worker.on('message', (answer: ThreadAnswer) => receive(lane, worker, answer))
    worker.on('messageerror', () => drop(lane, worker, 'crashed', 'The inspection gave no readable answer.'))
    worker.on('error', (error) => drop(lane, worker, 'crashed', crashDetail(error)))
    worker.on('exit', () => drop(lane, worker, 'crashed', 'The inspection ended without an answer.'))
    watch(lane, START_LIMIT_MS)
  }

  function send(lane: Lane, task: Task): void {
    watch(lane, limitMs)
    lane.worker?.postMessage(task.request)
  }

  function watch(lane: Lane, delayMs: number): void {
    const { worker } = lane
    clearTimeout(lane.timer)
    lane.timer = setTimeout(() => {
      if (worker !== undefined) drop(lane, worker, 'timeout', `The inspection took longer than ${delayMs} ms.`)
    }, delayMs)
  }

  function receive(lane: Lane, worker: Worker, answer: ThreadAnswer): void {
    if (lane.worker !== worker) return
    if (answer.op === 'ready') {
      lane.isReady = true
      if (lane.task === undefined) clearTimeout(lane.timer)
      else send(lane, lane.task)
      return
    }
    finish(lane, answer.inspection)
  }

  /** Ends a thread that can't be trusted any more; what was in it is answered, what waits gets a new one. */
  function drop(lane: Lane, worker: Worker, code: InspectionCode, detail: string): void {
    if (lane.worker !== worker) return
    lane.worker = undefined
    lane.isReady = false
    // Not awaited: a native call that never returns holds up the end of its thread, but nobody else.
    void worker.terminate()
    finish(lane, { ok: false, code, detail })
  }

  function finish(lane: Lane, inspection: Inspection<unknown>): void {
    clearTimeout(lane.timer)
    const { task } = lane
    lane.task = undefined
    task?.settle(inspection)
    advance(lane)
  }

  return {
    inspect: (path) => submit({ op: 'inspect', path }),
    thumbnail: (path, maxSide) => submit({ op: 'thumbnail', path, maxSide }),
    async close() {
      isClosed = true
      for (const task of [...waiting.inspect.splice(0), ...waiting.thumbnail.splice(0)]) {
        task.settle({ ok: false, code: 'closed', detail: 'The inspector is shutting down.' })
      }
      for (const lane of lanes) {
        if (lane.worker !== undefined) drop(lane, lane.worker, 'closed', 'The inspector is shutting down.')
      }
    },
  }
}

const newLane = (): Lane => ({ worker: undefined, isReady: false, task: undefined, timer: undefined })

const crashDetail = (error: unknown): string =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'The inspection ran out of memory.'
    : 'The inspection crashed.'
