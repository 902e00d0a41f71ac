import { z } from 'zod'
import { GRANTABLE_SCOPES, PLANS, PRODUCTS, ROLES } from '#src/catalogue/access.ts'
import { PERMISSION_NAMES, permissionsOf } from '#src/catalogue/permissions.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { credentialOf } from '#src/platform/http/principal.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { OwnAccount, OwnSessionRow, SessionFacts } from './own-rows.ts'
import { IDLE_MS } from './sessions.ts'

export const plan = z.enum(PLANS).meta({ id: 'Plan' })
export const product = z.enum(PRODUCTS).meta({ id: 'Product' })
export const role = z.enum(ROLES).meta({ id: 'Role' })
const method = z.enum(['magic_link', 'operator_link', 'invite', 'sso']).meta({ id: 'SignInMethod' })
const permission = z.enum(PERMISSION_NAMES as [string, ...string[]]).meta({ id: 'Permission' })
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
/** An account as sign-ins show it; further members of `Account` are for administrators. */
export const accountBase = z
  .object({ account_id: z.string(), name: z.string(), plan, products: z.array(product) })
  .meta({ id: 'SessionAccount' })

/** The session of a browser, as every way to sign in answers it. */
export const sessionView = z
  .object({
    session_id: z.string(),
    user: z.object({ user_id: z.string(), email: z.string() }).meta({ id: 'SessionUser' }),
    account: accountBase,
    role,
    method,
    environments: z.array(environment).meta({
      description:
        'Environments that Service-Environment may name: only the sandbox when the link was shown and not mailed.',
    }),
    permissions: z
      .object({ sandbox: z.array(permission), live: z.array(permission) })
      .meta({ id: 'SessionPermissions', description: 'What this session may do, by environment.' }),
    csrf_token: z
      .string()
      .meta({ description: 'Value of the header X-CSRF-Token for every request that changes something.' }),
    created_at: timestampView,
    expires_at: timestampView.describe('Latest end of the session.'),
    idle_timeout_seconds: z
      .number()
      .int()
      .meta({ description: 'The session ends after this many seconds without a request.' }),
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

/** What `/v1/auth/session` answers of a key or a session. */
export const credentialView = z
  .object({
    type: z.enum(['key', 'session']).meta({ id: 'CredentialType' }),
    account: accountBase,
    environment: environment.describe(
      'Environment of the key. For a session: the one that Service-Environment names, or sandbox.',
    ),
    api_key_id: z.string().nullable().describe('null: the credential is a session.'),
    scopes: z
      .array(z.enum(GRANTABLE_SCOPES).meta({ id: 'GrantableScope' }))
      .nullable()
      .describe('null: the credential is a session, and its `permissions` apply.'),
    products: z.array(product).nullable().describe('The products to which a key is narrowed; null: every product.'),
    read_only: z.boolean().describe('The key changes nothing except the positions of its event consumers.'),
    session: sessionView.nullable().describe('null: the credential is a key.'),
  })
  .meta({ id: 'Credential' })

export function toCredentialView(
  { principal, environment }: Pick<Caller, 'principal' | 'environment'>,
  { account: { accountId, name, plan, products }, session }: { account: OwnAccount; session: SessionFacts | undefined },
  cookies: Pick<SessionCookies, 'tokenOf'>,
): z.input<typeof credentialView> {
  const key = principal.kind === 'key' ? principal : undefined
  return {
    type: credentialOf(principal).kind,
    account: { account_id: accountId, name, plan, products },
    environment,
    api_key_id: key?.keyId ?? null,
    scopes: key === undefined ? null : [...key.scopes],
    products: key?.products === undefined ? null : [...key.products],
    read_only: key?.isReadOnly === true,
    session: session === undefined ? null : toSessionView(session, cookies),
  }
}

/** A session in the list of a user's own. */
export const openSessionView = z
  .object({
    session_id: z.string(),
    method,
    sandbox_only: z.boolean(),
    current: z.boolean().meta({ description: 'The session of this request.' }),
    ip: z.string().nullable().meta({ description: 'Address of the sign-in.' }),
    user_agent: z.string().nullable(),
    created_at: timestampView,
    last_seen_at: timestampView.describe('Time exact to a minute.'),
    expires_at: timestampView,
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
