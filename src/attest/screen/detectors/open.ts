import type { Outbound } from '#src/platform/net/outbound.ts'
import type { Detector } from './detector.ts'
import { createHive, HIVE_URL } from './hive.ts'
import { createHttpDetector } from './http.ts'
import { createSightengine, SIGHTENGINE_URL } from './sightengine.ts'

/** The configuration keys of the detector. */
export interface DetectorSettings {
  SCREENING_DETECTOR: 'none' | 'sightengine' | 'hive' | 'http'
  SCREENING_URL?: string | undefined
  SCREENING_USER?: string | undefined
  SCREENING_SECRET?: string | undefined
  SCREENING_VERSION: string
}

/** The detector of this deployment; undefined where it has none. `readConfig` has refused incomplete settings. */
export function openDetector(
  settings: DetectorSettings,
  { outbound, now }: { outbound: Pick<Outbound, 'send'>; now: () => Date },
): Detector | undefined {
  const { SCREENING_DETECTOR: name, SCREENING_URL: url, SCREENING_VERSION: version } = settings
  const { SCREENING_USER: user = '', SCREENING_SECRET: secret } = settings
  if (name === 'none') return undefined
  const deps = { outbound, version, now }
  if (name === 'sightengine') {
    return createSightengine({ ...deps, url: url ?? SIGHTENGINE_URL, user, secret: secret ?? '' })
  }
  if (name === 'hive') return createHive({ ...deps, url: url ?? HIVE_URL, secret: secret ?? '' })
  return createHttpDetector({ ...deps, url: url ?? '', secret })
}

/** What is wrong with the combination of these settings, as sentences that begin with a key. */
export function detectorProblems(given: Readonly<Record<string, string | undefined>>): string[] {
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
}
