// The dashboard's addresses: every one below /app, and those that mails name, answer the same page, which then asks the public
// API.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type Answer, type Exchange, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { DashboardFiles } from './files.ts'

const HTML = 'text/html; charset=utf-8'
export const REBUILDING_SECONDS = 3

/** Styles that libraries insert need the nonce of this answer; scripts come from this origin alone. */
export function policyFor(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' blob: data:; ` +
    "media-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  )
}

export function dashboardRoutes(files: DashboardFiles): Route[] {
  const index = async (): Promise<Answer> => {
    const nonce = randomBytes(16).toString('base64')
    const text = files.page('index', nonce)
    const headers = {
      'Content-Type': HTML,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    }
    if (text !== undefined) {
      return { status: 200, headers: { ...headers, 'Content-Security-Policy': policyFor(nonce) }, text }
    }
    return {
      status: 503,
      headers: {
        ...headers,
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
        'Retry-After': `${REBUILDING_SECONDS}`,
        Refresh: `${REBUILDING_SECONDS}`,
      },
      text: NOT_BUILT,
    }
  }
  return [
    shownAt('/app', 'openDashboard', 'The dashboard', index),
    shownAt('/app/*path', 'openDashboardPage', 'A page of the dashboard', index),
    shownAt('/approve', 'showApprovals', 'The page on which people approve and deny the actions of agents', index),
    shownAt('/orders', 'showOrders', 'The page on which clinicians sign orders', index),
    shownAt('/passkeys', 'showPasskeys', 'The page on which people register, name and remove their passkeys', index),
    shownAt('/login/link', 'showLogin', 'The page of login links: it uses nothing up by itself', index),
    shownAt('/login/invite', 'showInvite', 'The page of invites: it uses nothing up by itself', index),
    shownAt('/login/sso', 'showSso', 'The page of single sign-on, to which identity providers lead back', index),
    shownAt('/share', 'showShare', 'The page of shared traces: it shows nothing by itself', index),
    shownAt(
      '/app/assets/:name',
      'getDashboardAsset',
      'A script, style sheet or font of the dashboard',
      async ({ params, req }) => {
        const answer = files.asset(params.name ?? '', req.headers['accept-encoding'])
        if (answer === undefined) {
          throw new Failure('not_found', 'The dashboard has no such file. Reload the page: it may have been updated.')
        }
        return answer
      },
    ),
  ]
}

export const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>The dashboard is being built</title></head>
<body>
<h1>The dashboard is being built</h1>
<p>The first <code>npm start</code> builds it, in about ten seconds. This page reloads by itself.</p>
<p>Where the service does not run by <code>npm start</code>, <code>npm run dashboard -- build</code> builds it.</p>
</body>
</html>
`

function shownAt(
  path: string,
  operationId: string,
  summary: string,
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
      public: 'The page is the same for everybody: its requests need a session',
      view: z.never(),
      streams: { contentType: HTML },
      status: [200],
    },
    async () => {
      throw new Error('answered by handle')
    },
  )
  return { ...route, handle: answer }
}
