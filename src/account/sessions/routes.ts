import { z } from 'zod'
import { endpoint, listEndpoint, type Reply, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { accountIdParams } from '#src/platform/http/params.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import { type OwnSessions, sessionOf } from './own-sessions.ts'
import { credentialView, openSessionView, toCredentialView, toOpenSessionView } from './views.ts'

const common = { permission: 'session.own' } as const

const endedView = z.object({ session_id: z.string(), ended: z.literal(true) }).meta({ id: 'EndedSession' })
const allEndedView = z.object({ ended: z.number().int() }).meta({ id: 'EndedSessions' })

interface SessionRoutesDeps {
  own: OwnSessions
  cookies: SessionCookies
}

export function sessionRoutes({ own, cookies }: SessionRoutesDeps): Route[] {
  const ended = (id: string) => ({ session_id: id, ended: true as const })
  // The browser drops cookies that no longer count.
  const signedOut = <V>(body: V): Reply<V> => reply(200, body, {}, cookies.clear())
  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/auth/session',
        operationId: 'getSession',
        sdk: 'auth.session.retrieve',
        effect: 'read',
        kind: 'call',
        takesAnyKey: true,
        summary:
          'What this credential is: of a key its scopes and limits, of a session the user, what they may do, and the CSRF token.',
        view: credentialView,
        status: [200],
      },
      // It holds the CSRF token: no cache may keep it, not even to revalidate it.
      async ({ caller }) =>
        reply(200, toCredentialView(caller, await own.describeCredential(caller), cookies), {
          'Cache-Control': 'no-store',
        }),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        audits: 'user.signed_out',
        isOpenWhenClosed: true,
        path: '/v1/auth/session',
        operationId: 'endSession',
        sdk: 'auth.session.delete',
        effect: 'destructive',
        kind: 'call',
        summary: 'Sign out: end the session of this browser.',
        view: endedView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => {
        const { sessionId } = sessionOf(caller)
        await own.end(caller, sessionId, idempotencyKey)
        return signedOut(ended(sessionId))
      },
      // The session is a later one, so its cookies stay.
      async (_request, sessionId) => ended(sessionId),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/auth/sessions',
        operationId: 'listSessions',
        sdk: 'auth.sessions.list',
        summary: 'List your own sessions that have not ended, newest first.',
        query: listQuery,
        item: openSessionView,
      },
      ({ caller, query }) => own.list(caller, query),
      toOpenSessionView,
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        audits: 'user.signed_out',
        isOpenWhenClosed: true,
        path: '/v1/auth/sessions',
        operationId: 'endAllSessions',
        sdk: 'auth.sessions.deleteAll',
        effect: 'destructive',
        kind: 'call',
        isEmergency: true,
        summary: 'Sign out everywhere: end all of your sessions, this one too.',
        view: allEndedView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => signedOut({ ended: await own.endEvery(caller, idempotencyKey) }),
      async () => ({ ended: 0 }),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        audits: 'user.signed_out',
        isOpenWhenClosed: true,
        path: '/v1/auth/sessions/:id',
        operationId: 'endOtherSession',
        sdk: 'auth.sessions.delete',
        effect: 'destructive',
        kind: 'call',
        params: accountIdParams('uss'),
        summary: 'End one of your sessions.',
        view: endedView,
        status: [200],
      },
      async ({ caller, params: { id }, idempotencyKey }) => {
        await own.end(caller, id, idempotencyKey)
        return id === sessionOf(caller).sessionId ? signedOut(ended(id)) : ended(id)
      },
      async ({ params: { id } }) => ended(id),
    ),
  ]
}
