// The cookies of a signed-in browser, and the proof that a request with them comes from our own pages. The session
// cookie is HttpOnly; the CSRF token is an HMAC of the session's id in a readable cookie and in the header X-CSRF-Token
// (signed double submit, OWASP Cross-Site Request Forgery Prevention).

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Failure } from '#src/failure.ts'

const CSRF_COOKIE = 'svc_csrf'
const CSRF_HEADER = 'x-csrf-token'
// 256 bits in base64url.
const SECRET = /^[A-Za-z0-9_-]{43}$/

export type SessionCookies = ReturnType<typeof createSessionCookies>

/**
 * @param key From which the key of the tokens is derived. `previous`: tokens from before a rotation stay valid.
 * @param baseUrl Whose scheme decides the cookie's name.
 */
export function createSessionCookies({
  key,
  previous = [],
  baseUrl,
}: {
  key: Buffer
  previous?: readonly Buffer[]
  baseUrl: string
}) {
  const keyOf = (master: Buffer) => createHmac('sha256', master).update('countersign csrf').digest()
  const csrfKey = keyOf(key)
  const acceptedKeys = [csrfKey, ...previous.map(keyOf)]
  const isSecure = baseUrl.startsWith('https:')
  // Browsers accept the prefix __Host- with Secure only, which plain http on localhost can't have.
  const sessionCookie = isSecure ? '__Host-svc_session' : 'svc_session'
  const attributes = `Path=/; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const ownOrigin = new URL(baseUrl).origin

  const tokenBy = (by: Buffer, sessionId: string) => createHmac('sha256', by).update(sessionId).digest('base64url')
  const tokenOf = (sessionId: string) => tokenBy(csrfKey, sessionId)

  function isTokenOf(sessionId: string, sent: string): boolean {
    const given = Buffer.from(sent)
    return acceptedKeys.some((by) => {
      const expected = Buffer.from(tokenBy(by, sessionId))
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  }

  return {
    tokenOf,

    /** The secret of the session cookie; undefined when there is none in our form. */
    read(req: Pick<IncomingMessage, 'headers'>): string | undefined {
      const values = cookiesOf(req.headers.cookie).filter(([name]) => name === sessionCookie)
      // Two cookies of one name come from two paths or domains, of which one may be an attacker's.
      const [only] = values
      return values.length === 1 && only !== undefined && SECRET.test(only[1]) ? only[1] : undefined
    },

    /** Values of Set-Cookie that sign a browser in. */
    issue({ id, secret, maxAgeSeconds }: { id: string; secret: string; maxAgeSeconds: number }): string[] {
      return [
        `${sessionCookie}=${secret}; ${attributes}; Max-Age=${maxAgeSeconds}; HttpOnly`,
        `${CSRF_COOKIE}=${tokenOf(id)}; ${attributes}; Max-Age=${maxAgeSeconds}`,
      ]
    },

    /** Values of Set-Cookie that sign a browser out. */
    clear(): string[] {
      return [`${sessionCookie}=; ${attributes}; Max-Age=0; HttpOnly`, `${CSRF_COOKIE}=; ${attributes}; Max-Age=0`]
    },

    /**
     * For a request of a session that changes something.
     * @throws {Failure} `csrf_token_invalid`
     */
    check(req: Pick<IncomingMessage, 'headers' | 'headersDistinct'>, sessionId: string): void {
      this.checkOrigin(req)
      const sent = req.headersDistinct[CSRF_HEADER] ?? []
      if (sent.length === 0) throw new Failure('csrf_token_invalid', 'The header X-CSRF-Token is missing.')
      if (sent.length > 1 || !isTokenOf(sessionId, sent[0] ?? '')) {
        throw new Failure('csrf_token_invalid', 'The header X-CSRF-Token is not the token of this session.')
      }
    },

    /**
     * For public requests that sign in, too: a page of another site must not send them.
     * @throws {Failure} `csrf_token_invalid`
     */
    checkOrigin({ headers }: Pick<IncomingMessage, 'headers'>): void {
      const { origin, host } = headers
      const site = headers['sec-fetch-site']
      // A page may stand behind another name than BASE_URL (localhost and 127.0.0.1): then Origin agrees with Host.
      const isOwn = origin === undefined || origin === ownOrigin || URL.parse(origin)?.host === host
      if (!isOwn || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
        throw new Failure('csrf_token_invalid', 'This request comes from a page of another origin.')
      }
    },
  }
}

function cookiesOf(header: string | undefined): [name: string, value: string][] {
  return (header ?? '').split(';').map((pair) => {
    const at = pair.indexOf('=')
    return at === -1 ? ['', pair.trim()] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}
