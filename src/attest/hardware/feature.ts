import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { HardwareSettings } from './config.ts'
import { collectList, createListFetcher, createListReader, GOOGLE_LIST_URL, LOOK_EVERY_MS } from './lists.ts'
import { readExpectedApps, readVendorRoots } from './roots.ts'

export type HardwareFeature = ReturnType<typeof hardwareFeature>

/** Key attestation by Android and App Attest by Apple: pinned roots, expected apps, the list of revoked keys. */
export function hardwareFeature(p: Platform, settings: HardwareSettings) {
  const url = settings.ANDROID_REVOCATION_URL ?? (settings.MODE === 'production' ? GOOGLE_LIST_URL : undefined)
  const revocations = createListReader({ ...p, url })
  const trust = {
    roots: readVendorRoots(settings.ATTESTATION_TEST_ROOTS),
    apps: readExpectedApps(settings.ATTESTATION_APPS),
    revocations,
  }
  const fetchList = (listUrl: string) => ({
    name: 'revocation list',
    everyMs: LOOK_EVERY_MS,
    start: () => createListFetcher({ ...p, url: listUrl, fetches: collectList(p.registry, { ...p, url: listUrl }) }),
  })
  return defineFeature(
    { name: 'hardware', tasks: url === undefined ? [] : [fetchList(url)] },
    {
      trust,
      revocations,
      /** Undefined: this deployment fetches no list of revoked attestation keys. */
      revocationUrl: url,
    },
  )
}
