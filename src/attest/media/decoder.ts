// Decodes untrusted pictures in child processes. Native decoding ignores time-outs, and ending a thread does not stop
// native work: a flat AVIF of 8,000 x 8,000 pixels has 1 KB and takes seconds and a gigabyte. A process can be killed.
// One process decodes quick pictures, a second one the slow ones: those whose header says so, and those that take longer than
// `quickMs` in the first process, which is then killed and replaced. Callers submit one picture per account at a time (see
// fair-semaphore.ts), so no account waits longer than that for another's picture.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DecodedPicture, DecodeRequest, DecoderAnswer, DecoderMessage } from './decoder-child.ts'
import type { Inspection } from './threads.ts'

export interface Decoder {
  /** A small upright picture without metadata (WebP), `maxSide` pixels at its longest side. */
  thumbnail(path: string, maxSide: number): Promise<Inspection<DecodedPicture>>
  /** The picture squeezed into a square of greys: `side` rows of `side` bytes. */
  greys(path: string, side: number): Promise<Inspection<DecodedPicture>>
  /** Answers pending requests with `closed`, and resolves when all processes have ended. */
  close(): Promise<void>
}

/** A process that was killed, or ended by itself. */
export interface EndedDecoder {
  pid: number | undefined
  reason: 'slow' | 'timeout' | 'memory' | 'crashed' | 'idle'
}

export interface DecoderOptions {
  onEnded?: (ended: EndedDecoder) => void
  /**
   * After this much processor time a picture moves to the slow process: the longest that one picture delays the others. Photos
   * take 10 to 100 ms.
   */
  quickMs?: number
  /** Processor time per picture in the slow process. In the supported formats, 64 megapixels take one to five seconds. */
  limitMs?: number
  /** How many times as long as that the clock may run: a busy machine is not the picture's fault. */
  patience?: number
  /** Resident memory of one process. 64 megapixels of PNG, JPEG, WebP or TIFF take up to 290 MB, 24 of AVIF 500 MB. */
  maxMegabytes?: number
  /** An idle process is ended after this time. */
  idleMs?: number
  /** The most waiting pictures; beyond that the answer is `busy`. */
  maxWaiting?: number
  /** The process's file. Tests pass one that misbehaves. */
  file?: URL
}

interface Task {
  request: DecodeRequest
  settle(inspection: Inspection<DecodedPicture>): void
}

