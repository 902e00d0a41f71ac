// Runs a model in a process of its own, which can be killed: a file or a request that takes too long, or too much memory,
// costs this process nothing. One request runs at a time, the others wait in lanes that take turns. A process that ended is
// started again by the next request, later each time that it ends without having answered one.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import { createFairQueue } from '#src/platform/fair-queue.ts'
import { type ModelError, modelError } from '../gguf/model-error.ts'
import {
  MAX_REQUEST_BYTES,
  type ModelOperation,
  OPERATIONS,
  type OperationRequest,
  type OperationResult,
} from './operations.ts'
import type { EndedModel, ModelProcess, ModelProcessOptions, OperateOptions, WaitOptions } from './process-options.ts'
import type {
  FromModel,
  InferenceRequest,
  InferenceResult,
  ModelProcessArguments,
  ModelReport,
  ToModel,
} from './protocol.ts'

/** What a task sends; undefined: it only starts the process. */
type Work = { op: 'infer'; request: InferenceRequest } | { op: 'operate'; name: string; request: unknown } | undefined

interface Task {
  id: number
  lane: string
  work: Work
  limitMs: number
  /** What the process tells before its answer. */
  onMessage: (message: Extract<FromModel, { op: 'token' | 'progress' }>) => void
  settle(result: unknown): void
  fail(error: ModelError): void
  release(): void
}

// Reading 4 GB from a slow disk takes a minute.
const START_LIMIT_MS = 120_000
// An abort is seen between two tokens, or 32 tokens of a prompt.
const ABORT_LIMIT_MS = 5_000
const MAX_BACKOFF_MS = 60_000
const MAX_HEAP_MEGABYTES = 512

