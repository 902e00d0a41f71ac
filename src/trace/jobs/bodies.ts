// The bodies of attribution jobs and interventions.

import { z } from 'zod'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { ATTRIBUTION_METHODS, MAX_FEATURE_NODES } from '../attribution/attribute.ts'
import { MAX_EDITS } from '../attribution/intervene.ts'
import { chatMessage } from '../canaries/input.ts'

export interface NeuronPlace {
  layer: number
  neuron: number
  position: number
}

/** Parses a `node_id` that the body's schema has checked. */
export function neuronPlaceOf(nodeId: string): NeuronPlace {
  const [layer = 0, neuron = 0, position = 0] = nodeId.split('_').map(Number)
  return { layer, neuron, position }
}

const MAX_CHARACTERS = 65_536
const MAX_MESSAGES = 100
const MAX_TOKEN = 1_000_000
/** The most tokens of a completion. */
const MAX_POSITION = 256
const MAX_LOGITS = 20
const MAX_FACTOR = 100

const repeatedPrompt = z
  .strictObject({
    prompt: z.string().min(1).max(MAX_CHARACTERS).optional(),
    messages: z.array(chatMessage).min(1).max(MAX_MESSAGES).optional(),
  })
  .superRefine(({ prompt, messages }, context) => {
    const refuse = (path: string, code: FieldErrorCode, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { code } })
    if (prompt === undefined && messages === undefined) refuse('messages', 'required', 'is required, or prompt')
    if (prompt !== undefined && messages !== undefined) refuse('prompt', 'conflict', 'must not be sent with messages')
  })
  .meta({ id: 'RepeatedPrompt' })

const target = z
  .strictObject({
    position: z
      .number()
      .int()
      .min(0)
      .max(MAX_POSITION)
      .default(0)
      .describe(
        'Position of the explained token in the completion: 0 is the first token; the length of the completion is the ' +
          'token after it.',
      ),
    token: z
      .number()
      .int()
      .min(0)
      .max(MAX_TOKEN)
      .optional()
      .describe('Token to explain at this position; when absent, the token that the model said there.'),
  })
  .meta({ id: 'AttributionTarget' })

const share = z.number().min(0).max(1)
const input = repeatedPrompt
  .optional()
  .describe(
    'Input of the inference: required where the trace keeps only hashes, and always compared with `prompt_hash`.',
  )

export const jobBody = z
  .strictObject({
    trace_id: z.string().max(64),
    target: target.default({ position: 0 }),
    method: z
      .enum(ATTRIBUTION_METHODS)
      .meta({ id: 'AttributionMethod' })
      .default('exact')
      .describe('`exact` when absent; `grad_x_act` and `ablation` are approximate.'),
    max_feature_nodes: z.number().int().min(1).max(MAX_FEATURE_NODES).default(512),
    max_n_logits: z.number().int().min(1).max(MAX_LOGITS).default(10),
    desired_logit_prob: share
      .default(0.95)
      .describe('Logits are explained until their tokens together have this probability.'),
    node_threshold: share.default(0.8).describe('The share of the influence that the kept nodes have.'),
    edge_threshold: share.default(0.98),
    input,
  })
  .meta({ id: 'CreateAttributionJobRequest' })

export const interventionBody = z
  .strictObject({
    edits: z
      .array(
        z
          .strictObject({
            node_id: z
              .string()
              .regex(/^\d{1,4}_\d{1,6}_\d{1,6}$/, 'must be the node_id of a neuron: layer_neuron_position')
              .describe('Id of a neuron, as in a manifest: `layer_neuron_position`.'),
            factor: z
              .number()
              .min(-MAX_FACTOR)
              .max(MAX_FACTOR)
              .default(0)
              .describe('Factor of the activation; 0 ablates the neuron.'),
          })
          .meta({ id: 'NeuronEdit' }),
      )
      .min(1)
      .max(MAX_EDITS)
      .superRefine((edits, context) => {
        const named = new Set<string>()
        edits.forEach(({ node_id }, index) => {
          // Leading zeros are another spelling of the same neuron.
          const place = Object.values(neuronPlaceOf(node_id)).join('_')
          if (named.has(place)) {
            const path = [index, 'node_id']
            context.addIssue({ code: 'custom', path, message: 'is edited twice', params: { code: 'duplicate' } })
          }
          named.add(place)
        })
      }),
    target: target
      .pick({ position: true })
      .meta({ id: 'InterventionTarget' })
      .default({ position: 0 })
      .describe('The position whose logits are compared.'),
    top_tokens: z
      .number()
      .int()
      .min(1)
      .max(10)
      .default(5)
      .describe('Number of the likeliest tokens to compare, before and after.'),
    input,
  })
  .meta({ id: 'InterveneInTraceRequest' })

export type JobBody = z.output<typeof jobBody>
export type InterventionBody = z.output<typeof interventionBody>
export type InputBody = z.output<typeof repeatedPrompt>
