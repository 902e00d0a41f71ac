// The cookies of a signed-in browser, and the proof that a request with them comes from pages of this service. The
// session cookie is HttpOnly; the CSRF token is an HMAC of the session's id in a readable cookie and in the header
// X-CSRF-Token (signed double submit, OWASP Cross-Site Request Forgery Prevention). A third cookie stays when the
// session ends: it proves that somebody with an address signed in with this browser. Limits on login links read it, and
// nothing else does.

import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Failure } from '#src/failure.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'

const CSRF_COOKIE = 'svc_csrf'
const CSRF_HEADER = 'x-csrf-token'
// 256 bits in base64url.
const SECRET = /^[A-Za-z0-9_-]{43}$/
// Id of the browser, end of its validity in seconds, HMAC.
const PROOF = /^([A-Za-z0-9_-]{22})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{43})$/
const PROOF_SECONDS = 180 * 24 * 3_600

export type SessionCookies = ReturnType<typeof createSessionCookies>

interface IssuedSession {
  id: string
  secret: string
  maxAgeSeconds: number
}

interface SignInFacts {
  email: string
  createdAt: Date
  isSandboxOnly: boolean
}

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
  const tokens = createSigner([key, ...previous], 'countersign csrf')
  const proofs = createSigner([key, ...previous], 'countersign known browser')
  const isSecure = baseUrl.startsWith('https:')
  // Browsers accept the prefix __Host- with Secure only, which plain http on localhost can't have.
  const prefix = isSecure ? '__Host-' : ''
  const sessionCookie = `${prefix}svc_session`
  const browserCookie = `${prefix}svc_browser`
  const ssoCookie = `${prefix}svc_sso`
  const attributes = `Path=/; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const ownOrigin = new URL(baseUrl).origin

  const tokenOf = (sessionId: string) => tokens.sign(sessionId)

  // Two cookies of one name come from two paths or domains, of which one may be an attacker's.
  function onlyValue({ headers }: Pick<IncomingMessage, 'headers'>, wanted: string): string | undefined {
    const values = cookiesOf(headers.cookie).filter(([name]) => name === wanted)
    return values.length === 1 ? values[0]?.[1] : undefined
  }

  return {
    tokenOf,

    /** Secret of the session cookie; undefined without a well-formed cookie. */
    read(req: Pick<IncomingMessage, 'headers'>): string | undefined {
      const value = onlyValue(req, sessionCookie)
      return value !== undefined && SECRET.test(value) ? value : undefined
    },

    /** Values of Set-Cookie with a session. */
    issue({ id, secret, maxAgeSeconds }: IssuedSession): string[] {
      return [
        `${sessionCookie}=${secret}; ${attributes}; Max-Age=${maxAgeSeconds}; HttpOnly`,
        `${CSRF_COOKIE}=${tokenOf(id)}; ${attributes}; Max-Age=${maxAgeSeconds}`,
      ]
    },

    /** The secret of a browser that began single sign-on. */
    readSso(req: Pick<IncomingMessage, 'headers'>): string | undefined {
      const value = onlyValue(req, ssoCookie)
      return value !== undefined && SECRET.test(value) ? value : undefined
    },

    /** Values of Set-Cookie for a browser that begins single sign-on. */
    issueSso(secret: string, maxAgeSeconds: number): string[] {
      return [`${ssoCookie}=${secret}; ${attributes}; Max-Age=${maxAgeSeconds}; HttpOnly`]
    },

    /** Values of Set-Cookie that sign a browser out. */
    clear(): string[] {
      return [`${sessionCookie}=; ${attributes}; Max-Age=0; HttpOnly`, `${CSRF_COOKIE}=; ${attributes}; Max-Age=0`]
    },

    /** Values of Set-Cookie for a browser that signs in: those of `issue`, and the proof that it signed in. */
    enter(session: IssuedSession, { email, createdAt, isSandboxOnly }: SignInFacts): string[] {
      // A link that was shown proves nothing: any caller could have used it.
      if (isSandboxOnly) return this.issue(session)
      const until = (Math.floor(createdAt.getTime() / 1_000) + PROOF_SECONDS).toString(36)
      const proven = `${randomBytes(16).toString('base64url')}.${until}`
      const proof = proofs.sign(`${proven}.${email}`)
      return [
        ...this.issue(session),
        `${browserCookie}=${proven}.${proof}; ${attributes}; Max-Age=${PROOF_SECONDS}; HttpOnly`,
      ]
    },

    /** The id of the browser, where its cookie proves that the reader of this mailbox signed in with it. */
    recognize(req: Pick<IncomingMessage, 'headers'>, email: string, at: Date): string | undefined {
      const [, id, until = '', proof = ''] = PROOF.exec(onlyValue(req, browserCookie) ?? '') ?? []
      const isValid =
        Number.parseInt(until, 36) * 1_000 > at.getTime() && proofs.verify(`${id}.${until}.${email}`, proof)
      return isValid ? id : undefined
    },

    /**
     * For a request of a session that changes something.
     * @throws {Failure} `csrf_token_invalid`
     */
    check(req: Pick<IncomingMessage, 'headers' | 'headersDistinct'>, sessionId: string): void {
      this.checkOrigin(req)
      const sent = req.headersDistinct[CSRF_HEADER] ?? []
      if (sent.length === 0) throw new Failure('csrf_token_invalid', 'The header X-CSRF-Token is missing.')
      if (sent.length > 1 || !tokens.verify(sessionId, sent[0] ?? '')) {
        throw new Failure('csrf_token_invalid', 'The header X-CSRF-Token does not have the token of this session.')
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
        throw new Failure('csrf_token_invalid', 'The request comes from a page of another origin.')
      }
    },
  }
}

/** Signs texts with the first of the master keys, for one purpose. @param keys A signature by any of them is valid. */
function createSigner(keys: readonly Buffer[], purpose: string) {
  const derived = keys.map((key) => createHmac('sha256', key).update(purpose).digest())
  const signatures = (text: string) => derived.map((key) => createHmac('sha256', key).update(text).digest('base64url'))
  return {
    sign: (text: string): string => signatures(text)[0] ?? '',
    verify: (text: string, sent: string): boolean =>
      signatures(text).some((signature) => isEqualBytes(Buffer.from(sent), Buffer.from(signature))),
  }
}

function cookiesOf(header: string | undefined): [name: string, value: string][] {
  return (header ?? '').split(';').map((pair) => {
    const at = pair.indexOf('=')
    return at === -1 ? ['', pair.trim()] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}
