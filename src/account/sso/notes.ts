import { SESSION } from '#src/account/sessions/notes.ts'
import { ACTORS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const ID = 'sso_01m7x7ennfe7dsmvdzwjp06y9x'
const CONFIG = {
  sso_config_id: ID,
  issuer: 'https://login.acme.example',
  client_id: 'countersign',
  client_secret_last4: 'x7Qa',
  redirect_uri: 'https://claims.example.com/login/sso',
  start_url: 'https://claims.example.com/v1/auth/sso/start?domain=acme.example',
  domain: 'acme.example',
  domain_status: 'verified',
  domain_record: {
    name: '_countersign.acme.example',
    value: 'countersign-domain-verification=4f1c8e0d2a6b4f1c8e0d2a6b4f1c8e0d2a6b',
  },
  domain_verified_at: '2026-11-20T15:11:04.310Z',
  domain_checked_at: '2026-11-20T15:11:04.310Z',
  tested_at: '2026-11-20T15:14:31.002Z',
  enforce_sso: false,
  version: 2,
  changed_at: '2026-11-20T15:11:04.310Z',
  changed_by: ACTORS.user,
}
const STARTED = {
  authorize_url:
    'https://login.acme.example/authorize?response_type=code&client_id=countersign&scope=openid+email+profile',
}

export const NOTES: Record<string, Note> = {
  'GET /v1/auth/sso/config': {
    description: 'The client secret is not shown again. The guide Single sign-on has the fields of each provider.',
    answers: { 200: { example: CONFIG } },
    problems: ['not_found'],
  },
  'PUT /v1/auth/sso/config': {
    description:
      'The discovery document of the issuer is read at once, and must name this issuer. A change of issuer, client or domain ' +
      'ends `tested_at` and `enforce_sso`, and all owners are told by mail; another issuer or client is another provider, to ' +
      'which no user is linked. `enforce_sso` needs a first login (`not_ready` before).',
    headers: IF_MATCH,
    examples: {
      'A provider': {
        issuer: CONFIG.issuer,
        client_id: CONFIG.client_id,
        client_secret: 'made by the provider',
        domain: CONFIG.domain,
      },
    },
    answers: { 200: { example: CONFIG } },
    problems: ['not_ready', 'precondition_failed', 'provider_unavailable'],
  },
  'DELETE /v1/auth/sso/config': {
    description: 'Sessions go on. Users are no longer linked to the provider; all owners are told by mail.',
    answers: { 200: { example: { sso_config_id: ID, deleted: true } } },
    problems: ['not_found'],
  },
  'POST /v1/auth/sso/config/verify-domain': {
    description:
      'Looks for the TXT record `domain_record`; `not_ready` says what is missing. The record is looked up daily from then on: ' +
      'three days without it end the verification. A domain has one organization; claims that are not verified block nobody.',
    answers: { 200: { example: CONFIG } },
    problems: ['not_found', 'not_ready', 'conflict'],
  },
  'GET /v1/auth/sso/start': {
    description:
      'Sets a cookie to which the login is bound for 10 minutes. With `Accept: application/json` the address is in the body. A ' +
      'network begins 300 logins a minute, and asks for 30 unknown domains.',
    answers: {
      302: {
        description: 'To the identity provider.',
        headers: { Location: 'The address of the login at the identity provider.' },
        example: STARTED,
      },
      200: { description: 'With `Accept: application/json`.', example: STARTED },
    },
    problems: ['not_found', 'rate_limited', 'plan_required', 'account_suspended', 'provider_unavailable'],
  },
  'POST /v1/auth/sso/callback': {
    description:
      'Sent by the page /login/sso. The state belongs to the browser that began, works once and for 10 minutes: otherwise it is ' +
      '`invalid_request` at `/state`, and the provider is not called. `sso_login_refused` has a `cause` for each reason; the guide ' +
      'Single sign-on lists them. `Idempotency-Key` is ignored.',
    examples: { 'An answer': { code: 'SplxlOBeZQQYbYS6WxSbIA', state: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s' } },
    answers: { 200: { example: SESSION } },
    problems: [
      'csrf_token_invalid',
      'session_expired',
      'rate_limited',
      'sso_login_refused',
      'provider_unavailable',
      'conflict',
      'beta_access_required',
      'plan_required',
      'account_suspended',
    ],
  },
  'POST /v1/auth/sso/link': {
    description:
      'With a session that began less than 10 minutes ago. Open `authorize_url` in the same browser; the address that the ' +
      'provider gives must be that of the user.',
    answers: { 200: { example: STARTED } },
    problems: ['not_found', 'provider_unavailable'],
  },
}
