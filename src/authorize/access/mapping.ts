// How an AuthZEN request names what verify checks. Every entity is compared with the token, so that nothing that a gateway
// asks about is answered unchecked: the subject with its agent session, the action with its description and payload by
// their hashes, the resource with its audience.

import { z } from 'zod'
import type { VerifyRequest } from '#src/authorize/intents/bodies.ts'
import { verifyRequest } from '#src/authorize/intents/bodies.ts'
import { type FieldError, invalidField } from '#src/failure.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { jsonObject } from '#src/platform/http/params.ts'
import { invalidRequest, parseWith } from '#src/platform/http/validate.ts'

/** The only type of subjects: an agent session, which tokens are issued to. */
const SUBJECT_TYPE = 'agent_session'

const text = z.string().min(1).max(20_000)

// Authorization API 1.0, 10.1: receivers ignore unknown members.
const entity = z.object({ type: text, id: text, properties: jsonObject.optional() }).meta({ id: 'AccessEntity' })
const parts = {
  subject: entity,
  action: z.object({ name: text, properties: jsonObject.optional() }).meta({
    id: 'AccessAction',
    description: '`name` is the `action_description` of the token, `properties` its `action_payload`.',
  }),
  resource: entity,
  context: jsonObject.optional().meta({
    description:
      '`intent_token`, and where they apply `context_evidence`, `trace_id` and `inference_input`, as for verify. All ' +
      'other members are the `context` that rules of the policy read.',
  }),
}

export const evaluationRequest = z.object(parts).meta({
  id: 'EvaluateAccessRequest',
  description: `\`subject\`: of the type \`${SUBJECT_TYPE}\`, its \`id\` is the \`agent_session_id\` of the token; \`properties.device_id\` is compared too. \`resource\`: \`<type>:<id>\` is the \`audience\` of the token.`,
})
export type AccessEvaluation = z.output<typeof evaluationRequest>

const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const
/** One request must not cost more than a second of a busy process; each evaluation is a whole verification. */
const MAX_EVALUATIONS = 20

const optionsSchema = z
  .object({
    evaluations_semantic: z.enum(SEMANTICS).meta({ id: 'AccessEvaluationsSemantic' }).default('execute_all'),
  })
  .meta({ id: 'AccessEvaluationsOptions' })

export const evaluationsRequest = z
  .object({
    subject: parts.subject.optional(),
    action: parts.action.optional(),
    resource: parts.resource.optional(),
    context: parts.context,
    evaluations: z.array(jsonObject).max(MAX_EVALUATIONS).optional().meta({
      description:
        'Evaluations, each as an EvaluateAccessRequest. A member that an evaluation lacks is taken from the request.',
    }),
    options: optionsSchema.optional(),
  })
  .meta({ id: 'EvaluateAccessesRequest' })
export type AccessEvaluations = z.output<typeof evaluationsRequest>

/**
 * The verification that an evaluation asks for. It checks and executes nothing.
 * @throws {Failure} `invalid_request` for what no token can answer, with pointers into the evaluation.
 */
export function toVerification({ subject, action, resource, context = {} }: AccessEvaluation): VerifyRequest {
  if (subject.type !== SUBJECT_TYPE) {
    throw invalidField(
      '/subject/type',
      'invalid_value',
      `must be ${SUBJECT_TYPE}: a token is issued to an agent session`,
    )
  }
  // Otherwise two resources would be one audience.
  if (resource.type.includes(':')) throw invalidField('/resource/type', 'invalid_value', 'must not contain a colon')
  const { intent_token, context_evidence, trace_id, inference_input, ...rest } = context
  const read = {
    ...rest,
    ...(subject.properties && { subject: subject.properties }),
    ...(resource.properties && { resource: resource.properties }),
  }
  const parsed = parseWith(
    verifyRequest,
    {
      intent_token,
      action_description: action.name,
      action_payload: action.properties ?? {},
      agent_session_id: subject.id,
      device_id: subject.properties?.device_id,
      audience: `${resource.type}:${resource.id}`,
      context: Object.keys(read).length === 0 ? undefined : read,
      context_evidence,
      trace_id,
      inference_input,
      execute: false,
    },
    'body',
  )
  if (!parsed.ok) throw invalidRequest(parsed.errors.map(placed))
  return parsed.value as VerifyRequest
}

/**
 * Completes one of several evaluations: members that it lacks are taken from the request. @throws {Failure}
 * `invalid_request`.
 */
export function withDefaults(defaults: AccessEvaluations, own: JsonObject): AccessEvaluation {
  const { subject, action, resource, context } = defaults
  const given: Record<string, Json | undefined> = { subject, action, resource, context } as Record<string, Json>
  for (const name of Object.keys(given)) if (Object.hasOwn(own, name)) given[name] = own[name]
  const parsed = parseWith(evaluationRequest, given, 'body')
  if (!parsed.ok) throw invalidRequest(parsed.errors)
  return parsed.value as AccessEvaluation
}

// Where a member of verify stands in an evaluation.
const PLACES: Record<string, string> = {
  action_description: '/action/name',
  action_payload: '/action/properties',
  agent_session_id: '/subject/id',
  device_id: '/subject/properties/device_id',
  audience: '/resource/id',
  context: '/context',
  intent_token: '/context/intent_token',
  context_evidence: '/context/context_evidence',
  trace_id: '/context/trace_id',
  inference_input: '/context/inference_input',
}

function placed({ pointer, ...error }: FieldError): FieldError {
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  return { pointer: `${PLACES[name] ?? `/${name}`}${rest}`, ...error }
}
