// What is signed of a capture: the bundle by its device, the result by the service.

import { canonicalize, canonicalizeInSlices, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Judgement } from '../factors/judge.ts'
import type { Bundle } from './submission.ts'
import type { SubmittedRow } from './submission-rows.ts'
import { listsManyChunks } from './submission-text.ts'

const canonical = new WeakMap<Bundle, string>()

/**
 * The RFC 8785 text of a stored bundle: the bytes that the device signed, in whatever form they were sent. Each
 * signature check and the record need it, so it is computed once per bundle.
 */
export function canonicalBundle(bundle: Bundle): string {
  const before = canonical.get(bundle)
  if (before !== undefined) return before
  // A jsonb column yields plain JSON, although the type is wider.
  const text = canonicalize(bundle as unknown as Json)
  canonical.set(bundle, text)
  return text
}

/** Computes the text of a bundle ahead, in slices where it is long: that of 10,000 chunks takes 12 ms of the event loop. */
export async function prepareBundle(bundle: Bundle): Promise<void> {
  if (canonical.has(bundle) || !listsManyChunks(bundle)) return
  const pieces: string[] = []
  await canonicalizeInSlices(bundle as unknown as Json, (text) => pieces.push(text))
  canonical.set(bundle, pieces.join(''))
}

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
