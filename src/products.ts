// The list of products. All other code that must know every feature derives from it.

import { type AccountSettings, createAccount } from './account/account.ts'
import { type AttestSettings, createAttest } from './attest/attest.ts'
import { createAuthorize } from './authorize/authorize.ts'
import type { Feature, Platform, TenantTable } from './platform/feature.ts'
import { ledgerFeature } from './platform/ledger/feature.ts'
import { platformFeature } from './platform/upkeep.ts'

export type Products = ReturnType<typeof createProducts>

/** Features come in the order of their layers: a later one may build on an earlier one. */
export function createProducts(p: Platform, settings: AccountSettings & AttestSettings) {
  // Asked for when all features are known.
  const tables = (): TenantTable[] => features.flatMap(({ data = [] }) => data)
  const account = createAccount(p, settings, tables)
  const attest = createAttest(p, settings, account)
  const ledger = ledgerFeature(p, account.accounts)
  const authorize = createAuthorize(p)
  const features: Feature[] = [
    platformFeature(p),
    ledger.feature,
    ...account.features,
    ...attest.features,
    ...authorize.features,
  ]
  return { account, attest, authorize, features }
}
