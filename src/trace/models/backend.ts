// What runs a model: the seam between the features of Trace and a kind of model. Every method refuses with a `Failure`,
// and a request that a backend can't serve with `backend_capability_missing`.

import { Failure } from '#src/failure.ts'
import { isModelError, type ModelErrorCode, modelError } from '../gguf/model-error.ts'
import type { GeneratedToken } from '../llama/generation.ts'
import type { Capabilities } from './capabilities.ts'
import type { ModelOperation, OperationRequest, OperationResult } from './operations.ts'
import type { InferenceRequest, InferenceResult, OperationProgress, ProbeSetFacts } from './protocol.ts'

/** A model as one file makes it. */
export interface ModelVersion {
  /** `model_version_id`: the model's id, `@` and the first 16 hexadecimal characters of the file's SHA-256. */
  id: string
  model: string
  sha256: string
  architecture: string
  layers: number
  width: number
  /** Neurons of each layer. */
  mlp: number
  /** Tokens that it knows. */
  vocabulary: number
  /** The most tokens of one text, prompt and completion together. */
  contextTokens: number
  /** It takes conversations, and not only texts. */
  hasChat: boolean
}

export interface CallOptions {
  /** Ends the request, and frees the model. */
  signal?: AbortSignal
  /** Requests of different lanes take turns: the account. */
  lane?: string
}

export interface TraceBackend {
  readonly name: 'embedded' | 'onnx' | 'neuronpedia' | 'openai_compatible'
  /** Name that callers use. */
  readonly model: string
  /** Returns what the kind of the model has at least, when the model can't be used. */
  capabilities(): Promise<Capabilities>
  /** @throws {Failure} `service_unavailable` where the model can't be used. */
  modelVersion(): Promise<ModelVersion>
  /** Undefined: it has no probes. */
  probeSet(): Promise<ProbeSetFacts | undefined>
  /**
   * @throws {Failure} `invalid_request`; `backend_capability_missing`; `service_unavailable` with Retry-After where the
   * model can't answer now: too many wait, it took too long, or its process ended.
   */
  generate(
    request: InferenceRequest,
    options?: CallOptions & { onToken?: (token: GeneratedToken) => void },
  ): Promise<InferenceResult>
  /** Only of backends whose models are elsewhere, and that make graphs there. @throws {Failure} as `generate`. */
  graph?(request: { prompt: string }, options?: CallOptions): Promise<ExternalGraph>
  /** An operation of `operations.ts`. @throws {Failure} as `generate`. */
  call<O extends ModelOperation>(
    operation: O,
    request: OperationRequest<O>,
    options?: CallOptions & { onProgress?: (progress: OperationProgress) => void },
  ): Promise<OperationResult<O>>
}

/** Graph that another service made of another model, its replacement model: no attribution of this service. */
export interface ExternalGraph {
  source: 'neuronpedia'
  address: string
  /** Name that the other service uses. */
  model: string
  exact: false
  /** Graph as received, in the schema of Neuronpedia's graphs. */
  graph: object
}

export function versionIdOf(model: string, sha256: string): string {
  return `${model}@${sha256.slice(0, 16)}`
}

const RETRY_AFTER_SECONDS = { soon: '2', later: '30' }

type Answer = (model: string, detail: string, cause: unknown) => Failure

const unavailable =
  (say: (model: string) => string, wait: keyof typeof RETRY_AFTER_SECONDS): Answer =>
  (model, _detail, cause) =>
    new Failure('service_unavailable', {
      detail: say(model),
      headers: { 'Retry-After': RETRY_AFTER_SECONDS[wait] },
      cause,
    })
// The sentences name files of this installation, so they go to the log alone.
const unusable = unavailable(
  (model) => `The model ${model} can not be loaded. Its operator knows why from the log.`,
  'later',
)
const asSaid =
  (code: 'invalid_request' | 'backend_capability_missing'): Answer =>
  (_model, detail, cause) =>
    new Failure(code, { detail, cause })

const ANSWERS: Record<ModelErrorCode, Answer> = {
  request_invalid: asSaid('invalid_request'),
  probes_missing: asSaid('backend_capability_missing'),
  capability_missing: asSaid('backend_capability_missing'),
  attribution_inexact: asSaid('backend_capability_missing'),
  queue_full: unavailable((model) => `Too many requests wait for the model ${model}.`, 'soon'),
  timeout: unavailable((model) => `The model ${model} did not answer in time.`, 'soon'),
  process_ended: unavailable((model) => `The process of the model ${model} ended in the middle.`, 'soon'),
  aborted: unavailable((model) => `The request to the model ${model} was given up.`, 'soon'),
  closed: unavailable(() => 'The service is shutting down.', 'soon'),
  model_not_found: unusable,
  model_file_invalid: unusable,
  model_unsupported: unusable,
  model_too_large: unusable,
}

/** An input that a model refused, as a finding of the field that has it. Other failures stay as they are. */
export function placedAt(pointer: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'invalid_request' || error.errors !== undefined) return error
  const { message: detail, cause } = error
  // A server elsewhere does not say what of the request it refused.
  const place = isModelError(cause) ? pointer : ''
  return new Failure('invalid_request', { detail, errors: [{ pointer: place, code: 'input_refused', detail }], cause })
}

/** The `refusal` of a fair semaphore: as that of a full queue of a model in this process. */
export function queueFull(model: string) {
  const cause = modelError('queue_full', 'Too many requests run and wait.')
  return { detail: `Too many requests wait for the model ${model}.`, retryAfterSeconds: 2, cause }
}

/** What the caller sees of a model's error. Any other error stays as it is. */
export function toFailure(model: string, error: unknown): unknown {
  return isModelError(error) ? ANSWERS[error.code](model, error.message, error) : error
}
