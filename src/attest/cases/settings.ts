// Every number and switch of cases. The deployment's for now; an account's own would stand in for it.

import type { SlaSettings } from './sla.ts'

export interface CaseSettings extends SlaSettings {
  /** A denial for suspected fraud takes two adjusters. */
  fourEyes: boolean
}

export const CASE_SETTINGS: CaseSettings = {
  // What prompt-payment rules give an insurer to acknowledge and to decide, on the strict side.
  reviewBusinessDays: 2,
  decisionDays: 30,
  fourEyes: true,
}
