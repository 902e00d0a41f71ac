// The bodies of authorize and verify. What verify compares by hash may be longer there than authorize accepts: it then is
// another action, and not a malformed request.

import { z } from 'zod'
import { passkeyAssertion } from '#src/authorize/passkeys/bodies.ts'
import { hashedObject, isShallow, MAX_JSON_DEPTH } from '#src/authorize/policy/json-object.ts'
import { parseAmount } from '#src/platform/amounts.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { isJsonObject, refusePrototypeName, shownText } from '#src/platform/http/params.ts'
import { inferenceInput } from '#src/trace/canaries/input.ts'

const DEFAULT_TTL_SECONDS = 300
/** Three JSON values of their greatest size in pretty print, and a hostile token, which gets its answer. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024
/** Commas: a payload of 64 KiB has half as many at most. */
export const MAX_BODY_VALUES = 40_000

const evidence = z
  .custom<string | JsonObject>((value) => typeof value === 'string' || isJsonObject(value), {
    message: 'must be an object or a string',
    abort: true,
    params: { code: 'invalid_type' },
  })
  .refine(isShallow, { message: `must have at most ${MAX_JSON_DEPTH} levels`, params: { code: 'too_deep' } })
  .meta({
    type: ['object', 'string'],
    description: 'Evidence that is hashed and not stored. At most 64 KiB as canonical JSON.',
  })

const context = hashedObject
  .refine(({ transaction_amount: amount }) => amount === undefined || parseAmount(amount) !== undefined, {
    message: 'must be a number or a decimal string with at most 4 decimals, up to 10^15',
    path: ['transaction_amount'],
    params: { code: 'invalid_amount' },
  })
  .refine(({ require_biometric: wish }) => wish === undefined || typeof wish === 'boolean', {
    message: 'must be true or false',
    path: ['require_biometric'],
    params: { code: 'invalid_type' },
  })
  .meta({
    type: 'object',
    description:
      'Facts that rules of the policy read as `context`. `transaction_amount` and `require_biometric` have a meaning.',
  })

const name = z.string().min(1).max(200)
const traceId = z.string().min(1).max(64)
const boundId = z.string().min(1).max(64)

export const authorizeRequest = z
  .strictObject({
    action_description: shownText(2_000),
    action_payload: hashedObject,
    agent_session_id: name,
    device_id: name,
    action_type: z.string().min(1).max(100).optional(),
    context: context.optional(),
    context_evidence: evidence.optional(),
    trace_id: traceId.optional(),
    inference_input: inferenceInput.optional().meta({
      description: 'Input that a model of the service reads; the token is bound to that trace. Not with `trace_id`.',
    }),
    agent_id: z.string().min(1).max(64).optional(),
    audience: name.optional(),
    ttl_seconds: z.number().int().min(30).max(3_600).default(DEFAULT_TTL_SECONDS),
    metadata: hashedObject.superRefine(refusePrototypeName).optional(),
    passkey_assertion: passkeyAssertion.optional().meta({
      description: 'Binds the token to the person who confirmed exactly this action: see POST /v1/intent/challenges.',
    }),
    mandate_id: boundId
      .optional()
      .meta({ description: 'The mandate to act under. Not with `schedule_id` or `order_id`.' }),
    schedule_id: boundId
      .optional()
      .meta({ description: 'The schedule whose cycle this is. Not with `mandate_id` or `order_id`.' }),
    order_id: boundId.optional().meta({
      description: 'The order of a clinician that is to be executed, once. Not with `mandate_id` or `schedule_id`.',
    }),
    single_use: z
      .boolean()
      .default(false)
      .meta({
        description:
          'The token can be executed once, as under a mandate, a schedule, an order or an approval. Otherwise it stays valid after an ' +
          'execution, with `already_executed`.',
      }),
  })
  .superRefine(({ mandate_id, schedule_id, order_id }, issues) => {
    const [first, ...others] = Object.entries({ mandate_id, schedule_id, order_id }).flatMap(([name, id]) =>
      id === undefined ? [] : [name],
    )
    const message = `must not be combined with ${first}: a token is issued under a mandate, a schedule or an order`
    for (const name of others) {
      issues.addIssue({ code: 'custom', path: [name], message, params: { code: 'mismatch' } })
    }
  })
  .superRefine(({ trace_id: trace, inference_input: input }, issues) => {
    if (trace === undefined || input === undefined) return
    const message = 'must not be combined with trace_id: a token is bound to one trace'
    issues.addIssue({ code: 'custom', path: ['inference_input'], message, params: { code: 'mismatch' } })
  })

export const verifyRequest = z.strictObject({
  intent_token: z.string().min(1),
  action_description: z.string().max(20_000),
  action_payload: hashedObject,
  context: context.optional(),
  context_evidence: evidence.optional(),
  trace_id: traceId.optional(),
  inference_input: inferenceInput.optional().meta({
    description:
      'Input that a model of the service reads within 5 seconds, where a condition of the policy asks for canaries.',
  }),
  agent_session_id: name.optional(),
  device_id: name.optional(),
  audience: name.optional(),
  counterparty: name.optional(),
  execute: z.boolean().default(true),
  receipt: z.boolean().default(false),
})

export const intentOutcome = z.enum(['succeeded', 'failed', 'not_run']).meta({ id: 'IntentOutcome' })
export const outcomeRequest = z.strictObject({ status: intentOutcome })

export type AuthorizeRequest = z.output<typeof authorizeRequest>
export type VerifyRequest = z.output<typeof verifyRequest>
