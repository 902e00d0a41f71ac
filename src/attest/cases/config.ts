// Every number and switch of cases. They hold for all accounts of a deployment.

import { defineConfig, onOff, type SettingsOf } from '#src/platform/config-keys.ts'
import type { SlaSettings } from './sla.ts'

export type CasesSettings = SettingsOf<typeof casesConfig>

export const casesConfig = defineConfig({
  title: 'Cases',
  keys: {
    CASES_ON_ESCALATION: onOff.describe('Whether a claim that becomes failed gets a case.'),
    CASES_FOUR_EYES: onOff.describe('Whether denying a case for suspected fraud takes two adjusters.'),
  },
})

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
