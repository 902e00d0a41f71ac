// Every reason code with where it appears. The features decide which codes exist; the catalogue has what they mean.

import { REASON_CODES } from '#src/attest/cases/machine.ts'
import { ADVISORIES, FACTOR_CODES, FACTORS, type FactorCode } from '#src/attest/factors/table.ts'
import { VERIFY_REASON_CODES } from '#src/authorize/intents/reasons.ts'
import {
  CASE_REASON_TEXTS,
  CLINICAL_REASONS,
  FINDING_TEXTS,
  FINISH_REASON_TEXTS,
  LEDGER_REASON_TEXTS,
  type ReasonText,
  VERIFY_REASON_TEXTS,
} from '#src/catalogue/reasons.ts'

export const REASON_PLACES = [
  'verify',
  'clinician_order',
  'factor',
  'advisory',
  'case',
  'finish_reason',
  'ledger',
] as const
export type ReasonPlace = (typeof REASON_PLACES)[number]

export interface ReasonCodeEntry {
  code: string
  places: ReasonPlace[]
  /** Meaning as plain text. */
  meaning: string
  remedy: string
  /** null: it is no factor that counts. */
  points: number | null
}

const CODES: Record<ReasonPlace, readonly string[]> = {
  verify: VERIFY_REASON_CODES.filter((code) => !CLINICAL_REASONS.ofOrdersOnly.some((other) => other === code)),
  clinician_order: CLINICAL_REASONS.all,
  factor: FACTOR_CODES,
  advisory: ADVISORIES,
  case: REASON_CODES,
  finish_reason: [...Object.keys(FINISH_REASON_TEXTS), 'canary_tripped'],
  ledger: Object.keys(LEDGER_REASON_TEXTS),
}

/** Lists the codes in the order of the places, each code once. */
export function listReasonCodes(): ReasonCodeEntry[] {
  const texts: Record<string, ReasonText> = {
    ...VERIFY_REASON_TEXTS,
    ...FINDING_TEXTS,
    ...CASE_REASON_TEXTS,
    ...FINISH_REASON_TEXTS,
    ...LEDGER_REASON_TEXTS,
  }
  return Object.entries(texts).map(([code, { meaning, remedy }]) => ({
    code,
    places: REASON_PLACES.filter((place) => CODES[place].includes(code)),
    meaning: plainText(meaning),
    remedy: plainText(remedy),
    points: isFactor(code) ? FACTORS[code] : null,
  }))
}

function isFactor(code: string): code is FactorCode {
  return Object.hasOwn(FACTORS, code)
}

// Links of Markdown lead from docs/; names in backticks stay, as in other texts of the interface.
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}
