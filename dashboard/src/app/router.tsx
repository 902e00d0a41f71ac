// The addresses of the dashboard: /app/<environment>/<section>/...

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Lost } from '../parts/lost.tsx'
import { ENVIRONMENTS, type EnvironmentName } from './client.ts'
import { SessionProvider } from './session.tsx'
import { Shell } from './shell.tsx'
import { UpdateNotice } from './update-notice.tsx'

const root = createRootRoute({ notFoundComponent: Lost, errorComponent: UpdateNotice })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/$environment/overview', params: { environment: 'sandbox' } })
  },
})

const environmentRoute = createRoute({
  getParentRoute: () => root,
  path: '/$environment',
  beforeLoad: ({ params }) => {
    if (!ENVIRONMENTS.some((name) => name === params.environment)) throw redirect({ to: '/' })
  },
  component: function Environment() {
    const { environment } = environmentRoute.useParams()
    return (
      <SessionProvider environment={environment as EnvironmentName}>
        <Shell />
      </SessionProvider>
    )
  },
})

type Search = Record<string, string | undefined>

/** Filters and cursor stand in the address as texts. */
function keepTexts(search: Record<string, unknown>): Search {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, `${value}`]] : [],
    ),
  )
}

/** A page below the environment. Its code is loaded when it is opened first. */
function page<Path extends string>(path: Path, load: () => Promise<{ Page: () => React.ReactNode }>) {
  return createRoute({
    getParentRoute: () => environmentRoute,
    path,
    validateSearch: keepTexts,
    component: lazyRouteComponent(load, 'Page'),
  })
}

