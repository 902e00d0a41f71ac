// The trusted roots. Vendors' roots are pinned by their public keys: certificates of the same key are renewed. Keys
// named in the configuration are added, for simulated fleets; production refuses them.

import { createPublicKey, type KeyObject } from 'node:crypto'
import { sha256, sha256Hex } from '#src/platform/crypto/digest.ts'
import { keyProblem } from '#src/platform/crypto/public-key.ts'
import type { AndroidApp } from './android.ts'
import type { AppleApp } from './apple.ts'

export interface VendorKey {
  publicKey: KeyObject
  /** SHA-256 of the SubjectPublicKeyInfo. */
  spkiDigest: Buffer
}

export interface VendorRoots {
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex: an Android chain includes its root. */
  android: ReadonlySet<string>
  /** An App Attest chain ends below its root, so the keys themselves are needed. */
  apple: readonly VendorKey[]
}

export interface ExpectedApps {
  android: readonly AndroidApp[]
  apple: readonly AppleApp[]
}

// https://android.googleapis.com/attestation/root: RSA 4096 (until 2042) and P-384 (key attestation over the air, 2025).
const GOOGLE_ROOTS = [
  'feb2ea7551ee316ed4bb443c8293b884dbfdea40b603ee3e4f4a897e4580fbae',
  '3ee44512a1af2beb39c889490c60ea3f82e43f5d5a5532f5ab9419f676cd07ec',
]
// https://www.apple.com/certificateauthority/Apple_App_Attestation_Root_CA.pem: P-384, until 2045.
const APPLE_ROOTS = [
  'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdhNbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOU' +
    'tgjqK9auYen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41',
]

/**
 * The pinned roots and those of `testRoots`: `android:` or `apple:` and a SubjectPublicKeyInfo in base64.
 * @throws {Error} naming the unreadable entry.
 */
export function readVendorRoots(testRoots: readonly string[] = []): VendorRoots {
  const test = testRoots.map((entry) => {
    const [, vendor, encoded = ''] = /^(android|apple):([A-Za-z0-9+/=]+)$/.exec(entry) ?? []
    if (vendor === undefined) throw new Error(`${entry} is not android: or apple: and a public key in base64`)
    return { vendor, spki: Buffer.from(encoded, 'base64') }
  })
  const of = (wanted: string) => test.flatMap(({ vendor, spki }) => (vendor === wanted ? [spki] : []))
  return {
    // Parsed as keys too: the digest of an invalid key would never match, without any error.
    android: new Set([...GOOGLE_ROOTS, ...of('android').map((spki) => sha256Hex(readKey(spki) && spki))]),
    apple: [...APPLE_ROOTS.map((text) => Buffer.from(text, 'base64')), ...of('apple')].map((spki) => ({
      publicKey: readKey(spki),
      spkiDigest: sha256(spki),
    })),
  }
}

/**
 * Apps whose evidence counts: `android:<package>:<SHA-256 of the signing certificate in hex>` or `apple:<team>.<bundle
 * identifier>`.
 * @throws {Error} naming the unreadable entry.
 */
export function readExpectedApps(entries: readonly string[]): ExpectedApps {
  const android: AndroidApp[] = []
  const apple: AppleApp[] = []
  for (const entry of entries) {
    const [, packageName, digest] = /^android:([A-Za-z0-9_.]{1,255}):([0-9A-Fa-f:]{64,95})$/.exec(entry) ?? []
    const [, appId] = /^apple:([A-Z0-9]{10}\.[A-Za-z0-9.-]{1,155})$/.exec(entry) ?? []
    // keytool and the Play Console write digests with colons.
    const signingDigest = digest?.replaceAll(':', '').toLowerCase()
    if (packageName !== undefined && signingDigest?.length === 64) android.push({ packageName, signingDigest })
    else if (appId !== undefined) apple.push({ appId })
    else throw new Error(`${entry} is neither android:<package>:<SHA-256 in hex> nor apple:<team>.<bundle identifier>`)
  }
  return { android, apple }
}

function readKey(spki: Buffer): KeyObject {
  const problem = keyProblem(spki)
  if (problem !== undefined) throw new Error(`a test root (SubjectPublicKeyInfo in base64) ${problem}`)
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new Error('a test root is not a public key (SubjectPublicKeyInfo in base64)', { cause })
  }
}
