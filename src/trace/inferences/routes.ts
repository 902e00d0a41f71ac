import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { modeView } from '../canaries/kill-switch.ts'
import {
  canaryView,
  finishReasonView,
  toCanaryView,
  toolCallsView,
  uncountedView,
  usageView,
} from '../canaries/views.ts'
import { MAX_LENS_TOP } from '../models/lens.ts'
import type { InferenceAnswer, Inferences } from './inferences.ts'
import type { Repeat } from './repeat.ts'
import { inferenceBody } from './request.ts'
import type { Tokens, TracedToken } from './tokens.ts'

const MAX_BODY_BYTES = 512 * 1024

const inferenceView = z
  .object({
    trace_id: z.string(),
    model: z.string(),
    model_version_id: z.string(),
    completion: z.string().nullable().describe('null: withheld, by `finish_reason`.'),
    tool_calls: toolCallsView.optional(),
    finish_reason: finishReasonView,
    usage: usageView,
    canary: canaryView
      .nullable()
      .describe('null: the model has no probes. `tripped_families` by the thresholds that count.'),
    uncounted_families: uncountedView,
    mode: modeView.describe('Of the kill switch for this agent.'),
    lock_id: z.string().nullable().describe('The lock in force.'),
    decision_id: z.string().describe('The entry of the decision ledger.'),
  })
  .meta({ id: 'Inference' })

const tokenView = z
  .object({
    index: z.number().int(),
    log_probability: z.number().describe('The natural logarithm of its probability, at temperature 1.'),
    readings: z
      .array(z.object({ family: z.string(), score: z.number() }).meta({ id: 'WindowScore' }))
      .nullable()
      .describe('Of the window that ends with this token.'),
    token: z.number().int().nullable().describe('null where no text is kept.'),
    text: z.string().nullable(),
    lens: z
      .array(
        z.array(
          z.object({ token: z.number().int(), text: z.string(), probability: z.number() }).meta({ id: 'LensToken' }),
        ),
      )
      .nullable()
      .describe('For each layer, what the model would say before it; the last entry is after the last layer.'),
  })
  .meta({ id: 'TracedToken' })

const common = { scope: 'intent' } as const

interface InferenceRoutesDeps {
  inferences: Inferences
  repeat: Repeat
  tokens: Tokens
}

export function inferenceRoutes({ inferences, repeat, tokens }: InferenceRoutesDeps): Route[] {
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/inferences',
        operationId: 'createInference',
        sdk: 'trace.inferences.create',
        effect: 'write',
        kind: 'call',
        permission: 'traces.write',
        summary: 'Run a model, with its canaries read',
        meters: 'inference',
        body: inferenceBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: inferenceView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey, signal }) =>
        toInferenceView(await inferences.infer(caller, body, { key: idempotencyKey, signal })),
      async ({ caller, body, signal }, made) => toInferenceView(await repeat(caller, body, made, signal)),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/trace/traces/:id/tokens',
        operationId: 'listTraceTokens',
        sdk: 'trace.tokens.list',
        permission: 'traces.read',
        summary: 'The tokens of a completion, in their order',
        params: idParams('trc'),
        query: {
          limit: listQuery.limit,
          cursor: listQuery.cursor,
          lens: z
            .string()
            .regex(/^(?:[1-9]|10)$/, `must be a whole number from 1 to ${MAX_LENS_TOP}`)
            .transform(Number)
            .optional()
            .meta({
              description: 'Shows so many tokens of each layer. Needs retained text, and a limit of at most 20.',
              type: 'integer',
              minimum: 1,
              maximum: MAX_LENS_TOP,
              pattern: undefined,
            }),
        },
        item: tokenView,
      },
      ({ caller, params, query: { lens = 0, ...page }, signal }) =>
        tokens.list(caller, params.id, { ...page, lens }, signal),
      toTokenView,
    ),
  ]
}

function toInferenceView(answer: InferenceAnswer): z.input<typeof inferenceView> {
  const { trace, completion, toolCalls, judgement, lockId, decisionId } = answer
  const { model, finishReason, promptTokens, completionTokens } = trace.inference
  return {
    trace_id: trace.id,
    model,
    model_version_id: trace.modelVersionId ?? '',
    completion,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => ({ ...call })) }),
    finish_reason: finishReason,
    usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens },
    canary: toCanaryView(trace, judgement.tripped_families),
    uncounted_families: judgement.uncounted_families,
    mode: judgement.mode,
    lock_id: lockId,
    decision_id: decisionId,
  }
}

function toTokenView({ index, logProbability, readings, token, text, lens }: TracedToken): z.input<typeof tokenView> {
  return { index, log_probability: logProbability, readings, token, text, lens }
}
