import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import { NOTES } from './notes.ts'
import { createRiskPolicy } from './risk-policy.ts'
import { riskPolicyRoutes } from './routes.ts'
import { purgePolicies } from './rows.ts'

export type PolicyFeature = ReturnType<typeof policyFeature>

/** The insurer's risk policy, in versions. */
export function policyFeature(p: Platform) {
  const riskPolicy = createRiskPolicy(p)
  return defineFeature(
    {
      name: 'policy',
      data: [{ table: 'risk_policies', key: ['version'] }],
      routes: riskPolicyRoutes(riskPolicy),
      notes: NOTES,
      retention: [rowRule(p.db, 'risk_policies', null, purgePolicies)],
    },
    { riskPolicy },
  )
}
