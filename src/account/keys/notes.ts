import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const SUCCESSOR = 'key_test_01m7xa4e2ffn3r5bd0w8h6c1zk'

const key = {
  api_key_id: IDS.key,
  name: 'intake',
  prefix: 'svc_test',
  last4: 'SKjy',
  scopes: ['attest', 'verify'],
  environment: 'sandbox',
  plan: 'enterprise',
  status: 'active',
  created_at: '2026-11-20T15:00:00.000Z',
  created_by: ACTORS.user,
  expires_at: null,
  revoked_at: null,
  last_used_at: '2026-11-20T15:11:00.000Z',
  grace_expires_at: null,
  ip_allow: ['203.0.113.0/24', '2001:db8::/32'],
  products: null,
  read_only: false,
  replaced_by_api_key_id: null,
  replaces_api_key_id: null,
  version: 1,
}
const unused = { ...key, last_used_at: null }
const rotating = {
  ...key,
  status: 'rotating',
  grace_expires_at: '2026-11-21T16:00:00.000Z',
  replaced_by_api_key_id: SUCCESSOR,
}
const successor = {
  ...unused,
  api_key_id: SUCCESSOR,
  last4: 'H9Hg',
  created_at: '2026-11-20T16:00:00.000Z',
  replaces_api_key_id: key.api_key_id,
}
const revoked = {
  ...key,
  status: 'revoked',
  revoked_at: '2026-11-20T16:00:00.000Z',
  invites_revoked: [],
  keys_created: [],
  warnings: [],
}
const last = {
  ...revoked,
  invites_revoked: ['inv_01m7x7ennfe7dsmvdzwjp06y9z'],
  keys_created: ['key_test_01m7xa4e2ffn3r5bd0w8h6c1zm'],
  name: 'backend',
  scopes: ['admin'],
  warnings: [
    {
      code: 'last_admin_key',
      detail:
        'No active key with the scope admin is left in this environment: from now on a user who signs in, or the operator, creates keys.',
    },
  ],
}

const OWN = 'A user with the role developer sees and changes only keys that they created.'
const revocation: Note = {
  description:
    `The next request with the key is \`api_key_revoked\`, in every process. Pending invites that it sent are revoked (\`invites_revoked\`). Keys that it created go on ` +
    `working, and \`keys_created\` names them. Revoking it again changes nothing. \`warnings\` says when no key with the scope \`admin\` is left. ${OWN}`,
  answers: { 200: { examples: { Revoked: revoked, 'The last key with the scope admin': last } } },
}

export const NOTES: Record<string, Note> = {
  'POST /v1/account/keys': {
    description:
      'Keep `key`: it can not be read again. A key gives at most its own scopes, products, end and `ip_allow`; where ' +
      'the body names no `products`, `expires_at` or `ip_allow`, the new key gets those of the calling key. A key that is ' +
      'narrowed by `products` calls the routes of these products and those of the account, within its scopes. A `read_only` key calls those that only read. ' +
      'An owner or an admin gives any scope, a developer any in the sandbox and attest, verify, intent and screen in live. `all` is for the ' +
      'sandbox only. An environment has at most 200 active keys.',
    examples: {
      'For a backend with fixed addresses': {
        name: key.name,
        scopes: key.scopes,
        ip_allow: key.ip_allow,
        expires_at: '2027-02-18T00:00:00.000Z',
      },
      'For a consumer of events': { name: 'event consumer', scopes: ['admin'], read_only: true },
      'For everything in the sandbox': { name: 'laptop', scopes: ['all'], environment: 'sandbox' },
    },
    answers: {
      200: {
        example: {
          ...unused,
          expires_at: '2027-02-18T00:00:00.000Z',
          key: 'svc_test_000000000000000000000000003vSKjy',
        },
      },
    },
    problems: ['environment_mismatch', 'insufficient_scope', 'role_limit', 'limit_reached'],
  },
  'GET /v1/account/keys': {
    description: `Lists the keys of the calling key's environment, or of Service-Environment. \`status=working\` lists all that are accepted: active and rotating ones. ${OWN}`,
    answers: { 200: { example: listed(key) } },
  },
  'GET /v1/account/keys/:id': {
    description: `The answer never contains the raw key. ${OWN}`,
    answers: { 200: { examples: { Active: key, 'Rotated, both work': rotating } } },
  },
  'PATCH /v1/account/keys/:id': {
    description:
      'Members that are absent keep their values. New addresses take effect with the next request of the key. Setting ' +
      'them ' +
      `needs the same authority as creating such a key. Scopes, products, end and \`read_only\` never change: create another key. ${OWN}`,
    examples: {
      'Another name': { name: 'intake, new office' },
      'Another address': { ip_allow: ['203.0.113.0/24'] },
      'From everywhere': { ip_allow: null },
    },
    answers: { 200: { example: { ...key, version: 2 } } },
    headers: IF_MATCH,
    problems: ['role_limit', 'invalid_state_transition', 'precondition_failed'],
  },
  'DELETE /v1/account/keys/:id': revocation,
  'POST /v1/account/keys/:id/revoke': revocation,
  'POST /v1/account/keys/:id/rotate': {
    description:
      'The successor has the same name, scopes, products and `ip_allow`, and lives as long as the old key was made to live, counted ' +
      'from now; a key that rotates itself keeps its end. The old key works for `grace_period_seconds`, a day when absent, ' +
      'and counts as revoked after that. Rotating a key needs the same authority as creating one like it. A key that is not ' +
      'active is `invalid_state_transition`; of two rotations at once one succeeds.',
    examples: { 'Within an hour': { grace_period_seconds: 3_600 } },
    answers: {
      200: {
        example: { ...successor, key: 'svc_test_000000000000000000000000012xH9Hg', predecessor: rotating },
      },
    },
    problems: ['role_limit', 'invalid_state_transition', 'limit_reached'],
  },
}
