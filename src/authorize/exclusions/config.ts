import { z } from 'zod'
import { defineConfig, type SettingsOf } from '#src/platform/config-keys.ts'

export type ExclusionSettings = SettingsOf<typeof exclusionConfig>

const mirror = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional()

export const exclusionConfig = defineConfig({
  title: 'Exclusion lists',
  keys: {
    EXCLUSION_LEIE_URL: mirror.describe(
      'Address of the full LEIE file, on a mirror that answers 200 with the bytes. For accounts without a list of their own.',
    ),
    EXCLUSION_SAM_URL: mirror.describe(
      'The same for the public extract of SAM exclusions, whose name tells its date, such as SAM_Exclusions_Public_Extract_V2_26333.ZIP.',
    ),
  },
})
