// Tokens that are refused, grouped by what is wrong with them.

import { derSignature, N, rawSignature, signNumbers, toBytes } from './signing.ts'
import {
  CLAIMS,
  encode,
  HEADER,
  inputOf,
  KEYS,
  makeHmacToken,
  makeLongToken,
  makeToken,
  NOW,
  withClaims,
  withHeader,
  without,
  withSignature,
} from './token-parts.ts'
import type { Refused } from './tokens.ts'

const good = makeToken()
const [headerText = '', payloadText = '', signatureText = ''] = good.split('.')
const numbers = signNumbers(KEYS.live, inputOf())
const raw = rawSignature(numbers)
const { x = '', y = '' } = KEYS.live.jwk
const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
const claimsText = JSON.stringify(CLAIMS)
const headerJson = JSON.stringify(HEADER)
// The last character of 64 bytes carries two bits: another one with the same two is another text for the same bytes.
const nextCharacter = (text: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return `${text.slice(0, -1)}${alphabet[alphabet.indexOf(text.at(-1) ?? '') + 1]}`
}
// Where the last character has spare bits.
const sparePayload =
  [0, 1, 2].map((length) => encode({ ...CLAIMS, note: 'x'.repeat(length) })).find((text) => text.length % 4 > 0) ?? ''

const extra = (name: string, value: unknown): Refused => [
  `header-${name}`,
  `a header with ${name}`,
  withHeader({ [name]: value }),
  'header',
]

