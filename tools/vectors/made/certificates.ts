// Certificates of devices for the cases of packets. Each key follows from its name, and so does its certificate.

import { createHash } from 'node:crypto'
import { boolean, element, integer, octets, sequence, set, tagged } from '../../../capture-kit/der.ts'
import { derSignature, makeVectorKey, signNumbers, type VectorKey } from './signing.ts'

export const DEVICE_KEY = makeVectorKey('device', 'sandbox', 'token')
export const OTHER_DEVICE_KEY = makeVectorKey('other device', 'sandbox', 'token')
const AUTHORITY_KEY = makeVectorKey('device authority', 'sandbox', 'token')
const ROOT_KEY = makeVectorKey('device root', 'sandbox', 'token')

export interface StatedCertificate {
  /** base64 of DER. */
  der: string
  subject: string
  issuer: string
  serial: string
  not_before: string
  not_after: string
  fingerprint: string
}

/** SubjectPublicKeyInfo (RFC 5480). */
export function spkiOf({ jwk }: VectorKey): Buffer {
  const [x = '', y = ''] = [jwk.x, jwk.y]
  const head = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex')
  return Buffer.concat([head, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

const COMMON_NAME = element(0x06, Buffer.from('550403', 'hex'))
const ECDSA_SHA256 = sequence(element(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
const BASIC_CONSTRAINTS = element(0x06, Buffer.from('551d13', 'hex'))

const nameOf = (text: string) => sequence(set(sequence(COMMON_NAME, element(0x0c, Buffer.from(text)))))
const bitsOf = (bytes: Buffer) => element(0x03, Buffer.of(0), bytes)

interface CertificateFields {
  subject: string
  key: VectorKey
  issuer: string
  by: VectorKey
  serial: number
  isCa?: boolean
}

function makeCertificate({ subject, key, issuer, by, serial, isCa = false }: CertificateFields): StatedCertificate {
  const validity = ['260101000000Z', '460101000000Z'].map((time) => element(0x17, Buffer.from(time)))
  const extensions = isCa
    ? [tagged(3, sequence(sequence(BASIC_CONSTRAINTS, boolean(true), octets(sequence(boolean(true))))))]
    : []
  const body = sequence(
    tagged(0, integer(2)),
    integer(serial),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(...validity),
    nameOf(subject),
    spkiOf(key),
    ...extensions,
  )
  const der = sequence(body, ECDSA_SHA256, bitsOf(derSignature(signNumbers(by, body))))
  return {
    der: der.toString('base64'),
    subject: `CN=${subject}`,
    issuer: `CN=${issuer}`,
    serial: serial.toString(16),
    not_before: '2026-01-01T00:00:00.000Z',
    not_after: '2046-01-01T00:00:00.000Z',
    fingerprint: createHash('sha256').update(der).digest('hex'),
  }
}

const AUTHORITY = { subject: 'Vector Authority', issuer: 'Vector Root', key: AUTHORITY_KEY, by: ROOT_KEY, isCa: true }
const DEVICE = {
  subject: 'Vector Device',
  issuer: 'Vector Authority',
  key: DEVICE_KEY,
  by: AUTHORITY_KEY,
  serial: 4660,
}

export const DEVICE_CERTIFICATE = makeCertificate(DEVICE)
export const AUTHORITY_CERTIFICATE = makeCertificate({ ...AUTHORITY, serial: 86 })
/** Names the authority as its issuer, which has not signed it. */
export const FORGED_CERTIFICATE = makeCertificate({ ...DEVICE, by: OTHER_DEVICE_KEY })
/** Is signed by its own key, and names itself. */
export const SELF_SIGNED_CERTIFICATE = makeCertificate({ ...DEVICE, issuer: DEVICE.subject, by: DEVICE_KEY })
/** Names an issuer that is not in the chain. */
export const UNRELATED_CERTIFICATE = makeCertificate({ ...DEVICE, issuer: 'Other Authority' })
