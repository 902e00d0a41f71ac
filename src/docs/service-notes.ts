// The prose of the service as a whole and of the routes that belong to no feature.

import { IDS, PUBLIC_KEY } from '#src/catalogue/examples.ts'
import { SDK_GROUPS, SERVICE_TAG } from '#src/catalogue/sdk.ts'
import type { Note } from '#src/platform/http/openapi.ts'

/** What the service is for. README.md and package.json say the same sentence. */
export const PURPOSE =
  "Countersign proves that a claim's photo is what a device captured, that a person authorized exactly this action of an agent, " +
  'and how a model came to its answer: for insurers, for companies whose agents spend money, and for teams that run models.'

export const DESCRIPTION = `${PURPOSE}

**Keys.** \`Authorization: Bearer <API_KEY>\` or \`X-API-Key: <API_KEY>\`. \`svc_test_\` keys work in sandbox, \`svc_live_\` keys in
live; the two environments share nothing. Each operation requires one scope.

**Errors** are RFC 9457 problems with a stable \`code\`: see [all of them]({base_url}/docs/errors). **Lists** are newest first;
\`next_cursor\` leads to the next page. **Repeating** a POST, PUT, PATCH or DELETE is safe with an \`Idempotency-Key\`. **Times** are ISO 8601 in UTC.
Every answer has a \`Request-Id\`.

First guides: [Attest]({base_url}/docs/attest/integrate), [Authorize]({base_url}/docs/authorize/authorize), [Trace]({base_url}/docs/trace/trace).`

// In the order in which a reader needs them.
export const TAGS = [...Object.values(SDK_GROUPS), SERVICE_TAG].map(({ tag, description }) => ({
  name: tag,
  description,
}))

const keys = { keys: [PUBLIC_KEY] }

const pingData = {
  type: 'object',
  properties: { webhook_endpoint_id: { type: 'string' } },
  required: ['webhook_endpoint_id'],
}
const PING_TYPE = {
  type: 'ping',
  summary: 'A webhook endpoint was tested.',
  products: [],
  is_sent: true,
  data_schema: pingData,
  envelope_schema: { type: 'object', properties: { event_id: { type: 'string' }, data: pingData } },
  example: {
    event_id: IDS.event,
    type: 'ping',
    created_at: '2026-11-20T15:11:04.310Z',
    environment: 'sandbox',
    account_id: IDS.account,
    data: { webhook_endpoint_id: IDS.endpoint },
  },
}

export const SERVICE_NOTES: Record<string, Note> = {
  'GET /health': {
    description: 'This route does not check the database or the queues: the internal port does.',
    answers: { 200: { example: { status: 'ok' } } },
  },
  'GET /.well-known/jwks.json': {
    description:
      'Keys of `family` `record` verify `result_jws`, and stay published permanently. Cache the keys for 5 minutes. ' +
      'Another party may have had a key with `revoked`, and can sign any text with any time. A revoked key of family ' +
      '`token` is not published.',
    answers: { 200: { example: keys } },
  },
  'GET /v1/jwks': { description: 'Same as /.well-known/jwks.json.', answers: { 200: { example: keys } } },
  'GET /.well-known/svc-configuration': {
    description: 'Verifiers that know only the address of the service read it. Members are only added.',
    answers: {
      200: {
        example: {
          issuer: 'https://api.example.com',
          jwks_uri: 'https://api.example.com/.well-known/jwks.json',
          authorize_endpoint: 'https://api.example.com/v1/intent/authorize',
          verify_endpoint: 'https://api.example.com/v1/intent/verify',
          revocation_endpoint: 'https://api.example.com/v1/intent/revocations',
          status_endpoint: 'https://api.example.com/v1/intent/status/{jti}',
          status_list_endpoint: 'https://api.example.com/v1/intent/status-lists/{id}',
          token_typ_values_supported: ['intent+jwt'],
          token_signing_alg_values_supported: ['ES256'],
          environments_supported: ['sandbox', 'live'],
          openapi_uri: 'https://api.example.com/v1/openapi.json',
          service_documentation: 'https://api.example.com/docs',
        },
      },
    },
  },
  'GET /v1/openapi.json': {
    description: 'The document is generated from the routes of this service.',
    answers: { 200: { example: { openapi: '3.1.1' } } },
  },
  'GET /v1/event-types': {
    description: 'The list is one page. Payloads are checked against these schemas before they are stored.',
    answers: {
      200: { example: { object: 'list', data: [PING_TYPE], has_more: false, next_cursor: null } },
    },
  },
  'GET /v1/event-types/:type': {
    description: 'Types that this version of the service does not send yet are included.',
    answers: { 200: { example: PING_TYPE } },
    problems: ['not_found'],
  },
  'GET /docs/events': { description: 'One section per type, with the members of `data` and an example.' },
  'GET /': { description: 'For people: links to the guides, the reference and the addresses for machines.' },
  'GET /docs': { description: 'Every guide with its first sentence.' },
  'GET /docs/api-reference': { description: 'This page, if that is where you read this.' },
  'GET /docs/decisions': { description: 'One record per choice.' },
  'GET /docs/search.json': {
    description: 'Sections of the guides, error codes and operations, each with its address.',
  },
  'GET /docs/roles': { description: 'The permissions of each role, and the routes that need them.' },
  'GET /approve': {
    description:
      'The id of an approval is in the fragment of the address; without one, the page lists what is pending.',
  },
  'GET /orders': {
    description: 'The id of an order is in the fragment of the address; without one, the page lists all orders.',
  },
  'GET /share': {
    description: 'The token of the share is in the fragment of the address, which browsers send to no server.',
  },
  'GET /passkeys': { description: 'What it shows comes from the routes of passkeys, with the session of the browser.' },
  'GET /login/invite': {
    description: 'The token is in the fragment of the address, which browsers send to no server.',
  },
  'GET /login': {
    description: 'The address that people type. The query is ignored.',
    answers: {
      302: { description: 'To /login/link.', headers: { Location: '`login/link`, relative to this address.' } },
    },
  },
  'GET /login/sso': {
    description:
      'Identity providers lead back here with a code and a state, which the page removes from the address and sends in a body.',
  },
  'GET /app': { description: 'The same page as at each address below it, which shows the overview of the sandbox.' },
  'GET /app/*path': {
    description:
      'The page asks the public API with the session of the browser. Its address names the environment and what is shown: `/app/sandbox/claims`.',
  },
  'GET /app/assets/:name': { description: 'Named by its content, so it never changes.' },
  'GET /login/link': {
    description:
      'Where the link of a mail leads. Opening it uses nothing up; the page sends the token when a person confirms.',
  },
  'GET /docs/errors': { description: 'One section per code; `type` of every problem leads to its own.' },
  'GET /docs/:name': {
    description: 'A name without its folder, such as `integrate` or `attest`.',
    answers: {
      301: { description: 'To the guide.', headers: { Location: '`attest/integrate`, relative to this address.' } },
    },
  },
  'GET /docs/:folder/:name': {
    description: 'Such as `attest/integrate`: from a key to a signed result, step by step.',
  },
  'GET /docs/assets/:name': { description: 'Names carry the hash of what is in them.' },
}
