// The product Account, on which every other product builds. It lists its features in plain code.

import type { Platform, TenantTable } from '#src/platform/feature.ts'
import { auditFeature } from './audit/feature.ts'
import { closureFeature } from './closure/feature.ts'
import { exportsFeature } from './exports/feature.ts'
import { createAccounts } from './keys/accounts.ts'
import { createKeys } from './keys/keys.ts'
import { productsFeature } from './products/feature.ts'
import { createSessions } from './sessions/sessions.ts'
import type { WebhookSettings } from './webhooks/config.ts'
import { webhooksFeature } from './webhooks/feature.ts'

/** @param tables Of all features. */
export function createAccount(p: Platform, settings: WebhookSettings, tables: () => readonly TenantTable[]) {
  const accounts = createAccounts(p)
  const keys = createKeys({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a key failed'),
  })
  p.onClose(() => keys.settle())
  const sessions = createSessions({
    ...p,
    onError: (error) => p.log.debug({ err: error }, 'recording the use of a session failed'),
  })
  p.onClose(() => sessions.settle())
  const webhooks = webhooksFeature(p, settings)
  const audit = auditFeature(p, accounts)
  const products = productsFeature(p)
  const exports = exportsFeature(p, tables)
  const closure = closureFeature(p, tables)
  const features = [webhooks, audit, products, exports, closure].map(({ feature }) => feature)
  return { features, accounts, keys, sessions, webhooks: webhooks.webhooks }
}
