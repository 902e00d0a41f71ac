import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createAssertions } from './assertions.ts'

export type PasskeysFeature = ReturnType<typeof passkeysFeature>

/** The passkeys of users, and what users confirm with them. */
export function passkeysFeature(p: Platform) {
  const assertions = createAssertions(p)
  return defineFeature({ name: 'passkeys' }, { assertions })
}
