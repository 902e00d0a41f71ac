import type { Json } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Judgement } from '../factors/judge.ts'
import { canonicalBundle } from './canonical-bundle.ts'
import type { SubmittedRow } from './rows.ts'

/** The signed record: enough to recompute the score offline and to tie it to the exact bytes and bundle evaluated. */
export function recordOf(
  scope: Scope,
  submitted: SubmittedRow,
  { judgement, policyVersion, evaluatedAt }: { judgement: Judgement; policyVersion: number; evaluatedAt: Date },
): Json {
  const { bundle } = submitted.submission
  return JSON.parse(
    JSON.stringify({
      account_id: scope.accountId,
      environment: scope.environment,
      attestation_id: submitted.id,
      claim_id: submitted.claimId,
      media_sha256: submitted.mediaSha256.toString('hex'),
      bundle_sha256: bundle ? sha256Base64url(canonicalBundle(bundle)) : null,
      accepted_at: submitted.acceptedAt,
      evaluated_at: evaluatedAt,
      rules_version: judgement.rulesVersion,
      policy_version: policyVersion,
      provenance_status: judgement.provenanceStatus,
      risk_status: judgement.riskStatus,
      risk_score: judgement.riskScore,
      hardware_tier: judgement.hardwareTier,
      factors: judgement.factors,
      advisory_factors: judgement.advisoryFactors,
      observations: judgement.observations,
      iat: Math.floor(evaluatedAt.getTime() / 1_000),
    }),
  )
}