export const FORM: Refused[] = [
  ['segments-null', 'null in place of a text', { token: null as never }, 'segments'],
  ['segments-number', 'a number in place of a text', { token: 7 as never }, 'segments'],
  ['segments-none', 'an empty text', '', 'segments'],
  ['segments-one', 'one segment', headerText, 'segments'],
  ['segments-two', 'no signature segment', `${headerText}.${payloadText}`, 'segments'],
  ['segments-four', 'a fourth segment', `${good}.${signatureText}`, 'segments'],
  ['segments-trailing-dot', 'a dot at the end', `${good}.`, 'segments'],
  ['segments-leading-dot', 'a dot at the beginning', `.${good}`, 'segments'],
  ['segments-five', 'five segments, as an encrypted token has', `${good}.${payloadText}.${signatureText}`, 'segments'],
  ['segments-empty-header', 'an empty header', `.${payloadText}.${signatureText}`, 'segments'],
  ['segments-empty-payload', 'an empty payload: detached content', `${headerText}..${signatureText}`, 'segments'],
  ['segments-empty-signature', 'an empty signature', `${headerText}.${payloadText}.`, 'segments'],
  [
    'segments-json',
    'the JSON serialization of JWS',
    JSON.stringify({ protected: headerText, payload: payloadText, signature: signatureText }),
    'segments',
  ],
  ['too-long', 'a valid token just above 16 KiB', makeLongToken(16_400), 'too_long'],
  ['encoding-padding-header', 'padding after the header', `${headerText}=.${payloadText}.${signatureText}`, 'encoding'],
  [
    'encoding-padding-payload',
    'padding after the payload',
    `${headerText}.${payloadText}=.${signatureText}`,
    'encoding',
  ],
  ['encoding-padding-signature', 'padding after the signature', `${good}==`, 'encoding'],
  [
    'encoding-standard',
    'standard base64 in the signature',
    `${headerText}.${payloadText}.${'+/'.repeat(43)}`,
    'encoding',
  ],
  ['encoding-leading-space', 'a space before the token', ` ${good}`, 'encoding'],
  ['encoding-trailing-space', 'a space after the token', `${good} `, 'encoding'],
  ['encoding-newline', 'a line feed after the token', `${good}\n`, 'encoding'],
  [
    'encoding-folded',
    'a line feed within the payload',
    `${headerText}.${payloadText.slice(0, 60)}\n${payloadText.slice(60)}.${signatureText}`,
    'encoding',
  ],
  ['encoding-nul', 'a NUL after the token', `${good}\0`, 'encoding'],
  ['encoding-bearer', 'the scheme of the header Authorization', `Bearer ${good}`, 'encoding'],
  ['encoding-quotes', 'the token in quotes', `"${good}"`, 'encoding'],
  ['encoding-fullwidth', 'a letter that only looks like ASCII', good.replace('e', '\uff45'), 'encoding'],
  ['encoding-length', 'a segment of 4n + 1 characters', `${headerText}.${payloadText}.${'A'.repeat(85)}`, 'encoding'],
  [
    'encoding-bits-signature',
    'spare bits of the signature set',
    `${headerText}.${payloadText}.${nextCharacter(signatureText)}`,
    'encoding',
  ],
  [
    'encoding-bits-payload',
    'spare bits of the payload set',
    `${headerText}.${nextCharacter(sparePayload)}.${signatureText}`,
    'encoding',
  ],
  [
    'encoding-bits-header',
    'spare bits of the header set',
    `${nextCharacter(headerText)}.${payloadText}.${signatureText}`,
    'encoding',
  ],
  ['header-no-json', 'a header that is no JSON', makeToken({ header: 'ES256' }), 'header'],
  ['header-list', 'a header that is a list', makeToken({ header: [HEADER] }), 'header'],
  ['header-null', 'a header that is null', makeToken({ header: 'null' }), 'header'],
  ['header-text', 'a header that is a string', makeToken({ header: '"ES256"' }), 'header'],
  ['header-bom', 'a byte order mark before the header', makeToken({ header: `\ufeff${headerJson}` }), 'header'],
  ['header-trailing', 'text after the header', makeToken({ header: `${headerJson}x` }), 'header'],
  [
    'header-utf8',
    'a header that is not UTF-8',
    makeToken({ header: Buffer.from(headerJson.replace('intent', 'int\xffnt'), 'latin1') }),
    'header',
  ],
  ['header-long', 'a header of 600 characters', withHeader({ kid: 'k'.repeat(400) }), 'header'],
  [
    'header-duplicate-alg',
    'alg twice, the second ES256',
    makeToken({ header: `{"alg":"none",${headerJson.slice(1)}` }),
    'header',
  ],
  ['header-duplicate-kid', 'kid twice', makeToken({ header: `{"kid":"x",${headerJson.slice(1)}` }), 'header'],
  [
    'header-duplicate-escaped',
    'kid twice, once with an escape',
    makeToken({ header: `{"\\u006bid":"x",${headerJson.slice(1)}` }),
    'header',
  ],
  ['header-no-kid', 'no kid', makeToken({ header: without(HEADER, 'kid') }), 'header'],
  ['header-kid-number', 'a kid that is a number', withHeader({ kid: 1 }), 'header'],
  ['header-kid-null', 'a kid that is null', withHeader({ kid: null }), 'header'],
  [
    'header-proto',
    'a member named __proto__',
    makeToken({ header: `${headerJson.slice(0, -1)},"__proto__":{"alg":"none"}}` }),
    'header',
  ],
  extra('jwk', KEYS.stranger.jwk),
  extra('jku', 'https://attacker.example/jwks.json'),
  extra('x5c', ['MIIB']),
  extra('x5u', 'https://attacker.example/chain.pem'),
  extra('x5t', 'n4bQgYhMfWWaL-qgxVrQFaO_Txs'),
  extra('crit', ['exp']),
  extra('b64', false),
  ['header-crit-b64', 'an unencoded payload (RFC 7797)', withHeader({ crit: ['b64'], b64: false }), 'header'],
  extra('zip', 'DEF'),
  extra('enc', 'A256GCM'),
  extra('cty', 'JWT'),
  extra('nonce', 'n'),
  ['alg-none', 'alg none with a signature', withHeader({ alg: 'none' }), 'algorithm'],
  ['alg-none-case', 'alg NoNe', withHeader({ alg: 'NoNe' }), 'algorithm'],
  ['alg-missing', 'no alg', makeToken({ header: without(HEADER, 'alg') }), 'algorithm'],
  ['alg-case', 'alg es256', withHeader({ alg: 'es256' }), 'algorithm'],
  ['alg-list', 'alg as a list', withHeader({ alg: ['ES256'] }), 'algorithm'],
  ['alg-hs256-point', 'HS256 with the bytes of the public key', makeHmacToken(point), 'algorithm'],
  ['alg-hs256-jwk', 'HS256 with the text of the public key', makeHmacToken(JSON.stringify(KEYS.live.jwk)), 'algorithm'],
  ['alg-hs256-x', 'HS256 with a coordinate of the public key', makeHmacToken(x), 'algorithm'],
  ...['HS512', 'RS256', 'PS256', 'ES384', 'ES512', 'ES256K', 'EdDSA'].map(
    (alg): Refused => [`alg-${alg.toLowerCase()}`, `alg ${alg}`, withHeader({ alg }), 'algorithm'],
  ),
  ['typ-missing', 'no typ', makeToken({ header: without(HEADER, 'typ') }), 'type'],
  ['typ-jwt', 'typ JWT', withHeader({ typ: 'JWT' }), 'type'],
  ['typ-case', 'typ in upper case', withHeader({ typ: 'INTENT+JWT' }), 'type'],
  ['typ-media', 'typ with its prefix', withHeader({ typ: 'application/intent+jwt' }), 'type'],
  ['typ-status-list', 'a status list, which token keys sign too', withHeader({ typ: 'statuslist+jwt' }), 'type'],
  [
    'typ-result',
    'a signed result',
    makeToken({ header: { alg: 'ES256', kid: KEYS.record.kid, typ: 'attest-result+jwt' }, key: KEYS.record }),
    'type',
  ],
]

