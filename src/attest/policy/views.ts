import { z } from 'zod'
import type { CurrentPolicy } from './risk-policy.ts'

export const policyView = z
  .object({
    version: z.number().int().describe('0: the defaults, before a policy is set.'),
    require_attestation: z.boolean(),
    require_biometric: z.boolean(),
    require_gps: z.boolean(),
    require_session_nonce: z.boolean(),
    thresholds: z.object({ review: z.number().int(), failed: z.number().int() }),
    geofence_m: z.number(),
    changed_at: z.iso.datetime().nullable(),
    changed_by: z.string().nullable().describe('The API key or user that made this version.'),
  })
  .meta({ id: 'RiskPolicy' })

export function toPolicyView({ version, policy, createdAt, changedBy }: CurrentPolicy): z.infer<typeof policyView> {
  return { version, ...policy, changed_at: createdAt?.toISOString() ?? null, changed_by: changedBy }
}
