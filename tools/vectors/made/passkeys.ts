// Assertions of one passkey, good and bad, for vectors/passkeys/assertions.json. The key and the nonces follow from names
// (RFC 6979), so that the file can be made again byte for byte.

import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto'
import { encode } from 'cborg'
import type { VectorFile } from '../file.ts'
import { derSignature, makeVectorKey, N, rawSignature, signNumbers } from './signing.ts'

const RP_ID = 'example.test'
const ORIGIN = 'https://claims.example.test'
const CHALLENGE = hash('sha256', 'countersign passkey vectors: challenge', 'buffer')
const ID = hash('sha256', 'countersign passkey vectors: credential', 'buffer')
const KEY = makeVectorKey('passkeys', 'sandbox', 'token')
const UP = 0x01
const UV = 0x04
const BE = 0x08
const BS = 0x10
const AT = 0x40
const ED = 0x80

type Signature = ReturnType<typeof signNumbers>

// RFC 8410: a private key of 32 bytes, in PKCS #8.
const ED25519_KEY = createPrivateKey({
  key: Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    hash('sha256', 'countersign passkey vectors: ed25519', 'buffer'),
  ]),
  format: 'der',
  type: 'pkcs8',
})
const ED25519 = {
  public_key: Buffer.from(
    encode(
      new Map<number, unknown>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, Buffer.from(createPublicKey(ED25519_KEY).export({ format: 'jwk' }).x ?? '', 'base64url')],
      ]),
    ),
  ).toString('base64url'),
  algorithm: 'EdDSA' as const,
}
// AAGUID, length of the id, id, COSE key.
const CREDENTIAL = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 1, 7]), cbor(new Map([[1, 2]]))])

interface Given {
  rpId?: string
  flags?: number
  counter?: number
  /** Bytes after the counter. */
  more?: Buffer
  clientData?: Record<string, unknown>
  /** Replaces the JSON of the client data. */
  clientBytes?: Buffer
  signature?: (signature: Signature) => Buffer
  /** The bytes of the authenticator data that are sent. */
  cut?: number
  /** What is signed in place of the true message. */
  signed?: Buffer
  /** Members of the known passkey that differ. With EdDSA its key signs. */
  credential?: Partial<AssertionInput['credential']>
  /** Id in the response. */
  id?: Buffer
  rawId?: Buffer
}

