import { z } from 'zod'
import { defineConfig, httpAddress, label, type SettingsOf } from '#src/platform/config-keys.ts'

export type DetectorSettings = SettingsOf<typeof screenConfig>

export const screenConfig = defineConfig({
  title: 'Screening',
  keys: {
    SCREENING_DETECTOR: z
      .enum(['none', 'sightengine', 'hive', 'http'], 'must be none, sightengine, hive or http')
      .default('none')
      .describe(
        'Detector that scores synthetic media; without one screenings are unavailable. See docs/attest/screening.md.',
      ),
    SCREENING_URL: httpAddress
      .optional()
      .describe('Address of the detector: needed for http, the vendor’s own otherwise.'),
    SCREENING_USER: z.string().optional().describe('Sightengine’s api_user.'),
    SCREENING_SECRET: z
      .string()
      .optional()
      .describe('Sightengine’s api_secret, Hive’s key, or the bearer token for http.'),
    SCREENING_VERSION: label
      .default('1')
      .describe('Names the detector’s model: after a change the same bytes are asked about again.'),
  },
  problems(given) {
    const { SCREENING_DETECTOR: name = 'none', SCREENING_URL: url } = given
    const problems: string[] = []
    const demand = (key: string) => {
      if (given[key] === undefined) problems.push(`${key}: is missing, and SCREENING_DETECTOR=${name} needs it`)
    }
    if (name === 'sightengine') demand('SCREENING_USER')
    if (name === 'sightengine' || name === 'hive') demand('SCREENING_SECRET')
    if (name === 'http') demand('SCREENING_URL')
    if (url !== undefined && /[?#]|\/\/[^/]*@/.test(url)) {
      problems.push('SCREENING_URL: must have no user name, query or fragment; secrets have keys of their own')
    }
    if (given.MODE === 'production' && url?.startsWith('http:'))
      problems.push('SCREENING_URL: must be https in production')
    return problems
  },
})
