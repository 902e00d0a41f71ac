// The list of products. All other code that must know every feature derives from it.

import { type AccountSettings, createAccount } from './account/account.ts'
import { type AttestSettings, createAttest } from './attest/attest.ts'
import { type Feature, ofProducts, type Platform, type TenantTable } from './platform/feature.ts'
import { platformFeature } from './platform/upkeep.ts'

export type Products = ReturnType<typeof createProducts>

/** Features come in the order of their layers: a later one may build on an earlier one. */
export function createProducts(p: Platform, settings: AccountSettings & AttestSettings) {
  // Asked for when all features are known.
  const tables = (): TenantTable[] => features.flatMap(({ data = [] }) => data)
  const account = createAccount(p, settings, tables)
  const attest = createAttest(p, settings, account)
  const features: Feature[] = [platformFeature(p), ...account.features, ...ofProducts(['attest'], attest.features)]
  return { account, attest, features }
}
