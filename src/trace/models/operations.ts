// What a model's process can do besides inferences. An operation is a row of `OPERATIONS`: it runs in that process with
// the loaded model, one at a time, and its request and result travel as structured clones. A row makes it callable:
// `backend.call('name', request)`.

import { type AttributionGraph, type AttributionRequest, attribute } from '../attribution/attribute.ts'
import { type Intervention, type InterventionRequest, intervene } from '../attribution/intervene.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { ProbeSet } from '../probes/probe-set.ts'
import type { ChatSpan } from '../tokenizer/chat.ts'
import type { Capability } from './capabilities.ts'
import { type EvaluationRequest, evaluatePrompt, hashVocabulary, type PromptEvaluation } from './evaluate.ts'
import { renderInput } from './inference.ts'
import { type LensRequest, type LensResult, readLens, textsOf } from './lens.ts'
import type { ModelInput, OperationProgress } from './protocol.ts'

export interface OperationContext {
  /** Undefined: the model has none. */
  probes: ProbeSet | undefined
  /** The internals of one pass; `createInternals` takes it. */
  maxInternalsBytes: number
  /** An operation that takes long lets messages arrive (`setImmediate`), and ends with `aborted` when this says so. */
  signal: AbortSignal
  /** Reports are sent at most every 100 ms. */
  onProgress(progress: OperationProgress): void
}

export interface Operation<Request, Result> {
  /** A backend without it refuses the operation with `backend_capability_missing`. */
  needs: Capability
  /** Then the process is killed. Waiting is not included. */
  limitMs: number
  /** @throws {ModelError} `request_invalid` and the like, which the caller sees as a `Failure`. */
  run(model: LoadedModel, request: Request, context: OperationContext): Promise<Result>
}

/** Size of a request and of a result, as `v8.serialize` makes them. */
export const MAX_REQUEST_BYTES = 4_000_000
export const MAX_RESULT_BYTES = 64_000_000

const defineOperation = <Request, Result>(operation: Operation<Request, Result>) => operation

/** What a model reads of an input. */
export interface RenderedInput {
  sha256: string
  tokens: number[]
  /** Text of each token; a character that several tokens share shows as U+FFFD in each. */
  texts: string[]
  spans: ChatSpan[]
}

export const OPERATIONS = {
  render: defineOperation<{ input: ModelInput }, RenderedInput>({
    needs: 'generate',
    limitMs: 10_000,
    async run(model, { input }) {
      const { tokens, spans } = renderInput(model, input)
      return { sha256: model.sha256, tokens, spans, texts: textsOf(model, tokens) }
    },
  }),
  attribute: defineOperation<AttributionRequest, AttributionGraph>({
    needs: 'attribution',
    // 512 neurons of SmolLM2 over 40 tokens take half a minute; time grows with both.
    limitMs: 1_800_000,
    run: (model, request, { maxInternalsBytes, signal, onProgress }) =>
      attribute(model, request, {
        maxInternalsBytes,
        signal,
        onProgress: (done, total) => onProgress({ done, total }),
      }),
  }),
  intervene: defineOperation<InterventionRequest, Intervention>({
    needs: 'intervene',
    limitMs: 60_000,
    run: intervene,
  }),
  evaluate: defineOperation<EvaluationRequest, PromptEvaluation>({
    needs: 'canary',
    limitMs: 120_000,
    run: evaluatePrompt,
  }),
  vocabulary: defineOperation<object, { sha256: string }>({
    needs: 'activations',
    limitMs: 10_000,
    run: async (model) => ({ sha256: hashVocabulary(model) }),
  }),
  lens: defineOperation<LensRequest, LensResult>({ needs: 'activations', limitMs: 60_000, run: readLens }),
}

export type ModelOperation = keyof typeof OPERATIONS
export type OperationRequest<O extends ModelOperation> = Parameters<(typeof OPERATIONS)[O]['run']>[1]
export type OperationResult<O extends ModelOperation> = Awaited<ReturnType<(typeof OPERATIONS)[O]['run']>>

/** The row of a name that came as a message. */
export function findOperation(name: string): Operation<unknown, unknown> | undefined {
  // Requests and results match by `OperationRequest` and `OperationResult`, which every caller goes through.
  return Object.hasOwn(OPERATIONS, name)
    ? (OPERATIONS[name as ModelOperation] as Operation<unknown, unknown>)
    : undefined
}
