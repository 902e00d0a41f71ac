// A text or a conversation that a model of the service is to read for its canaries. The model completes it; what it says
// is thrown away, and its readings are kept as a trace of source `server`.

import { z } from 'zod'
import { Failure, type FailureCode } from '#src/failure.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { GREEDY } from '../llama/sampling.ts'
import type { TripSubject } from '../locks/locks.ts'
import { placedAt, versionIdOf } from '../models/backend.ts'
import type { Models } from '../models/models.ts'
import { CHAT_ROLES } from '../tokenizer/chat.ts'
import type { ReadingRule } from './judge.ts'
import { canaryHashOf, type TraceRow } from './traces.ts'

const MAX_CHARACTERS = 65_536
const MAX_MESSAGES = 100
/** A caller waits for the answer before it acts. What takes longer is no reading. */
const INPUT_LIMIT_MS = 5_000

export const chatRole = z.enum(CHAT_ROLES).meta({ id: 'ChatRole' })

export const chatMessage = z
  .strictObject({ role: chatRole, content: z.string().max(MAX_CHARACTERS) })
  .meta({ id: 'ChatMessage' })

export const inferenceInput = z
  .union([
    z.string().min(1),
    z.strictObject({ prompt: z.string().min(1) }).meta({ id: 'ReadPrompt' }),
    z.strictObject({ messages: z.array(chatMessage).min(1).max(MAX_MESSAGES) }).meta({ id: 'ReadConversation' }),
  ])
  .refine((input) => JSON.stringify(input).length <= MAX_CHARACTERS, {
    message: `must not have more than ${MAX_CHARACTERS} characters as JSON`,
    params: { code: 'too_long' },
  })
  .meta({
    id: 'ReadText',
    description: 'A text is the message of a user. The kill switch names the model that reads it, and how far.',
  })

export type InferenceInput = z.output<typeof inferenceInput>

export const UNREAD_CAUSES = [
  'unknown_model',
  'no_probes',
  'other_set',
  'input_refused',
  'too_late',
  'model_unavailable',
  'over_cap',
] as const

/** Why an input has no reading. */
export interface Unread {
  cause: (typeof UNREAD_CAUSES)[number]
  /** Failure for callers that treat a missing reading as an error. */
  failure: Failure
}

/** What only the caller can change is no warning. */
export function logUnread(log: Pick<Log, 'info' | 'warn'>, { cause, failure }: Unread): void {
  const level = cause === 'too_late' || cause === 'model_unavailable' ? 'warn' : 'info'
  log[level]({ reason: cause, err: failure }, 'a model could not read an input')
}

export interface InputOptions {
  /** Only a model with one of these sets is asked; any set when absent. */
  sets?: readonly string[]
  /** The request's signal: it ends when the client is gone. */
  signal: AbortSignal
  /** The account's. */
  rule: ReadingRule
}

export type ReadInput = ReturnType<typeof createReadInput>

interface ReadInputDeps {
  models: Pick<Models, 'get'>
  now: () => Date
  limitMs?: number
}

export function createReadInput({ models, now, limitMs = INPUT_LIMIT_MS }: ReadInputDeps) {
  async function read(
    acting: Acting,
    input: InferenceInput,
    subject: TripSubject,
    { sets, signal, rule }: InputOptions,
  ): Promise<TraceRow> {
    const backend = models.get(rule.models[0])
    const probes = await backend.probeSet()
    if (probes !== undefined && sets?.includes(probes.set) === false) throw otherSet(backend.model, probes.set)
    const { sha256, canary, finishReason, completionTokens } = await backend.generate(
      // `continue`: the reading is of the whole completion, whatever the thresholds. Its tokens end here.
      { input: conversationOf(input), maxTokens: rule.max_tokens, sampling: GREEDY, canary: { onTrip: 'continue' } },
      { signal, lane: acting.accountId },
    )
    if (canary === undefined) throw new Error('a model that was asked for readings took none')
    const readingAt = now()
    const trace = {
      id: newId('trc', acting.environment, readingAt.getTime()),
      source: 'server',
      ...subject,
      canarySet: canary.set,
      readings: canary.readings,
      readingAt,
      modelVersionId: versionIdOf(backend.model, sha256),
      runtime: canary.runtime,
      createdBy: actorOf(acting.principal).id,
      createdAt: readingAt,
    } as const
    const cutAfter = finishReason === 'stop' ? null : completionTokens
    return { ...trace, digest: canaryHashOf(trace), inference: null, cutAfter }
  }

  /**
   * Runs the model, outside of any transaction. The trace is not stored yet.
   * @throws what `signal` was aborted with.
   */
  return async (
    acting: Acting,
    input: InferenceInput,
    subject: TripSubject,
    { signal, ...options }: InputOptions,
  ): Promise<{ trace: TraceRow } | { unread: Unread }> => {
    const limit = AbortSignal.timeout(limitMs)
    const either = AbortSignal.any([signal, limit])
    try {
      const trace = await untilAborted(read(acting, input, subject, { ...options, signal: either }), either)
      return { trace }
    } catch (error) {
      signal.throwIfAborted()
      return { unread: limit.aborted ? tooLate(limitMs) : unreadBy(error) }
    }
  }
}

const CAUSES: Partial<Record<FailureCode, Unread['cause']>> = {
  not_found: 'unknown_model',
  backend_capability_missing: 'no_probes',
  conflict: 'other_set',
  invalid_request: 'input_refused',
  service_unavailable: 'model_unavailable',
}

function unreadBy(error: unknown): Unread {
  const cause = error instanceof Failure ? CAUSES[error.code] : undefined
  if (cause === undefined) throw error
  return { cause, failure: placedAt('/inference_input', error) as Failure }
}

function tooLate(limitMs: number): Unread {
  const detail = `The model did not read the input within ${limitMs / 1_000} s.`
  return { cause: 'too_late', failure: new Failure('service_unavailable', { detail, headers: { 'Retry-After': '2' } }) }
}

function otherSet(model: string, set: string): Failure {
  return new Failure('conflict', `The probes of the model ${model} are those of ${set}.`)
}

// Inspecting the file of a model ignores the signal, and may take as long as reading it.
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

/** Probes compare the parts of a conversation. */
function conversationOf(input: InferenceInput) {
  if (typeof input === 'string') return { messages: [{ role: 'user' as const, content: input }] }
  return 'prompt' in input
    ? { messages: [{ role: 'user' as const, content: input.prompt }] }
    : { messages: input.messages }
}
