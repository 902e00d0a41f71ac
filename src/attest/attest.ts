// The product Attest. Plain code is the registry of its features, in the order of their layers.

import type { Platform } from '#src/platform/feature.ts'
import { analyticsFeature } from './analytics/feature.ts'
import { batchesFeature } from './batches/feature.ts'
import { capturesFeature } from './captures/feature.ts'
import type { CasesSettings } from './cases/config.ts'
import { casesFeature } from './cases/feature.ts'
import { addAdvisoryCodes } from './claims/claim-rows.ts'
import { claimsFeature } from './claims/feature.ts'
import type { EndWithDevice } from './devices/devices.ts'
import { devicesFeature } from './devices/feature.ts'
import { duplicatesFeature } from './duplicates/feature.ts'
import { erasureFeature } from './erasure/feature.ts'
import { evidenceFeature } from './evidence/feature.ts'
import type { HardwareSettings } from './hardware/config.ts'
import { hardwareFeature } from './hardware/feature.ts'
import type { MediaSettings } from './media/config.ts'
import { mediaFeature } from './media/feature.ts'
import { policyFeature } from './policy/feature.ts'
import { reevaluateFeature } from './reevaluate/feature.ts'
import type { ListDeps } from './reevaluate/list.ts'
import type { DetectorSettings } from './screen/config.ts'
import { screenFeature } from './screen/feature.ts'
import { trustFeature } from './trust/feature.ts'

export type AttestSettings = MediaSettings & HardwareSettings & CasesSettings & DetectorSettings

export type Attest = ReturnType<typeof createAttest>

export function createAttest(
  p: Platform,
  settings: AttestSettings,
  { accounts, endWithDevice }: Pick<ListDeps, 'accounts'> & { endWithDevice: EndWithDevice },
) {
  const media = mediaFeature(p, settings)
  const hardware = hardwareFeature(p, settings)
  const trust = trustFeature(p)
  const devices = devicesFeature(p, { ...hardware, endWithDevice })
  const captures = capturesFeature(p, media)
  const cases = casesFeature(p, settings)
  const duplicates = duplicatesFeature(p, media)
  const policy = policyFeature(p)
  const screen = screenFeature(p, { ...media, ...trust, addAdvisoryCodes }, settings)
  const claims = claimsFeature(p, { ...media, ...captures, ...cases, ...hardware, ...trust })
  const batches = batchesFeature(p)
  const reevaluate = reevaluateFeature(p, { accounts, ...media, ...cases, ...hardware, ...trust })
  const evidence = evidenceFeature(p, { ...media, ...hardware })
  const erasure = erasureFeature(p, media)
  const analytics = analyticsFeature(p)
  const features = {
    media,
    hardware,
    trust,
    devices,
    captures,
    cases,
    duplicates,
    policy,
    screen,
    claims,
    batches,
    reevaluate,
    evidence,
    erasure,
    analytics,
  }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
