// The cases of vectors/tokens/offline.json. Ids never change: a case that is wrong gets a new id.

import type { VectorFile } from '../file.ts'
import { EXPIRED, FORM, KEY_SETS, SIGNATURES } from './hostile-tokens.ts'
import {
  CLAIMS,
  HEADER,
  KEY_SET,
  KEYS,
  makeLongToken,
  makeShortToken,
  makeToken,
  makeTwin,
  NOW,
  withClaims,
  without,
} from './token-parts.ts'

export interface TokenInput {
  token: string
  /** The key set. */
  jwks: { keys: Record<string, string>[] }
  /** Seconds since 1970. */
  now: number
  environment: 'sandbox' | 'live'
  audience?: string
  issuer?: string
  clock_tolerance_seconds?: number
}

export interface TokenExpected {
  valid: boolean
  reason: null | 'invalid_token' | 'token_expired' | 'environment_mismatch'
  problem: string | null
  not_checked: string[]
  requires_online: boolean
}

export type Given = Partial<TokenInput> & { token: string }
export type Draft = [id: string, title: string, input: Given | string]
export type Refused = [...Draft, problem: string]

const PLAIN = ['action', 'payload', 'audience', 'revocation', 'agent', 'policy', 'execution']
const of = (...names: string[]) => [...names]

const bound = (changes: object) => withClaims(changes)

const VALID: [...Draft, notChecked?: string[], requiresOnline?: boolean][] = [
  ['valid-minimal', 'a token with every claim that it must have', makeToken()],
  [
    'valid-all-claims',
    'a token with every claim that it may have',
    bound({
      context_hash: CLAIMS.payload_hash,
      trace_id: 'trc_live_01m7x7kz8ye4e8k5v3d9s6q0tb',
      reading_hash: CLAIMS.action_hash,
      agent_id: 'agt_live_01m7x7kz8ye4e8k5v3d9s6q0tc',
      schedule_id: 'sch_live_01m7x7kz8ye4e8k5v3d9s6q0td',
      cycle: 4,
      biometric: { verified: true, credential: 'Y3JlZGVudGlhbA', uv: true, at: NOW - 70 },
      approval_id: 'apr_live_01m7x7kz8ye4e8k5v3d9s6q0te',
    }),
    of(
      'action',
      'payload',
      'context',
      'reading',
      'audience',
      'revocation',
      'agent',
      'policy',
      'execution',
      'approval',
      'schedule',
    ),
  ],
  [
    'valid-context',
    'a token bound to context evidence',
    bound({ context_hash: CLAIMS.action_hash }),
    of('action', 'payload', 'context', ...PLAIN.slice(2)),
  ],
  [
    'valid-reading',
    'a token bound to a reading',
    bound({ trace_id: 't', reading_hash: CLAIMS.action_hash }),
    of('action', 'payload', 'reading', ...PLAIN.slice(2)),
  ],
  [
    'valid-approval',
    'a token that waits for an approval: only the service knows it',
    bound({ approval_id: 'apr_live_1' }),
    of(...PLAIN, 'approval'),
  ],
  [
    'valid-mandate',
    'a token under a mandate: only the service knows its budget',
    bound({ mandate_id: 'mnd_live_1' }),
    of(...PLAIN, 'mandate'),
  ],
  [
    'valid-schedule',
    'a token of a schedule: only the service knows its cycles',
    bound({ schedule_id: 'sch_live_1', cycle: 0 }),
    of(...PLAIN, 'schedule'),
  ],
  [
    'valid-order',
    'a token of an order: only the service knows its status',
    bound({ order_id: 'ord_live_1', order_hash: CLAIMS.payload_hash }),
    of(...PLAIN, 'order'),
  ],
  [
    'valid-single-use',
    'a token of single use: only the service knows whether it was used',
    bound({ single_use: true }),
    of(...PLAIN),
    true,
  ],
  ['valid-not-of-single-use', 'a token that says that it is not of single use', bound({ single_use: false })],
  [
    'valid-second-key',
    'a token of the key that signs next',
    makeToken({ header: { ...HEADER, kid: KEYS.next.kid }, key: KEYS.next }),
  ],
  [
    'valid-sandbox',
    'a token of the sandbox, where the sandbox is expected',
    {
      token: makeToken({
        header: { ...HEADER, kid: KEYS.sandbox.kid },
        payload: { ...CLAIMS, env: 'sandbox' },
        key: KEYS.sandbox,
      }),
      environment: 'sandbox',
    },
  ],
  [
    'valid-audience',
    'the audience that is expected',
    { token: makeToken(), audience: CLAIMS.aud },
    PLAIN.filter((name) => name !== 'audience'),
  ],
  ['valid-issuer', 'the issuer that is expected', { token: makeToken(), issuer: CLAIMS.iss }],
  [
    'valid-unknown-claim',
    'a claim that later versions may add',
    bound({ region: 'eu', nested: { deep: [1, null, 'x'] } }),
  ],
  [
    'valid-proto-claim',
    'a claim named __proto__ is data',
    makeToken({ payload: `${JSON.stringify(CLAIMS).slice(0, -1)},"__proto__":{"env":"sandbox"}}` }),
  ],
  [
    'valid-header-order',
    'header members in another order',
    makeToken({ header: { kid: KEYS.live.kid, typ: 'intent+jwt', alg: 'ES256' } }),
  ],
  [
    'valid-white-space',
    'white space between the members of the payload',
    makeToken({ payload: JSON.stringify(CLAIMS, null, 2) }),
  ],
  [
    'valid-escapes',
    'names and strings with escapes',
    makeToken({
      payload: JSON.stringify(CLAIMS).replace('"exp"', '"\\u0065xp"').replace('shopping', 'shop\\u0070ing'),
    }),
  ],
  ['valid-unicode', 'a session name beyond ASCII', bound({ agent_session_id: 'Einkauf für Zoë \u{1f6d2}' })],
  ['valid-index-zero', 'the first place of a status list', bound({ status: { status_list: { idx: 0, uri: 'u' } } })],
  ['valid-policy-zero', 'an account without a policy of its own', bound({ policy_version: 0 })],
  ['valid-issued-later', 'an iat in the future: clocks differ, and exp decides', bound({ iat: NOW + 30 })],
  ['valid-issued-a-minute-later', 'an iat 60 seconds ahead', bound({ iat: NOW + 60 })],
  ['valid-nbf-past', 'an nbf in the past', bound({ nbf: NOW - 10 })],
  ['valid-nbf-now', 'an nbf of this second', bound({ nbf: NOW })],
  [
    'valid-nbf-tolerated',
    'an nbf within the tolerance',
    { token: bound({ nbf: NOW + 20 }), clock_tolerance_seconds: 20 },
  ],
  ['valid-last-second', 'one second before exp', { token: makeToken(), now: CLAIMS.exp - 1 }],
  [
    'valid-tolerated',
    'after exp, within the tolerance',
    { token: makeToken(), now: CLAIMS.exp + 29, clock_tolerance_seconds: 30 },
  ],
  [
    'valid-exp-exponent',
    'an exp written with an exponent is the same number',
    makeToken({ payload: JSON.stringify(CLAIMS).replace(String(CLAIMS.exp), '1.79517624e9') }),
  ],
  ['valid-short-r', 'a signature whose r begins with a zero byte', makeShortToken('r')],
  ['valid-short-s', 'a signature whose s begins with a zero byte', makeShortToken('s')],
  [
    'valid-high-s',
    'the twin of a signature, with n - s: valid offline; the service takes the exact string only',
    makeTwin(),
  ],
  ['valid-long', 'a token just below 16 KiB', makeLongToken(16_380)],
]

