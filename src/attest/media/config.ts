import { z } from 'zod'
import { defineConfig, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'
import { readTrustAnchors } from './c2pa-trust.ts'

export type MediaSettings = SettingsOf<typeof mediaConfig>

export const mediaConfig = defineConfig({
  title: 'C2PA',
  keys: {
    C2PA_TRUST_ANCHORS: readableBy(z.string(), readTrustAnchors)
      .optional()
      .describe(
        'PEM file of the CAs whose C2PA signatures are trusted, in place of the public list. See docs/attest/c2pa.md.',
      ),
  },
})
