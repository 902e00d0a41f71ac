// The tokens of a trace, for those who ask a model about it again. Where the trace keeps its texts, these are read. Otherwise
// the caller brings the input, which must be the one of the trace by its hash, and the model completes it again: with the
// same model and sampling it says the same, which is checked by the hash of the completion.

import { Failure, invalidField } from '#src/failure.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { getOwned } from '#src/platform/ids.ts'
import { findTrace, type TracedInference, type TraceRow } from '../canaries/traces.ts'
import { completionHashOf, loadTraceContent, promptHashOf } from '../inferences/contents.ts'
import type { TraceBackend } from '../models/backend.ts'
import type { ModelInput } from '../models/protocol.ts'
import type { InputBody } from './bodies.ts'

export interface TracedText {
  /** Prompt and completion. */
  tokens: number[]
  promptTokens: number
}

/** A trace whose completion was given. */
export type ExplainedTrace = TraceRow & { inference: TracedInference; modelVersionId: string }

/**
 * @throws {Failure} `not_found`; `conflict` for readings without an inference, and for a withheld completion: what made the
 * model say it would tell what it said.
 */
export async function getExplainedTrace(tx: Tx, id: string): Promise<ExplainedTrace> {
  const trace = await getOwned(findTrace(tx, id), id)
  const { inference, modelVersionId } = trace
  if (inference === null || modelVersionId === null) {
    throw new Failure('conflict', `${id} has readings alone: no model of the service ran.`)
  }
  if (inference.completionHash === null) {
    throw new Failure('conflict', `The completion of ${id} was withheld, so nothing of it is explained.`)
  }
  return { ...trace, inference, modelVersionId }
}

/** @throws {Failure} `invalid_request` at `/target/position`, for one behind the token after the completion. */
export function checkTargetPosition({ id, inference: { completionTokens } }: ExplainedTrace, position: number): void {
  if (position <= completionTokens) return
  throw new Failure('invalid_request', {
    detail: `The completion of ${id} has ${completionTokens} tokens.`,
    errors: [{ pointer: '/target/position', code: 'out_of_range', detail: `must be at most ${completionTokens}` }],
  })
}

export async function findKeptText(tx: Tx, sealer: Sealer, traceId: string): Promise<TracedText | undefined> {
  const content = await loadTraceContent(tx, sealer, traceId)
  if (content === undefined) return undefined
  const { promptTokens, completionTokens } = content
  return { tokens: [...promptTokens, ...completionTokens], promptTokens: promptTokens.length }
}

/** @throws {Failure} `invalid_request` where the input is missing or another one than that of the trace. */
export function checkInput({ id, inference }: ExplainedTrace, input: InputBody | undefined): ModelInput {
  if (input === undefined) {
    throw invalidField('/input', 'required', `is required: ${id} keeps no texts (retain)`)
  }
  const { prompt, messages } = input
  // A prompt is a message of a user where the model takes conversations.
  const candidates: ModelInput[] = [
    ...(messages === undefined ? [] : [{ messages }]),
    ...(prompt === undefined ? [] : [{ messages: [{ role: 'user' as const, content: prompt }] }, { text: prompt }]),
  ]
  const found = candidates.find((candidate) => promptHashOf(candidate) === inference.promptHash)
  if (found === undefined) throw invalidField('/input', 'mismatch', `must be the input of ${id}, by its prompt_hash`)
  return found
}

/** Undefined where the model says something else now. @throws {Failure} as `backend.generate`. */
export async function repeatText(
  backend: TraceBackend,
  { inference }: ExplainedTrace,
  input: ModelInput,
  options: { signal: AbortSignal; lane: string },
): Promise<TracedText | undefined> {
  const { maxTokens, sampling, completionHash } = inference
  const { prompt, tokens, text } = await backend.generate({ input, maxTokens, sampling }, options)
  if (completionHashOf(text) !== completionHash) return undefined
  return { tokens: [...prompt, ...tokens], promptTokens: prompt.length }
}
