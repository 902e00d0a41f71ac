// The list of products. Everything else that must know all features derives from it.

import { createAccount } from './account/account.ts'
import type { WebhookSettings } from './account/webhooks/feature.ts'
import { type AttestSettings, createAttest } from './attest/attest.ts'
import type { Platform } from './platform/feature.ts'
import { platformFeature } from './platform/upkeep.ts'

export type Products = ReturnType<typeof createProducts>

/** Features come in the order of their layers: what is later may build on what is earlier. */
export function createProducts(p: Platform, settings: WebhookSettings & AttestSettings) {
  const account = createAccount(p, settings)
  const attest = createAttest(p, settings, account)
  const features = [platformFeature(p), ...account.features, ...attest.features]
  return { account, attest, features }
}
