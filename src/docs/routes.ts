import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Answer, type Exchange, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { createAssets } from './assets.ts'
import { renderErrors, renderReference } from './pages.ts'

// Everything from here and nothing from elsewhere. Pictures of the reference are data: in its style sheet.
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const HTML = 'text/html; charset=utf-8'
const GUIDE = new URL('../../docs/integrate.md', import.meta.url)
/** The address that the guide is written with. */
const GUIDE_URL = 'http://localhost:8080'

interface DocsDeps {
  /** The whole table, asked when everything is in it. */
  routes: () => readonly Route[]
  notes: Notes
  /** Without a trailing slash. */
  baseUrl: string
}

/** The pages for integrators. Texts are made once; nothing outside of this service is loaded by any of them. */
export function docsRoutes({ routes, notes, baseUrl }: DocsDeps): Route[] {
  const assets = createAssets()
  const errors = renderErrors({ assets, baseUrl })
  const guide = readFileSync(GUIDE, 'utf8').replaceAll(GUIDE_URL, baseUrl)
  let reference: string | undefined
  return [
    page('/docs', { summary: 'This interface as a page that sends requests', contentType: HTML }, () => {
      reference ??= renderReference(routes(), { assets, notes })
      return asPage(reference, { 'Content-Security-Policy': REFERENCE_POLICY })
    }),
    page('/docs/errors', { summary: 'Every error code, and what to do about it', contentType: HTML }, () =>
      asPage(errors, { 'Content-Security-Policy': PAGE_POLICY }),
    ),
    page(
      '/docs/integrate',
      { summary: 'The guide for integrators, as Markdown', contentType: 'text/markdown; charset=utf-8' },
      () => asPage(guide, { 'Content-Type': 'text/markdown; charset=utf-8' }),
    ),
    page(
      '/docs/assets/:name',
      { summary: 'A script or a style sheet of these pages', contentType: 'text/css' },
      ({ req, params }) => assets.answer(params.name ?? '', req.headers['accept-encoding']),
    ),
  ]
}

// The answers are ready as they are: no view has to guard them, and what somebody adds to the address means nothing.
function page(
  path: string,
  { summary, contentType }: { summary: string; contentType: string },
  answer: (exchange: Exchange) => Answer | Promise<Answer>,
): Route {
  const route = publicEndpoint(
    {
      method: 'GET',
      path,
      tag: 'Service',
      summary,
      public: 'Whoever thinks about integrating has no key yet',
      view: z.never(),
      streams: { contentType },
      status: [200],
    },
    async () => {
      throw new Error('answered by handle')
    },
  )
  return { ...route, handle: async (exchange) => answer(exchange) }
}

function asPage(text: string, headers: Record<string, string>): Answer {
  const common = { 'Content-Type': HTML, 'Cache-Control': 'public, max-age=300', 'Referrer-Policy': 'no-referrer' }
  return { status: 200, headers: { ...common, ...headers }, text }
}
