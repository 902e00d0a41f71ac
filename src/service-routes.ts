// The service's own public routes: its health, its public keys and its description.

import { z } from 'zod'
import { type Prepared, prepare } from '#src/docs/prepared.ts'
import { keyRevocationView } from '#src/platform/crypto/key-views.ts'
import { type Exchange, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'

interface ServiceRouteDeps {
  /** Public keys only; the view drops every other member. */
  jwks: () => Promise<{ keys: object[] }>
  /** Writes the OpenAPI document. */
  describe: () => Promise<object>
  /** Address without a trailing slash. */
  baseUrl: string
}

export function serviceRoutes({ jwks, describe, baseUrl }: ServiceRouteDeps): Route[] {
  return [healthRoute(), ...jwksRoutes(jwks), configurationRoute(baseUrl), openapiRoute(describe)]
}

// Public data that verifiers in browsers fetch from other origins.
const PUBLIC_DATA = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' }

function healthRoute(): Route {
  return publicEndpoint(
    {
      method: 'GET',
      path: '/health',
      operationId: 'getHealth',
      sdk: { none: 'Load balancers ask for it' },
      effect: 'read',
      kind: 'call',
      summary: 'Liveness of this process',
      public: 'Load balancers have no key',
      view: z.object({ status: z.literal('ok') }).meta({ id: 'Health' }),
      status: [200],
    },
    async () => ({ status: 'ok' as const }),
  )
}

function jwksRoutes(jwks: ServiceRouteDeps['jwks']): Route[] {
  const text = { kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), kid: z.string() }
  const marks = { alg: z.string().optional(), use: z.string().optional(), env: z.string().optional() }
  const key = z
    .object({ ...text, ...marks, family: z.string().optional(), revoked: keyRevocationView.optional() })
    .meta({ id: 'PublicKey' })
  const jwksView = z.object({ keys: z.array(key) }).meta({ id: 'Jwks' })
  return (
    [
      ['/.well-known/jwks.json', 'getJwks'],
      ['/v1/jwks', 'getJwksV1'],
    ] as const
  ).map(([path, operationId]) =>
    publicEndpoint(
      {
        method: 'GET',
        path,
        operationId,
        sdk: { none: 'Verifiers of tokens and results read it by themselves' },
        effect: 'read',
        kind: 'call',
        summary: 'Read the public keys that verify our tokens and signed results (RFC 7517)',
        public: 'Every holder of a token or a result must be able to check it',
        view: jwksView,
        status: [200],
      },
      async () => {
        const { keys } = await jwks()
        return reply(200, { keys: keys as z.input<typeof key>[] }, PUBLIC_DATA)
      },
    ),
  )
}

// The members of RFC 8414 that apply, and our own. `{jti}` and `{id}` stand for what the caller puts there.
function configurationRoute(baseUrl: string): Route {
  const text = z.string()
  const configuration = {
    issuer: baseUrl,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    authorize_endpoint: `${baseUrl}/v1/intent/authorize`,
    verify_endpoint: `${baseUrl}/v1/intent/verify`,
    revocation_endpoint: `${baseUrl}/v1/intent/revocations`,
    status_endpoint: `${baseUrl}/v1/intent/status/{jti}`,
    status_list_endpoint: `${baseUrl}/v1/intent/status-lists/{id}`,
    token_typ_values_supported: ['intent+jwt'],
    token_signing_alg_values_supported: ['ES256'],
    environments_supported: ['sandbox', 'live'],
    openapi_uri: `${baseUrl}/v1/openapi.json`,
    service_documentation: `${baseUrl}/docs`,
  }
  return publicEndpoint(
    {
      method: 'GET',
      path: '/.well-known/svc-configuration',
      operationId: 'getServiceConfiguration',
      sdk: { none: 'Verifiers of tokens read it by themselves' },
      effect: 'read',
      kind: 'call',
      summary: 'Read where keys, tokens and their status are found',
      public: 'Verifiers configure themselves with it before they have a key',
      view: z
        .object({
          issuer: text.describe('The claim `iss` of the tokens.'),
          jwks_uri: text,
          authorize_endpoint: text,
          verify_endpoint: text,
          revocation_endpoint: text,
          status_endpoint: text,
          status_list_endpoint: text,
          token_typ_values_supported: z.array(text),
          token_signing_alg_values_supported: z.array(text),
          environments_supported: z.array(text),
          openapi_uri: text,
          service_documentation: text,
        })
        .meta({ id: 'ServiceConfiguration' }),
      status: [200],
    },
    async () => reply(200, configuration, PUBLIC_DATA),
  )
}

function openapiRoute(describe: ServiceRouteDeps['describe']): Route {
  const route = publicEndpoint(
    {
      method: 'GET',
      path: '/v1/openapi.json',
      operationId: 'getOpenapiDocument',
      sdk: { none: 'Generators of code read it' },
      effect: 'read',
      kind: 'call',
      summary: 'Read this interface as an OpenAPI 3.1 document',
      public: 'Client generators have no key',
      view: z.looseObject({ openapi: z.string() }),
      status: [200],
    },
    async () => ({ openapi: '3.1.1' }),
  )
  // Written at the first request: most processes never get one, and it takes a third of a second.
  let prepared: Promise<Prepared> | undefined
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' }
  const handle = async ({ req }: Exchange) => {
    prepared ??= describe().then((document) => prepare(JSON.stringify(document), headers))
    return (await prepared).answer(req.headers['accept-encoding'])
  }
  return { ...route, handle }
}
