import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolicyReader } from './current.ts'
import { NOTES } from './notes.ts'
import { createPolicies } from './policies.ts'
import { policyRoutes } from './routes.ts'

export type IntentPolicyFeature = ReturnType<typeof intentPolicyFeature>

/** The policies of accounts: versions, their compiled form, and what they would say. */
export function intentPolicyFeature(p: Platform) {
  const reader = createPolicyReader()
  const policies = createPolicies({ ...p, reader })
  return defineFeature(
    {
      name: 'intent-policy',
      data: [{ table: 'policy_versions', key: ['version'] }],
      routes: policyRoutes(policies),
      notes: NOTES,
    },
    { policies, readPolicy: reader.readPolicy },
  )
}
