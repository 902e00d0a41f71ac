import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createKeyAdministration } from './administration.ts'
import { createKeys } from './keys.ts'
import { NOTES } from './notes.ts'
import { keyRoutes } from './routes.ts'

export type KeysFeature = ReturnType<typeof keysFeature>

/** API keys: their look-up on every request, and their administration over HTTP. */
export function keysFeature(p: Platform) {
  const keys = createKeys({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a key failed'),
  })
  p.onClose(() => keys.settle(), 'keys')
  return defineFeature(
    {
      name: 'keys',
      data: [
        { table: 'accounts', key: ['id'], isOfAccount: true, secrets: ['suspension_reason'] },
        { table: 'api_keys', key: ['id'], secrets: ['hash'] },
      ],
      routes: keyRoutes(createKeyAdministration(p), p.now),
      notes: NOTES,
    },
    { keys },
  )
}
