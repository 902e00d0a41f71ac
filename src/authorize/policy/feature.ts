import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolicyReader } from './current.ts'
import { NOTES } from './notes.ts'
import { pastDecisionRoutes } from './past-decision-routes.ts'
import { createPastDecisions, type ReadRecorded } from './past-decisions.ts'
import { createPolicies } from './policies.ts'
import { policyRoutes } from './routes.ts'
import { trialRoutes } from './trial-routes.ts'
import { createTrials, type TrialDeps } from './trials.ts'

export type IntentPolicyFeature = ReturnType<typeof intentPolicyFeature>

/**
 * The policies of accounts: versions, their compiled form, and what they would say.
 * @param recorded Reads the facts that verify has recorded.
 */
export function intentPolicyFeature(
  p: Platform,
  { hasWebhookSecret, ...recorded }: ReadRecorded & Pick<TrialDeps, 'hasWebhookSecret'>,
) {
  const reader = createPolicyReader()
  const policies = createPolicies({ ...p, reader })
  const trials = createTrials({ ...p, policies, reader, hasWebhookSecret })
  const past = createPastDecisions({ ...p, ...recorded, policies })
  return defineFeature(
    {
      name: 'intent-policy',
      data: [{ table: 'policy_versions', key: ['version'] }],
      routes: [...policyRoutes(policies), ...trialRoutes(trials, p), ...pastDecisionRoutes(past, p)],
      notes: NOTES,
    },
    { policies, readPolicy: reader.readPolicy },
  )
}
