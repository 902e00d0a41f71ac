import type { Facts } from './facts.ts'
import type { ClaimStanding } from './judge.ts'
import { ADVISORIES, type AdvisoryCode, type AdvisoryFactor, advisory } from './table.ts'

// A detector's opinion, as its screening stored it: nothing is added here, so the same row gives the same factor.

export function judgeAiGenerated(facts: Facts): AdvisoryFactor<'ai_generated_likely'> | null {
  return screened(facts, 'ai_generated_likely')
}

export function judgeDeepfake(facts: Facts): AdvisoryFactor<'deepfake_likely'> | null {
  return screened(facts, 'deepfake_likely')
}

function screened<C extends 'ai_generated_likely' | 'deepfake_likely'>(
  { screening = [] }: Facts,
  code: C,
): AdvisoryFactor<C> | null {
  const found = screening.find((one) => one.code === code)
  return found === undefined ? null : advisory(code, found.evidence)
}

/** Codes from a claim's screenings belong to the claim, whatever its attestations say. */
export function withScreening(standing: ClaimStanding, codes: readonly AdvisoryCode[]): ClaimStanding {
  const own = new Set([...standing.advisoryCodes, ...codes.filter((code) => isScreening(code))])
  return own.size === standing.advisoryCodes.length
    ? standing
    : { ...standing, advisoryCodes: ADVISORIES.filter((code) => own.has(code)) }
}

function isScreening(code: AdvisoryCode): boolean {
  return code === 'ai_generated_likely' || code === 'deepfake_likely'
}
