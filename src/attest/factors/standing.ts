// What a claim's movement from one standing to another is, and which events tell of it: the same where a first result
// settles and where a result is evaluated again.

import type { AttestationStanding, ClaimStanding, ProvenanceStatus, RiskStatus } from './judge.ts'
import type { AdvisoryCode, FactorCode } from './table.ts'

/** A claim as it was before. Without a result it is pending. */
export interface ClaimBefore {
  id: string
  riskStatus: 'pending' | RiskStatus
  riskScore: number | null
  provenanceStatus: ProvenanceStatus | null
  factorCodes: readonly FactorCode[]
  advisoryCodes: readonly AdvisoryCode[]
}

export interface Movement {
  /** One of the two axes, or the score, changed: this causes an event and a line in the claim's case. */
  isStandingChanged: boolean
  /** Or its codes are: the row is written. */
  isRowChanged: boolean
  /** The claim has become failed. */
  isEscalation: boolean
}

export function movementOf(before: ClaimBefore, after: ClaimStanding): Movement {
  const isStandingChanged =
    before.riskStatus !== after.riskStatus ||
    before.provenanceStatus !== after.provenanceStatus ||
    before.riskScore !== after.riskScore
  const areCodesChanged =
    before.factorCodes.join() !== after.factorCodes.join() || before.advisoryCodes.join() !== after.advisoryCodes.join()
  return {
    isStandingChanged,
    isRowChanged: isStandingChanged || areCodesChanged,
    isEscalation: before.riskStatus !== 'failed' && after.riskStatus === 'failed',
  }
}

/** In their order. @param caseId Of the case that the escalation opened or was added to. */
export function eventsOf(before: ClaimBefore, after: ClaimStanding, caseId: string | undefined) {
  const { isStandingChanged, isEscalation } = movementOf(before, after)
  const updated = {
    type: 'claim.provenance_updated' as const,
    data: {
      claim_id: before.id,
      previous: standingOf(before),
      current: standingOf(after),
      added_factors: after.factorCodes.filter((code) => !before.factorCodes.includes(code)),
      removed_factors: before.factorCodes.filter((code) => !after.factorCodes.some((other) => other === code)),
    },
  }
  const escalated = {
    type: 'claim.escalated' as const,
    data: {
      claim_id: before.id,
      risk_score: after.riskScore,
      factor_codes: after.factorCodes,
      ...(caseId === undefined ? {} : { case_id: caseId }),
    },
  }
  return [...(isStandingChanged ? [updated] : []), ...(isEscalation ? [escalated] : [])]
}

/** The claim's standing as one of those that are added up; none while it is pending. */
export function asAttestation({
  riskStatus,
  riskScore,
  provenanceStatus,
  ...codes
}: ClaimBefore): AttestationStanding | undefined {
  if (riskStatus === 'pending' || riskScore === null || provenanceStatus === null) return undefined
  return {
    riskStatus,
    riskScore,
    provenanceStatus,
    factors: codes.factorCodes.map((code) => ({ code })),
    advisoryFactors: codes.advisoryCodes.map((code) => ({ code })),
  }
}

function standingOf({
  riskStatus,
  riskScore,
  provenanceStatus,
}: Pick<ClaimBefore, 'riskStatus' | 'riskScore' | 'provenanceStatus'>) {
  return { risk_status: riskStatus, risk_score: riskScore, provenance_status: provenanceStatus }
}
