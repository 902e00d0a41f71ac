// The list of products. All other code that must know every feature derives from it.

import { type AccountSettings, createAccount, type FromAbove } from './account/account.ts'
import { createAgents } from './agents/agents.ts'
import { type AttestSettings, createAttest } from './attest/attest.ts'
import type { EndWithDevice } from './attest/devices/devices.ts'
import { type AuthorizeSettings, createAuthorize } from './authorize/authorize.ts'
import { PRODUCTS } from './catalogue/access.ts'
import { createOverview } from './overview/overview.ts'
import { type Feature, ofProducts, type Platform, type TenantTable } from './platform/feature.ts'
import type { Route } from './platform/http/endpoint.ts'
import { ledgerFeature } from './platform/ledger/feature.ts'
import { platformFeature } from './platform/upkeep.ts'
import { createTrace, type TraceSettings } from './trace/trace.ts'

export type Products = ReturnType<typeof createProducts>

/** Features come in the order of their layers: a later one may build on an earlier one. */
export function createProducts(
  p: Platform,
  settings: AccountSettings & AttestSettings & AuthorizeSettings & TraceSettings,
) {
  // Asked for when all features are known.
  const tables = (): TenantTable[] => features.flatMap(({ data = [] }) => data)
  // Called by requests and jobs, long after every product was made.
  const fromAbove: FromAbove = {
    endWithUser: (tx, user) => authorize.passkeys.endWithUser(tx, user),
    writers: {
      passkey_changed: (mail) => authorize.passkeys.writeLetter(mail),
      approval: (mail) => authorize.approvals.approvals.writeLetter(mail),
      exclusions_changed: (mail) => authorize.exclusions.writeExclusionsLetter(mail),
      disclosure_code: (mail) => trace.shares.writers.disclosure_code(mail),
      disclosure_grant: (mail) => trace.shares.writers.disclosure_grant(mail),
    },
  }
  const account = createAccount(p, settings, { tables, ...fromAbove })
  const agents = createAgents(p, account)
  // Called when a device is revoked, long after both products were made.
  const endWithDevice: EndWithDevice = (tx, acting, device) =>
    authorize.revocations.revocations.revokeDevice(tx, acting, device)
  const attest = createAttest(p, settings, { ...account, endWithDevice })
  const trace = createTrace(p, settings, account, agents)
  const ledger = ledgerFeature(p, account.accounts)
  const authorize = createAuthorize(p, settings, { attest, trace })
  // Asked for when a request comes.
  let routes: Map<string, Route> | undefined
  const routeOf = (name: string) => {
    routes ??= new Map(
      features.flatMap((feature) => feature.routes ?? []).map((route) => [`${route.method} ${route.path}`, route]),
    )
    const route = routes.get(name)
    if (route === undefined) throw new Error(`no route ${name}`)
    return route
  }
  const overview = createOverview(p, { routeOf, approvals: authorize.approvals.approvals })
  const features: Feature[] = [
    platformFeature(p),
    ledger.feature,
    ...account.features,
    ...ofProducts(['authorize', 'trace'], agents.features),
    ...ofProducts(['attest'], attest.features),
    ...ofProducts(['trace'], trace.features),
    ...ofProducts(['authorize'], authorize.features),
    ...ofProducts(PRODUCTS, overview.features),
  ]
  return { account, agents, attest, trace, authorize, overview, features }
}
