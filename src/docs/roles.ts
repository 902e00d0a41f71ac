// `/docs/roles`: what each role may do, from the tables that decide it.

import { ROLES } from '#src/catalogue/access.ts'
import { PERMISSION_NAMES, PERMISSIONS, rolesWith } from '#src/catalogue/permissions.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { html } from './html.ts'
import type { DocsPage } from './layout.ts'

export function rolesPage(routes: readonly Route[]): DocsPage {
  const sections = PERMISSION_NAMES.map((permission) => {
    const guarded = routes.filter((route) => route.permission === permission)
    return { permission, allows: PERMISSIONS[permission].allows, guarded }
  })
  const used = sections.filter(({ guarded }) => guarded.length > 0)
  const mark = (isAllowed: boolean) => (isAllowed ? 'yes' : '–')
  const head = ROLES.map((role) => html`<th>${role}</th>`)
  const rows = used.map(({ permission, allows }) => {
    const live = rolesWith(permission, 'live')
    const sandbox = rolesWith(permission, 'sandbox')
    const cells = ROLES.map((role) => {
      const isSandboxOnly = sandbox.includes(role) && !live.includes(role)
      return html`<td data-role="${role}">${isSandboxOnly ? 'sandbox' : mark(live.includes(role))}</td>`
    })
    return html`<tr><td><a href="#${permission}"><code>${permission}</code></a>: ${allows}</td>${cells}</tr>\n`
  })
  const lists = used.map(
    ({ permission, allows, guarded }) => html`<h3 id="${permission}"><code>${permission}</code></h3>
<p>Holders may ${allows}.</p>
<ul>${guarded.map(
      ({ method, path, scope, takesAnyKey, plan }) =>
        html`<li><code>${method} ${path}</code>${scope === undefined ? (takesAnyKey ? ' (any API key)' : ' (no API key)') : html` (keys: scope <code>${scope}</code>)`}${plan === undefined ? '' : `, plan ${plan}`}</li>\n`,
    )}</ul>
`,
  )
  const body = html`<h1>Roles</h1>
<p class="lead">A signed-in user has one role in the account. An owner may do everything. An API key has no role: its scopes
decide, and within them it has owner authority. Roles other than owner need the plan enterprise.</p>
<table class="roles"><thead><tr><th>Permission</th>${head}</tr></thead><tbody>${rows}</tbody></table>
<p>“sandbox”: with the data of the sandbox only.</p>
<h2 id="routes">Routes by permission</h2>
${lists}`
  return { path: '/docs/roles', title: 'Roles', body }
}
