import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { accountIdParams } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import type { ScimTokens, ShownToken } from './tokens.ts'

const common = {
  scope: 'admin',
  permission: 'sso.write',
  needsAccountKey: true,
  isAccountLevel: true,
} as const

const tokenView = z
  .object({
    scim_token_id: z.string(),
    last4: z.string(),
    status: z.enum(['active', 'revoked']).meta({ id: 'ScimTokenStatus' }),
    created_at: timestampView,
    created_by: actorView,
    last_used_at: timestampView.nullable().describe('Exact to a minute.'),
    revoked_at: timestampView.nullable(),
  })
  .meta({ id: 'ScimToken' })
const createdView = extended(
  tokenView,
  {
    token: z.string().optional().describe('Shown once.'),
    secret_shown: z.literal(false).optional().describe('A replay of the request, without the token.'),
  },
  { id: 'CreatedScimToken' },
)
const tokenId = accountIdParams('sct')

export function scimTokenRoutes(tokens: ScimTokens): Route[] {
  return [
    endpoint(
      {
        ...common,
        // After an account has left it, tokens are still listed and revoked.
        plan: 'enterprise',
        method: 'POST',
        path: '/v1/auth/scim-tokens',
        operationId: 'createScimToken',
        sdk: 'auth.scimTokens.create',
        effect: 'write',
        kind: 'call',
        audits: 'scim_token.created',
        summary: 'Make a token for the directory of the organization',
        view: createdView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => {
        const made = await tokens.create(caller, idempotencyKey)
        return { ...toView(made), token: made.token }
      },
      async ({ caller }, id) => ({ ...toView(await tokens.get(caller, id)), secret_shown: false as const }),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/auth/scim-tokens',
        operationId: 'listScimTokens',
        sdk: 'auth.scimTokens.list',
        effect: 'read',
        kind: 'list',
        summary: 'List the tokens of directories, newest first',
        query: z.object(listQuery),
        view: listOf(tokenView),
        status: [200],
      },
      async ({ caller, query }) => {
        const found = await tokens.list(caller, query)
        return { ...found, data: found.data.map(toView) }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        path: '/v1/auth/scim-tokens/:id',
        operationId: 'revokeScimToken',
        sdk: 'auth.scimTokens.delete',
        effect: 'destructive',
        kind: 'call',
        audits: 'scim_token.revoked',
        isEmergency: true,
        summary: 'Revoke a token of a directory: its next request is refused',
        params: tokenId,
        view: tokenView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => toView(await tokens.revoke(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => toView(await tokens.get(caller, id)),
    ),
  ]
}

function toView(token: ShownToken): z.input<typeof tokenView> {
  return {
    scim_token_id: token.id,
    last4: token.last4,
    status: token.revokedAt === null ? 'active' : 'revoked',
    created_at: token.createdAt.toISOString(),
    created_by: token.creator,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  }
}
