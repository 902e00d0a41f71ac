// The events of the specification, which products entitle to them, and the schema of each event's data.

import { z } from 'zod'
import type { Product } from './access.ts'
import { actorView } from './actors.ts'

interface EventTypeEntry {
  /** Accounts entitled to any of these products receive it. Empty: every account. */
  products: readonly Product[]
  summary: string
}

/**
 * Every type of the specification (Events), including those that no feature emits yet: endpoints may subscribe to them.
 */
export const EVENT_TYPES = {
  'attestation.created': { products: ['attest', 'authorize'], summary: 'An attestation got its first result.' },
  'claim.provenance_updated': { products: ['attest'], summary: "A claim's provenance or risk result changed." },
  'claim.escalated': { products: ['attest'], summary: "A claim's risk status became failed." },
  'case.status_changed': { products: ['attest'], summary: 'An adjuster case changed state.' },
  'screening.completed': { products: ['attest'], summary: 'A synthetic-media screening returned a real score.' },
  'approval.requested': { products: ['authorize'], summary: 'A step-up approval was created.' },
  'approval.resolved': { products: ['authorize'], summary: 'A step-up approval was decided.' },
  'intent.revoked': { products: ['authorize'], summary: 'A token, session or device revocation was created.' },
  'trace.job_completed': { products: ['trace'], summary: 'An attribution trace job finished.' },
  'trace.canary_tripped': { products: ['trace'], summary: 'A canary trip stopped an agent.' },
  'trace.diff_completed': { products: ['trace'], summary: 'A model-version diff completed.' },
  'trace.disclosure_requested': { products: ['trace'], summary: 'A verified person asked to see masked neurons.' },
  'trace.disclosure_granted': { products: ['trace'], summary: 'A disclosure request was granted.' },
  ping: { products: [], summary: 'The test of a webhook endpoint.' },
} as const satisfies Record<string, EventTypeEntry>

export type EventType = keyof typeof EVENT_TYPES

const codes = z.array(z.string()).readonly()
const standing = z
  .strictObject({
    provenance_status: z
      .enum(['verified', 'attested_unverified', 'unattested', 'broken'])
      .meta({ id: 'ProvenanceStatus' })
      .nullable(),
    risk_status: z.enum(['pending', 'passed', 'review', 'failed']).meta({ id: 'ClaimRiskStatus' }),
    risk_score: z.number().int().nullable(),
  })
  .meta({ id: 'ClaimStanding' })

/**
 * The `data` of the types emitted today: ids and judgements, and nothing personal. `approval.requested` alone has the words of the
 * agent, and a bounded preview of the payload.
 */
export const EVENT_DATA = {
  'attestation.created': z.strictObject({
    attestation_id: z.string(),
    claim_id: z.string(),
    risk_score: z.number().int(),
    risk_status: z.string(),
    provenance_status: z.string(),
    factor_codes: codes,
    advisory_codes: codes,
  }),
  'claim.provenance_updated': z.strictObject({
    claim_id: z.string(),
    previous: standing,
    current: standing,
    added_factors: codes,
    removed_factors: codes,
  }),
  'claim.escalated': z.strictObject({
    claim_id: z.string(),
    risk_score: z.number().int(),
    factor_codes: codes,
    case_id: z.string().optional(),
  }),
  'case.status_changed': z.strictObject({
    case_id: z.string(),
    claim_id: z.string(),
    from: z.string(),
    to: z.string(),
    reason_code: z.string().nullable(),
    note_present: z.boolean(),
    actor: actorView,
  }),
  'screening.completed': z.strictObject({
    screening_id: z.string(),
    claim_id: z.string().nullable(),
    genai_score: z.number().nullable(),
    deepfake_score: z.number().nullable(),
    factors: codes,
    detector: z.strictObject({ name: z.string(), version: z.string() }).meta({ id: 'DetectorVersion' }),
  }),
  'trace.job_completed': z.strictObject({
    job_id: z.string(),
    trace_id: z.string(),
    status: z.enum(['succeeded', 'failed']),
    method: z.string(),
    model_version_id: z.string(),
    /** null: the model is gone. */
    backend: z.string().nullable(),
    manifest_hash: z.string().nullable(),
    failure_code: z.string().nullable(),
  }),
  'trace.canary_tripped': z.strictObject({
    trace_id: z.string().nullable(),
    canary_hash: z.string(),
    canary_readings: z
      .array(
        z
          .strictObject({ family: z.string(), score: z.number(), threshold: z.number(), tripped: z.boolean() })
          .meta({ id: 'JudgedCanary' }),
      )
      .readonly(),
    tripped_families: codes,
    mode: z.string(),
    source: z.string(),
    agent_id: z.string().nullable(),
    agent_session_id: z.string().nullable(),
    lock_id: z.string().nullable(),
    /** Of a verify, as `matched_rule_id`. */
    jti: z.string().nullable(),
    matched_rule_id: z.string().nullable(),
  }),
  'trace.diff_completed': z.strictObject({
    diff_id: z.string(),
    status: z.string(),
    base_model: z.string(),
    target_model: z.string(),
    pass: z.boolean(),
    verdict: z.string().nullable(),
    families_drifted: codes,
    report_hash: z.string().nullable(),
  }),
  'trace.disclosure_requested': z.strictObject({
    request_id: z.string(),
    status: z.string(),
    scope_kind: z.string(),
    trace_id: z.string(),
    model_version_id: z.string().nullable(),
  }),
  'trace.disclosure_granted': z.strictObject({
    request_id: z.string(),
    scope_kind: z.string(),
    trace_id: z.string(),
    model_version_id: z.string().nullable(),
    expires_at: z.string(),
    /** The key or user, or `auto`. */
    decided_by: z.string(),
  }),
  'approval.requested': z.strictObject({
    approval_id: z.string(),
    jti: z.string(),
    rule_id: z.string(),
    action_description: z.string(),
    // A record would drop a member with the name `__proto__`.
    payload_preview: z.custom<object>((value) => typeof value === 'object' && value !== null).meta({ type: 'object' }),
    action_hash: z.string(),
    payload_hash: z.string(),
    preview_hash: z.string(),
    min_approvals: z.number().int(),
    expires_at: z.string(),
    approve_url: z.string(),
  }),
  'approval.resolved': z.strictObject({
    approval_id: z.string(),
    jti: z.string(),
    status: z.string(),
    decisions: z
      .array(
        z
          .strictObject({ by: z.string(), via: z.string(), decision: z.string(), at: z.string() })
          .meta({ id: 'ResolvedDecision' }),
      )
      .readonly(),
    resolution: z.string(),
  }),
  'intent.revoked': z.strictObject({
    revocation_id: z.string(),
    scope: z.string(),
    jti: z.string().optional(),
    agent_session_id: z.string().optional(),
    device_id: z.string().optional(),
    reason: z.string(),
    actor: z.string(),
  }),
  ping: z.strictObject({ endpoint_id: z.string() }),
} satisfies Partial<Record<EventType, z.ZodType>>

export type EmittedType = keyof typeof EVENT_DATA

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name)
}