// The key of the token, with other members.
const withKey = (changes: Record<string, string>) => ({
  token: good,
  jwks: { keys: [{ ...KEYS.live.jwk, ...changes }, KEYS.next.jwk] },
})

export const KEY_SETS: Refused[] = [
  ['key-set-empty', 'the key set is empty', { token: good, jwks: { keys: [] } }, 'unknown_key'],
  [
    'key-set-without-key',
    'the key set has other keys only, as after an emergency',
    { token: good, jwks: { keys: [KEYS.next.jwk, KEYS.sandbox.jwk] } },
    'unknown_key',
  ],
  ['key-set-family', 'the key of this kid signs records', withKey({ family: 'record' }), 'unknown_key'],
  ['key-set-kty', 'the key of this kid is of another type', withKey({ kty: 'RSA' }), 'unknown_key'],
  ['key-set-crv', 'the key of this kid is on another curve', withKey({ crv: 'P-384' }), 'unknown_key'],
  [
    'key-set-other-point',
    'the key of this kid is another one',
    withKey({ x: KEYS.next.jwk.x ?? '', y: KEYS.next.jwk.y ?? '' }),
    'signature',
  ],
  ['key-set-kid-case', 'the kid differs in case', withKey({ kid: KEYS.live.kid.toUpperCase() }), 'unknown_key'],
  ['key-set-env', 'the key of this kid is of the sandbox, and env is live', withKey({ env: 'sandbox' }), 'claims'],
]

const stranger = { header: { ...HEADER, kid: KEYS.stranger.kid }, key: KEYS.stranger }

