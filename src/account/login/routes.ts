import { z } from 'zod'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import { sessionView, toSessionView } from '#src/account/sessions/views.ts'
import { type PublicRequest, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import type { Login } from './login.ts'

interface LoginRoutesDeps {
  login: Login
  own: Pick<OwnSessions, 'describe'>
  cookies: SessionCookies
}

const MAX_BODY_BYTES = 4_096

/** The token of a mailed link. */
export const tokenBody = z.strictObject({ token: z.string().min(1).max(200) })

export function loginRoutes({ login, own, cookies }: LoginRoutesDeps): Route[] {
  // A page of another site must not sign a visitor in as a user of its choice.
  const refuseForeign = ({ header }: Pick<PublicRequest<unknown, unknown, unknown>, 'header'>) =>
    cookies.checkOrigin({
      headers: { origin: header('origin'), host: header('host'), 'sec-fetch-site': header('sec-fetch-site') },
    })
  return [
    publicEndpoint(
      {
        method: 'POST',
        path: '/v1/auth/magic-link',
        operationId: 'requestMagicLink',
        sdk: 'auth.magicLinks.create',
        effect: 'write',
        kind: 'call',
        summary: 'Ask for a link that signs in. The answer is the same whether the address has an account or not.',
        public: 'A person who signs in has no session yet',
        body: z.strictObject({ email: z.string().min(3).max(1_000) }),
        maxBodyBytes: MAX_BODY_BYTES,
        view: z
          .object({
            status: z.literal('sent'),
            link: z.string().optional().meta({ description: 'Present only where LOGIN_ECHO is on.' }),
            token: z.string().optional().meta({ description: 'Present only where LOGIN_ECHO is on.' }),
          })
          .meta({ id: 'MagicLinkRequested' }),
        status: [200],
      },
      async (request) => {
        refuseForeign(request)
        return {
          status: 'sent' as const,
          ...(await login.request(request.body.email, request.origin, {
            host: request.header('host'),
            browserOf: (email, at) => cookies.recognize({ headers: { cookie: request.header('cookie') } }, email, at),
          })),
        }
      },
    ),
    publicEndpoint(
      {
        method: 'POST',
        path: '/v1/auth/magic-link/verify',
        operationId: 'verifyMagicLink',
        sdk: 'auth.magicLinks.verify',
        effect: 'write',
        kind: 'call',
        summary: 'Sign in with the token of a link. It works once.',
        public: 'The token is the credential',
        body: tokenBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: sessionView,
        status: [200],
      },
      async (request) => {
        refuseForeign(request)
        const current = cookies.read({ headers: { cookie: request.header('cookie') } })
        const { session, accountId } = await login.use(request.body.token, request.origin, current)
        const facts = await own.describe({ accountId, environment: 'sandbox' }, session.id)
        return reply(200, toSessionView(facts, cookies), {}, cookies.enter(session, facts))
      },
    ),
  ]
}
