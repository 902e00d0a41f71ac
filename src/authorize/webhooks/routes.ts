import { z } from 'zod'
import { GRACE_SECONDS } from '#src/account/webhooks/changes.ts'
import { rotateBody } from '#src/account/webhooks/endpoint-views.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { PolicySecretState, PolicySecrets } from './secrets.ts'

const common = { scope: 'admin', needsAccountKey: true } as const
const PATH = '/v1/policy/webhook-secret'

const stateShape = {
  rotated_at: z.string().nullable().meta({ description: 'null: there is no secret yet, and webhook rules deny.' }),
  rotated_by: z.string().nullable().meta({ description: 'The API key or user.' }),
  previous_expires_at: z
    .string()
    .nullable()
    .meta({ description: 'Until when the secret before this one signs as well; null when there is none.' }),
}
const stateView = z.object(stateShape).meta({ id: 'PolicyWebhookSecret' })
const rotatedView = z
  .object({
    ...stateShape,
    secret: z.string().optional().meta({ description: 'Shown now and never again.' }),
    secret_shown: z.literal(false).optional().meta({ description: 'A replay of the rotation, without the secret.' }),
  })
  .meta({ id: 'RotatedPolicyWebhookSecret' })

export function policySecretRoutes(secrets: PolicySecrets): Route[] {
  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'policy.read',
        path: PATH,
        operationId: 'getPolicyWebhookSecret',
        sdk: 'policy.webhookSecret.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'When the secret that signs questions to policy webhooks was rotated.',
        view: stateView,
        status: [200],
      },
      async ({ caller }) => toView(await secrets.get(caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        permission: 'policy.write',
        audits: 'policy_webhook_secret.rotated',
        path: `${PATH}/rotate`,
        operationId: 'rotatePolicyWebhookSecret',
        sdk: 'policy.webhookSecret.rotate',
        effect: 'write',
        kind: 'call',
        summary: 'Make a new secret for policy webhooks. It is in this answer only.',
        body: rotateBody,
        view: rotatedView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const graceSeconds = body?.grace_seconds ?? GRACE_SECONDS
        const { secret, ...state } = await secrets.rotate(caller, { graceSeconds }, idempotencyKey)
        return { ...toView(state), secret }
      },
      async ({ caller }) => ({ ...toView(await secrets.get(caller)), secret_shown: false as const }),
    ),
  ]
}

const toView = ({ newest, previous }: PolicySecretState): z.input<typeof stateView> => ({
  rotated_at: newest?.createdAt.toISOString() ?? null,
  rotated_by: newest?.createdBy ?? null,
  previous_expires_at: previous?.expiresAt?.toISOString() ?? null,
})