const ONLINE = ['approval', 'mandate', 'schedule', 'order']
const isOnline = (notChecked: readonly string[]) => notChecked.some((name) => ONLINE.includes(name))
const REASONS: Record<string, TokenExpected['reason']> = {
  expired: 'token_expired',
  environment: 'environment_mismatch',
}

const CLAIM_CASES: Refused[] = [
  ...Object.keys(CLAIMS).map(
    (name): Refused => [
      `claims-without-${name}`,
      `no ${name}`,
      makeToken({ payload: without(CLAIMS, name) }),
      'claims',
    ],
  ),
  ...Object.entries<[string, unknown][]>({
    exp: [
      ['text', '1795176240'],
      ['fraction', CLAIMS.exp + 0.5],
      ['negative', -1],
      ['null', null],
      ['boolean', true],
    ],
    iat: [
      ['text', 'now'],
      ['fraction', 0.1],
    ],
    nbf: [
      ['text', '0'],
      ['null', null],
    ],
    env: [
      ['other', 'production'],
      ['case', 'LIVE'],
      ['empty', ''],
    ],
    aud: [
      ['list', [CLAIMS.aud]],
      ['empty', ''],
    ],
    sub: [
      ['empty', ''],
      ['number', 7],
    ],
    jti: [['object', {}]],
    action_hash: [
      ['short', 'n4bQ'],
      ['padded', `${CLAIMS.action_hash}=`],
      ['trailing-bits', `${CLAIMS.action_hash.slice(0, -1)}h`],
      ['hex', 'ab'.repeat(32)],
      ['in-a-list', [CLAIMS.action_hash]],
      ['number', 7],
    ],
    payload_hash: [
      ['long', `${CLAIMS.payload_hash}AA`],
      ['null', null],
    ],
    context_hash: [
      ['short', 'x'],
      ['null', null],
    ],
    reading_hash: [
      ['number', 1],
      ['in-a-list', [CLAIMS.action_hash]],
    ],
    trace_id: [
      ['empty', ''],
      ['number', 7],
    ],
    agent_id: [
      ['empty', ''],
      ['null', null],
    ],
    agent_session_id: [['number', 7]],
    device_id: [['list', ['dev']]],
    iss: [['empty', '']],
    approval_id: [
      ['empty', ''],
      ['number', 7],
    ],
    schedule_id: [
      ['empty', ''],
      ['boolean', true],
    ],
    cycle: [
      ['text', '4'],
      ['negative', -1],
    ],
    mandate_id: [
      ['null', null],
      ['empty', ''],
    ],
    order_id: [
      ['empty', ''],
      ['null', null],
    ],
    order_hash: [
      ['short', 'x'],
      ['number', 7],
    ],
    policy_version: [
      ['fraction', 1.5],
      ['text', '3'],
    ],
    single_use: [
      ['text', 'true'],
      ['number', 1],
      ['null', null],
    ],
    status: [
      ['empty', {}],
      ['list', { status_list: [] }],
      ['no-uri', { status_list: { idx: 1 } }],
      ['negative', { status_list: { idx: -1, uri: 'u' } }],
      ['text', { status_list: { idx: '1', uri: 'u' } }],
      ['null', null],
      ['list-null', { status_list: null }],
      ['uri-empty', { status_list: { idx: 1, uri: '' } }],
      ['uri-number', { status_list: { idx: 1, uri: 7 } }],
    ],
    biometric: [
      ['true', true],
      ['partial', { verified: true }],
      ['text', { verified: 'yes', credential: 'c', uv: true, at: 1 }],
      ['uv-text', { verified: true, credential: 'c', uv: 'yes', at: 1 }],
      ['credential-empty', { verified: true, credential: '', uv: true, at: 1 }],
      ['credential-number', { verified: true, credential: 7, uv: true, at: 1 }],
      ['at-text', { verified: true, credential: 'c', uv: true, at: '1' }],
      ['at-missing', { verified: true, credential: 'c', uv: true }],
      ['null', null],
    ],
  }).flatMap(([name, values]) =>
    values.map(
      ([kind, value]): Refused => [
        `claims-${name}-${kind}`,
        `${name} is not what it must be: ${kind}`,
        withClaims({ [name]: value }),
        'claims',
      ],
    ),
  ),
  [
    'claims-env-of-other-key',
    'env is live, signed by a key of the sandbox',
    { token: makeToken({ header: { ...HEADER, kid: KEYS.sandbox.kid }, key: KEYS.sandbox }) },
    'claims',
  ],
]

