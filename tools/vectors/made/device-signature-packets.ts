// Signatures of devices in each form that another verifier might read: a packet is checked with DER, and with r and s.

import { failed, PART, withOne } from './packet-edits.ts'
import type { PacketCase } from './packets.ts'
import { derSignature } from './signing.ts'

type Numbers = Parameters<typeof derSignature>[0]

const bytes = (...values: number[]) => Buffer.from(values)
const integer = (body: Buffer) => Buffer.concat([bytes(2, body.length), body])
const sequence = (...parts: Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([bytes(0x30, body.length), body])
}

/** The packet whose statement has this signature. `base` is the one that it has, in DER. */
function signedAs(make: (base: Buffer, parts: Buffer[], numbers: Numbers) => Buffer) {
  return withOne((one) => {
    const signature = one.submission.signature as { value: string }
    const raw = Buffer.from(signature.value, 'base64url')
    const [r, s] = [raw.subarray(0, 32), raw.subarray(32)].map((half) => BigInt(`0x${half.toString('hex')}`))
    const numbers = { r: r ?? 0n, s: s ?? 0n }
    const base = derSignature(numbers)
    const end = 4 + (base[3] ?? 0)
    signature.value = make(base, [base.subarray(2, end), base.subarray(end)], numbers).toString('base64url')
  })
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

function unsignedOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function rawOf({ r, s }: Numbers): Buffer {
  return Buffer.concat([unsignedOf(r), unsignedOf(s)])
}

export const DEVICE_SIGNATURES: PacketCase[] = [
  ['device-signature-der', 'the statement is signed in DER', signedAs((base) => base), []],
  ...REFUSED.map(
    ([id, reason, make]): PacketCase => [
      `device-signature-${id}`,
      `of the signature of the statement, ${reason}`,
      signedAs(make),
      failed(PART, 'device signature'),
    ],
  ),
]
