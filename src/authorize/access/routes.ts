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

// Authorization API 1.0, 10.1: a gateway that is given the address alone asks at the standard's paths. Its certification
// expects 400 for another content type there.
const STANDARD = {
  evaluation: '/access/v1/evaluation',
  evaluations: '/access/v1/evaluations',
  wrongContentType: 'invalid_request',
} as const

const common = {
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
      decision_id: z.string().optional().meta({ description: 'Id of the entry in the decision ledger.' }),
      error: z
        .looseObject({ status: z.number().int(), code: z.string(), message: z.string() })
        .meta({ id: 'AccessEvaluationError' })
        .optional()
        .meta({ description: 'Why the evaluation could not be made.' }),
    })
    .meta({ id: 'AccessDecisionContext' }),
}
const decisionView = z.object(decisionShape).meta({ id: 'AccessDecision' })
const decisionsView = z
  .object({
    evaluations: z.array(decisionView).optional(),
    decision: decisionShape.decision.optional().meta({ description: 'Decision of a request without `evaluations`.' }),
    context: decisionShape.context.optional(),
  })
  .meta({ id: 'EvaluateAccessesResponse' })

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
  const single = {
    ...common,
    method: 'POST',
    body: evaluationRequest,
    view: decisionView,
    status: [200] as number[],
    sdk: { none: 'Gateways call it as the AuthZEN standard says' },
    effect: 'write',
    kind: 'call',
  } as const
  const several = { ...single, body: evaluationsRequest, view: decisionsView } as const
  const { wrongContentType } = STANDARD
  // The replays are never called: an evaluation is no stored answer.
  return [
    endpoint(
      {
        ...single,
        path: '/v1/access/evaluation',
        operationId: 'evaluateAccess',
        summary: 'Decide one access request (AuthZEN Authorization API 1.0)',
      },
      one,
      one,
    ),
    endpoint(
      {
        ...several,
        path: '/v1/access/evaluations',
        operationId: 'evaluateAccesses',
        summary: 'Decide several access requests (AuthZEN Authorization API 1.0)',
      },
      all,
      all,
    ),
    endpoint(
      {
        ...single,
        path: STANDARD.evaluation,
        wrongContentType,
        operationId: 'evaluateAccessAtStandardPath',
        summary: 'Decide one access request, at the path of the standard',
      },
      one,
      one,
    ),
    endpoint(
      {
        ...several,
        path: STANDARD.evaluations,
        wrongContentType,
        operationId: 'evaluateAccessesAtStandardPath',
        summary: 'Decide several access requests, at the path of the standard',
      },
      all,
      all,
    ),
    publicEndpoint(
      {
        method: 'GET',
        path: '/.well-known/authzen-configuration',
        operationId: 'getAuthzenConfiguration',
        sdk: { none: 'Gateways read it as the AuthZEN standard says' },
        effect: 'read',
        kind: 'call',
        summary: 'Read where the AuthZEN Authorization API is',
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
            access_evaluation_endpoint: baseUrl + STANDARD.evaluation,
            access_evaluations_endpoint: baseUrl + STANDARD.evaluations,
          },
          { 'Cache-Control': 'public, max-age=3600' },
        ),
    ),
  ]
}

function askerOf({ caller, idempotencyKey: key, signal }: Request<unknown, unknown, unknown>): AccessAsker {
  return { caller, key, signal }
}