/** The file. */
export function makeTokens(): VectorFile<TokenInput, TokenExpected> {
  return {
    family: 'tokens',
    version: 1,
    source:
      'Made by tools/vectors for this project; no third-party data. Keys are SHA-256 of `countersign token vectors: <name>` ' +
      'modulo the order of P-256, nonces follow RFC 6979. The keys are in no deployment.',
    about:
      'What an offline verifier answers to `token` (which is no text in cases for languages without types), with the keys of `jwks`, at `now` (seconds since 1970) and for `environment`. ' +
      '`reason` is the answer for programs, `problem` says for people which check failed first.',
    cases: [
      ...VALID.map(([id, title, input, notChecked = PLAIN, requiresOnline = isOnline(notChecked)]) => ({
        id: `tokens-offline-${id.replaceAll('_', '-').toLowerCase()}`,
        title: `accept: ${title}`,
        input: inputOf(input),
        expect: { valid: true, reason: null, problem: null, not_checked: notChecked, requires_online: requiresOnline },
      })),
      ...[...FORM, ...KEY_SETS, ...SIGNATURES, ...CLAIM_CASES, ...EXPIRED].map(([id, title, input, problem]) => ({
        id: `tokens-offline-${id.replaceAll('_', '-').toLowerCase()}`,
        title: `refuse as ${problem}: ${title}`,
        input: inputOf(input),
        expect: {
          valid: false,
          reason: REASONS[problem] ?? ('invalid_token' as const),
          problem,
          not_checked: [],
          requires_online: false,
        },
      })),
    ],
  }
}

function inputOf(input: Draft[2]): TokenInput {
  const given = typeof input === 'string' ? { token: input } : input
  return { environment: 'live', now: NOW, jwks: { keys: KEY_SET }, ...given }
}
