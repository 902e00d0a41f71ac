// What a model's process and its parent tell each other. Messages are structured clones (`serialization: 'advanced'`), so
// arrays of floats travel as they are.

import type { ModelErrorCode } from '../gguf/model-error.ts'
import type { FinishReason, GeneratedToken } from '../llama/generation.ts'
import type { Internals, WantedInternals } from '../llama/internals.ts'
import type { SamplingSettings } from '../llama/sampling.ts'
import type { LlamaShape } from '../llama/shape.ts'
import type { ChatMessage, ChatSpan } from '../tokenizer/chat.ts'

/** What a model continues: a conversation by its chat template, a text as it is, or tokens. */
export type ModelInput = { messages: readonly ChatMessage[] } | { text: string } | { tokens: readonly number[] }

export interface InferenceRequest {
  input: ModelInput
  maxTokens: number
  sampling: SamplingSettings
  /** Internals of the prompt and of the generated tokens, the last one not included: it was never fed. */
  internals?: WantedInternals
}

export interface InferenceResult {
  prompt: number[]
  /** The contents of the messages among the prompt's tokens; empty where the input was no conversation. */
  spans: ChatSpan[]
  tokens: number[]
  logProbabilities: number[]
  text: string
  finishReason: FinishReason
  internals?: Internals
}

/** The arguments with which a model's process starts. */
export interface ModelProcessArguments {
  path: string
  contextTokens: number
  maxModelBytes: number
  maxInternalsBytes: number
  /** Resident memory of the process. It ends itself above that. */
  maxResidentBytes: number
}

export type ToModel = { op: 'infer'; id: number; request: InferenceRequest } | { op: 'abort'; id: number }

export type FromModel =
  | { op: 'ready'; shape: LlamaShape; maxTokens: number }
  /** The model can't be loaded; the process ends. */
  | { op: 'unusable'; code: ModelErrorCode; detail: string }
  | { op: 'token'; id: number; token: GeneratedToken }
  | { op: 'done'; id: number; result: InferenceResult }
  | { op: 'refused'; id: number; code: ModelErrorCode; detail: string }
  /** It has more memory than it may; the process ends. */
  | { op: 'spent'; residentBytes: number }
