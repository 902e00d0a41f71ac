import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const ID = 'uss_01m7x7ennfe7dsmvdzwjp06y9x'

export const SESSION = {
  session_id: ID,
  user: { user_id: 'usr_01m7x7ennfe7dsmvdzwjp06y9w', email: 'mika@example.com' },
  account: { account_id: IDS.account, name: 'Acme Insurance', plan: 'enterprise', products: ['attest'] },
  role: 'analyst',
  method: 'magic_link',
  environments: ['sandbox', 'live'],
  permissions: {
    sandbox: ['claims.read', 'cases.read', 'session.own'],
    live: ['claims.read', 'cases.read', 'session.own'],
  },
  csrf_token: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
  created_at: '2026-11-20T15:00:00.000Z',
  expires_at: '2026-11-21T03:00:00.000Z',
  idle_timeout_seconds: 3600,
}

const KEY = {
  type: 'key',
  account: SESSION.account,
  environment: 'sandbox',
  api_key_id: IDS.key,
  scopes: ['admin'],
  products: null,
  read_only: true,
  session: null,
}
const OF_SESSION = { type: 'session', api_key_id: null, scopes: null, read_only: false, session: SESSION }

const OPEN_SESSION = {
  session_id: ID,
  method: 'magic_link',
  sandbox_only: false,
  current: true,
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
  created_at: '2026-11-20T15:00:00.000Z',
  last_seen_at: '2026-11-20T15:11:00.000Z',
  expires_at: '2026-11-21T03:00:00.000Z',
}

export const NOTES: Record<string, Note> = {
  'GET /v1/auth/session': {
    description:
      'Takes any key, whatever its scopes, and a session. Programs call it first to learn the account, the ' +
      'environment and what the key may do. A session ends 12 hours after it began, and after an hour without a ' +
      'request.',
    answers: { 200: { examples: { 'A key': KEY, 'A session': { ...KEY, ...OF_SESSION } } } },
  },
  'DELETE /v1/auth/session': {
    description: 'The cookies are cleared; the session can’t be used again.',
    answers: { 200: { example: { session_id: ID, ended: true } } },
  },
  'GET /v1/auth/sessions': {
    description: 'Lists sessions of the signed-in user only, in every browser.',
    answers: { 200: { example: listed(OPEN_SESSION) } },
  },
  'DELETE /v1/auth/sessions': {
    description: 'Use this for a lost device, or after another person got a link.',
    answers: { 200: { example: { ended: 2 } } },
  },
  'DELETE /v1/auth/sessions/:id': {
    description: 'Ending a session that has ended changes nothing.',
    answers: { 200: { example: { session_id: ID, ended: true } } },
  },
}
