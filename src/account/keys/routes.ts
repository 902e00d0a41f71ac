import { z } from 'zod'
import { GRANTABLE_SCOPES, PLANS, PRODUCTS } from '#src/catalogue/access.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { type Caller, endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several, timestamp } from '#src/platform/http/params.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned, rowVersion } from '#src/platform/http/versions.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { actingInEnvironment, type KeyAdministration, MAX_GRACE_SECONDS, type ShownKey } from './administration.ts'
import { KEY_STATUSES, WORKING } from './key.ts'
import { isBlank } from './new-key.ts'
import { canonicalRange, MAX_RANGES } from './ranges.ts'

const scope = z.enum(GRANTABLE_SCOPES).meta({ id: 'GrantableScope' })
const product = z.enum(PRODUCTS).meta({ id: 'Product' })
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const status = z.enum(KEY_STATUSES).meta({
  id: 'ApiKeyStatus',
  description: 'rotating: replaced, and still accepted until grace_expires_at.',
})

const statusFilter = z.enum([...KEY_STATUSES, WORKING]).meta({
  id: 'ApiKeyStatusFilter',
  description: 'working: active or rotating, all that are accepted.',
})

const readOnly = 'It reads, within its scopes, and changes nothing but the positions of its event consumers.'

const keyView = z
  .object({
    api_key_id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first 8 characters of the key.' }),
    last4: z.string().nullable().meta({ description: 'Its last 4.' }),
    scopes: z.array(scope),
    environment,
    plan: z.enum(PLANS).meta({ id: 'Plan' }),
    status,
    created_at: timestampView,
    created_by: actorView.nullable().describe('Who made it.'),
    expires_at: timestampView.nullable(),
    revoked_at: timestampView.nullable().describe('For a rotated key: when its grace period was over.'),
    last_used_at: timestampView.nullable().describe('Exact to a minute.'),
    grace_expires_at: timestampView.nullable().describe('For a rotated key: until when it is accepted.'),
    ip_allow: z.array(z.string()).nullable().meta({ description: 'null: accepted from every address.' }),
    products: z
      .array(product)
      .nullable()
      .meta({ description: 'Whose routes it may call, within its scopes; null: those of every product.' }),
    read_only: z.boolean().describe(readOnly),
    replaced_by_api_key_id: z.string().nullable().describe('The key that a rotation made.'),
    replaces_api_key_id: z.string().nullable().describe('The key whose rotation made this one.'),
    version: rowVersion,
  })
  .meta({ id: 'ApiKey' })
const secretShape = {
  key: z.string().optional().meta({ description: 'The raw key: shown now and never again.' }),
  secret_shown: z.literal(false).optional().meta({ description: 'A replay of the request, without the raw key.' }),
}
const createdView = extended(keyView, secretShape, { id: 'CreatedApiKey' })
const rotatedView = extended(createdView, { predecessor: keyView }, { id: 'RotatedApiKey' })
const revokedView = extended(
  keyView,
  {
    invites_revoked: z.array(z.string()).meta({ description: 'Pending invites that the key sent.' }),
    keys_created: z.array(z.string()).meta({
      description:
        'API keys that the key created, or that such keys created, and that still work: revoke them too, unless you know who uses them.',
    }),
    warnings: z.array(
      z.object({ code: z.literal('last_admin_key'), detail: z.string() }).meta({ id: 'ApiKeyWarning' }),
    ),
  },
  { id: 'RevokedApiKey' },
)

// The domain checks all of it once more, for operators too. Here, so that one answer has every finding about a body.
const name = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => text === '' || !isBlank(text), { message: 'must not be blank', params: { code: 'out_of_range' } })
const range = z
  .string()
  .max(64)
  .superRefine((text, context) => {
    try {
      canonicalRange(text)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_format' } })
    }
  })

const createBody = (now: () => Date) =>
  z.strictObject({
    name,
    scopes: z.array(scope).min(1).max(GRANTABLE_SCOPES.length),
    environment: environment.optional().meta({
      description: 'That of the calling key. A session may choose; without it, that of Service-Environment.',
    }),
    expires_at: timestamp
      .refine((text) => !(new Date(text) <= now()), {
        message: 'must be in the future',
        params: { code: 'out_of_range' },
      })
      .optional(),
    ip_allow: z
      .array(range)
      .min(1)
      .max(MAX_RANGES)
      .optional()
      .meta({ description: 'Addresses and ranges from which the key is accepted: `203.0.113.7`, `2001:db8::/32`.' }),
    products: z.array(product).min(1).max(PRODUCTS.length).optional().meta({
      description: 'Narrows the key to the routes of these products. Without it, to those of the calling key.',
    }),
    read_only: z.boolean().optional().describe(`${readOnly} \`false\` when absent.`),
  })
