// The page of operators on the internal port, behind the operator's password where there is one: it reads /jobs of the same port.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasPassword, type InternalPart } from '#src/platform/http/internal.ts'
import type { DashboardFiles } from './files.ts'
import { NOT_BUILT, policyFor, REBUILDING_SECONDS } from './routes.ts'

export const OPERATIONS_PATH = '/operations'
/** Where the build says that its files are. */
const ASSETS = '/app/assets'

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/** The page, and the files that it loads. */
export function createOperations(files: DashboardFiles, password: string | undefined): InternalPart[] {
  const guarded =
    (answer: (req: IncomingMessage, res: ServerResponse, path: string) => void): InternalPart['answer'] =>
    async (req, res) => {
      req.resume()
      if (password !== undefined && !hasPassword(req, password)) {
        res.writeHead(401, { ...HEADERS, 'WWW-Authenticate': 'Basic realm="jobs"' }).end('This needs the password.')
      } else if (req.method !== 'GET' && req.method !== 'HEAD') {
        res.writeHead(405, { ...HEADERS, Allow: 'GET, HEAD' }).end('This is read-only.')
      } else {
        answer(req, res, new URL(req.url ?? '', 'http://internal').pathname)
      }
    }

  const showPage = guarded((_req, res) => {
    const nonce = randomBytes(16).toString('base64')
    const text = files.page('operations', nonce)
    if (text !== undefined) {
      res.writeHead(200, { ...HEADERS, 'Content-Security-Policy': policyFor(nonce) }).end(text)
      return
    }
    const again = { 'Retry-After': `${REBUILDING_SECONDS}`, Refresh: `${REBUILDING_SECONDS}` }
    res
      .writeHead(503, {
        ...HEADERS,
        ...again,
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      })
      .end(NOT_BUILT)
  })

  const sendAsset = guarded((req, res, path) => {
    const answer = files.asset(path.slice(ASSETS.length + 1), req.headers['accept-encoding'])
    if (answer === undefined) res.writeHead(404, HEADERS).end('The page has no such file. Reload it.')
    else res.writeHead(answer.status, { ...HEADERS, ...answer.headers }).end(answer.text)
  })

  return [
    { path: OPERATIONS_PATH, answer: showPage },
    { path: ASSETS, answer: sendAsset },
  ]
}