export const SIGNATURES: Refused[] = [
  ['key-unknown', 'a key that is in no set', makeToken(stranger), 'unknown_key'],
  ['key-empty', 'an empty kid', withHeader({ kid: '' }), 'unknown_key'],
  ['key-path', 'a kid that is a path', withHeader({ kid: '../../etc/passwd' }), 'unknown_key'],
  ['key-prefix', 'the beginning of a kid', withHeader({ kid: KEYS.live.kid.slice(0, -1) }), 'unknown_key'],
  ['key-proto', 'a kid that every object has', withHeader({ kid: '__proto__' }), 'unknown_key'],
  [
    'key-record',
    'a key that signs records, with the type of a token',
    makeToken({ header: { ...HEADER, kid: KEYS.record.kid }, key: KEYS.record }),
    'unknown_key',
  ],
  [
    'key-other',
    'the kid of one key, the signature of another',
    makeToken({ header: { ...HEADER, kid: KEYS.next.kid } }),
    'signature',
  ],
  [
    'key-sandbox-as-live',
    'the kid of a live key, the signature of the sandbox',
    makeToken({ key: KEYS.sandbox }),
    'signature',
  ],
  [
    'signature-of-another',
    'the signature of another token',
    `${inputOf()}.${makeToken({ payload: { ...CLAIMS, jti: 'x' } }).split('.')[2]}`,
    'signature',
  ],
  [
    'signature-payload-changed',
    'a claim changed after signing',
    `${headerText}.${encode({ ...CLAIMS, exp: CLAIMS.exp + 3_600 })}.${signatureText}`,
    'signature',
  ],
  [
    'signature-env-changed',
    'env changed after signing',
    `${headerText}.${encode({ ...CLAIMS, env: 'sandbox' })}.${signatureText}`,
    'signature',
  ],
  [
    'signature-header-order',
    'the header written anew after signing',
    `${encode({ typ: HEADER.typ, alg: HEADER.alg, kid: HEADER.kid })}.${payloadText}.${signatureText}`,
    'signature',
  ],
  [
    'signature-of-payload',
    'a signature over the payload alone',
    withSignature(rawSignature(signNumbers(KEYS.live, payloadText))),
    'signature',
  ],
  [
    'signature-of-decoded',
    'a signature over the decoded segments',
    withSignature(rawSignature(signNumbers(KEYS.live, `${headerJson}.${claimsText}`))),
    'signature',
  ],
  [
    'signature-bit',
    'one bit of the signature changed',
    withSignature(Buffer.concat([raw.subarray(0, 63), Buffer.from([(raw[63] ?? 0) ^ 1])])),
    'signature',
  ],
  ['signature-der', 'a signature in DER', withSignature(derSignature(numbers)), 'signature'],
  [
    'signature-short-of-unknown-key',
    'a signature of 63 bytes: it is refused before the key is looked up',
    withSignature(raw.subarray(0, 63), { header: { ...HEADER, kid: KEYS.stranger.kid } }),
    'signature',
  ],
  ['signature-short', 'a signature of 63 bytes', withSignature(raw.subarray(0, 63)), 'signature'],
  [
    'signature-long',
    'a signature with a byte more',
    withSignature(Buffer.concat([raw, Buffer.from([0])])),
    'signature',
  ],
  [
    'signature-long-of-unknown-key',
    'a signature of 65 bytes: it is refused before the key is looked up',
    withSignature(Buffer.concat([raw, Buffer.from([0])]), { header: { ...HEADER, kid: KEYS.stranger.kid } }),
    'signature',
  ],
  [
    'signature-zero-before',
    'a signature of 65 bytes: a zero byte before r',
    withSignature(Buffer.concat([Buffer.from([0]), raw])),
    'signature',
  ],
  ['signature-twice', 'a signature twice', withSignature(Buffer.concat([raw, raw])), 'signature'],
  ['signature-one-byte', 'a signature of one byte', withSignature(Buffer.from([1])), 'signature'],
  [
    'signature-swapped',
    's before r',
    withSignature(Buffer.concat([raw.subarray(32), raw.subarray(0, 32)])),
    'signature',
  ],
  ['signature-zero', 'r and s are zero', withSignature(Buffer.alloc(64)), 'signature'],
  ['signature-r-zero', 'r is zero', withSignature(Buffer.concat([Buffer.alloc(32), raw.subarray(32)])), 'signature'],
  ['signature-s-zero', 's is zero', withSignature(Buffer.concat([raw.subarray(0, 32), Buffer.alloc(32)])), 'signature'],
  ['signature-one', 'r and s are one', withSignature(rawSignature({ r: 1n, s: 1n })), 'signature'],
  [
    'signature-r-order',
    'r is the order of the group',
    withSignature(Buffer.concat([toBytes(N), raw.subarray(32)])),
    'signature',
  ],
  [
    'signature-s-order',
    's is the order of the group',
    withSignature(Buffer.concat([raw.subarray(0, 32), toBytes(N)])),
    'signature',
  ],
  ['signature-order', 'r and s are the order of the group', withSignature(rawSignature({ r: N, s: N })), 'signature'],
  ['signature-ones', 'every bit is set', withSignature(Buffer.alloc(64, 0xff)), 'signature'],
  ['signature-r-negated', 'r is negated', withSignature(rawSignature({ r: N - numbers.r, s: numbers.s })), 'signature'],
  ['payload-no-json', 'a payload that is no JSON', makeToken({ payload: 'exp=1795176240' }), 'payload'],
  ['payload-list', 'a payload that is a list', makeToken({ payload: [CLAIMS] }), 'payload'],
  ['payload-text', 'a payload that is a string', makeToken({ payload: '"exp"' }), 'payload'],
  ['payload-number', 'a payload that is a number', makeToken({ payload: '1795176240' }), 'payload'],
  ['payload-null', 'a payload that is null', makeToken({ payload: 'null' }), 'payload'],
  [
    'payload-duplicate',
    'exp twice, the later one last',
    makeToken({ payload: `${claimsText.slice(0, -1)},"exp":9000000000}` }),
    'payload',
  ],
  [
    'payload-duplicate-first',
    'env twice, the true one last',
    makeToken({ payload: `{"env":"sandbox",${claimsText.slice(1)}` }),
    'payload',
  ],
  [
    'payload-duplicate-escaped',
    'exp twice, once with an escape',
    makeToken({ payload: `${claimsText.slice(0, -1)},"\\u0065xp":9000000000}` }),
    'payload',
  ],
  [
    'payload-duplicate-nested',
    'idx twice',
    makeToken({ payload: claimsText.replace('"idx":', '"idx":1,"idx":') }),
    'payload',
  ],
  [
    'payload-surrogate',
    'a lone surrogate',
    makeToken({ payload: claimsText.replace('shopping', '\\ud800') }),
    'payload',
  ],
  [
    'payload-big-integer',
    'an exp of 2^53 + 1',
    makeToken({ payload: claimsText.replace(String(CLAIMS.exp), '9007199254740993') }),
    'payload',
  ],
  [
    'payload-infinite',
    'an exp beyond every double',
    makeToken({ payload: claimsText.replace(String(CLAIMS.exp), '1e999') }),
    'payload',
  ],
  ['payload-nan', 'an exp of NaN', makeToken({ payload: claimsText.replace(String(CLAIMS.exp), 'NaN') }), 'payload'],
  [
    'payload-hex',
    'an exp in hexadecimal',
    makeToken({ payload: claimsText.replace(String(CLAIMS.exp), '0x6b000000') }),
    'payload',
  ],
  ['payload-deep', 'nine levels', makeToken({ payload: { ...CLAIMS, deep: [[[[[[[[1]]]]]]]] } }), 'payload'],
  [
    'payload-utf8',
    'a payload that is not UTF-8',
    makeToken({ payload: Buffer.from(claimsText.replace('shopping', 'sh\xf6pping'), 'latin1') }),
    'payload',
  ],
  ['payload-bom', 'a byte order mark before the payload', makeToken({ payload: `\ufeff${claimsText}` }), 'payload'],
  ['payload-trailing', 'text after the payload', makeToken({ payload: `${claimsText}{}` }), 'payload'],
  ['payload-comma', 'a comma at the end', makeToken({ payload: `${claimsText.slice(0, -1)},}` }), 'payload'],
  ['payload-comment', 'a comment', makeToken({ payload: `${claimsText.slice(0, -1)}/**/}` }), 'payload'],
]

