// The events of the specification, which products entitle to them, and the schema of each event. Webhooks and the pull API
// answer the same shapes.

import { z } from 'zod'
import type { Product } from './access.ts'
import { actorView } from './actors.ts'
import type { Permission } from './permissions.ts'

interface EventTypeEntry {
  /** Accounts entitled to any of these products receive it. Empty: every account. */
  products: readonly Product[]
  /** Users with this permission may read it: what it says, the routes that it guards say too. */
  permission: Permission
  summary: string
}

/**
 * Every type of the specification (Events), including those that no feature emits yet: endpoints may subscribe to them.
 */
export const EVENT_TYPES = {
  'attestation.created': {
    products: ['attest', 'authorize'],
    permission: 'claims.read',
    summary: 'An attestation got its first result.',
  },
  'claim.provenance_updated': {
    products: ['attest'],
    permission: 'claims.read',
    summary: "A claim's provenance or risk result changed.",
  },
  'claim.escalated': {
    products: ['attest'],
    permission: 'claims.read',
    summary: "A claim's risk status became failed.",
  },
  'case.status_changed': {
    products: ['attest'],
    permission: 'cases.read',
    summary: 'An adjuster case changed its status.',
  },
  'screening.completed': {
    products: ['attest'],
    permission: 'screening.read',
    summary: 'A synthetic-media screening returned a real score.',
  },
  'approval.requested': {
    products: ['authorize'],
    permission: 'approvals.read',
    summary: 'A step-up approval was created.',
  },
  'approval.resolved': {
    products: ['authorize'],
    permission: 'approvals.read',
    summary: 'A step-up approval was decided.',
  },
  'intent.revoked': {
    products: ['authorize'],
    permission: 'intents.read',
    summary: 'A token, session or device revocation was created.',
  },
  'trace.job_completed': {
    products: ['trace'],
    permission: 'traces.read',
    summary: 'An attribution trace job finished.',
  },
  'trace.canary_tripped': {
    products: ['trace'],
    permission: 'traces.read',
    summary: 'A canary trip stopped an agent.',
  },
  'trace.diff_completed': {
    products: ['trace'],
    permission: 'traces.read',
    summary: 'A model-version diff completed.',
  },
  'trace.disclosure_requested': {
    products: ['trace'],
    permission: 'disclosures.read',
    summary: 'A verified person asked to see masked neurons.',
  },
  'trace.disclosure_granted': {
    products: ['trace'],
    permission: 'disclosures.read',
    summary: 'A disclosure request was granted.',
  },
  ping: { products: [], permission: 'webhooks.read', summary: 'A webhook endpoint was tested.' },
} as const satisfies Record<string, EventTypeEntry>

export type EventType = keyof typeof EVENT_TYPES

/**
 * Words of a closed list. They are listed for readers and client generators and not checked: while two versions of the service
 * run side by side, the older one tells what the newer one has judged. The features have the same lists.
 */
const words = (id: string, values: readonly string[]) => z.string().meta({ id, enum: [...values] })

const factorCode = words('FactorCode', [
  'device_revoked',
  'session_nonce_mismatch',
  'signature_invalid',
  'no_manifest',
  'frame_hash_mismatch',
  'sensor_hash_mismatch',
  'cert_unknown_ca',
  'hardware_backing_absent',
  'liveness_check_failed',
  'video_manifest_incomplete',
  'gps_absent',
  'timestamp_stale',
  'device_not_enrolled',
  'biometric_absent',
])
const advisoryCode = words('AdvisoryCode', [
  'exif_missing',
  'exif_timestamp_mismatch',
  'exif_editor_trace',
  'geofence_mismatch',
  'c2pa_absent',
  'c2pa_invalid',
  'c2pa_present_valid',
  'carrier_policy_attestation_missing',
  'carrier_policy_biometric_missing',
  'carrier_policy_gps_missing',
  'ai_generated_likely',
  'deepfake_likely',
])
const riskStatus = words('RiskStatus', ['passed', 'review', 'failed'])
const claimRiskStatus = words('ClaimRiskStatus', ['pending', 'passed', 'review', 'failed'])
const provenanceStatus = words('ProvenanceStatus', ['verified', 'attested_unverified', 'unattested', 'broken'])
const caseStatus = words('CaseStatus', [
  'open',
  'in_review',
  'info_requested',
  'escalated',
  'approved',
  'denied',
  'withdrawn',
  'closed_undecided',
])
const caseReason = words('CaseReason', [
  'provenance_verified',
  'risk_accepted',
  'signature_invalid',
  'suspected_fraud',
  'insufficient_evidence',
  'policyholder_withdrew',
  'other',
])
const killSwitchMode = words('KillSwitchMode', ['off', 'monitor', 'block', 'block_and_lock'])
const tripSource = words('TripSource', ['verify', 'inference', 'check'])
const workEnd = words('WorkEnd', ['succeeded', 'failed'])
const attributionMethod = words('AttributionMethod', ['exact', 'grad_x_act', 'ablation'])
const attributionFailure = words('AttributionJobFailureCode', [
  'backend_capability_missing',
  'model_version_not_found',
  'text_not_kept',
  'trace_not_reproducible',
  'attribution_inexact',
  'invalid_request',
  'timeout',
  'internal_error',
])
const modelBackend = words('ModelBackend', ['embedded', 'onnx', 'neuronpedia', 'openai_compatible'])
const diffVerdict = words('DiffVerdict', ['pass', 'warn', 'drift', 'inconclusive'])
const disclosureStatus = words('DisclosureStatus', ['unverified', 'pending', 'granted', 'denied', 'revoked', 'expired'])
const shareScope = words('ShareScope', ['trace', 'model_version'])
const approvalEnd = words('ApprovalEnd', ['approved', 'denied', 'expired', 'cancelled'])
const approvalResolution = words('ApprovalResolution', ['human', 'timeout', 'cancelled'])
const approvalVia = words('ApprovalVia', ['session', 'passkey', 'api_key'])
const approvalVote = words('ApprovalVote', ['approve', 'deny'])
const revokedScope = words('RevokedScope', ['token', 'session', 'device'])
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })

