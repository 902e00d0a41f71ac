import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { type EndpointChanges, GRACE_SECONDS, MAX_GRACE_SECONDS } from './changes.ts'
import { endpointView, secretView, toSettings, toView, updateBody } from './endpoint-views.ts'
import type { Webhooks } from './endpoints.ts'

const writing = { tag: 'Webhooks', scope: 'admin', permission: 'webhooks.write', needsAccountKey: true } as const

const rotateBody = z
  .strictObject({
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(GRACE_SECONDS)
      .describe('For how long the secret before signs as well.'),
  })
  .optional()

export function changeRoutes(webhooks: Pick<Webhooks, 'get'>, changes: EndpointChanges): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'PATCH',
        audits: 'webhook_endpoint.changed',
        path: '/v1/webhook-endpoints/:id',
        operationId: 'updateWebhookEndpoint',
        params: idParams('whe'),
        summary: 'Change an endpoint, or enable or disable it.',
        body: updateBody,
        view: endpointView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { status, ...rest } = body
        const change = { ...toSettings(rest), ...(status !== undefined && { status }) }
        return toView(await changes.update(caller, params.id, change, idempotencyKey))
      },
      async ({ caller }, id) => toView(await webhooks.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'webhook_endpoint.secret_rotated',
        path: '/v1/webhook-endpoints/:id/rotate-secret',
        operationId: 'rotateWebhookSecret',
        params: idParams('whe'),
        summary: 'Make a new signing secret. It is in this answer only.',
        body: rotateBody,
        view: secretView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const graceSeconds = body?.grace_seconds ?? GRACE_SECONDS
        const { endpoint: row, secret } = await changes.rotateSecret(
          caller,
          params.id,
          { graceSeconds },
          idempotencyKey,
        )
        return { ...toView(row), signing_secret: secret }
      },
      async ({ caller }, id) => ({ ...toView(await webhooks.get(caller, id)), secret_shown: false as const }),
    ),
  ]
}