const CASES: readonly [id: string, answer: string, reason: string, given: Given][] = [
  ['valid', 'accepted', 'everything agrees', {}],
  ['counter-0', 'accepted', 'authenticators may not count', { counter: 0 }],
  ['counter-max', 'accepted', 'the counter is an unsigned integer of 32 bits', { counter: 0xffffffff }],
  ['no-cross-origin', 'accepted', 'Level 1 browsers send no crossOrigin', { clientData: { crossOrigin: undefined } }],
  [
    'more-members',
    'accepted',
    'browsers may add members',
    { clientData: { other_keys_can_be_added_here: 'do not compare' } },
  ],
  ['extensions', 'accepted', 'a map of extensions', { flags: UP | UV | ED, more: cbor({ credBlob: true }) }],
  [
    'high-s',
    'accepted',
    'ECDSA has two signatures for one message; the challenge counts once, and no signature is a key',
    { signature: ({ r, s }) => derSignature({ r, s: N - s }) },
  ],
  ['origin-port', 'wrong_origin', 'another port is another origin', { clientData: { origin: `${ORIGIN}:8443` } }],
  ['origin-slash', 'wrong_origin', 'an origin has no path', { clientData: { origin: `${ORIGIN}/` } }],
  ['origin-http', 'wrong_origin', 'another scheme', { clientData: { origin: ORIGIN.replace('https', 'http') } }],
  [
    'origin-parent',
    'wrong_origin',
    'the relying party’s host is not the origin',
    { clientData: { origin: `https://${RP_ID}` } },
  ],
  [
    'origin-below',
    'wrong_origin',
    'a host below the origin',
    { clientData: { origin: 'https://a.claims.example.test' } },
  ],
  [
    'origin-case',
    'wrong_origin',
    'browsers write origins in lower case',
    { clientData: { origin: ORIGIN.toUpperCase() } },
  ],
  ['origin-list', 'wrong_origin', 'no string', { clientData: { origin: [ORIGIN] } }],
  ['type-create', 'wrong_type', 'a registration', { clientData: { type: 'webauthn.create' } }],
  ['type-payment', 'wrong_type', 'a payment', { clientData: { type: 'payment.get' } }],
  [
    'challenge-other',
    'wrong_challenge',
    'of another action',
    { clientData: { challenge: hash('sha256', 'other', 'buffer').toString('base64url') } },
  ],
  [
    'challenge-padded',
    'wrong_challenge',
    'base64url has no padding here',
    { clientData: { challenge: `${CHALLENGE.toString('base64url')}=` } },
  ],
  ['challenge-hex', 'wrong_challenge', 'another encoding', { clientData: { challenge: CHALLENGE.toString('hex') } }],
  [
    'challenge-twice',
    'wrong_challenge',
    'the text of the challenge, encoded once more',
    { clientData: { challenge: Buffer.from(CHALLENGE.toString('base64url')).toString('base64url') } },
  ],
  [
    'cross-origin',
    'cross_origin',
    'inside of a page of another origin, which is not told',
    { clientData: { crossOrigin: true } },
  ],
  [
    'top-origin',
    'cross_origin',
    'inside of a page of another origin',
    { clientData: { crossOrigin: true, topOrigin: 'https://example.com' } },
  ],
  [
    'top-origin-alone',
    'cross_origin',
    'a top origin of what claims to be no frame',
    { clientData: { topOrigin: ORIGIN } },
  ],
  ['json-array', 'malformed', 'no object', { clientBytes: Buffer.from('[]') }],
  ['json-cut', 'malformed', 'ends too early', { clientBytes: Buffer.from('{"type":"webauthn.get"') }],
  ['json-utf8', 'malformed', 'no UTF-8', { clientBytes: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }],
  ['rp-other', 'wrong_rp_id', 'another relying party', { rpId: 'example.com' }],
  ['rp-case', 'wrong_rp_id', 'hashes of another spelling differ', { rpId: 'Example.test' }],
  ['no-uv', 'user_not_verified', 'the user was not verified', { flags: UP }],
  ['no-up', 'user_not_present', 'the user was not present', { flags: UV }],
  ['no-flags', 'user_not_present', 'no user at all', { flags: 0 }],
  ['backup-without-eligible', 'malformed', 'backed up, and not eligible', { flags: UP | UV | BS }],
  [
    'backup-eligible',
    'backup_eligibility_changed',
    'eligible, and not so at its registration',
    { flags: UP | UV | BE },
  ],
  ['json-null', 'malformed', 'null', { clientBytes: Buffer.from('null') }],
  ['json-text', 'malformed', 'a string', { clientBytes: Buffer.from('"webauthn.get"') }],
  ['json-number', 'malformed', 'a number', { clientBytes: Buffer.from('7') }],
  ['type-missing', 'wrong_type', 'no type', { clientData: { type: undefined } }],
  ['challenge-missing', 'wrong_challenge', 'no challenge', { clientData: { challenge: undefined } }],
  ['origin-missing', 'wrong_origin', 'no origin', { clientData: { origin: undefined } }],
  ['cross-origin-null', 'cross_origin', 'what is neither false nor absent', { clientData: { crossOrigin: null } }],
  ['data-cut', 'malformed', 'fewer bytes than the counter ends at', { cut: 36 }],
  [
    'data-credential',
    'malformed',
    'a credential, which only a registration has',
    { flags: UP | UV | AT, more: CREDENTIAL },
  ],
  ['extensions-unflagged', 'malformed', 'extensions without their flag', { more: cbor({ credBlob: true }) }],
  [
    'extensions-long',
    'malformed',
    'extensions of more than 1,024 bytes',
    { flags: UP | UV | ED, more: cbor({ credBlob: Buffer.alloc(1_100) }) },
  ],
  ['data-short', 'malformed', 'no flag says so, and bytes are missing', { flags: UP | UV | AT }],
  ['data-longer', 'malformed', 'a byte after the counter', { more: Buffer.from([0]) }],
  ['extensions-missing', 'malformed', 'a flag without extensions', { flags: UP | UV | ED }],
  ['extensions-no-map', 'malformed', 'a list', { flags: UP | UV | ED, more: Buffer.from([0x80]) }],
  [
    'extensions-indefinite',
    'malformed',
    'a map without a length',
    { flags: UP | UV | ED, more: Buffer.from([0xbf, 0xff]) },
  ],
  [
    'extensions-twice',
    'malformed',
    'a name stands twice',
    { flags: UP | UV | ED, more: Buffer.from('a26161016161 02'.replace(' ', ''), 'hex') },
  ],
  [
    'extensions-and-more',
    'malformed',
    'a byte after the extensions',
    { flags: UP | UV | ED, more: Buffer.concat([cbor({}), Buffer.from([0])]) },
  ],
  ['extensions-deep', 'malformed', 'two thousand levels', { flags: UP | UV | ED, more: Buffer.alloc(2_000, 0x81) }],
  [
    'signature-other',
    'invalid_signature',
    'of another message',
    { signature: () => derSignature(signNumbers(KEY, 'other')) },
  ],
  ['signature-raw', 'invalid_signature', 'r and s without DER, as tokens have them', { signature: rawSignature }],
  [
    'signature-trailing',
    'invalid_signature',
    'a byte after the sequence',
    { signature: (numbers) => Buffer.concat([derSignature(numbers), Buffer.from([0])]) },
  ],
  [
    'signature-inside',
    'invalid_signature',
    'a third integer',
    { signature: (numbers) => sequence(derSignature(numbers).subarray(2), Buffer.from([2, 1, 0])) },
  ],
  [
    'signature-long-form',
    'invalid_signature',
    'a length in two bytes that fits in one',
    { signature: (numbers) => longForm(derSignature(numbers)) },
  ],
  [
    'signature-padded-r',
    'invalid_signature',
    'r has a zero more than it needs: another text of the same number',
    { signature: (numbers) => sequence(padded(derInteger(numbers.r)), derInteger(numbers.s)) },
  ],
  [
    'signature-padded-s',
    'invalid_signature',
    's has a zero more than it needs',
    { signature: (numbers) => sequence(derInteger(numbers.r), padded(derInteger(numbers.s))) },
  ],
  [
    'signature-padded-short-r',
    'invalid_signature',
    'r has 31 bytes and a zero more than it needs: another text of the same number',
    {
      counter: findCounter(({ r }) => r),
      signature: (numbers) => sequence(padded(derInteger(numbers.r)), derInteger(numbers.s)),
    },
  ],
  [
    'signature-padded-short-s',
    'invalid_signature',
    's has 31 bytes and a zero more than it needs',
    {
      counter: findCounter(({ s }) => s),
      signature: (numbers) => sequence(derInteger(numbers.r), padded(derInteger(numbers.s))),
    },
  ],
  [
    'signature-empty-integer',
    'invalid_signature',
    'an integer without bytes',
    { signature: ({ s }) => sequence(Buffer.from([2, 0]), derInteger(s)) },
  ],
  ['signature-one-integer', 'invalid_signature', 'one integer', { signature: ({ r }) => sequence(derInteger(r)) }],
  ['ed25519', 'accepted', 'a key of Ed25519, whose signatures are no DER', { credential: ED25519 }],
  [
    'ed25519-other',
    'invalid_signature',
    'a signature of Ed25519 over another message',
    { credential: ED25519, signed: Buffer.from('other') },
  ],
  ['signature-zero', 'invalid_signature', 'r and s are 0', { signature: () => derSignature({ r: 0n, s: 0n }) }],
  [
    'signature-order',
    'invalid_signature',
    's is the order of the curve',
    { signature: ({ r }) => derSignature({ r, s: N }) },
  ],
  [
    'signature-above',
    'invalid_signature',
    's and the order of the curve',
    { signature: ({ r, s }) => derSignature({ r, s: s + N }) },
  ],
  [
    'signature-cut',
    'invalid_signature',
    'ends too early',
    { signature: (numbers) => derSignature(numbers).subarray(0, 40) },
  ],
  [
    'id-other',
    'mismatch',
    'the id of another credential, which the library does not compare',
    { id: CHALLENGE, rawId: CHALLENGE },
  ],
  ['id-raw', 'mismatch', 'two ids', { rawId: CHALLENGE }],
]

