import { z } from 'zod'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import { sessionView, toSessionView } from '#src/account/sessions/views.ts'
import { endpoint, type PublicRequest, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import type { SsoLogin } from './login.ts'
import { START_SECONDS, type StartedLogin } from './starts.ts'

interface SsoRoutesDeps {
  login: SsoLogin
  own: Pick<OwnSessions, 'describe'>
  cookies: SessionCookies
}

// Codes of Entra ID have a kilobyte.
const MAX_CODE = 4_096
const MAX_BODY_BYTES = 16_384

const startedView = z
  .object({ authorize_url: z.url().describe('Where the person signs in: open it in the same browser.') })
  .meta({ id: 'SsoStarted' })

type Headers = Pick<PublicRequest<unknown, unknown, unknown>, 'header'>
const cookieOf = ({ header }: Headers) => ({ headers: { cookie: header('cookie') } })

export function ssoRoutes({ login, own, cookies }: SsoRoutesDeps): Route[] {
  const shown = (started: StartedLogin) => ({
    body: { authorize_url: started.authorizeUrl },
    cookies: cookies.issueSso(started.browser, START_SECONDS),
  })
  return [
    publicEndpoint(
      {
        method: 'GET',
        path: '/v1/auth/sso/start',
        operationId: 'startSso',
        sdk: { none: 'For browsers: the answer is bound to a cookie' },
        effect: 'read',
        kind: 'call',
        summary: 'Begin single sign-on: redirect to the identity provider of a domain.',
        public: 'A person who signs in has no session yet',
        query: z.object({
          domain: z.string().min(1).max(255).meta({ description: 'Of the e-mail addresses of the organization.' }),
        }),
        view: startedView,
        status: [302, 200],
      },
      async (request) => {
        const started = await login.start(request.query.domain, request.origin, cookies.readSso(cookieOf(request)))
        const { body, cookies: set } = shown(started)
        if (takesJson(request.header('accept'))) return reply(200, body, NO_REFERRER, set)
        return reply(302, body, { ...NO_REFERRER, Location: body.authorize_url }, set)
      },
    ),
    publicEndpoint(
      {
        method: 'POST',
        path: '/v1/auth/sso/callback',
        operationId: 'finishSso',
        sdk: { none: 'For browsers: the answer is bound to a cookie' },
        effect: 'write',
        kind: 'call',
        summary: 'Sign in with the answer of the identity provider. A state works once.',
        public: 'The code and the state are the credential',
        body: z.strictObject({
          code: z.string().min(1).max(MAX_CODE),
          state: z.string().min(1).max(200),
          iss: z.string().max(2_048).optional().describe('As the identity provider sent it (RFC 9207).'),
        }),
        maxBodyBytes: MAX_BODY_BYTES,
        view: sessionView,
        status: [200],
      },
      async (request) => {
        const { body, header, origin } = request
        // A page of another site must not sign a visitor in, as itself or as somebody else.
        cookies.checkOrigin({
          headers: { origin: header('origin'), host: header('host'), 'sec-fetch-site': header('sec-fetch-site') },
        })
        const sent = cookieOf(request)
        const { session, accountId } = await login.callback({
          ...body,
          iss: body.iss,
          origin,
          browser: cookies.readSso(sent),
          currentSecret: cookies.read(sent),
        })
        const facts = await own.describe({ accountId, environment: 'sandbox' }, session.id)
        return reply(200, toSessionView(facts, cookies), {}, cookies.enter(session, facts))
      },
    ),
    endpoint(
      {
        // Whatever the role.
        permission: 'session.own',
        isAccountLevel: true,
        method: 'POST',
        path: '/v1/auth/sso/link',
        operationId: 'linkSso',
        sdk: { none: 'For browsers: the answer is bound to a cookie' },
        effect: 'write',
        kind: 'call',
        summary: 'Begin a login that links your user to the identity provider. Owners are linked in no other way.',
        view: startedView,
        status: [200],
      },
      async (request) => {
        const started = await login.link(request.caller, cookies.readSso(cookieOf(request)))
        const { body, cookies: set } = shown(started)
        return reply(200, body, NO_REFERRER, set)
      },
      // A repeat begins another login: the first has its own state.
      async (request) => {
        const started = await login.link(request.caller, cookies.readSso(cookieOf(request)))
        const { body, cookies: set } = shown(started)
        return reply(200, body, NO_REFERRER, set)
      },
    ),
  ]
}

const NO_REFERRER = { 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' }

function takesJson(accept: string | undefined): boolean {
  return /(?:^|[\s,])application\/json(?:$|[\s,;])/.test(accept ?? '')
}
