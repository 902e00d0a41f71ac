// The product Account, on which every other product builds. It lists its features in plain code.

import type { Platform } from '#src/platform/feature.ts'
import { createAccounts } from './keys/accounts.ts'
import { keysFeature } from './keys/feature.ts'
import { createSessions } from './sessions/sessions.ts'
import { usageFeature } from './usage/feature.ts'
import type { WebhookSettings } from './webhooks/config.ts'
import { webhooksFeature } from './webhooks/feature.ts'

export function createAccount(p: Platform, settings: WebhookSettings) {
  const accounts = createAccounts(p)
  const keys = keysFeature(p)
  const sessions = createSessions({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a session failed'),
  })
  p.onClose(() => sessions.settle())
  const webhooks = webhooksFeature(p, settings)
  const usage = usageFeature(p)
  const features = [keys, webhooks, usage].map(({ feature }) => feature)
  return { features, accounts, keys: keys.keys, sessions, webhooks: webhooks.webhooks, usage }
}
