import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolicyWebhookMetrics, createUnavailableLog } from './metrics.ts'
import { NOTES } from './notes.ts'
import { createPolicyWebhooks } from './policy-webhooks.ts'
import { policySecretRoutes } from './routes.ts'
import { createPolicySecrets, SEALED_POLICY_SECRETS } from './secrets.ts'

export type PolicyWebhooksFeature = ReturnType<typeof policyWebhooksFeature>

/** The receivers that a policy asks, and the secrets that sign the questions. */
export function policyWebhooksFeature(p: Platform) {
  const secrets = createPolicySecrets(p)
  const logUnavailable = createUnavailableLog(p.log)
  let count: ReturnType<typeof createPolicyWebhookMetrics> | undefined
  const policyWebhooks = createPolicyWebhooks({
    outbound: p.outbound,
    secrets,
    now: () => p.now(),
    onOutcome(scope, outcome) {
      count?.(outcome)
      if (outcome.answer === 'unavailable') logUnavailable(scope, outcome)
    },
  })
  return defineFeature(
    {
      name: 'policy_webhooks',
      data: [{ table: 'policy_webhook_secrets', key: ['version'], secrets: ['sealed_secret'] }],
      routes: policySecretRoutes(secrets),
      notes: NOTES,
      sealed: [SEALED_POLICY_SECRETS],
      collect: {
        web: (registry) => {
          count = createPolicyWebhookMetrics(registry)
        },
      },
    },
    { policyWebhooks, hasWebhookSecret: secrets.hasAny },
  )
}