interface Lane {
  isAside: boolean
  child: ChildProcess | undefined
  isReady: boolean
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

// Loading the image library takes 0.1 to 0.3 s on an idle machine; a longer start is not the picture's fault.
const START_LIMIT_MS = 30_000
// Limits JavaScript memory, which holds no pixels.
const MAX_HEAP_MEGABYTES = 96

const NO_ANSWER = 'The decoder ended without an answer.'
const CLOSED = { ok: false, code: 'closed', detail: 'The decoder is shutting down.' } as const
const NOT_STARTED = { ok: false, code: 'busy', detail: 'The decoder could not be started.' } as const
const BUSY = { ok: false, code: 'busy', detail: 'Too many pictures are waiting to be decoded.' } as const

export function createDecoder({
  onEnded = () => {},
  quickMs = 700,
  limitMs = 8_000,
  patience = 5,
  maxMegabytes = 768,
  idleMs = 30_000,
  maxWaiting = 256,
  file = new URL('./decoder-child.ts', import.meta.url),
}: DecoderOptions = {}): Decoder {
  const lanes: Lane[] = [newLane(false), newLane(true)]
  const quick: Task[] = []
  const slow: Task[] = []
  const ending = new Set<Promise<unknown>>()
  let isClosed = false

  function submit(request: DecodeRequest): Promise<Inspection<DecodedPicture>> {
    if (isClosed) return Promise.resolve(CLOSED)
    if (quick.length + slow.length >= maxWaiting) return Promise.resolve(BUSY)
    return new Promise((settle) => {
      quick.push({ request, settle })
      advanceAll()
    })
  }

  function advanceAll(): void {
    for (const lane of lanes) advance(lane)
  }

  function advance(lane: Lane): void {
    if (lane.task !== undefined) return
    const task = (lane.isAside ? slow : quick).shift()
    if (task === undefined) return
    lane.task = task
    if (lane.child === undefined) start(lane)
    else if (lane.isReady) send(lane, task)
  }

  function start(lane: Lane): void {
    // No environment and no flags of this process: the child needs no secret, and its file decides what it loads. The fixed
    // threshold, glibc's own at the start, returns the memory of each picture: a growing one kept it in the heap, and after some
    // large pictures the next had too little (mallopt(3), M_MMAP_THRESHOLD).
    const child = fork(fileURLToPath(file), [String(maxMegabytes)], {
      env: { MALLOC_MMAP_THRESHOLD_: '131072' },
      execArgv: [`--max-old-space-size=${MAX_HEAP_MEGABYTES}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    // The timer of a request keeps this process alive while there is work; an idle decoder must not.
    child.unref()
    child.channel?.unref()
    lane.child = child
    lane.isReady = false
    child.on('message', (answer) => receive(lane, child, answer as DecoderAnswer))
    child.on('error', () => drop(lane, child, 'crashed', NO_ANSWER))
    child.on('exit', () => drop(lane, child, 'crashed', NO_ANSWER))
    watch(lane, START_LIMIT_MS, () => stop(lane, child, START_LIMIT_MS))
  }

  function send(lane: Lane, task: Task): void {
    const { child } = lane
    if (child === undefined) return
    if (lane.isAside) watch(lane, limitMs * patience, () => stop(lane, child, limitMs * patience))
    else watch(lane, quickMs * patience, () => moveAside(lane, child, task, true))
    // If the child has just ended, its exit event reports it.
    const isQuick = !lane.isAside
    const message: DecoderMessage = { ...task.request, isQuick, limitMs: isQuick ? quickMs : limitMs }
    child.send(message, () => {})
  }

  function watch(lane: Lane, delayMs: number, act: () => void): void {
    clearTimeout(lane.timer)
    lane.timer = setTimeout(act, delayMs)
  }

  function stop(lane: Lane, child: ChildProcess, afterMs: number): void {
    drop(lane, child, 'timeout', `Decoding it takes longer than ${afterMs / 1_000} s.`)
  }

  /** A process that has not begun the picture, because its header says that it is slow, goes on with the next one. */
  function moveAside(lane: Lane, child: ChildProcess, task: Task, isSpent: boolean): void {
    // No process for slow pictures asks for this, unless a picture has taken it over: the picture would come again for ever.
    if (lane.isAside) {
      drop(lane, child, 'crashed', NO_ANSWER)
      return
    }
    clearTimeout(lane.timer)
    if (isSpent) kill(lane, child, 'slow')
    lane.task = undefined
    slow.push(task)
    advanceAll()
    if (lane.task !== undefined) return
    // A replacement starts now, and not when the next picture arrives.
    if (lane.child === undefined) start(lane)
    else rest(lane, child)
  }

  function receive(lane: Lane, child: ChildProcess, answer: DecoderAnswer): void {
    if (lane.child !== child) return
    if (answer.op === 'ready') {
      lane.isReady = true
      if (lane.task === undefined) rest(lane, child)
      else send(lane, lane.task)
      return
    }
    if (answer.op === 'slow') {
      if (lane.task !== undefined) moveAside(lane, child, lane.task, answer.isSpent === true)
      return
    }
    const { inspection, isSpent } = answer
    if (isSpent === true) kill(lane, child, !inspection.ok && inspection.code === 'timeout' ? 'timeout' : 'memory')
    finish(lane, inspection)
  }

  /** Ends a process that can't be trusted any more. Its request is answered; waiting requests get a new process. */
  function drop(lane: Lane, child: ChildProcess, code: 'timeout' | 'crashed', detail: string): void {
    if (lane.child !== child) return
    const { isReady } = lane
    kill(lane, child, code)
    // A process that ends before it was ready says nothing about the picture.
    finish(lane, isReady ? { ok: false, code, detail } : NOT_STARTED)
  }

  function kill(lane: Lane, child: ChildProcess, reason?: EndedDecoder['reason']): void {
    if (reason !== undefined) onEnded({ pid: child.pid, reason })
    clearTimeout(lane.timer)
    lane.child = undefined
    lane.isReady = false
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(() => {
      ending.delete(ended)
    })
    ending.add(ended)
    // Waiting for its end needs a running event loop.
    child.ref()
    child.kill('SIGKILL')
  }

  function finish(lane: Lane, inspection: Inspection<DecodedPicture>): void {
    clearTimeout(lane.timer)
    const { task, child } = lane
    lane.task = undefined
    task?.settle(inspection)
    advance(lane)
    if (lane.task === undefined && child !== undefined) rest(lane, child)
  }

  function rest(lane: Lane, child: ChildProcess): void {
    watch(lane, idleMs, () => kill(lane, child, 'idle'))
    lane.timer?.unref()
  }

  return {
    thumbnail: (path, maxSide) => submit({ op: 'thumbnail', path, maxSide }),
    greys: (path, side) => submit({ op: 'greys', path, side }),
    async close() {
      isClosed = true
      for (const task of [...quick.splice(0), ...slow.splice(0)]) task.settle(CLOSED)
      for (const lane of lanes) {
        lane.task?.settle(CLOSED)
        lane.task = undefined
        if (lane.child !== undefined) kill(lane, lane.child)
      }
      await Promise.all(ending)
    },
  }
}

const newLane = (isAside: boolean): Lane => ({
  isAside,
  child: undefined,
  isReady: false,
  task: undefined,
  timer: undefined,
})
