// Signatures of devices in each form that another verifier might read: a packet is checked with DER, and with r and s.

import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { DEVICE_KEY } from './certificates.ts'
import { failed, PART, withOne } from './packet-edits.ts'
import { type AttestationParts, BUNDLE } from './packet-parts.ts'
import type { PacketCase } from './packets.ts'
import { derSignature, signNumbers } from './signing.ts'

type Numbers = Parameters<typeof derSignature>[0]

const bytes = (...values: number[]) => Buffer.from(values)
const integer = (body: Buffer) => Buffer.concat([bytes(2, body.length), body])
const sequence = (...parts: Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([bytes(0x30, body.length), body])
}

/** The packet whose statement has this signature. `base` is the one that it has, in DER. */
function signedAs(
  make: (base: Buffer, parts: Buffer[], numbers: Numbers) => Buffer,
  attestation: AttestationParts = {},
) {
  return withOne((one) => {
    const signature = one.submission.signature as { value: string }
    const raw = Buffer.from(signature.value, 'base64url')
    const [r, s] = [raw.subarray(0, 32), raw.subarray(32)].map((half) => BigInt(`0x${half.toString('hex')}`))
    const numbers = { r: r ?? 0n, s: s ?? 0n }
    const base = derSignature(numbers)
    const end = 4 + (base[3] ?? 0)
    signature.value = make(base, [base.subarray(2, end), base.subarray(end)], numbers).toString('base64url')
  }, attestation)
}

const REFUSED: [id: string, reason: string, make: Parameters<typeof signedAs>[0]][] = [
  ['tag', 'the sequence has another tag', (base) => Buffer.concat([bytes(0x31), base.subarray(1)])],
  ['length', 'the length of the sequence is too small', (base) => Buffer.concat([bytes(0x30, 0x40), base.subarray(2)])],
  ['after', 'a byte follows the sequence', (base) => Buffer.concat([base, bytes(0)])],
  ['third', 'the sequence has a third integer', (_base, parts) => sequence(...parts, bytes(2, 1, 1))],
  ['one', 'the sequence has one integer', (_base, [r = bytes()]) => sequence(r)],
  ['tag-r', 'r is no integer', (_base, [r = bytes(), s = bytes()]) => sequence(bytes(3), r.subarray(1), s)],
  ['tag-s', 's is no integer', (_base, [r = bytes(), s = bytes()]) => sequence(r, bytes(3), s.subarray(1))],
  [
    'padded-r',
    'r has a zero more than it needs',
    (_base, [r = bytes(), s = bytes()]) => sequence(integer(Buffer.concat([bytes(0), r.subarray(2)])), s),
  ],
  ['empty-r', 'r has no bytes', (_base, [, s = bytes()]) => sequence(integer(bytes()), s)],
  ['zero-r', 'r is zero', (_base, [, s = bytes()]) => sequence(integer(bytes(0)), s)],
  [
    'negative',
    'the integers have no sign byte, so that they are negative',
    (_base, _parts, { r, s }) => sequence(...[r, s].map((value) => integer(unsignedOf(value)))),
  ],
  [
    'cut-s',
    's is longer than the sequence',
    (base) => Buffer.concat([bytes(0x30, base.length - 3), base.subarray(2, -1)]),
  ],
  ['long-r', 'r has 33 digits', (_base, [, s = bytes()]) => sequence(integer(Buffer.alloc(33, 0x11)), s)],
  ['raw-63', 'r and s without the last byte', (_base, _parts, numbers) => rawOf(numbers).subarray(0, 63)],
]

// Another encoding of the same key. Libraries read it as the key, and two verifiers may name it by two digests.
function keyAs(make: (spki: Buffer) => Buffer) {
  return withOne((one) => {
    const key = one.key as { spki: string }
    key.spki = make(Buffer.from(key.spki, 'base64')).toString('base64')
  })
}

const parityOf = (spki: Buffer) => (spki.at(-1) ?? 0) & 1
const KEYS: [id: string, reason: string, make: Parameters<typeof keyAs>[0]][] = [
  ['trailing', 'a byte follows', (spki) => Buffer.concat([spki, bytes(0)])],
  [
    'hybrid',
    'its point is hybrid',
    (spki) => Buffer.concat([spki.subarray(0, 26), bytes(6 + parityOf(spki)), spki.subarray(27)]),
  ],
  [
    'compressed',
    'its point is compressed',
    (spki) =>
      Buffer.concat([
        Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
        bytes(2 + parityOf(spki)),
        spki.subarray(27, 59),
      ]),
  ],
  ['empty', 'it has no bytes', () => bytes()],
]

/** A packet whose statement has such a signature: the first of a series of statements that has one. */
function findSigned(isWanted: (numbers: Numbers) => boolean): AttestationParts {
  for (let serial = 0; ; serial += 1) {
    const bundle = { ...BUNDLE, session_nonce: `nonce-${serial}` }
    if (isWanted(signNumbers(DEVICE_KEY, canonicalize(bundle)))) return { bundle }
  }
}

function unsignedOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function rawOf({ r, s }: Numbers): Buffer {
  return Buffer.concat([unsignedOf(r), unsignedOf(s)])
}

const SHORT = findSigned(({ r }) => r >> 247n === 0n)

export const DEVICE_SIGNATURES: PacketCase[] = [
  ['device-signature-der', 'the statement is signed in DER', signedAs((base) => base), []],
  [
    'device-signature-der-high-second-byte',
    'the statement is signed in DER, and the second byte of r is above 0x7f: the first one is a digit',
    signedAs(
      (base) => base,
      findSigned(({ r }) => ((r >> 248n) & 0x80n) === 0n && ((r >> 240n) & 0x80n) !== 0n && r >> 248n !== 0n),
    ),
    [],
  ],
  [
    'device-signature-der-short',
    'the statement is signed in DER, and r has 31 bytes',
    signedAs((base) => base, SHORT),
    [],
  ],
  [
    'device-signature-der-short-padded',
    'of the signature of the statement, r has 31 bytes and a zero more than it needs',
    signedAs(
      (_base, [r = bytes(), s = bytes()]) => sequence(integer(Buffer.concat([bytes(0), r.subarray(2)])), s),
      SHORT,
    ),
    failed(PART, 'device signature'),
  ],
  [
    'device-key-no-base64',
    'the key of the device is no base64',
    withOne((one) => Object.assign(one.key ?? {}, { spki: '*' })),
    failed(PART, 'device signature', 'signing key'),
  ],
  ...KEYS.map(
    ([id, reason, make]): PacketCase => [
      `device-key-${id}`,
      `of the key of the device, ${reason}`,
      keyAs(make),
      failed(PART, 'device signature', 'signing key'),
    ],
  ),
  ...REFUSED.map(
    ([id, reason, make]): PacketCase => [
      `device-signature-${id}`,
      `of the signature of the statement, ${reason}`,
      signedAs(make),
      failed(PART, 'device signature'),
    ],
  ),
]
