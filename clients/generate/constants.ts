// Numbers and lists of the service that its verifiers repeat.

import { FACTORS } from '#src/attest/factors/table.ts'
import { LONGER_KEPT_KINDS } from '#src/catalogue/decisions.ts'
import { HEADER, quote } from './typescript-types.ts'

export function constantsText(): string {
  const points = Object.entries(FACTORS).map(([code, count]) => `  ${code}: ${count},\n`)
  const kinds = LONGER_KEPT_KINDS.map((kind) => `  ${quote(kind)},\n`)
  return `${HEADER}
/** Points of each factor. */
export const FACTOR_POINTS: Readonly<Record<string, number>> = {
${points.join('')}}

/** Kinds of entries of the ledger that are kept for longer than the plan's retention. */
export const LONGER_KEPT_KINDS: readonly string[] = [
${kinds.join('')}]
`
}
