import { z } from 'zod'
import { MAX_BODY_BYTES, MAX_BODY_VALUES } from '#src/authorize/intents/bodies.ts'
import { endpoint, publicEndpoint, type Request, type Route, reply } from '#src/platform/http/endpoint.ts'
import type { Access, AccessAsker } from './access.ts'
import {
  type AccessEvaluation,
  type AccessEvaluations,
  evaluationRequest,
  evaluationsRequest,
  withDefaults,
} from './mapping.ts'

const EVALUATION = '/v1/access/evaluation'
const EVALUATIONS = '/v1/access/evaluations'

const common = {
  tag: 'Intents',
  scope: 'verify',
  permission: 'intents.write',
  meters: 'verify',
  maxBodyBytes: MAX_BODY_BYTES,
  maxBodyValues: MAX_BODY_VALUES,
} as const

const decisionShape = {
  decision: z.boolean(),
  context: z
    .looseObject({
      reason: z.string().nullable().optional(),
      detail: z.string().optional(),
      jti: z.string().nullable().optional(),
      decision_id: z.string().optional().meta({ description: 'Of the decision ledger.' }),
      error: z
        .looseObject({ status: z.number().int(), code: z.string(), message: z.string() })
        .optional()
        .meta({ description: 'Why the evaluation could not be made.' }),
    })
    .meta({ id: 'AccessDecisionContext' }),
}
const decisionView = z.object(decisionShape).meta({ id: 'AccessDecision' })
const decisionsView = z.object({
  evaluations: z.array(decisionView).optional(),
  decision: decisionShape.decision.optional().meta({ description: 'Of a request without `evaluations`.' }),
  context: decisionShape.context.optional(),
})

/** @param baseUrl Without a trailing slash. */
export function accessRoutes({ evaluate, evaluateAll }: Access, baseUrl: string): Route[] {
  const one = (request: Request<unknown, unknown, AccessEvaluation>) => evaluate(askerOf(request), request.body)
  const all = async (request: Request<unknown, unknown, AccessEvaluations>) => {
    const { body, countAgain } = request
    const { evaluations = [] } = body
    if (evaluations.length > 0) {
      return { evaluations: await evaluateAll(askerOf(request), { ...body, evaluations }, countAgain) }
    }
    // Authorization API 1.0, 7.1: then the request is one evaluation, of which every part is required.
    return evaluate(askerOf(request), withDefaults(body, {}))
  }
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: EVALUATION,
        operationId: 'evaluateAccess',
        summary: 'Decide one access request (AuthZEN Authorization API 1.0)',
        body: evaluationRequest,
        view: decisionView,
        status: [200],
      },
      one,
      // Never called: an evaluation is no stored answer.
      one,
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: EVALUATIONS,
        operationId: 'evaluateAccesses',
        summary: 'Decide several access requests (AuthZEN Authorization API 1.0)',
        body: evaluationsRequest,
        view: decisionsView,
        status: [200],
      },
      all,
      all,
    ),
    publicEndpoint(
      {
        method: 'GET',
        path: '/.well-known/authzen-configuration',
        operationId: 'getAuthzenConfiguration',
        tag: 'Service',
        summary: 'Where the AuthZEN Authorization API is',
        public: 'Gateways read it before they have a key',
        view: z.object({
          policy_decision_point: z.string(),
          access_evaluation_endpoint: z.string(),
          access_evaluations_endpoint: z.string(),
        }),
        status: [200],
      },
      async () =>
        reply(
          200,
          {
            policy_decision_point: baseUrl,
            access_evaluation_endpoint: baseUrl + EVALUATION,
            access_evaluations_endpoint: baseUrl + EVALUATIONS,
          },
          { 'Cache-Control': 'public, max-age=3600' },
        ),
    ),
  ]
}

function askerOf({ caller, idempotencyKey: key, signal }: Request<unknown, unknown, unknown>): AccessAsker {
  return { caller, key, signal }
}
