// The certificate extension in which an Android phone describes a key that it made.
import { boolean, enumerated, integer, nothing, octets, sequence, set, tagged } from './der.ts'

export interface KeyStatement {
  challenge: Uint8Array
  /** 0 software, 1 TEE, 2 StrongBox. */
  level: number
  /** Default: the same. */
  keyMintLevel?: number
  /** 0: generated in the hardware. */
  origin?: number
  isDeviceLocked?: boolean
  /** 0 verified, 1 self-signed, 2 unverified, 3 failed. */
  bootState?: number
  hasRootOfTrust?: boolean
  /** Bits: 1 password, 2 biometric; undefined: no authentication. */
  userAuthType?: number | undefined
  authTimeoutSeconds?: number
  osPatchLevel?: number
  packageName: string
  /** SHA-256 of the app's signing certificate. */
  signingDigest: Uint8Array
  /** One more authorization, as newer phones send. */
  extra?: Uint8Array
}

export const KEY_DESCRIPTION_OID = '1.3.6.1.4.1.11129.2.1.17'

/** KeyDescription of KeyMint 3, in DER. */
export function describeKey(statement: KeyStatement): Buffer {
  const { challenge, level, keyMintLevel = level, origin = 0, packageName, signingDigest } = statement
  const { isDeviceLocked = true, bootState = 0, hasRootOfTrust = true, osPatchLevel = 202609 } = statement
  const { userAuthType, authTimeoutSeconds, extra = Buffer.alloc(0) } = statement
  const application = sequence(set(sequence(octets(packageName), integer(12))), set(octets(signingDigest)))
  const rootOfTrust = sequence(
    octets(Buffer.alloc(32, 7)),
    boolean(isDeviceLocked),
    enumerated(bootState),
    octets(Buffer.alloc(32, 9)),
  )
  const hardware = sequence(
    tagged(1, set(integer(2))),
    tagged(2, integer(3)),
    tagged(3, integer(256)),
    tagged(5, set(integer(4))),
    tagged(10, integer(1)),
    ...(userAuthType === undefined ? [tagged(503, nothing())] : [tagged(504, integer(userAuthType))]),
    ...(authTimeoutSeconds === undefined ? [] : [tagged(505, integer(authTimeoutSeconds))]),
    tagged(702, integer(origin)),
    ...(hasRootOfTrust ? [tagged(704, rootOfTrust)] : []),
    tagged(705, integer(160000)),
    tagged(706, integer(osPatchLevel)),
    tagged(710, octets('Simulated')),
    tagged(717, octets('Phone')),
    tagged(718, integer(20260905)),
    tagged(719, integer(20260905)),
    extra,
  )
  const software = sequence(tagged(701, integer(1_790_000_000_000)), tagged(709, octets(application)))
  return sequence(
    integer(300),
    enumerated(level),
    integer(300),
    enumerated(keyMintLevel),
    octets(challenge),
    octets(''),
    software,
    hardware,
  )
}
