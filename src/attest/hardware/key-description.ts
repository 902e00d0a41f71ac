// The extension in the certificate of an attested Android key (Android documentation, "Key and ID attestation",
// KeyDescription). Releases order their tags differently and add new ones. Unknown tags are skipped; a duplicate tag is
// refused, because two readers could then read different values.

import { readTagged, type Tagged } from './tagged.ts'

export const KEY_DESCRIPTION_OID = '1.3.6.1.4.1.11129.2.1.17'

// Levels in the order of their numbers, like the boot states.
export const SECURITY_LEVELS = ['software', 'tee', 'strongbox'] as const
export type SecurityLevel = (typeof SECURITY_LEVELS)[number]

export interface KeyDescription {
  attestationVersion: number
  attestationSecurityLevel: SecurityLevel
  keyMintVersion: number
  keyMintSecurityLevel: SecurityLevel
  challenge: Buffer
  uniqueId: Buffer
  softwareEnforced: Authorizations
  hardwareEnforced: Authorizations
}

/** Only the present members of a list. Numbers are those of Android's tags; absent flags are false. */
export interface Authorizations {
  purposes?: number[]
  algorithm?: number
  keySize?: number
  digests?: number[]
  paddings?: number[]
  ecCurve?: number
  rsaPublicExponent?: number
  noAuthRequired: boolean
  /** Bits: 1 password, pattern or PIN; 2 biometric. */
  userAuthType?: number
  /** Absent: each use needs its own authentication. */
  authTimeoutSeconds?: number
  isUserPresenceRequired: boolean
  isConfirmationRequired: boolean
  createdAtMs?: number
  /** 0: generated there. 2: imported, so it existed elsewhere before. */
  origin?: number
  rootOfTrust?: RootOfTrust
  osVersion?: number
  /** YYYYMM or YYYYMMDD, like the two others. */
  osPatchLevel?: number
  vendorPatchLevel?: number
  bootPatchLevel?: number
  application?: ApplicationId
  brand?: string
  device?: string
  product?: string
  serial?: string
  imei?: string
  secondImei?: string
  meid?: string
  manufacturer?: string
  model?: string
  areTagsOrdered: boolean
}

export const BOOT_STATES = ['verified', 'self_signed', 'unverified', 'failed'] as const
export type BootState = (typeof BOOT_STATES)[number]

export interface RootOfTrust {
  verifiedBootKey: Buffer
  isDeviceLocked: boolean
  bootState: BootState
  verifiedBootHash?: Buffer
}

export interface ApplicationId {
  packages: { name: string; version: number }[]
  /** SHA-256 of the certificates that signed the app. */
  signatures: Buffer[]
}

/** @throws {RangeError} for anything but one KeyDescription. */
export function parseKeyDescription(extension: Buffer): KeyDescription {
  const parts = only(readTagged(extension), SEQUENCE)
  const [version, level, keyMintVersion, keyMintLevel, challenge, uniqueId, software, hardware] = readTagged(parts)
  return {
    attestationVersion: toNumber(contentOf(version, INTEGER)),
    attestationSecurityLevel: toLevel(contentOf(level, ENUMERATED)),
    keyMintVersion: toNumber(contentOf(keyMintVersion, INTEGER)),
    keyMintSecurityLevel: toLevel(contentOf(keyMintLevel, ENUMERATED)),
    challenge: contentOf(challenge, OCTET_STRING),
    uniqueId: contentOf(uniqueId, OCTET_STRING),
    softwareEnforced: readAuthorizations(contentOf(software, SEQUENCE)),
    hardwareEnforced: readAuthorizations(contentOf(hardware, SEQUENCE)),
  }
}

const BOOLEAN = 1
const INTEGER = 2
const OCTET_STRING = 4
const ENUMERATED = 10
const SEQUENCE = 16
const SET = 17

const UNIVERSAL = 0
const CONTEXT = 2

