import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { type AccessDeps, createAccess } from './access.ts'
import { NOTES } from './notes.ts'
import { accessRoutes } from './routes.ts'

export type AccessFeature = ReturnType<typeof accessFeature>

/** Verify in the form of the AuthZEN Authorization API 1.0, for gateways that speak it. */
export function accessFeature({ baseUrl }: Platform, deps: AccessDeps) {
  const access = createAccess(deps)
  return defineFeature({ name: 'access', routes: accessRoutes(access, baseUrl), notes: NOTES }, { access })
}
