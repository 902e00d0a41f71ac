// What a model's process is asked, and how it is set up.

import type { Acceleration } from '../accelerator/accelerator.ts'
import type { GeneratedToken } from '../llama/generation.ts'
import type { ModelOperation, OperationRequest, OperationResult } from './operations.ts'
import type { InferenceRequest, InferenceResult, ModelReport, OperationProgress } from './protocol.ts'

export interface ModelProcess {
  /** @throws {ModelError} by which the caller tells what to do. */
  infer(request: InferenceRequest, options?: InferOptions): Promise<InferenceResult>
  /** @throws {ModelError} as `infer`. */
  operate<O extends ModelOperation>(
    name: O,
    request: OperationRequest<O>,
    options?: OperateOptions,
  ): Promise<OperationResult<O>>
  /** Starts the process if it does not run, and returns what it reports about its model. */
  warmUp(): Promise<ModelReport>
  /** What the process that runs says of its model; undefined where none is ready. */
  readonly report: ModelReport | undefined
  /** The requests that wait, the running one not included. */
  readonly waiting: number
  /** Answers all requests with `closed`, and resolves when the process has ended. */
  close(): Promise<void>
}

export interface WaitOptions {
  signal?: AbortSignal
  /** Requests of different lanes take turns; an account is a lane. */
  lane?: string
}

export interface InferOptions extends WaitOptions {
  onToken?: (token: GeneratedToken) => void
}

export interface OperateOptions extends WaitOptions {
  onProgress?: (progress: OperationProgress) => void
}

export interface EndedModel {
  pid: number | undefined
  reason: 'timeout' | 'memory' | 'crashed' | 'unusable' | 'idle'
  detail: string
}

export interface ModelProcessOptions {
  path: string
  /** File of the model's canary probes. A request for readings is refused without them. */
  probesPath?: string | null
  /** The process checks the file and reports. It answers `warmUp` only. */
  isInspection?: boolean
  /** The longest text, prompt and answer together. */
  contextTokens?: number
  /** Attribution runs in ONNX Runtime where that can be loaded, and on the kernel elsewhere. */
  isAccelerated?: boolean
  /** Weights and context in the kernel's memory, and the weights of the accelerator. */
  maxModelBytes?: number
  /** The internals of one request. They exist twice while they travel. */
  maxInternalsBytes?: number
  maxResidentBytes?: number
  /** Time of one request, its wait not included. */
  limitMs?: number
  /** Requests that wait, of all lanes and of one. */
  maxWaiting?: number
  maxWaitingEach?: number
  /** An idle process is ended after this time. */
  idleMs?: number
  /** The first pause before a process that ended is started again; it doubles up to a minute. */
  backoffMs?: number
  /** Its model is ready. */
  onReady?: (ready: { pid: number | undefined; acceleration: Acceleration | undefined }) => void
  onEnded?: (ended: EndedModel) => void
  /** The process's file. Tests pass one that misbehaves. */
  file?: URL
}
