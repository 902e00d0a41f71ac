import { listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const ID = 'psk_01m7x7ennfe7dsmvdzwjp06y9x'
const CREDENTIAL = '-R85HbTJsv3g6nAYnLo_tj9Xm6YSKzOtlP8-wzAIS-Q'
const CHALLENGE = 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s'

const PASSKEY = {
  passkey_id: ID,
  name: 'Work laptop',
  credential_id: CREDENTIAL,
  algorithm: 'ES256',
  aaguid: 'adce0002-35bc-c60a-648b-0b25f1f05503',
  transports: ['internal'],
  backup_eligible: true,
  backed_up: true,
  counter: 0,
  created_at: '2026-11-20T15:00:00.000Z',
  last_used_at: '2026-11-20T15:11:00.000Z',
}

const RESPONSE = {
  id: CREDENTIAL,
  rawId: CREDENTIAL,
  type: 'public-key',
  response: { clientDataJSON: 'eyJ0eXBlIjoi', attestationObject: 'o2NmbXRkbm9u', transports: ['internal'] },
}

/** What a browser made of a challenge. */
export const ASSERTION = {
  challenge_id: 'pkc_test_01m7x7ennfe7dsmvdzwjp06y9x',
  response: {
    id: 'b3BhcXVl',
    rawId: 'b3BhcXVl',
    type: 'public-key',
    response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0', authenticatorData: 'SZYN5Y', signature: 'MEUCIQ' },
  },
}

export const NOTES: Record<string, Note> = {
  'POST /v1/passkeys/registration-options': {
    description:
      'Takes the session of a user who signed in less than 10 minutes ago (`session_required` otherwise), and no API key: ' +
      'a passkey outlives the session. It is valid for five minutes at most, and a session has one registration at a time.',
    answers: {
      200: {
        example: {
          expires_at: '2026-11-20T15:05:00.000Z',
          options: {
            challenge: CHALLENGE,
            rp: { id: 'claims.example.com', name: 'Countersign' },
            user: { id: 'dXNyXzAxbTd4N2U', name: 'mika@example.com', displayName: 'mika@example.com' },
            pubKeyCredParams: [
              { type: 'public-key', alg: -7 },
              { type: 'public-key', alg: -8 },
              { type: 'public-key', alg: -257 },
            ],
            timeout: 300_000,
            excludeCredentials: [],
            authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
            attestation: 'none',
          },
        },
      },
    },
    problems: ['conflict', 'limit_reached', 'session_expired', 'session_required'],
  },
  'POST /v1/passkeys/register': {
    description:
      '`response` is the result of `toJSON()` on the new credential. The authenticator must have verified the user, ' +
      'the algorithm must be ES256, EdDSA or RS256 (2,048 to 4,096 bits), and attestation statements with ' +
      'certificates are refused. The user is told by mail.',
    examples: { 'A new passkey': { name: 'Work laptop', response: RESPONSE } },
    answers: {
      200: { example: { ...PASSKEY, last_used_at: null } },
    },
    problems: ['conflict', 'limit_reached', 'session_expired', 'session_required'],
  },
  'GET /v1/passkeys': {
    description: 'Lists passkeys of the signed-in user only, whatever the environment.',
    answers: { 200: { example: listed(PASSKEY) } },
  },
  'GET /v1/passkeys/:id': {
    description: 'A passkey of another user is not found.',
    answers: { 200: { example: PASSKEY } },
  },
  'PATCH /v1/passkeys/:id': {
    description: 'Only the owner sees the name.',
    examples: { 'Another name': { name: 'Phone' } },
    answers: { 200: { example: { ...PASSKEY, name: 'Phone' } } },
  },
  'DELETE /v1/passkeys/:id': {
    description:
      'The removal takes effect with the commit, in every process: a confirmation that is checked meanwhile is ' +
      'refused. The user is told by mail.',
    answers: { 200: { example: { passkey_id: ID, deleted: true } } },
  },
  'POST /v1/intent/challenges': {
    description:
      'A person confirms the action in a browser, with `options`. Send the browser’s answer as `passkey_assertion` of ' +
      'the request that the challenge is for. The challenge works for two minutes, once, and for exactly this action, ' +
      'agent session and device. The challenge of a session is for the passkeys of its own user; the challenge of a ' +
      'key is for the passkeys of every user of the account.',
    examples: {
      'A payment': {
        action_description: 'Pay 120.00 EUR to Example Garage',
        action_payload: { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
        agent_session_id: 'session-1',
        device_id: 'device-1',
      },
    },
    answers: {
      200: {
        example: {
          challenge_id: 'pkc_test_01m7x7ennfe7dsmvdzwjp06y9x',
          challenge: CHALLENGE,
          expires_at: '2026-11-20T15:02:00.000Z',
          options: {
            challenge: CHALLENGE,
            rpId: 'claims.example.com',
            timeout: 120_000,
            allowCredentials: [],
            userVerification: 'required',
          },
        },
      },
    },
  },
}
