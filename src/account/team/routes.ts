import { z } from 'zod'
import { tokenBody } from '#src/account/login/routes.ts'
import { type OwnSessions, sessionOf } from '#src/account/sessions/own-sessions.ts'
import { role, sessionView, toSessionView } from '#src/account/sessions/views.ts'
import { endpoint, listEndpoint, publicEndpoint, type Reply, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { accountIdParams, several } from '#src/platform/http/params.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import type { Accept } from './accept.ts'
import type { Invites } from './invites.ts'
import type { Members, RoleChange } from './members.ts'
import {
  inviteStatusView,
  inviteView,
  memberStatusView,
  memberView,
  removalView,
  roleChangeView,
  toInviteView,
  toMemberView,
  toRemovalView,
  toRoleChangeView,
} from './views.ts'

interface TeamRoutesDeps {
  invites: Invites
  members: Members
  accept: Accept
  own: Pick<OwnSessions, 'describe'>
  cookies: SessionCookies
}

const common = {
  scope: 'admin',
  permission: 'team.write',
  needsAccountKey: true,
  isAccountLevel: true,
} as const
const MAX_BODY_BYTES = 4_096

const acceptBody = tokenBody
  .extend({
    close_own_account: z
      .boolean()
      .optional()
      .meta({
        description:
          'The person is signed in as the only user of another account, which is closed with it; see the guide Team. The header ' +
          'X-CSRF-Token is required then.',
      }),
  })
  .meta({ id: 'AcceptInviteRequest' })
const inviteId = accountIdParams('inv')
const userId = accountIdParams('usr')

export function teamRoutes(deps: TeamRoutesDeps): Route[] {
  return [...inviteRoutes(deps), acceptRoute(deps), ...memberRoutes(deps)]
}

function inviteRoutes({ invites }: TeamRoutesDeps): Route[] {
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/org/users/invite',
        operationId: 'inviteUser',
        sdk: 'org.invites.create',
        effect: 'write',
        kind: 'call',
        audits: 'user.invited',
        summary: 'Invite a person by e-mail to become a user with a role',
        plan: 'enterprise',
        body: z.strictObject({ email: z.string().min(3).max(1_000), role }),
        maxBodyBytes: MAX_BODY_BYTES,
        view: inviteView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => toInviteView(await invites.invite(caller, body, idempotencyKey)),
      async ({ caller }, id) => toInviteView(await invites.get(caller, id)),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/org/invites',
        operationId: 'listInvites',
        sdk: 'org.invites.list',
        summary: 'List invites, newest first',
        query: {
          ...listQuery,
          status: several(inviteStatusView).optional(),
          role: several(role).optional(),
        },
        item: inviteView,
      },
      ({ caller, query }) => invites.list(caller, query),
      toInviteView,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/org/invites/:id',
        operationId: 'getInvite',
        sdk: 'org.invites.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read one invite',
        params: inviteId,
        view: inviteView,
        status: [200],
      },
      async ({ caller, params }) => toInviteView(await invites.get(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/org/invites/:id/resend',
        operationId: 'resendInvite',
        sdk: 'org.invites.resend',
        effect: 'write',
        kind: 'call',
        audits: 'invite.resent',
        summary: 'Send an invite again, with another token; the token before no longer works',
        plan: 'enterprise',
        params: inviteId,
        view: inviteView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toInviteView(await invites.resend(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => toInviteView(await invites.get(caller, id)),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        path: '/v1/org/invites/:id',
        operationId: 'revokeInvite',
        sdk: 'org.invites.revoke',
        effect: 'destructive',
        kind: 'call',
        isEmergency: true,
        audits: 'invite.revoked',
        summary: 'Revoke an invite',
        params: inviteId,
        view: inviteView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toInviteView(await invites.revoke(caller, params.id, idempotencyKey)),
      async ({ caller, params }) => toInviteView(await invites.get(caller, params.id)),
    ),
  ]
}

function acceptRoute({ accept, own, cookies }: TeamRoutesDeps): Route {
  return publicEndpoint(
    {
      method: 'POST',
      path: '/v1/org/invites/accept',
      operationId: 'acceptInvite',
      sdk: 'org.invites.accept',
      effect: 'write',
      kind: 'call',
      summary: 'Accept an invite and sign in with its role. The token works once.',
      public: 'The token is the credential',
      body: acceptBody,
      maxBodyBytes: MAX_BODY_BYTES,
      view: sessionView,
      status: [200],
    },
    async ({ body, origin, header }) => {
      // A page of another site must not sign a visitor in.
      cookies.checkOrigin({
        headers: { origin: header('origin'), host: header('host'), 'sec-fetch-site': header('sec-fetch-site') },
      })
      const current = cookies.read({ headers: { cookie: header('cookie') } })
      // The session closes its account, so the request proves that it comes from our own page.
      const closesOwn = (sessionId: string) => {
        const sent = header('x-csrf-token')
        cookies.check({ headers: {}, headersDistinct: sent === undefined ? {} : { 'x-csrf-token': [sent] } }, sessionId)
      }
      const { session, accountId } = await accept(body.token, origin, {
        currentSecret: current,
        ...(body.close_own_account === true && { closesOwn }),
      })
      const facts = await own.describe({ accountId, environment: 'sandbox' }, session.id)
      return reply(200, toSessionView(facts, cookies), {}, cookies.enter(session, facts))
    },
  )
}

function memberRoutes({ members, cookies }: TeamRoutesDeps): Route[] {
  const changed = (change: RoleChange): Reply<z.input<typeof roleChangeView>> =>
    reply(200, toRoleChangeView(change), {}, change.renewed && cookies.issue(change.renewed))
  return [
    listEndpoint(
      {
        ...common,
        permission: 'team.read',
        path: '/v1/org/users',
        operationId: 'listUsers',
        sdk: 'org.users.list',
        summary: 'List the users of the account, newest first; removed ones too',
        query: {
          ...listQuery,
          status: several(memberStatusView).optional(),
          role: several(role).optional(),
        },
        item: memberView,
      },
      ({ caller, query }) => members.list(caller, query),
      toMemberView,
    ),
    endpoint(
      {
        ...common,
        permission: 'team.read',
        method: 'GET',
        path: '/v1/org/users/:id',
        operationId: 'getUser',
        sdk: 'org.users.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read one user, removed ones too',
        params: userId,
        view: memberView,
        status: [200],
      },
      async ({ caller, params }) => toMemberView(await members.get(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        path: '/v1/org/users/:id',
        operationId: 'changeUserRole',
        sdk: 'org.users.update',
        effect: 'write',
        kind: 'call',
        audits: 'user.role_changed',
        summary: 'Change the role of a user',
        plan: 'enterprise',
        params: userId,
        body: z.strictObject({ role }),
        maxBodyBytes: MAX_BODY_BYTES,
        view: roleChangeView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        changed(await members.changeRole(caller, { userId: params.id, role: body.role }, idempotencyKey)),
      async ({ caller, params }) => changed(await members.find(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        path: '/v1/org/users/:id',
        operationId: 'removeUser',
        sdk: 'org.users.delete',
        effect: 'destructive',
        kind: 'call',
        audits: 'user.deprovisioned',
        summary: 'Remove a user; their sessions end at once, and only an invite makes them a user again',
        params: userId,
        view: removalView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toRemovalView(await members.remove(caller, params.id, idempotencyKey)),
      async ({ caller, params }) => toRemovalView(await members.find(caller, params.id)),
    ),
    endpoint(
      {
        // Whatever the role and the plan.
        permission: 'session.own',
        isAccountLevel: true,
        method: 'DELETE',
        path: '/v1/org/users/me',
        operationId: 'leaveAccount',
        sdk: 'org.users.leave',
        effect: 'destructive',
        kind: 'call',
        audits: 'user.deprovisioned',
        isOpenWhenClosed: true,
        summary: 'Leave the account: remove yourself, whatever your role',
        view: removalView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => {
        const removed = await members.leave(caller, sessionOf(caller).userId, idempotencyKey)
        return reply(200, toRemovalView(removed), {}, cookies.clear())
      },
      // The session is one of a later membership, so its cookies stay.
      async ({ caller }) => toRemovalView(await members.find(caller, sessionOf(caller).userId)),
    ),
  ]
}
