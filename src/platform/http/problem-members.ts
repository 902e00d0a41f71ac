// The members that an error of one code has beside those of every problem (RFC 9457 3.2).

import { z } from 'zod'
import { GRANTABLE_SCOPES, PLANS, PRODUCTS, ROLES } from '#src/catalogue/access.ts'
import { PROVIDER_PROBLEMS, SSO_REFUSALS } from '#src/catalogue/sso.ts'
import type { FailureCode } from '#src/failure.ts'
import { rejectedLineView } from './rejection.ts'
import { timestampView } from './views.ts'

// Rate limits that callers can tell apart: of requests, and of single kinds of work.
const LIMITS = [
  'account',
  'key',
  'user',
  'directory',
  'address',
  'emergency',
  'guesses',
  'exports',
  'direct_deliveries',
  'trace_jobs',
  'trace_diffs',
] as const

const CAUSES = ['role', 'separation_of_duties', 'not_a_member', 'same_key'] as const
const CAPABILITIES = ['generate', 'activations', 'attribution', 'canary', 'intervene', 'deterministic'] as const
const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const
const lockId = z.string().describe('The session lock.')

// Why a batch in which no line can be accepted is refused.
const emptyBatch = {
  accepted: z.literal(0).optional().describe('Set for a batch in which no line can be accepted.'),
  rejected: z
    .array(rejectedLineView)
    .optional()
    .describe('Set for such a batch: its lines, and what is wrong with each.'),
}

export const PROBLEM_MEMBERS: Partial<Record<FailureCode, z.core.$ZodLooseShape>> = {
  invalid_request: emptyBatch,
  monthly_cap_exceeded: { resets_at: timestampView.describe('When the next month begins.'), ...emptyBatch },
  insufficient_scope: {
    required_scope: z.enum(GRANTABLE_SCOPES).meta({ id: 'GrantableScope' }).optional(),
    required_products: z
      .array(z.enum(PRODUCTS).meta({ id: 'Product' }))
      .optional()
      .describe('Products of the route; set when the key is narrowed to other products.'),
  },
  insufficient_role: {
    allowed: z
      .array(z.enum(ROLES).meta({ id: 'Role' }))
      .optional()
      .describe('The roles that may do it.'),
  },
  plan_required: { required_plan: z.enum(PLANS).meta({ id: 'Plan' }) },
  sso_required: { start_url: z.url().describe('Where the person signs in: open it in a browser.') },
  sso_login_refused: {
    cause: z.enum(SSO_REFUSALS).meta({ id: 'SsoRefusal' }).describe('See the guide Single sign-on.'),
  },
  provider_unavailable: { cause: z.enum(PROVIDER_PROBLEMS).meta({ id: 'ProviderProblem' }) },
  confirmer_not_eligible: {
    cause: z.enum(['same_person', 'own_facts', 'tier', 'not_a_member']).meta({ id: 'ConfirmerIneligibilityCause' }),
  },
  prescriber_exists: {
    prescriber_id: z.string(),
    member: z.enum(['npi', 'user_id']).meta({ id: 'PrescriberConflictMember' }),
  },
  challenge_act_mismatch: {
    act: z.enum(['sign', 'cosign']).meta({ id: 'SignatureAct' }).describe('Act of the challenge.'),
  },
  payload_hash_mismatch: { order_hash: z.string().describe('Hash of the present content.') },
  prescriber_tier_insufficient: { required_tier: z.number().int() },
  clinical_policy_denied: {
    matched_rule_id: z
      .string()
      .describe('Rule that refuses, such as `clinical:refills_exceeded`: see the guide Clinician orders.'),
  },
  approver_not_eligible: { cause: z.enum(CAUSES).meta({ id: 'IneligibilityCause' }) },
  invalid_state_transition: {
    allowed: z
      .array(z.string())
      .describe('The statuses in which the request is possible; for a case, the ones that it can change to.'),
    current_status: z.string().optional(),
    version: z.number().int().optional().describe('Current version, set when the request has an outdated `version`.'),
  },
  agent_held_by_lock: { lock_id: lockId },
  canary_tripped: {
    trace_id: z.string().describe('The trace whose reading tripped.'),
    tripped_families: z.array(z.string()).describe('Families that tripped in the reading.'),
    lock_id: lockId.optional(),
  },
  session_canary_locked: { lock_id: lockId },
  case_already_open: { case_id: z.string() },
  consumer_moved: { position: z.number().int().describe('Current position of the consumer.') },
  limit_reached: { maximum: z.number().int().describe('Most objects of this kind.') },
  not_ready: {
    current_status: z.string().optional().describe('Status of the work whose result the request needs.'),
  },
  approval_already_decided: {
    approval_status: z
      .enum(APPROVAL_STATUSES)
      .meta({ id: 'ApprovalStatus' })
      .describe('Status of the approval: pending when the person or the key has decided before.'),
  },
  events_expired: { resume_after: z.number().int().describe('Position to continue with.') },
  precondition_failed: { version: z.number().int().optional().describe('The current version.') },
  backend_capability_missing: {
    model: z.string(),
    capability: z
      .enum(CAPABILITIES)
      .meta({ id: 'ModelCapability' })
      .describe('The missing capability: a member of `capabilities` of GET /v1/trace/models.'),
  },
  rate_limited: {
    limit: z.enum(LIMITS).meta({ id: 'RateLimitName' }).optional().describe('Limit; absent for sign-in.'),
  },
}
