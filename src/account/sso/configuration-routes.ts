import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned, rowVersion } from '#src/platform/http/versions.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { Configuration, ShownConfig } from './configuration.ts'
import { recordOf } from './domain.ts'
import { startUrl } from './problems.ts'

const common = {
  scope: 'admin',
  permission: 'sso.write',
  needsAccountKey: true,
  isAccountLevel: true,
} as const
// After an account has left the plan enterprise, it still reads and removes what it has.
const changing = { ...common, plan: 'enterprise' } as const
const MAX_BODY_BYTES = 8_192

const domainStatus = z.enum(['pending', 'verified']).meta({ id: 'SsoDomainStatus' })

const configBody = z
  .strictObject({
    issuer: z.string().min(1).max(1_000).describe('As in its discovery document, to the last slash.'),
    client_id: z.string().min(1).max(500),
    client_secret: z
      .string()
      .min(8)
      .max(2_000)
      .regex(/^[\x20-\x7e]+$/, 'must be visible ASCII')
      .optional()
      .describe('Kept when absent, where issuer and client stay.'),
    domain: z.string().min(1).max(255).describe('Of the e-mail addresses of the organization.'),
    enforce_sso: z
      .boolean()
      .optional()
      .describe('Users of the domain sign in by single sign-on only, without owners. false when absent.'),
  })
  .meta({ id: 'UpdateSsoConfigRequest' })

const configView = z
  .object({
    sso_config_id: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    client_secret_last4: z.string(),
    redirect_uri: z.url().describe('For the registration of this client at the identity provider.'),
    start_url: z.url().describe('Where people begin to sign in.'),
    domain: z.string(),
    domain_status: domainStatus,
    domain_record: z
      .object({ name: z.string(), value: z.string() })
      .meta({ id: 'SsoDomainRecord', description: 'The TXT record that proves the domain. It has to stay.' }),
    domain_verified_at: timestampView.nullable(),
    domain_checked_at: timestampView.nullable(),
    tested_at: timestampView.nullable().describe('The first login with this issuer, client and domain.'),
    enforce_sso: z.boolean(),
    version: rowVersion,
    changed_at: timestampView,
    changed_by: actorView,
  })
  .meta({ id: 'SsoConfig' })
const removedView = z.object({ sso_config_id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedSsoConfig' })

export function configurationRoutes(configuration: Configuration, { baseUrl }: { baseUrl: string }): Route[] {
  const shown = (config: ShownConfig) => replyVersioned(toView(config, baseUrl))
  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/auth/sso/config',
        operationId: 'getSsoConfig',
        sdk: 'auth.sso.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'The identity provider of the account',
        view: configView,
        status: [200],
      },
      async ({ caller }) => shown(await configuration.get(caller)),
    ),
    endpoint(
      {
        ...changing,
        method: 'PUT',
        path: '/v1/auth/sso/config',
        operationId: 'putSsoConfig',
        sdk: 'auth.sso.update',
        effect: 'write',
        kind: 'call',
        audits: 'sso.configured',
        summary: 'Connect an identity provider, or change it',
        body: configBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: configView,
        status: [200],
      },
      async ({ caller, body, header, idempotencyKey: key }) => {
        const wanted = {
          issuer: body.issuer,
          clientId: body.client_id,
          clientSecret: body.client_secret,
          domain: body.domain,
          isEnforced: body.enforce_sso ?? false,
        }
        return shown(await configuration.put(caller, wanted, { key, expected: parseIfMatch(header('If-Match')) }))
      },
      async ({ caller }) => shown(await configuration.get(caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        path: '/v1/auth/sso/config',
        operationId: 'deleteSsoConfig',
        sdk: 'auth.sso.delete',
        effect: 'destructive',
        kind: 'call',
        audits: 'sso.removed',
        summary: 'Remove the identity provider: users sign in by mailed links again',
        view: removedView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => removed(await configuration.remove(caller, idempotencyKey)),
      async (_request, id) => removed(id),
    ),
    endpoint(
      {
        ...changing,
        method: 'POST',
        path: '/v1/auth/sso/config/verify-domain',
        operationId: 'verifySsoDomain',
        sdk: 'auth.sso.verifyDomain',
        effect: 'write',
        kind: 'call',
        audits: 'sso.domain_verified',
        summary: 'Look for the TXT record that proves the domain',
        view: configView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => shown(await configuration.verifyDomain(caller, idempotencyKey)),
      async ({ caller }) => shown(await configuration.get(caller)),
    ),
  ]
}

function removed(id: string) {
  return { sso_config_id: id, deleted: true as const }
}

function toView(config: ShownConfig, baseUrl: string): z.input<typeof configView> {
  return {
    sso_config_id: config.id,
    issuer: config.issuer,
    client_id: config.clientId,
    client_secret_last4: config.clientSecretLast4,
    redirect_uri: `${baseUrl}/login/sso`,
    start_url: startUrl(baseUrl, config.domain),
    domain: config.domain,
    domain_status: config.verifiedAt === null ? 'pending' : 'verified',
    domain_record: recordOf(config),
    domain_verified_at: config.verifiedAt?.toISOString() ?? null,
    domain_checked_at: config.checkedAt?.toISOString() ?? null,
    tested_at: config.testedAt?.toISOString() ?? null,
    enforce_sso: config.isEnforced,
    version: config.version,
    changed_at: config.changedAt.toISOString(),
    changed_by: config.changer,
  }
}
