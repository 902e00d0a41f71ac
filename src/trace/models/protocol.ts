// What a model's process and its parent tell each other. Messages are structured clones (`serialization: 'advanced'`), so
// arrays of floats travel as they are.

import type { Acceleration } from '../accelerator/accelerator.ts'
import type { ModelErrorCode } from '../gguf/model-error.ts'
import type { FinishReason, GeneratedToken } from '../llama/generation.ts'
import type { Internals, WantedInternals } from '../llama/internals.ts'
import type { SamplingSettings } from '../llama/sampling.ts'
import type { LlamaShape } from '../llama/shape.ts'
import type { ProbeKind, ProbeStatus } from '../probes/probe-set.ts'
import type { ProbeReading, WindowScores } from '../probes/reader.ts'
import type { ChatMessage, ChatSpan } from '../tokenizer/chat.ts'

/** What a model continues: a conversation by its chat template, a text as it is, or tokens. */
export type ModelInput = { messages: readonly ChatMessage[] } | { text: string } | { tokens: readonly number[] }

export interface InferenceRequest {
  input: ModelInput
  maxTokens: number
  sampling: SamplingSettings
  /** Internals of the prompt and of the generated tokens, the last one not included: it was never fed. */
  internals?: WantedInternals
  /** Canary readings of the completion, by the model's probes. The input must be a conversation. */
  canary?: CanaryRequest
}

export interface CanaryRequest {
  /**
   * `withhold`: no token leaves the process before the completion has ended, and none of it does when a family trips.
   * `continue`: tokens leave as they are made, and the readings come with the result.
   */
  onTrip: 'continue' | 'withhold'
  /** In place of a probe's own threshold, as the kill switch says. Families that are absent keep theirs. */
  families?: readonly { family: string; threshold: number; enabled: boolean }[]
}

export interface CanaryResult {
  set: string
  /** Readings judged by the probes' own thresholds. */
  readings: ProbeReading[]
  /** Each window in order, up to the one that tripped. */
  windows: WindowScores[]
  /** Families that tripped by the thresholds that count. */
  trippedFamilies: string[]
  /** Runtime that computed the readings. */
  runtime: string
}

/** A call of a tool in a completion, without the id that the server gave it: equal calls have equal hashes. */
export interface ToolCall {
  name: string
  /** Arguments as the model made them: its own text, which may be no JSON. */
  arguments: string
}

/** How a completion ended. The last three are said by servers of models elsewhere. */
export type InferenceEnd = FinishReason | 'tool_calls' | 'refusal' | 'content_filter'

export interface InferenceResult {
  /** Hash of the model file that made it. */
  sha256: string
  prompt: number[]
  /** Where the tokens themselves are not known: their number. */
  promptTokens?: number
  /** Made by the model, withheld ones included. */
  completionTokens: number
  /** The contents of the messages among the prompt's tokens; empty where the input was no conversation. */
  spans: ChatSpan[]
  /** Empty where the completion is withheld; the texts and the probabilities too. */
  tokens: number[]
  /** Text of each token by itself, a control token by its name. Half a character is U+FFFD. */
  tokenTexts: string[]
  logProbabilities: number[]
  text: string
  /** Calls of a model elsewhere; absent where it made none. */
  toolCalls?: readonly ToolCall[]
  finishReason: InferenceEnd
  /** Never of a withheld completion: its tokens could be computed from them. */
  internals?: Internals
  canary?: CanaryResult
}

/** What can be known of a model without running it. */
export interface ModelReport {
  shape: Pick<LlamaShape, 'layers' | 'width' | 'mlp' | 'vocabulary'>
  /** The most tokens of one text. */
  maxTokens: number
  sha256: string
  architecture: string
  /** Name in the model's file. */
  name: string
  /** It has a chat template that is known: it takes conversations. */
  hasChat: boolean
  /** null: the model has no probes. */
  probes: ProbeSetFacts | null
  /** Why the inside of a model stays hidden; null where it is shown. */
  hidden: string | null
}

/** What is said of the probes of a model. Their weights stay in its process. */
export interface ProbeSetFacts {
  set: string
  version: string
  families: ProbeFacts[]
}

export interface ProbeFacts {
  family: string
  kind: ProbeKind
  /** null where it reads all layers. */
  layer: number | null
  threshold: number
  /** `experimental` where the probe misses the bar of its family. */
  status: ProbeStatus
  /** On transcripts that it was not trained on, whose completions a script wrote. */
  heldOut: { auc: number; tripRate: number; falsePositiveRate: number }
  /** On benign completions of the model itself; null: it was not measured. */
  generated: { runs: number; trips: number; falsePositiveRate: number } | null
  knownFailures: string[]
}

/** Progress of an operation that takes long. */
export interface OperationProgress {
  done: number
  total: number
  /** What it does now, in a word or two. */
  stage?: string
}

/** The arguments with which a model's process starts. */
export interface ModelProcessArguments {
  path: string
  /** null: the model has no probes. */
  probesPath: string | null
  /** It checks the file and reports, and loads no weights. */
  isInspection: boolean
  contextTokens: number
  isAccelerated: boolean
  maxModelBytes: number
  maxInternalsBytes: number
  /** Resident memory of the process. It ends itself above that. */
  maxResidentBytes: number
}

export type ToModel =
  | { op: 'infer'; id: number; request: InferenceRequest }
  /** `name` is one of `OPERATIONS`. */
  | { op: 'operate'; id: number; name: string; request: unknown }
  | { op: 'abort'; id: number }

export type FromModel =
  | ({ op: 'ready'; acceleration?: Acceleration } & ModelReport)
  /** The model can't be loaded; the process ends. */
  | { op: 'unusable'; code: ModelErrorCode; detail: string }
  | { op: 'token'; id: number; token: GeneratedToken }
  | { op: 'progress'; id: number; progress: OperationProgress }
  | { op: 'done'; id: number; result: InferenceResult }
  /** `result` as `v8.serialize` made it, so that its size was known before it was sent. */
  | { op: 'operated'; id: number; result: Uint8Array }
  | { op: 'refused'; id: number; code: ModelErrorCode; detail: string }
  /** It has more memory than it may; the process ends. */
  | { op: 'spent'; residentBytes: number }
