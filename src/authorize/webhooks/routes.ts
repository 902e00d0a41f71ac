import { z } from 'zod'
import { GRACE_SECONDS, MAX_GRACE_SECONDS } from '#src/account/webhooks/changes.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import type { PolicySecretState, PolicySecrets } from './secrets.ts'

const common = { scope: 'admin', needsAccountKey: true } as const
const PATH = '/v1/policy/webhook-secret'

const stateView = z
  .object({
    rotated_at: timestampView
      .nullable()
      .describe('Time of the last rotation; null: there is no secret yet, and webhook rules deny.'),
    rotated_by: actorView.nullable(),
    previous_expires_at: timestampView
      .nullable()
      .describe('When the previous secret stops signing; null when there is none.'),
  })
  .meta({ id: 'PolicyWebhookSecret' })
const rotatedView = extended(
  stateView,
  {
    secret: z.string().optional().meta({ description: 'Shown now and never again.' }),
    secret_shown: z.literal(false).optional().meta({ description: 'A replay of the rotation, without the secret.' }),
  },
  { id: 'RotatedPolicyWebhookSecret' },
)

const rotateBody = z
  .strictObject({
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(GRACE_SECONDS)
      .describe('Seconds during which the previous secret signs as well. Default: a day.'),
  })
  .optional()

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
        summary: 'Read when the secret that signs questions to policy webhooks was rotated.',
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

const toView = ({ newest, rotatedBy, previous }: PolicySecretState): z.input<typeof stateView> => ({
  rotated_at: newest?.createdAt.toISOString() ?? null,
  rotated_by: rotatedBy,
  previous_expires_at: previous?.expiresAt?.toISOString() ?? null,
})
