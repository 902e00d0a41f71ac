import { z } from 'zod'
import { endpoint, type Request, type Route } from '#src/platform/http/endpoint.ts'
import { idParam } from '#src/platform/http/params.ts'
import type { createAuthorizing } from './authorizing.ts'
import {
  authorizeRequest,
  MAX_BODY_BYTES,
  MAX_BODY_VALUES,
  outcomeRequest,
  type VerifyRequest,
  verifyRequest,
} from './bodies.ts'
import type { Executions } from './executions.ts'
import type { Verified } from './settling.ts'
import { authorizeView, executionView, toAuthorizeView, toExecutionView, toVerifyView, verifyView } from './views.ts'

interface IntentRoutesDeps {
  authorizing: ReturnType<typeof createAuthorizing>
  verify(request: Request<unknown, unknown, VerifyRequest>): Promise<{ verified: Verified; receipt?: string | null }>
  executions: Executions
  now(): Date
}

const params = z.object({ jti: idParam('jti') })

export function intentRoutes({ authorizing, verify, executions, now }: IntentRoutesDeps): Route[] {
  const answer = async (request: Request<unknown, unknown, VerifyRequest>) => {
    const { verified, receipt } = await verify(request)
    return toVerifyView(verified, receipt)
  }
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/intent/authorize',
        operationId: 'authorizeIntent',
        sdk: 'intent.authorize',
        effect: 'write',
        kind: 'call',
        summary: 'Issue a token for one action',
        scope: 'intent',
        permission: 'intents.write',
        meters: 'authorize',
        body: authorizeRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: authorizeView,
        status: [200],
      },
      async (request) => {
        const { caller, body, idempotencyKey: key } = request
        return toAuthorizeView(await authorizing.authorize(caller, body, { key, signal: () => request.signal }), now())
      },
      async ({ caller }, jti) => toAuthorizeView(await authorizing.replay(caller, jti), now()),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/intent/verify',
        operationId: 'verifyIntent',
        sdk: 'intent.verify',
        effect: 'write',
        kind: 'call',
        summary: 'Answer whether an action may run now',
        scope: 'verify',
        permission: 'intents.write',
        meters: 'verify',
        body: verifyRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: verifyView,
        status: [200],
      },
      answer,
      // Never called: a verification is no stored answer. Its key says who executes.
      answer,
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/intent/executions/:jti',
        operationId: 'getExecution',
        sdk: 'intent.executions.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read the outcome of an executed action',
        scope: 'verify',
        permission: 'intents.read',
        params,
        view: executionView,
        status: [200],
      },
      async ({ caller, params: { jti } }) => toExecutionView(await executions.get(caller, jti)),
    ),
    endpoint(
      {
        method: 'POST',
        path: '/v1/intent/executions/:jti/outcome',
        operationId: 'reportOutcome',
        sdk: 'intent.executions.report',
        effect: 'write',
        kind: 'call',
        summary: 'Report how an executed action ended',
        scope: 'verify',
        permission: 'intents.write',
        params,
        body: outcomeRequest,
        view: executionView,
        status: [200],
      },
      async ({ caller, params: { jti }, body, idempotencyKey }) =>
        toExecutionView(await executions.report(caller, jti, body.status, idempotencyKey)),
      async ({ caller }, jti) => toExecutionView(await executions.get(caller, jti)),
    ),
  ]
}
