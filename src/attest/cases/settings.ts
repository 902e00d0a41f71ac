// Every number and switch of cases. They are the deployment's for now; an account's own settings could replace them.

import type { SlaSettings } from './sla.ts'

export interface CaseSettings extends SlaSettings {
  /** A denial for suspected fraud needs two adjusters. */
  fourEyes: boolean
}

export const CASE_SETTINGS: CaseSettings = {
  // The time that prompt-payment rules give an insurer to acknowledge and to decide, at the strict end.
  reviewBusinessDays: 2,
  decisionDays: 30,
  fourEyes: true,
}
