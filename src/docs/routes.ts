import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type Answer, type Exchange, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { createAssets } from './assets.ts'
import { eventsPage } from './event-types.ts'
import { createGuides } from './guides.ts'
import { homePage } from './home.ts'
import { type DocsPage, renderPage } from './layout.ts'
import { decisionsPage, errorsPage, guidePage, overviewPage, referencePage } from './pages.ts'
import { type Prepared, prepare } from './prepared.ts'
import { rolesPage } from './roles.ts'
import { buildSearchIndex } from './search.ts'

// Only this origin. Pictures of the reference are data: addresses in its style sheet.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'
const CACHED = { 'Cache-Control': 'public, max-age=300', 'Referrer-Policy': 'no-referrer' }
const PAGE = { ...CACHED, 'Content-Type': HTML, 'Content-Security-Policy': POLICY }

interface DocsDeps {
  /** The whole route table, read after all routes are in it. */
  routes: () => readonly Route[]
  notes: Notes
  /** Address without a trailing slash. */
  baseUrl: string
}

/**
 * The pages for people. Each is rendered at its first request and kept; none loads anything from outside of this service.
 */
export function docsRoutes({ routes, notes, baseUrl }: DocsDeps): Route[] {
  const assets = createAssets()
  const guides = createGuides({ baseUrl, nameOfPicture: assets.nameOfPicture })
  const kept = new Map<string, Prepared>()
  let searchIndex: Promise<Prepared> | undefined

  const keep = (key: string, make: () => Prepared): Prepared => {
    const known = kept.get(key) ?? make()
    kept.set(key, known)
    return known
  }
  const show = ({ req }: Exchange, path: string, make: () => DocsPage) =>
    keep(path, () => prepare(renderPage(make(), { assets, groups: guides.groups() }), PAGE)).answer(
      req.headers['accept-encoding'],
    )
  const reference = () =>
    referencePage(routes(), {
      notes,
      styles: [`assets/${assets.nameOf('swagger-ui.css')}`],
      scripts: [
        { src: `assets/${assets.nameOf('swagger-ui-bundle.js')}` },
        { src: `assets/${assets.nameOf('explorer.js')}`, isModule: true },
      ],
    })
  const noSuchGuide = () => new Failure('not_found', `There is no such guide: ${baseUrl}/docs lists all of them.`)
  const guide = (exchange: Exchange, address: string) => {
    const name = address.replace(/\.md$/, '')
    const found = guides.find(name)
    if (found === undefined) throw noSuchGuide()
    if (name === address) return show(exchange, `/docs/${name}`, () => guidePage(found, guides))
    const headers = { ...CACHED, 'Content-Type': MARKDOWN }
    return keep(`/docs/${address}`, () => prepare(found.markdown, headers)).answer(
      exchange.req.headers['accept-encoding'],
    )
  }

  return [
    page(
      { path: '/', operationId: 'showHome', summary: 'The start page: what this service is, and links to the guides' },
      (exchange) => show(exchange, '/', () => homePage(baseUrl)),
    ),
    page({ path: '/docs', operationId: 'showGuides', summary: 'All guides' }, (exchange) =>
      show(exchange, '/docs', () => overviewPage(guides)),
    ),
    page(
      {
        path: '/docs/api-reference',
        operationId: 'showReference',
        summary: 'The API reference as a page that sends requests',
      },
      (exchange) => show(exchange, '/docs/api-reference', reference),
    ),
    page(
      { path: '/docs/errors', operationId: 'showErrors', summary: 'Every error code, and what to do about it' },
      (exchange) => show(exchange, '/docs/errors', () => errorsPage(baseUrl)),
    ),
    page(
      { path: '/docs/events', operationId: 'showEvents', summary: 'Every type of event, with its members' },
      (exchange) => show(exchange, '/docs/events', () => eventsPage(notes)),
    ),
    page({ path: '/docs/roles', operationId: 'showRoles', summary: 'What each role of a user may do' }, (exchange) =>
      show(exchange, '/docs/roles', () => rolesPage(routes())),
    ),
    page({ path: '/docs/decisions', operationId: 'showDecisions', summary: 'All decision records' }, (exchange) =>
      show(exchange, '/docs/decisions', () => decisionsPage(guides)),
    ),
    page(
      {
        path: '/login',
        operationId: 'redirectToLogin',
        summary: 'Redirect to the page of login links',
        reason: 'A person who signs in has no session yet',
        status: 302,
      },
      // Always to the same page, whatever the query says: a link to this service must not lead elsewhere. Relative, for a
      // proxy that serves it below a path.
      async () => ({ status: 302, headers: { ...CACHED, Location: 'login/link' }, text: '' }),
    ),
    page(
      {
        path: '/docs/search.json',
        operationId: 'getSearchIndex',
        summary: 'The index of the search of these pages',
        contentType: 'application/json',
      },
      async ({ req }) => {
        searchIndex ??= buildSearchIndex({ guides, routes: routes() }).then(
          (index) => prepare(index, { ...CACHED, 'Content-Type': 'application/json' }),
          (error: unknown) => {
            searchIndex = undefined
            throw error
          },
        )
        return (await searchIndex).answer(req.headers['accept-encoding'])
      },
    ),
    page(
      {
        path: '/docs/:name',
        operationId: 'redirectToGuide',
        summary: 'Redirect from a name to the guide of this name, or to the first guide of a folder',
        status: 301,
      },
      async ({ params }) => {
        const [, name = '', suffix = ''] = /^(.*?)(\.md)?$/.exec(params.name ?? '') ?? []
        const found = guides.findShort(name)
        if (found === undefined) throw noSuchGuide()
        // Relative, for a proxy that serves the pages below a path.
        return { status: 301, headers: { ...CACHED, Location: `${found.name}${suffix}` }, text: '' }
      },
    ),
    page(
      {
        path: '/docs/:folder/:name',
        operationId: 'showGuide',
        summary: 'One guide or decision; with .md at its end, as Markdown',
      },
      (exchange) => guide(exchange, `${exchange.params.folder ?? ''}/${exchange.params.name ?? ''}`),
    ),
    page(
      {
        path: '/docs/assets/:name',
        operationId: 'getAsset',
        summary: 'A script or a style sheet of these pages',
        contentType: 'text/css',
      },
      ({ req, params }) => assets.answer(params.name ?? '', req.headers['accept-encoding']),
    ),
  ]
}

interface PageRoute {
  path: string
  operationId: string
  summary: string
  contentType?: string
  status?: number
  /** Why it is public. */
  reason?: string
}

// The answers are prepared texts, which need no view; query parameters are ignored.
function page(
  {
    path,
    operationId,
    summary,
    contentType = HTML,
    status = 200,
    reason = 'Readers of the documentation may have no key yet',
  }: PageRoute,
  answer: (exchange: Exchange) => Promise<Answer>,
): Route {
  const route = publicEndpoint(
    {
      method: 'GET',
      path,
      operationId,
      sdk: { none: 'A page for people' },
      effect: 'read',
      kind: 'download',
      isPage: true,
      summary,
      public: reason,
      view: z.never(),
      streams: { contentType },
      status: [status],
    },
    async () => {
      throw new Error('answered by handle')
    },
  )
  return { ...route, handle: async (exchange) => answer(exchange) }
}