const changeBody = z
  .strictObject({
    name: name.optional(),
    ip_allow: z
      .array(range)
      .min(1)
      .max(MAX_RANGES)
      .nullable()
      .optional()
      .describe('It replaces all of them. null: accepted from every address.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .meta({ id: 'UpdateApiKeyRequest' })
const rotateBody = z
  .strictObject({ grace_period_seconds: z.number().int().min(0).max(MAX_GRACE_SECONDS).default(MAX_GRACE_SECONDS) })
  .optional()

const common = { scope: 'admin', permission: 'keys.manage', needsAccountKey: true } as const

export function keyRoutes(keys: KeyAdministration, now: () => Date): Route[] {
  const revocation = {
    ...common,
    isEmergency: true as const,
    audits: 'key.revoked' as const,
    params: idParams('key'),
    view: revokedView,
    status: [200],
  }
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/account/keys',
        operationId: 'createApiKey',
        sdk: 'account.keys.create',
        effect: 'write',
        kind: 'call',
        audits: 'key.created',
        summary: 'Create an API key. The raw key is in this answer only.',
        body: createBody(now),
        view: createdView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const place = actingInEnvironment(caller, body.environment)
        idempotencyKey?.belongsTo(place)
        const { name, scopes, expires_at: end, ip_allow: ipAllow, products, read_only: isReadOnly } = body
        const wanted = { name, scopes, expiresAt: timeOf(end), ipAllow, products, isReadOnly }
        const { key, raw } = await keys.create(place, wanted, idempotencyKey)
        return { ...toView(key, caller), key: raw }
      },
      async ({ caller, body }, id) => {
        const key = await keys.get(actingInEnvironment(caller, body.environment), id)
        return { ...toView(key, caller), secret_shown: false as const }
      },
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/account/keys',
        operationId: 'listApiKeys',
        sdk: 'account.keys.list',
        summary: 'List the API keys of an environment, newest first.',
        query: { ...listQuery, status: several(statusFilter).optional() },
        item: keyView,
      },
      ({ caller, query: { created_gte, created_lt, ...query } }) =>
        keys.list(caller, { ...query, ...createdBetween({ created_gte, created_lt }) }),
      (key, { caller }) => toView(key, caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account/keys/:id',
        operationId: 'getApiKey',
        sdk: 'account.keys.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('key'),
        summary: 'Read one API key.',
        view: keyView,
        status: [200],
      },
      async ({ caller, params }) => replyVersioned(toView(await keys.get(caller, params.id), caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        path: '/v1/account/keys/:id',
        operationId: 'updateApiKey',
        sdk: 'account.keys.update',
        effect: 'write',
        kind: 'call',
        audits: 'key.changed',
        params: idParams('key'),
        summary: 'Change the name of an API key, or the addresses from which it is accepted.',
        body: changeBody,
        view: keyView,
        status: [200],
      },
      async ({ caller, params, body, header, idempotencyKey }) => {
        const { name, ip_allow: ipAllow } = body
        const expected = parseIfMatch(header('If-Match'))
        const changed = await keys.change(caller, params.id, { name, ipAllow, expected }, idempotencyKey)
        return replyVersioned(toView(changed, caller))
      },
      async ({ caller }, id) => replyVersioned(toView(await keys.get(caller, id), caller)),
    ),
    ...(['DELETE', 'POST'] as const).map((method) =>
      endpoint(
        {
          ...revocation,
          method,
          path: method === 'DELETE' ? '/v1/account/keys/:id' : '/v1/account/keys/:id/revoke',
          operationId: method === 'DELETE' ? 'deleteApiKey' : 'revokeApiKey',
          sdk: method === 'DELETE' ? { none: 'account.keys.revoke does the same' } : 'account.keys.revoke',
          effect: 'destructive',
          kind: 'call',
          summary: 'Revoke an API key permanently, from its next request on.',
        },
        async ({ caller, params, idempotencyKey }) =>
          toRevokedView(await keys.revoke(caller, params.id, idempotencyKey), caller),
        // A repeat revokes again, which changes nothing.
        async ({ caller, params }) => toRevokedView(await keys.revoke(caller, params.id), caller),
      ),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/account/keys/:id/rotate',
        operationId: 'rotateApiKey',
        sdk: 'account.keys.rotate',
        effect: 'write',
        kind: 'call',
        audits: 'key.rotated',
        params: idParams('key'),
        summary: 'Replace an API key. Both work until the grace period is over.',
        body: rotateBody,
        view: rotatedView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const graceSeconds = body?.grace_period_seconds ?? MAX_GRACE_SECONDS
        const { key, predecessor, raw } = await keys.rotate(caller, params.id, { graceSeconds }, idempotencyKey)
        return { ...toView(key, caller), predecessor: toView(predecessor, caller), key: raw }
      },
      async ({ caller }, id) => {
        const { key, predecessor } = await keys.getRotation(caller, id)
        return { ...toView(key, caller), predecessor: toView(predecessor, caller), secret_shown: false as const }
      },
    ),
  ]
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

const toView = (key: ShownKey, { plan }: Pick<Caller, 'plan'>): z.input<typeof keyView> => ({
  api_key_id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: [...key.scopes],
  environment: key.environment,
  plan,
  status: key.status,
  created_at: key.createdAt.toISOString(),
  created_by: key.creator,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  grace_expires_at: key.graceExpiresAt?.toISOString() ?? null,
  ip_allow: key.ipAllow === null ? null : [...key.ipAllow],
  products: key.products === null ? null : [...key.products],
  read_only: key.isReadOnly,
  replaced_by_api_key_id: key.replacedBy,
  replaces_api_key_id: key.replaces,
  version: key.version,
})

function toRevokedView(
  { key, warnings }: Awaited<ReturnType<KeyAdministration['revoke']>>,
  caller: Caller,
): z.input<typeof revokedView> {
  const { invitesRevoked, keysCreated } = key
  return { ...toView(key, caller), invites_revoked: invitesRevoked, keys_created: keysCreated, warnings }
}
