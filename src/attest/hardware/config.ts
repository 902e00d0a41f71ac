import { defineConfig, httpAddress, list, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'
import { readExpectedApps, readVendorRoots } from './roots.ts'

export type HardwareSettings = SettingsOf<typeof hardwareConfig> & { MODE: 'development' | 'production' }

export const hardwareConfig = defineConfig({
  title: 'Hardware evidence',
  keys: {
    ATTESTATION_APPS: readableBy(list, readExpectedApps).describe(
      'Apps whose hardware evidence counts: android:<package>:<signing SHA-256> or apple:<team>.<bundle id>. Separated by commas. See docs/attest/hardware.md.',
    ),
    ATTESTATION_TEST_ROOTS: readableBy(list, readVendorRoots).describe(
      'Public keys of simulated vendors, android:<base64> or apple:<base64>. Development only.',
    ),
    ANDROID_REVOCATION_URL: httpAddress
      .optional()
      .describe('List of revoked attestation keys. Google’s in production; without one development asks none.'),
  },
  problems({ MODE, ATTESTATION_TEST_ROOTS, ANDROID_REVOCATION_URL }) {
    if (MODE !== 'production') return []
    const problems: string[] = []
    if (ATTESTATION_TEST_ROOTS !== undefined)
      problems.push('ATTESTATION_TEST_ROOTS: refused in production, it trusts simulated vendors')
    if (ANDROID_REVOCATION_URL?.startsWith('http:'))
      problems.push('ANDROID_REVOCATION_URL: must be https in production')
    return problems
  },
})
