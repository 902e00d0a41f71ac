// Checks a claim's standing against its attestations. Only a packet that holds all of them allows it.

import type { EvidencePacket } from '#src/attest/evidence/views.ts'
import { type CheckFinding, finding, skipped } from './findings.ts'

// Best first.
const PROVENANCE = ['verified', 'attested_unverified', 'unattested', 'broken']

export function checkClaim({ about, claim, attestations }: EvidencePacket): CheckFinding[] {
  const part = 'claim'
  if (!about.attestations.is_complete) {
    return [skipped(part, 'standing', 'the packet does not hold all attestations')]
  }
  const results = attestations.flatMap(({ result }) => (result === null ? [] : [result]))
  if (results.length === 0) {
    return [finding(part, 'standing', claim.risk_score === null, 'it has a score, and no attestation has a result')]
  }
  const highest = results.reduce((most, { risk_score }) => Math.max(most, risk_score), 0)
  const worst = results.reduce(
    (most, { provenance_status }) => Math.max(most, PROVENANCE.indexOf(provenance_status)),
    0,
  )
  const isScore = claim.risk_score === highest
  const isProvenance = claim.provenance_status === PROVENANCE[worst]
  const codes = new Set(results.flatMap(({ factors }) => factors.map(({ code }) => code)))
  const isCodes = codes.size === claim.factor_codes.length && claim.factor_codes.every((code) => codes.has(code))
  return [
    finding(part, 'score', isScore, `it says ${claim.risk_score}, its attestations say ${highest}`),
    finding(
      part,
      'provenance',
      isProvenance,
      `it says ${claim.provenance_status}, its attestations say ${PROVENANCE[worst]}`,
    ),
    finding(part, 'findings', isCodes, 'its findings are not those of its attestations'),
  ]
}