export interface AssertionInput {
  rp_id: string
  origins: string[]
  /** base64url. */
  challenge: string
  /** What is kept of the passkey; `public_key` is a COSE_Key. */
  credential: { id: string; public_key: string; algorithm: 'ES256' | 'EdDSA'; backup_eligible: boolean }
  response: ReturnType<typeof responseOf>
}

export function makeAssertions(): VectorFile<AssertionInput, { answer: string }> {
  const text = (bytes: Buffer) => bytes.toString('base64url')
  const coordinate = (name: 'x' | 'y') => Buffer.from(KEY.jwk[name] ?? '', 'base64url')
  const publicKey = new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, coordinate('x')],
    [-3, coordinate('y')],
  ])
  const credential = {
    id: text(ID),
    public_key: text(cbor(publicKey)),
    algorithm: 'ES256' as const,
    backup_eligible: false,
  }
  return {
    family: 'passkeys',
    version: 1,
    source:
      'Made by tools/vectors for this project; no third-party data. The key is SHA-256 of `countersign token vectors: passkeys` ' +
      'modulo the order of P-256, nonces follow RFC 6979. The key is in no deployment.',
    about:
      'What a relying party answers to the assertion `response` of the passkey `credential`: accepted, or the code of the ' +
      'refusal. The counter is not judged here.',
    cases: CASES.map(([id, answer, reason, given]) => ({
      id: `passkeys-assertions-${id}`,
      title: `${answer === 'accepted' ? 'accept' : `refuse as ${answer}`}: ${reason}`,
      input: {
        rp_id: RP_ID,
        origins: [ORIGIN],
        challenge: text(CHALLENGE),
        credential: { ...credential, ...given.credential },
        response: responseOf(given),
      },
      expect: { answer },
    })),
  }
}

