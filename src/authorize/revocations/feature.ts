import { defineFeature, type Platform } from '#src/platform/feature.ts'

export type RevocationsFeature = ReturnType<typeof revocationsFeature>

/** Ends tokens before they expire, and stops an account. */
export function revocationsFeature(_p: Platform) {
  return defineFeature(
    {
      name: 'revocations',
      data: [
        { table: 'revocations', key: ['id'] },
        { table: 'stops', key: ['id'] },
      ],
    },
    {},
  )
}
