import type { Other } from './search.ts'

/** Other claims that an attestation's findings name, of each kind. */
export const MAX_NAMED = 10

export interface NearestFindings {
  findings: Other[]
  /** These may exceed the number of findings. */
  exactCount: number
  similarCount: number
}

/** The findings of an attestation: the nearest of the earlier claims. */
export function toFindings(attestationId: string, others: readonly Other[]): NearestFindings {
  const earlier = byClaim(others.filter((other) => other.attestationId < attestationId))
  const exact = earlier.filter(({ distanceBits }) => distanceBits === null)
  const alike = earlier.filter(({ distanceBits }) => distanceBits !== null)
  return {
    findings: [...exact.slice(0, MAX_NAMED), ...alike.slice(0, MAX_NAMED)],
    exactCount: exact.length,
    similarCount: alike.length,
  }
}

// One finding per other claim: its nearest picture, the first of equals. Nearest claims first.
function byClaim(others: readonly Other[]): Other[] {
  const sorted = others.toSorted(
    (a, b) =>
      (a.distanceBits ?? -1) - (b.distanceBits ?? -1) ||
      (a.attestationId < b.attestationId ? -1 : Number(a.attestationId > b.attestationId)),
  )
  const nearest = new Map<string, Other>()
  for (const other of sorted) if (!nearest.has(other.claimId)) nearest.set(other.claimId, other)
  return [...nearest.values()]
}
