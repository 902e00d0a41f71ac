import { defineConfig, onOff, type SettingsOf } from '#src/platform/config-keys.ts'

export type CasesSettings = SettingsOf<typeof casesConfig>

export const casesConfig = defineConfig({
  keys: {
    CASES_ON_ESCALATION: onOff.describe('Whether a claim that becomes failed gets a case.'),
    CASES_FOUR_EYES: onOff.describe('Whether denying a case for suspected fraud takes two adjusters.'),
  },
})
