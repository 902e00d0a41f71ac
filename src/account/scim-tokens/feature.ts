import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { NOTES } from './notes.ts'
import { scimTokenRoutes } from './routes.ts'
import { createScimTokens } from './tokens.ts'

/** Tokens by which directories call SCIM. */
export function scimTokensFeature(p: Platform) {
  const tokens = createScimTokens({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a directory token failed'),
  })
  p.onClose(() => tokens.settle(), 'directory tokens')
  return defineFeature(
    {
      name: 'scim-tokens',
      data: [{ table: 'scim_tokens', key: ['id'], isOfAccount: true, secrets: ['token_hash'] }],
      routes: scimTokenRoutes(tokens),
      notes: NOTES,
    },
    { tokens },
  )
}