const sandbox = makeToken({
  header: { ...HEADER, kid: KEYS.sandbox.kid },
  payload: { ...CLAIMS, env: 'sandbox' },
  key: KEYS.sandbox,
})

export const EXPIRED: Refused[] = [
  ['environment-sandbox', 'a token of the sandbox, where live is expected', sandbox, 'environment'],
  [
    'environment-live',
    'a live token, where the sandbox is expected',
    { token: good, environment: 'sandbox' },
    'environment',
  ],
  [
    'environment-before-expiry',
    'a token of the sandbox that has expired',
    { token: sandbox, now: CLAIMS.exp + 9_999 },
    'environment',
  ],
  [
    'audience-other',
    'the audience of another relying party',
    { token: good, audience: 'https://bank.example.com' },
    'audience',
  ],
  [
    'audience-prefix',
    'an audience that only begins with the expected one',
    { token: withClaims({ aud: 'https://shop.example.com.attacker.example' }), audience: CLAIMS.aud },
    'audience',
  ],
  ['issuer-other', 'another issuer', { token: good, issuer: 'https://api.example.org' }, 'issuer'],
  ['issuer-slash', 'an issuer with a slash more', { token: good, issuer: `${CLAIMS.iss}/` }, 'issuer'],
  ['nbf-future', 'an nbf in the future', withClaims({ nbf: NOW + 1 }), 'not_yet_valid'],
  [
    'nbf-beyond-tolerance',
    'an nbf beyond the tolerance',
    { token: withClaims({ nbf: NOW + 21 }), clock_tolerance_seconds: 20 },
    'not_yet_valid',
  ],
  ['iat-ahead', 'an iat 61 seconds ahead', withClaims({ iat: NOW + 61 }), 'not_yet_valid'],
  [
    'iat-ahead-of-tolerance',
    'an iat further ahead than any tolerance',
    { token: withClaims({ iat: NOW + 61 }), clock_tolerance_seconds: 60 },
    'not_yet_valid',
  ],
  ['iat-ahead-day', 'an iat of tomorrow', withClaims({ iat: NOW + 86_400, exp: NOW + 86_700 }), 'not_yet_valid'],
  ['expired-now', 'exp is this second', { token: good, now: CLAIMS.exp }, 'expired'],
  ['expired-long', 'exp was a year ago', { token: good, now: CLAIMS.exp + 31_536_000 }, 'expired'],
  [
    'expired-tolerance',
    'exp and the tolerance are over',
    { token: good, now: CLAIMS.exp + 30, clock_tolerance_seconds: 30 },
    'expired',
  ],
  [
    'expired-tolerance-cap',
    'a tolerance of more than a minute is a minute',
    { token: good, now: CLAIMS.exp + 60, clock_tolerance_seconds: 3_600 },
    'expired',
  ],
  [
    'expired-tolerance-negative',
    'a negative tolerance is none',
    { token: good, now: CLAIMS.exp, clock_tolerance_seconds: -5 },
    'expired',
  ],
  ['expired-zero', 'an exp of zero', withClaims({ exp: 0 }), 'expired'],
]