function clientBytesOf({ clientBytes, clientData = {} }: Given): Buffer {
  const data = { type: 'webauthn.get', challenge: CHALLENGE.toString('base64url'), origin: ORIGIN, crossOrigin: false }
  return clientBytes ?? Buffer.from(JSON.stringify({ ...data, ...clientData }))
}

function authenticatorBytesOf({
  rpId = RP_ID,
  flags = UP | UV,
  counter = 7,
  more = Buffer.alloc(0),
  cut,
}: Given): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(counter, 1)
  return Buffer.concat([hash('sha256', rpId, 'buffer'), head, more]).subarray(0, cut)
}

function responseOf(given: Given) {
  const [clientData, authenticatorData] = [clientBytesOf(given), authenticatorBytesOf(given)]
  const message = given.signed ?? Buffer.concat([authenticatorData, hash('sha256', clientData, 'buffer')])
  const signature =
    given.credential?.algorithm === 'EdDSA'
      ? sign(null, message, ED25519_KEY)
      : (given.signature ?? derSignature)(signNumbers(KEY, message))
  return {
    id: (given.id ?? ID).toString('base64url'),
    rawId: (given.rawId ?? ID).toString('base64url'),
    type: 'public-key' as const,
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
    },
  }
}

function cbor(value: unknown): Buffer {
  return Buffer.from(encode(value))
}

function sequence(...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

function longForm(der: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x30, 0x81, der.length - 2]), der.subarray(2)])
}

// A counter whose signature has an integer of 31 bytes: with a zero more it has 32, which libraries take.
function findCounter(numberOf: (signature: Signature) => bigint): number {
  for (let counter = 8; ; counter += 1) {
    const [clientData, authenticatorData] = [clientBytesOf({}), authenticatorBytesOf({ counter })]
    const message = Buffer.concat([authenticatorData, hash('sha256', clientData, 'buffer')])
    if (numberOf(signNumbers(KEY, message)) >> 247n === 0n) return counter
  }
}

function derInteger(value: bigint): Buffer {
  // The second of the two integers.
  const both = derSignature({ r: 0n, s: value })
  return both.subarray(5)
}

function padded(integer: Buffer): Buffer {
  const body = integer.subarray(2)
  return Buffer.concat([Buffer.from([2, body.length + 1, 0]), body])
}
