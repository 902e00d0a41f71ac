// The body of an inference, and what it asks of a model.

import { randomInt } from 'node:crypto'
import { z } from 'zod'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { chatMessage } from '../canaries/input.ts'
import { canaryName } from '../canaries/readings.ts'
import type { SamplingSettings } from '../llama/sampling.ts'
import type { ModelInput } from '../models/protocol.ts'

const MAX_CHARACTERS = 65_536
const MAX_MESSAGES = 100
const MAX_TOKENS = 256
const DEFAULT_TOKENS = 64
// A seed that is drawn: exact in every JSON parser.
const MAX_DRAWN_SEED = 2 ** 47

export const inferenceBody = z
  .strictObject({
    model: z.string().min(1).max(64).optional().describe('Id of GET /v1/trace/models; the default model when absent.'),
    prompt: z
      .string()
      .min(1)
      .max(MAX_CHARACTERS)
      .optional()
      .describe('Message of a user; for a model that takes no conversations, a text that it continues.'),
    messages: z
      .array(chatMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .optional()
      .describe('A conversation, in place of `prompt`.'),
    max_tokens: z.number().int().min(1).max(MAX_TOKENS).default(DEFAULT_TOKENS),
    temperature: z.number().min(0).max(2).default(0).describe('0 always takes the most likely token.'),
    seed: z
      .number()
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Seed of the sampling; random when absent.'),
    canary_set: canaryName
      .optional()
      .describe('Requires readings by this set of probes. When absent, readings are taken where the model has probes.'),
    agent_id: z.string().max(64).optional(),
    agent_session_id: z.string().min(1).max(200).optional().describe('An id of this service, or a name of your own.'),
    kill_switch: z
      .literal('inherit')
      .default('inherit')
      .describe('The account’s kill switch applies, and no request can weaken it.'),
    retain: z
      .enum(['hash', 'text'])
      .meta({ id: 'TextRetention' })
      .default('hash')
      .describe('text: prompt and completion are kept for 30 days, and no longer than the trace, sealed.'),
  })
  .superRefine(({ prompt, messages = [] }, context) => {
    const refuse = (path: string, code: FieldErrorCode, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { code } })
    if (prompt === undefined && messages.length === 0) refuse('messages', 'required', 'is required, or prompt')
    if (prompt !== undefined && messages.length > 0) refuse('prompt', 'conflict', 'must not be sent with messages')
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0)
    if (characters > MAX_CHARACTERS) refuse('messages', 'too_long', `must have at most ${MAX_CHARACTERS} characters`)
  })
  .meta({ id: 'CreateInferenceRequest' })

export type InferenceBody = z.output<typeof inferenceBody>

export function inputOf({ prompt, messages }: InferenceBody, hasChat: boolean): ModelInput {
  if (prompt === undefined) return { messages: messages ?? [] }
  return hasChat ? { messages: [{ role: 'user', content: prompt }] } : { text: prompt }
}

export function samplingOf({ temperature, seed }: InferenceBody): SamplingSettings {
  const drawn = temperature === 0 ? 0 : randomInt(MAX_DRAWN_SEED)
  return { temperature, topK: 0, topP: 1, seed: seed ?? drawn }
}