const pages = [
  page('overview', () => import('../pages/overview/overview.tsx')),
  page('claims', () => import('../pages/claims/claims.tsx')),
  page('claims/$id', () => import('../pages/claims/claim.tsx')),
  page('cases', () => import('../pages/cases/cases.tsx')),
  page('cases/$id', () => import('../pages/cases/case.tsx')),
  page('batches', () => import('../pages/batches/batches.tsx')),
  page('batches/new', () => import('../pages/batches/upload.tsx')),
  page('batches/$id', () => import('../pages/batches/batch.tsx')),
  page('claims/$id/attestations', () => import('../pages/attestations/of-claim.tsx')),
  page('claims/$id/duplicates', () => import('../pages/attestations/duplicates.tsx')),
  page('attestations/$id', () => import('../pages/attestations/attestation.tsx')),
  page('screenings', () => import('../pages/screenings/list.tsx')),
  page('screenings/$id', () => import('../pages/screenings/screening.tsx')),
  page('devices', () => import('../pages/devices/list.tsx')),
  page('devices/$id', () => import('../pages/devices/device.tsx')),
  page('roots', () => import('../pages/trust/roots.tsx')),
  page('roots/$id', () => import('../pages/trust/roots.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('anchors', () => import('../pages/trust/anchors.tsx')),
  page('anchors/$id', () => import('../pages/trust/anchors.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('reevaluations', () => import('../pages/reevaluations/list.tsx')),
  page('reevaluations/$id', () =>
    import('../pages/reevaluations/list.tsx').then(({ DetailOf }) => ({ Page: DetailOf })),
  ),
  page('analytics', () => import('../pages/analytics/claims.tsx')),
  page('risk-policy', () => import('../pages/policy/risk-policy.tsx')),
  page('approvals', () => import('../pages/approvals/inbox.tsx')),
  page('approvals/all', () => import('../pages/approvals/all.tsx')),
  page('approvals/$id', () => import('../pages/approvals/approval.tsx')),
  page('decisions', () => import('../pages/decisions/list.tsx')),
  page('decisions/$id', () => import('../pages/decisions/decision.tsx')),
  page('mandates', () => import('../pages/mandates/list.tsx')),
  page('mandates/$id', () => import('../pages/mandates/mandate.tsx')),
  page('schedules', () => import('../pages/schedules/list.tsx')),
  page('schedules/cycles', () => import('../pages/schedules/cycles.tsx')),
  page('schedules/$id', () => import('../pages/schedules/schedule.tsx')),
  page('agents', () => import('../pages/agents/list.tsx')),
  page('agents/$id', () => import('../pages/agents/agent.tsx')),
  page('agent-sessions', () => import('../pages/agents/sessions.tsx')),
  page('locks', () => import('../pages/locks/locks.tsx')),
  page('locks/$id', () => import('../pages/locks/locks.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('revocations', () => import('../pages/revocations/revocations.tsx')),
  page('revocations/$id', () =>
    import('../pages/revocations/revocations.tsx').then(({ DetailOf }) => ({ Page: DetailOf })),
  ),
  page('reports', () => import('../pages/reports/reports.tsx')),
  page('reports/spend', () => import('../pages/reports/lists.tsx').then(({ Spend }) => ({ Page: Spend }))),
  page('reports/unexecuted', () =>
    import('../pages/reports/lists.tsx').then(({ Unexecuted }) => ({ Page: Unexecuted })),
  ),
  page('orders', () => import('../pages/orders/list.tsx')),
  page('orders/$id', () => import('../pages/orders/order.tsx')),
  page('prescribers', () => import('../pages/prescribers/prescribers.tsx')),
  page('prescribers/$id', () =>
    import('../pages/prescribers/prescribers.tsx').then(({ DetailOf }) => ({ Page: DetailOf })),
  ),
  page('exclusion-lists', () => import('../pages/exclusions/lists.tsx')),
  page('exclusion-imports', () => import('../pages/exclusions/imports.tsx')),
  page('exclusion-imports/$id', () =>
    import('../pages/exclusions/imports.tsx').then(({ DetailOf }) => ({ Page: DetailOf })),
  ),
  page('exclusion-reviews', () => import('../pages/exclusions/reviews.tsx')),
  page('exclusion-reviews/$id', () =>
    import('../pages/exclusions/reviews.tsx').then(({ DetailOf }) => ({ Page: DetailOf })),
  ),
  page('exclusion-screenings', () => import('../pages/exclusions/screenings.tsx')),
  page('exclusion-screenings/$id', () =>
    import('../pages/exclusions/screenings.tsx').then(({ Changes }) => ({ Page: Changes })),
  ),
  page('keys', () => import('../pages/keys/list.tsx')),
  page('keys/$id', () => import('../pages/keys/key.tsx')),
  page('endpoints', () => import('../pages/endpoints/list.tsx')),
  page('endpoints/$id', () => import('../pages/endpoints/endpoint.tsx')),
  page('deliveries', () => import('../pages/deliveries/list.tsx')),
  page('deliveries/$id', () => import('../pages/deliveries/delivery.tsx')),
  page('events', () => import('../pages/events/list.tsx')),
  page('events/$id', () => import('../pages/events/list.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('consumers', () => import('../pages/events/consumers.tsx')),
  page('users', () => import('../pages/team/users.tsx')),
  page('users/$id', () => import('../pages/team/users.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('invites', () => import('../pages/team/invites.tsx')),
  page('roles', () => import('../pages/team/roles.tsx')),
  page('sso', () => import('../pages/sso/sso.tsx')),
  page('scim-tokens', () => import('../pages/sso/scim-tokens.tsx')),
  page('usage', () => import('../pages/usage/usage.tsx')),
  page('statements', () => import('../pages/usage/statements.tsx')),
  page('audit', () => import('../pages/audit/audit.tsx')),
  page('audit/$id', () => import('../pages/audit/audit.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('sign-ins', () => import('../pages/sessions/sessions.tsx')),
  page('passkeys', () => import('../pages/passkeys/passkeys.tsx')),
  page('exports', () => import('../pages/exports/exports.tsx')),
  page('exports/$id', () => import('../pages/exports/exports.tsx').then(({ DetailOf }) => ({ Page: DetailOf }))),
  page('closing', () => import('../pages/closing/closing.tsx')),
]

export const router = createRouter({
  routeTree: root.addChildren([start, environmentRoute.addChildren(pages)]),
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // The values stay as they are: no JSON in an address.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const known = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(known.map(([name, value]) => [name, `${value}`])).toString()
    return text === '' ? '' : `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