export function createModelProcess({
  path,
  probesPath = null,
  isInspection = false,
  contextTokens = 2_048,
  isAccelerated = false,
  maxModelBytes = 1_000_000_000,
  maxInternalsBytes = 256_000_000,
  maxResidentBytes = 1_600_000_000,
  limitMs = 120_000,
  maxWaiting = 100,
  maxWaitingEach = maxWaiting,
  idleMs = 600_000,
  backoffMs = 500,
  onReady = () => {},
  onEnded = () => {},
  file = new URL('./model-child.ts', import.meta.url),
}: ModelProcessOptions): ModelProcess {
  const queue = createFairQueue<Task>({ max: maxWaiting, maxEach: maxWaitingEach })
  const ending = new Set<Promise<void>>()
  let child: ChildProcess | undefined
  let report: ModelReport | undefined
  let running: Task | undefined
  let timer: NodeJS.Timeout | undefined
  let pause: NodeJS.Timeout | undefined
  let failures = 0
  let lastId = 0
  let isClosed = false

  function submit(
    work: Work,
    { signal, lane = '' }: WaitOptions,
    { taskLimitMs = limitMs, onMessage = () => {} }: { taskLimitMs?: number; onMessage?: Task['onMessage'] } = {},
  ): Promise<unknown> {
    if (isClosed) return Promise.reject(closed())
    if (signal?.aborted) return Promise.reject(aborted())
    return new Promise((settle, fail) => {
      lastId += 1
      const onAbort = () => abort(task)
      const release = () => signal?.removeEventListener('abort', onAbort)
      const task: Task = { id: lastId, lane, work, limitMs: taskLimitMs, onMessage, settle, fail, release }
      signal?.addEventListener('abort', onAbort, { once: true })
      const refused = queue.push(lane, task)
      if (refused !== undefined) end(refused, () => refused.fail(queueFull(queue.size)))
      advance()
    })
  }

  function advance(): void {
    if (running !== undefined || queue.size === 0) return
    if (pause !== undefined) {
      pause.ref()
      return
    }
    if (child === undefined) start()
    else if (report !== undefined) send(child)
  }

  function start(): void {
    const settings: ModelProcessArguments = {
      path,
      probesPath,
      isInspection,
      contextTokens,
      isAccelerated,
      maxModelBytes,
      maxInternalsBytes,
      maxResidentBytes,
    }
    // No environment and no flags of this process: the child needs no secret, and its file decides what it loads.
    const started = fork(fileURLToPath(file), [JSON.stringify(settings)], {
      env: {},
      execArgv: [`--max-old-space-size=${MAX_HEAP_MEGABYTES}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    // The timer of a request keeps this process alive; an idle model must not.
    started.unref()
    started.channel?.unref()
    child = started
    started.on('message', (message) => receive(started, message as FromModel))
    started.on('error', (error) => drop(started, 'crashed', 'process_ended', error.message))
    started.on('exit', (code, signal) =>
      drop(started, 'crashed', 'process_ended', `The process ended (${signal ?? code}).`),
    )
    watch(START_LIMIT_MS, () =>
      drop(started, 'timeout', 'timeout', `It did not start within ${START_LIMIT_MS / 1_000} s.`),
    )
  }

  function send(to: ChildProcess): void {
    running = queue.shift()
    if (running === undefined) return
    const { id, work, limitMs } = running
    if (work === undefined) {
      finish((task) => task.settle(undefined))
      return
    }
    watch(limitMs, () => drop(to, 'timeout', 'timeout', `The request takes longer than ${limitMs / 1_000} s.`))
    // If the child has just ended, its exit event reports it.
    to.send({ ...work, id } satisfies ToModel, () => {})
  }

  function receive(from: ChildProcess, message: FromModel): void {
    if (child !== from) return
    if (message.op === 'ready') {
      const { op: _, acceleration, ...said } = message
      report = said
      onReady({ pid: from.pid, acceleration })
      clearTimeout(timer)
      if (queue.size === 0) rest(from)
      else advance()
    } else if (message.op === 'unusable') {
      drop(from, 'unusable', message.code, message.detail)
    } else if (message.op === 'spent') {
      const megabytes = Math.round(message.residentBytes / 1e6)
      drop(from, 'memory', 'process_ended', `The process had ${megabytes} MB of memory, which is more than it may.`)
    } else if (message.id !== running?.id) {
      // A message for a request that was answered already is ignored.
    } else if (message.op === 'token' || message.op === 'progress') {
      running.onMessage(message)
    } else if (message.op === 'done' || message.op === 'operated') {
      failures = 0
      const { op, result } = message
      finish((task) => task.settle(op === 'done' ? result : deserialize(result)))
    } else {
      failures = 0
      finish((task) => task.fail(modelError(message.code, message.detail)))
    }
  }

  /** Ends a process that can't be used any more. Its request is answered; what waits gets a new process. */
  function drop(from: ChildProcess, reason: EndedModel['reason'], code: ModelError['code'], detail: string): void {
    if (child !== from) return
    const wasReady = report !== undefined
    onEnded({ pid: from.pid, reason, detail })
    kill(from)
    const error = modelError(code, detail)
    // Who gave up says nothing of the model.
    if (code !== 'aborted') failures += 1
    // Before the first request runs, the reason is the model's: no request in the queue would fare better.
    const failed = wasReady ? [] : queue.clear()
    backOff()
    for (const task of failed) end(task, () => task.fail(error))
    finish((task) => task.fail(error))
  }

  function backOff(): void {
    clearTimeout(pause)
    const delayMs = Math.min(backoffMs * 2 ** Math.max(0, failures - 1), MAX_BACKOFF_MS)
    pause = setTimeout(() => {
      pause = undefined
      advance()
    }, delayMs)
    if (queue.size === 0) pause.unref()
  }

  function finish(answer: (task: Task) => void): void {
    const task = running
    running = undefined
    if (task !== undefined) {
      clearTimeout(timer)
      end(task, () => answer(task))
    }
    advance()
    if (running === undefined && child !== undefined && report !== undefined) rest(child)
  }

  function end(task: Task, answer: () => void): void {
    task.release()
    answer()
  }

  function abort(task: Task): void {
    if (queue.remove(task.lane, task)) {
      end(task, () => task.fail(aborted()))
      return
    }
    const from = child
    if (running !== task || from === undefined) return
    from.send({ op: 'abort', id: task.id } satisfies ToModel, () => {})
    watch(Math.min(ABORT_LIMIT_MS, limitMs), () => drop(from, 'timeout', 'aborted', 'The request was aborted.'))
  }

  function watch(delayMs: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, delayMs)
  }

  function rest(idle: ChildProcess): void {
    watch(idleMs, () => {
      onEnded({ pid: idle.pid, reason: 'idle', detail: 'The model was idle.' })
      kill(idle)
    })
    timer?.unref()
  }

  function kill(from: ChildProcess): void {
    clearTimeout(timer)
    child = undefined
    report = undefined
    if (from.pid === undefined || from.exitCode !== null || from.signalCode !== null) return
    const ended = new Promise<void>((resolve) => from.once('exit', () => resolve())).then(() => {
      ending.delete(ended)
    })
    ending.add(ended)
    // Waiting for its end needs a running event loop.
    from.ref()
    from.kill('SIGKILL')
  }

  return {
    async infer(request, { onToken = () => {}, ...options } = {}) {
      const onMessage: Task['onMessage'] = (message) => message.op === 'token' && onToken(message.token)
      return (await submit({ op: 'infer', request }, options, { onMessage })) as InferenceResult
    },
    async operate<O extends ModelOperation>(
      name: O,
      request: OperationRequest<O>,
      { onProgress = () => {}, ...options }: OperateOptions = {},
    ) {
      if (serialize(request).length > MAX_REQUEST_BYTES) {
        throw modelError('request_invalid', `The request has more than ${MAX_REQUEST_BYTES / 1e6} MB.`)
      }
      const onMessage: Task['onMessage'] = (message) => message.op === 'progress' && onProgress(message.progress)
      const taskLimitMs = OPERATIONS[name].limitMs
      const result = await submit({ op: 'operate', name, request }, options, { taskLimitMs, onMessage })
      return result as OperationResult<O>
    },
    async warmUp() {
      await submit(undefined, {})
      if (report === undefined) throw modelError('process_ended', 'The process ended as soon as it had started.')
      return report
    },
    get report() {
      return report
    },
    get waiting() {
      return queue.size
    },
    async close() {
      isClosed = true
      clearTimeout(pause)
      for (const task of queue.clear()) end(task, () => task.fail(closed()))
      if (child !== undefined) kill(child)
      finish((task) => task.fail(closed()))
      await Promise.all(ending)
    },
  }
}

const queueFull = (waiting: number) => modelError('queue_full', `${waiting} requests wait for the model already.`)
const closed = () => modelError('closed', 'The model is shutting down.')
const aborted = () => modelError('aborted', 'The request was aborted.')
