// The parts of an X.509 certificate (RFC 5280 4.1) that a path check needs and node:crypto doesn't expose: the exact
// bytes of names and key, critical extensions, key usage and path length.

import { type Element, expectTag, formatOid, readDerElements, readOnly } from '#src/platform/crypto/der.ts'

export interface CertificateFields {
  issuerDer: Buffer
  subjectDer: Buffer
  spki: Buffer
  /** Dotted. */
  signatureOid: string
  /** Value of basicConstraints; false without it. */
  isCa: boolean
  /** Undefined: no limit. */
  pathLength: number | undefined
  /** Undefined without the extension: then every use is allowed. */
  keyUsage: { digitalSignature: boolean; keyCertSign: boolean } | undefined
  /** Dotted identifiers of critical extensions that our path check doesn't process. */
  unknownCriticalExtensions: string[]
}

/** @throws {RangeError} when the bytes are not exactly one certificate, or have one extension twice. */
export function readCertificateFields(der: Buffer): CertificateFields {
  const [tbs, algorithm] = readDerElements(readOnly(der, SEQUENCE).content)
  const fields = readDerElements(expectTag(tbs, SEQUENCE).content)
  // Version 1 omits the version field.
  if (fields[0]?.tag === CONTEXT_0) fields.shift()
  const [serial, , issuer, , subject, spki, ...optional] = fields
  expectTag(serial, INTEGER)
  const [signatureOid] = readDerElements(expectTag(algorithm, SEQUENCE).content)
  return {
    issuerDer: expectTag(issuer, SEQUENCE).bytes,
    subjectDer: expectTag(subject, SEQUENCE).bytes,
    spki: expectTag(spki, SEQUENCE).bytes,
    signatureOid: formatOid(expectTag(signatureOid, OID).content),
    ...judgeExtensions(readExtensions(optional.find(({ tag }) => tag === CONTEXT_3))),
  }
}

export interface Extension {
  isCritical: boolean
  value: Buffer
}

/**
 * The extensions of a certificate by their dotted identifiers.
 * @throws {RangeError} as `readCertificateFields`.
 */
export function readCertificateExtensions(der: Buffer): Map<string, Extension> {
  const [tbs] = readDerElements(readOnly(der, SEQUENCE).content)
  const fields = readDerElements(expectTag(tbs, SEQUENCE).content)
  return readExtensions(fields.find(({ tag }) => tag === CONTEXT_3))
}

const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OID = 0x06
const SEQUENCE = 0x30
const CONTEXT_0 = 0xa0
const CONTEXT_3 = 0xa3

const BASIC_CONSTRAINTS = '2.5.29.19'
const KEY_USAGE = '2.5.29.15'
// They restrict names, policies and purposes that a capture does not have: nothing to check, and safe when critical.
// Name and policy constraints are not here: they bind whole paths, and a path that needs them is refused.
const HARMLESS = new Set(['2.5.29.17' /* subjectAltName */, '2.5.29.32' /* policies */, '2.5.29.37' /* extKeyUsage */])

function readExtensions(wrapper: Element | undefined): Map<string, Extension> {
  const extensions = new Map<string, Extension>()
  if (wrapper === undefined) return extensions
  for (const extension of readDerElements(readOnly(wrapper.content, SEQUENCE).content)) {
    const parts = readDerElements(expectTag(extension, SEQUENCE).content)
    const oid = formatOid(expectTag(parts.shift(), OID).content)
    const isCritical = parts[0]?.tag === BOOLEAN && isTrue(parts.shift())
    // RFC 5280 4.2. With two, one reader would take the first and another reader the last.
    if (extensions.has(oid)) throw new RangeError(`extension ${oid} appears twice`)
    extensions.set(oid, { isCritical, value: expectTag(parts[0], OCTET_STRING).content })
  }
  return extensions
}

function judgeExtensions(extensions: Map<string, Extension>) {
  const unknownCriticalExtensions: string[] = []
  for (const [oid, { isCritical }] of extensions) {
    const isKnown = oid === BASIC_CONSTRAINTS || oid === KEY_USAGE || HARMLESS.has(oid)
    if (isCritical && !isKnown) unknownCriticalExtensions.push(oid)
  }
  const keyUsage = extensions.get(KEY_USAGE)
  return {
    ...readBasicConstraints(extensions.get(BASIC_CONSTRAINTS)),
    keyUsage: keyUsage && readKeyUsage(keyUsage),
    unknownCriticalExtensions,
  }
}

function readBasicConstraints(extension: Extension | undefined): Pick<CertificateFields, 'isCa' | 'pathLength'> {
  if (extension === undefined) return { isCa: false, pathLength: undefined }
  const parts = readDerElements(readOnly(extension.value, SEQUENCE).content)
  const isCa = parts[0]?.tag === BOOLEAN && isTrue(parts.shift())
  const [pathLength] = parts
  return { isCa, pathLength: pathLength && readCount(expectTag(pathLength, INTEGER)) }
}

function readKeyUsage({ value }: Extension): NonNullable<CertificateFields['keyUsage']> {
  // The first byte counts the unused bits at the end; bit 0 is the highest of the second.
  const [, bits = 0] = readOnly(value, BIT_STRING).content
  return { digitalSignature: (bits & 0x80) !== 0, keyCertSign: (bits & 0x04) !== 0 }
}

function isTrue(element: Element | undefined): boolean {
  return element?.content.length === 1 && element.content[0] !== 0
}

function readCount({ content }: Element): number {
  const [first = 0x80] = content
  if (first >= 0x80 || content.length > 4) throw new RangeError('a path length that is negative or absurd')
  return content.readUIntBE(0, content.length)
}