function readAuthorizations(list: Buffer): Authorizations {
  const found = new Map<number, Buffer>()
  let areTagsOrdered = true
  let last = -1
  for (const { tagClass, number, content } of readTagged(list)) {
    if (tagClass !== CONTEXT) throw new RangeError('an authorization without a tag of its own')
    if (found.has(number)) throw new RangeError(`authorization ${number} appears twice`)
    found.set(number, content)
    areTagsOrdered &&= number > last
    last = number
  }
  const at = <V>(number: number, read: (content: Buffer) => V): V | undefined => {
    const content = found.get(number)
    return content === undefined ? undefined : read(content)
  }
  const authorizations = {
    purposes: at(1, toNumbers),
    algorithm: at(2, toInteger),
    keySize: at(3, toInteger),
    digests: at(5, toNumbers),
    paddings: at(6, toNumbers),
    ecCurve: at(10, toInteger),
    rsaPublicExponent: at(200, toInteger),
    noAuthRequired: found.has(503),
    userAuthType: at(504, toInteger),
    authTimeoutSeconds: at(505, toInteger),
    isUserPresenceRequired: found.has(507),
    isConfirmationRequired: found.has(508),
    createdAtMs: at(701, toInteger),
    origin: at(702, toInteger),
    rootOfTrust: at(704, toRootOfTrust),
    osVersion: at(705, toInteger),
    osPatchLevel: at(706, toInteger),
    application: at(709, (content) => toApplication(only(readTagged(content), OCTET_STRING))),
    brand: at(710, toText),
    device: at(711, toText),
    product: at(712, toText),
    serial: at(713, toText),
    imei: at(714, toText),
    meid: at(715, toText),
    manufacturer: at(716, toText),
    model: at(717, toText),
    vendorPatchLevel: at(718, toInteger),
    bootPatchLevel: at(719, toInteger),
    secondImei: at(723, toText),
    areTagsOrdered,
  }
  return withoutUndefined(authorizations)
}

type Defined<V> = { [K in keyof V as undefined extends V[K] ? never : K]: V[K] } & {
  [K in keyof V as undefined extends V[K] ? K : never]?: Exclude<V[K], undefined>
}

function withoutUndefined<V extends object>(value: V): Defined<V> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<V>
}

function toRootOfTrust(content: Buffer): RootOfTrust {
  const [key, locked, state, hash] = readTagged(only(readTagged(content), SEQUENCE))
  const bootState = BOOT_STATES[toNumber(contentOf(state, ENUMERATED))]
  if (bootState === undefined) throw new RangeError('an unknown boot state')
  const [flag] = contentOf(locked, BOOLEAN)
  return {
    verifiedBootKey: contentOf(key, OCTET_STRING),
    isDeviceLocked: flag !== undefined && flag !== 0,
    bootState,
    // Since Keymaster 4.
    ...(hash === undefined ? {} : { verifiedBootHash: contentOf(hash, OCTET_STRING) }),
  }
}

function toApplication(content: Buffer): ApplicationId {
  const [packages, signatures] = readTagged(only(readTagged(content), SEQUENCE))
  return {
    packages: readTagged(contentOf(packages, SET)).map((one) => {
      const [name, version] = readTagged(contentOf(one, SEQUENCE))
      return { name: contentOf(name, OCTET_STRING).toString('utf8'), version: toNumber(contentOf(version, INTEGER)) }
    }),
    signatures: readTagged(contentOf(signatures, SET)).map((one) => contentOf(one, OCTET_STRING)),
  }
}

function only(elements: readonly Tagged[], number: number): Buffer {
  if (elements.length !== 1) throw new RangeError('one element is expected')
  return contentOf(elements[0], number)
}

function contentOf(element: Tagged | undefined, number: number): Buffer {
  if (element?.tagClass !== UNIVERSAL || element.number !== number) throw new RangeError(`expected the tag ${number}`)
  return element.content
}

function toInteger(content: Buffer): number {
  return toNumber(only(readTagged(content), INTEGER))
}

function toNumbers(content: Buffer): number[] {
  return readTagged(only(readTagged(content), SET)).map((one) => toNumber(contentOf(one, INTEGER)))
}

function toText(content: Buffer): string {
  return only(readTagged(content), OCTET_STRING).toString('utf8')
}

function toLevel(content: Buffer): SecurityLevel {
  const level = SECURITY_LEVELS[toNumber(content)]
  if (level === undefined) throw new RangeError('an unknown security level')
  return level
}

function toNumber(content: Buffer): number {
  const [first = 0x80] = content
  if (first >= 0x80 || content.length > 8) throw new RangeError('a number that is negative or absurd')
  const number = Number.parseInt(content.toString('hex'), 16)
  if (!Number.isSafeInteger(number)) throw new RangeError('a number beyond 2^53')
  return number
}
