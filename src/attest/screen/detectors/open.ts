import type { Outbound } from '#src/platform/net/outbound.ts'
import type { DetectorSettings } from '../config.ts'
import type { Detector } from './detector.ts'
import { createHive, HIVE_URL } from './hive.ts'
import { createHttpDetector } from './http.ts'
import { createSightengine, SIGHTENGINE_URL } from './sightengine.ts'

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
