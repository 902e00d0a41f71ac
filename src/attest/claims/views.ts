import { z } from 'zod'
import { keyRevocationView } from '#src/platform/crypto/key-views.ts'
import { type KeyRevocation, type KeySet, revocationOf } from '#src/platform/crypto/signing-keys.ts'
import { extended, timestampView, type WorkStatus, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import { observationsOf } from '../duplicates/observations.ts'
import {
  advisoryCodeView,
  advisoryView,
  claimRiskStatusView,
  factorCodeView,
  factorView,
  hardwareTierView,
  observationView,
  provenanceStatusView,
  riskStatusView,
} from '../judgement-views.ts'
import { certificateView, toCertificateView } from '../trust/certificates.ts'
import type { ListedClaim } from './claim-rows.ts'
import type { AttestationRow, AttestationStatus } from './rows.ts'
import type { Submission } from './submission.ts'
import { certificatesOf } from './verify-capture.ts'

const iso = timestampView

/** An attestation; it has the result's members once it is evaluated. */
export const attestationView = z
  .object({
    attestation_id: z.string(),
    claim_id: z.string(),
    status: workStatusView.describe('`succeeded` means that the evaluation ended, whatever the result.'),
    external_id: z.string().nullable(),
    batch_id: z.string().nullable(),
    media_id: z.string(),
    device_id: z.string().nullable(),
    accepted_at: iso,
    provenance_status: provenanceStatusView.optional(),
    risk_status: riskStatusView.optional(),
    risk_score: z.number().int().optional(),
    factors: z.array(factorView).optional(),
    advisory_factors: z.array(advisoryView).optional(),
    observations: z.array(observationView).optional(),
    hardware_tier: hardwareTierView.optional(),
    evaluated_at: iso.optional(),
    rules_version: z.string().optional(),
    policy_version: z.number().int().optional().describe('Version of the risk policy that judged it; 0: the defaults.'),
    result_jws: z.string().optional().describe('The result, signed: verify it against /.well-known/jwks.json.'),
    signing_key_revoked: keyRevocationView.optional().describe('Revocation of the key that signed `result_jws`.'),
    failure: workFailureView('AttestationFailure', ['evaluation_failed'])
      .nullable()
      .describe('Why the evaluation failed; POST …/retry starts it again.'),
    erased_at: iso.optional().describe('When the media and positions were erased; the signed result stays.'),
  })
  .meta({ id: 'Attestation' })

export type AttestationView = z.infer<typeof attestationView>

/** @param keys The published keys, which say whether the key of the result was revoked. */
export function toAttestationView(row: AttestationRow, keys: KeySet): AttestationView {
  return {
    attestation_id: row.id,
    claim_id: row.claimId,
    status: workStatusOf(row.status),
    external_id: row.externalId,
    batch_id: row.batchId,
    media_id: row.mediaId,
    device_id: row.deviceId,
    accepted_at: row.acceptedAt.toISOString(),
    failure: row.failure === null ? null : { code: 'evaluation_failed', detail: row.failure },
    ...(row.erasedAt === null ? {} : { erased_at: row.erasedAt.toISOString() }),
    ...resultOf(row),
    ...revocationMember(row.resultJws, keys),
  }
}

/** Whether a worker evaluates it at this moment stands with its job, and is not looked up: it is `queued` until then. */
export function workStatusOf(status: AttestationStatus): WorkStatus {
  return status === 'evaluated' ? 'succeeded' : status
}

/** The member that marks a record of a revoked key. */
export function revocationMember(jws: string | null, keys: KeySet): { signing_key_revoked?: KeyRevocation } {
  const revoked = jws === null ? undefined : revocationOf(jws, keys)
  return revoked === undefined ? {} : { signing_key_revoked: revoked }
}

function resultOf(row: AttestationRow): Partial<AttestationView> {
  if (row.evaluatedAt === null) return {}
  return {
    provenance_status: row.provenanceStatus ?? undefined,
    risk_status: row.riskStatus ?? undefined,
    risk_score: row.riskScore ?? undefined,
    factors: row.factors ?? [],
    advisory_factors: row.advisoryFactors ?? [],
    observations: [...(row.observations ?? []), ...observationsOf(row.duplicates)],
    hardware_tier: row.hardwareTier ?? undefined,
    evaluated_at: row.evaluatedAt.toISOString(),
    rules_version: row.rulesVersion ?? undefined,
    policy_version: row.policyVersion ?? undefined,
    result_jws: row.resultJws ?? undefined,
  }
}

export const claimView = z
  .object({
    claim_id: z.string(),
    reference: z.string().nullable(),
    line: z.string().nullable(),
    loss_location: z.object({ lat: z.number(), lng: z.number() }).meta({ id: 'Position' }).nullable(),
    loss_at: iso.nullable(),
    risk_status: claimRiskStatusView,
    risk_score: z.number().int().nullable(),
    provenance_status: provenanceStatusView.nullable(),
    factor_codes: z.array(factorCodeView),
    advisory_codes: z.array(advisoryCodeView),
    case_id: z.string().nullable().describe('The open case of the claim.'),
    created_at: iso,
    updated_at: iso,
    erased_at: iso.nullable(),
  })
  .meta({ id: 'Claim' })

export type ClaimView = z.infer<typeof claimView>

export function toClaimView(row: ListedClaim): ClaimView {
  return {
    claim_id: row.id,
    reference: row.reference,
    line: row.line,
    loss_location: row.lossLat === null || row.lossLng === null ? null : { lat: row.lossLat, lng: row.lossLng },
    loss_at: row.lossAt?.toISOString() ?? null,
    risk_status: row.riskStatus,
    risk_score: row.riskScore,
    provenance_status: row.provenanceStatus,
    factor_codes: row.factorCodes,
    advisory_codes: row.advisoryCodes,
    case_id: row.openCaseId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    erased_at: row.erasedAt?.toISOString() ?? null,
  }
}

/** An attestation with what was submitted, so that the result can be proved. */
export const evidenceView = extended(
  attestationView,
  {
    submission: z
      .object({
        media_type: z.string(),
        claim: z.unknown().optional(),
        bundle: z.unknown().optional(),
        assertion: z.string().optional(),
        signature: z.unknown().optional(),
        certificate_chain: z.array(z.string()).optional(),
        stream: z.string().optional().describe('The capture session that the media were streamed to.'),
      })
      .meta({
        id: 'Submission',
        description: 'Submission as sent: the signature covers the bundle.',
        verbatim: true,
      }),
    certificates: z
      .array(certificateView)
      .describe('What the certificates that were sent say, the device’s own first; without those that can’t be read.'),
  },
  { id: 'SubmittedAttestation' },
)

export function toEvidenceView(
  row: AttestationRow & { submission: Submission },
  keys: KeySet,
): z.infer<typeof evidenceView> {
  const chain = (row.submission.certificate_chain ?? []).map((der) => Buffer.from(der, 'base64'))
  return {
    ...toAttestationView(row, keys),
    submission: row.submission,
    certificates: certificatesOf(chain).map(({ der }) => toCertificateView(der)),
  }
}
