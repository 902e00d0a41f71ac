import { z } from 'zod'
import { PLANS, PRODUCTS, ROLES } from '#src/catalogue/access.ts'
import { PERMISSION_NAMES, permissionsOf } from '#src/catalogue/permissions.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import type { OwnSessionRow, SessionFacts } from './own-rows.ts'
import { IDLE_MS } from './sessions.ts'

const plan = z.enum(PLANS).meta({ id: 'Plan' })
export const product = z.enum(PRODUCTS).meta({ id: 'Product' })
export const role = z.enum(ROLES).meta({ id: 'Role' })
const method = z.enum(['magic_link', 'operator_link', 'invite', 'sso']).meta({ id: 'SignInMethod' })
const permission = z.enum(PERMISSION_NAMES as [string, ...string[]]).meta({ id: 'Permission' })

/** The session of a browser, as `/v1/auth/session` and every way to sign in answer it. */
export const sessionView = z
  .object({
    session_id: z.string(),
    user: z.object({ user_id: z.string(), email: z.string() }).meta({ id: 'SessionUser' }),
    account: z
      .object({ account_id: z.string(), name: z.string(), plan, products: z.array(product) })
      .meta({ id: 'SessionAccount' }),
    role,
    method,
    environments: z.array(z.enum(['sandbox', 'live']).meta({ id: 'Environment' })).meta({
      description: 'What Service-Environment may name: only the sandbox when the link was shown and not mailed.',
    }),
    permissions: z
      .object({ sandbox: z.array(permission), live: z.array(permission) })
      .meta({ id: 'SessionPermissions', description: 'What this session may do, by environment.' }),
    csrf_token: z
      .string()
      .meta({ description: 'For the header X-CSRF-Token of every request that changes something.' }),
    created_at: z.string(),
    expires_at: z.string().meta({ description: 'It ends then at the latest.' }),
    idle_timeout_seconds: z.number().int().meta({ description: 'It ends after this long without a request.' }),
  })
  .meta({ id: 'Session' })

export function toSessionView(
  facts: SessionFacts,
  cookies: Pick<SessionCookies, 'tokenOf'>,
): z.input<typeof sessionView> {
  const { userId, email, accountId, accountName, plan, products, role, isSandboxOnly } = facts
  return {
    session_id: facts.id,
    user: { user_id: userId, email },
    account: { account_id: accountId, name: accountName, plan, products },
    role,
    method: facts.method,
    environments: isSandboxOnly ? ['sandbox'] : ['sandbox', 'live'],
    permissions: { sandbox: permissionsOf(facts, 'sandbox'), live: permissionsOf(facts, 'live') },
    csrf_token: cookies.tokenOf(facts.id),
    created_at: facts.createdAt.toISOString(),
    expires_at: facts.expiresAt.toISOString(),
    idle_timeout_seconds: IDLE_MS / 1_000,
  }
}

/** A session in the list of a user's own. */
export const openSessionView = z
  .object({
    session_id: z.string(),
    method,
    sandbox_only: z.boolean(),
    current: z.boolean().meta({ description: 'The session of this request.' }),
    ip: z.string().nullable().meta({ description: 'From where it was signed in.' }),
    user_agent: z.string().nullable(),
    created_at: z.string(),
    last_seen_at: z.string().meta({ description: 'Exact to a minute.' }),
    expires_at: z.string(),
  })
  .meta({ id: 'OpenSession' })

export function toOpenSessionView(row: OwnSessionRow & { isCurrent: boolean }): z.input<typeof openSessionView> {
  return {
    session_id: row.id,
    method: row.method,
    sandbox_only: row.isSandboxOnly,
    current: row.isCurrent,
    ip: row.ip,
    user_agent: row.userAgent,
    created_at: row.createdAt.toISOString(),
    last_seen_at: row.lastSeenAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  }
}