const factorCodes = z.array(factorCode).readonly()
const advisoryCodes = z.array(advisoryCode).readonly()
const time = z.string().meta({ format: 'date-time' })
const standing = z
  .strictObject({
    provenance_status: provenanceStatus.nullable(),
    risk_status: claimRiskStatus,
    risk_score: z.number().int().nullable(),
  })
  .meta({ id: 'ClaimStanding' })

/** A reading, and whether it tripped. Answers with a reading add to it. */
export const judgedCanary = z
  .object({ family: z.string(), score: z.number(), threshold: z.number(), tripped: z.boolean() })
  .meta({ id: 'JudgedCanary' })

/**
 * The `data` of each type: ids and judgements, and nothing personal, so that an actor has no label. `approval.requested` alone has
 * the words of the agent, and a bounded preview of the payload.
 */
export const EVENT_DATA = {
  'attestation.created': z
    .strictObject({
      attestation_id: z.string(),
      claim_id: z.string(),
      risk_score: z.number().int(),
      risk_status: riskStatus,
      provenance_status: provenanceStatus,
      factor_codes: factorCodes,
      advisory_codes: advisoryCodes,
    })
    .meta({ id: 'AttestationCreatedData' }),
  'claim.provenance_updated': z
    .strictObject({
      claim_id: z.string(),
      previous: standing,
      current: standing,
      added_factors: factorCodes,
      removed_factors: factorCodes,
    })
    .meta({ id: 'ClaimProvenanceUpdatedData' }),
  'claim.escalated': z
    .strictObject({
      claim_id: z.string(),
      risk_score: z.number().int(),
      factor_codes: factorCodes,
      case_id: z.string().optional(),
    })
    .meta({ id: 'ClaimEscalatedData' }),
  'case.status_changed': z
    .strictObject({
      case_id: z.string(),
      claim_id: z.string(),
      from: caseStatus,
      to: caseStatus,
      reason_code: caseReason.nullable(),
      note_present: z.boolean(),
      actor: actorView,
    })
    .meta({ id: 'CaseStatusChangedData' }),
  'screening.completed': z
    .strictObject({
      screening_id: z.string(),
      claim_id: z.string().nullable(),
      genai_score: z.number().nullable(),
      deepfake_score: z.number().nullable(),
      factors: advisoryCodes,
      detector: z.strictObject({ name: z.string(), version: z.string() }).meta({ id: 'EventDetector' }),
    })
    .meta({ id: 'ScreeningCompletedData' }),
  'trace.job_completed': z
    .strictObject({
      job_id: z.string(),
      trace_id: z.string(),
      status: workEnd,
      method: attributionMethod,
      model_version_id: z.string(),
      backend: modelBackend.nullable().describe('Backend; null: the model no longer exists.'),
      manifest_hash: z.string().nullable(),
      failure_code: attributionFailure.nullable(),
    })
    .meta({ id: 'TraceJobCompletedData' }),
  'trace.canary_tripped': z
    .strictObject({
      trace_id: z.string().nullable(),
      canary_hash: z.string(),
      canary_readings: z.array(judgedCanary).readonly(),
      tripped_families: z.array(z.string()).readonly(),
      mode: killSwitchMode,
      source: tripSource,
      agent_id: z.string().nullable(),
      agent_session_id: z.string().nullable(),
      lock_id: z.string().nullable(),
      jti: z.string().nullable().describe('Token of a verify; `matched_rule_id` is its rule.'),
      matched_rule_id: z.string().nullable(),
    })
    .meta({ id: 'TraceCanaryTrippedData' }),
  'trace.diff_completed': z
    .strictObject({
      diff_id: z.string(),
      status: workEnd,
      base_model: z.string(),
      target_model: z.string(),
      pass: z.boolean(),
      verdict: diffVerdict.nullable(),
      families_drifted: z.array(z.string()).readonly(),
      report_hash: z.string().nullable(),
    })
    .meta({ id: 'TraceDiffCompletedData' }),
  'trace.disclosure_requested': z
    .strictObject({
      request_id: z.string(),
      status: disclosureStatus,
      scope_kind: shareScope,
      trace_id: z.string(),
      model_version_id: z.string().nullable(),
    })
    .meta({ id: 'TraceDisclosureRequestedData' }),
  'trace.disclosure_granted': z
    .strictObject({
      request_id: z.string(),
      scope_kind: shareScope,
      trace_id: z.string(),
      model_version_id: z.string().nullable(),
      expires_at: time,
      decided_by: actorView.describe('Who decided; the service where the share has the mode `auto`.'),
    })
    .meta({ id: 'TraceDisclosureGrantedData' }),
  'approval.requested': z
    .strictObject({
      approval_id: z.string(),
      jti: z.string(),
      rule_id: z.string(),
      order_id: z.string().nullable().describe("The clinician's order that the action executes."),
      action_description: z.string().nullable().describe('null for the action of an order, which is personal.'),
      // A record would drop a member with the name `__proto__`.
      payload_preview: z
        .custom<object>((value) => typeof value === 'object' && value !== null)
        .meta({ type: 'object', additionalProperties: true, verbatim: true })
        .nullable()
        .describe('null for the action of an order, which is personal.'),
      action_hash: z.string(),
      payload_hash: z.string(),
      preview_hash: z.string(),
      min_approvals: z.number().int(),
      expires_at: time,
      approve_url: z.string(),
    })
    .meta({ id: 'ApprovalRequestedData' }),
  'approval.resolved': z
    .strictObject({
      approval_id: z.string(),
      jti: z.string(),
      status: approvalEnd,
      decisions: z
        .array(
          z
            .strictObject({ by: actorView, via: approvalVia, decision: approvalVote, at: time })
            .meta({ id: 'ApprovalDecisionData' }),
        )
        .readonly(),
      resolution: approvalResolution,
    })
    .meta({ id: 'ApprovalResolvedData' }),
  'intent.revoked': z
    .strictObject({
      revocation_id: z.string(),
      scope: revokedScope,
      jti: z.string().optional(),
      agent_session_id: z.string().optional(),
      device_id: z.string().optional(),
      reason: z.string(),
      actor: actorView,
    })
    .meta({ id: 'IntentRevokedData' }),
  ping: z.strictObject({ webhook_endpoint_id: z.string() }).meta({ id: 'PingData' }),
} satisfies Partial<Record<EventType, z.ZodType>>

export type EmittedType = keyof typeof EVENT_DATA

/** A whole event of each type, as webhooks deliver it and the pull API answers it. */
export const EVENT_VIEWS = Object.fromEntries(
  Object.entries(EVENT_DATA).map(([type, data]) => [type, eventOf(type, data)]),
) as unknown as Record<EmittedType, ReturnType<typeof eventOf>>

/** An event of any type. */
export const anyEventView = z
  .discriminatedUnion('type', Object.values(EVENT_VIEWS) as [ReturnType<typeof eventOf>])
  .meta({ id: 'Event', description: '`type` determines the shape of `data`. New types may be added.' })

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name)
}

function eventOf(type: string, data: z.ZodObject) {
  const name = type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  return z
    .object({
      event_id: z.string().describe('Id of the event, stable across retries.'),
      type: z.literal(type),
      created_at: time,
      environment,
      account_id: z.string(),
      // A webhook is signed over its text, so clients leave the names in it as they are.
      data: data.meta({ verbatim: true }),
      position: z
        .number()
        .int()
        .nullable()
        .optional()
        .describe(
          'Position in the order of events; only the pull API has it. null: the event is new, and gets a position ' +
            'within seconds.',
        ),
    })
    .meta({ id: `${name}Event` })
}
