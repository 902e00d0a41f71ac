// Checks public keys in certificates before OpenSSL parses them: the maker of a key chooses what its verification
// costs. OpenSSL bounds the public exponent of RSA only from 3,073-bit moduli on. Below that, an exponent as long as
// the modulus makes one verification a hundred times as slow.

import { expectTag, formatOid, readDerElements, readOnly } from '#src/platform/crypto/der.ts'
import { ed25519Problem } from '#src/platform/crypto/ed25519.ts'

// A verification costs the square of the modulus: 0.4 ms at this length, with the usual exponent of 17 bits.
const MAX_RSA_BITS = 8_192
// Real keys have 17 bits (65537) or 2 (3). SP 800-56B allows up to 256, which no real key uses; 32 at most double the
// cost.
const MAX_EXPONENT_BITS = 32

const RSA = '1.2.840.113549.1.1.1'
const RSA_PSS = '1.2.840.113549.1.1.10'
const EC = '1.2.840.10045.2.1'
const ED25519 = '1.3.101.112'
// Only named curves: OpenSSL would check each parameter of an explicit curve.
const CURVES = new Set(['1.2.840.10045.3.1.7' /* P-256 */, '1.3.132.0.34' /* P-384 */, '1.3.132.0.35' /* P-521 */])

const SUPPORTED = 'P-256 (named curve, uncompressed), P-384, P-521, Ed25519, RSA up to 8192 bits'
export const UNSUPPORTED_KEY = `has a key that is none of ${SUPPORTED}`

// FIPS 204, NIST CSOR: pure and pre-hashed.
const ML_DSA: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.101.3.4.3.17', 'ML-DSA-44'],
  ['2.16.840.1.101.3.4.3.18', 'ML-DSA-65'],
  ['2.16.840.1.101.3.4.3.19', 'ML-DSA-87'],
  ['2.16.840.1.101.3.4.3.32', 'HashML-DSA-44'],
  ['2.16.840.1.101.3.4.3.33', 'HashML-DSA-65'],
  ['2.16.840.1.101.3.4.3.34', 'HashML-DSA-87'],
])

/**
 * What is wrong with an ML-DSA key; undefined for any other. New phones certify such keys: they are valid and not
 * verified yet, and a caller must be able to tell them from keys that must not be used.
 */
export function mlDsaProblem(spki: Buffer): string | undefined {
  const name = ML_DSA.get(readSpki(spki)?.algorithm ?? '')
  return name && `has a key of ${name}, which is not verified yet; supported are ${SUPPORTED}`
}

/**
 * Why a SubjectPublicKeyInfo (DER) is refused before parsing; undefined for the kinds and bounds that we verify with.
 */
export function keyProblem(spki: Buffer): string | undefined {
  const key = readSpki(spki)
  if (key === undefined) return UNSUPPORTED_KEY
  const { algorithm, curve, bits } = key
  if (algorithm === RSA) return rsaProblem(spki)
  if (algorithm === ED25519) return edwardsProblem(bits)
  const isSupported = algorithm === EC && curve !== undefined && CURVES.has(curve)
  return isSupported ? undefined : UNSUPPORTED_KEY
}

/**
 * Why an RSA key costs too much or proves nothing; undefined for one within its bounds, and for any other kind of key.
 */
export function rsaProblem(spki: Buffer): string | undefined {
  const key = readSpki(spki)
  if (key === undefined || (key.algorithm !== RSA && key.algorithm !== RSA_PSS)) return undefined
  const numbers = readNumbers(key.bits)
  if (numbers === undefined) return 'has an RSA key that can’t be read'
  const [modulus, exponent] = numbers
  const modulusBits = bitsOf(modulus)
  if (modulusBits > MAX_RSA_BITS) {
    return `has an RSA key of ${modulusBits} bits, at most ${MAX_RSA_BITS} are accepted`
  }
  const exponentBits = bitsOf(exponent)
  if (exponentBits > MAX_EXPONENT_BITS) {
    return `has an RSA key with a public exponent of ${exponentBits} bits, at most ${MAX_EXPONENT_BITS} are accepted`
  }
  // With exponent 1 every value is its own signature, and no even number is a valid exponent.
  const isOdd = ((exponent.at(-1) ?? 0) & 1) === 1
  return exponentBits >= 2 && isOdd ? undefined : 'has an RSA key whose public exponent is even, or 1'
}

const ED25519_BYTES = 32

function edwardsProblem(bits: Buffer): string | undefined {
  const problem = bits.length === ED25519_BYTES ? ed25519Problem(bits) : 'has another length'
  return problem && `has an Ed25519 key that ${problem}`
}

const INTEGER = 0x02
const BIT_STRING = 0x03
const OID = 0x06
const SEQUENCE = 0x30

function readSpki(spki: Buffer): { algorithm: string; curve: string | undefined; bits: Buffer } | undefined {
  try {
    const [identifier, key] = readDerElements(readOnly(spki, SEQUENCE).content)
    const [algorithm, parameters] = readDerElements(expectTag(identifier, SEQUENCE).content)
    return {
      algorithm: formatOid(expectTag(algorithm, OID).content),
      curve: parameters?.tag === OID ? formatOid(parameters.content) : undefined,
      // The first byte counts the unused bits at the end; a key has none.
      bits: expectTag(key, BIT_STRING).content.subarray(1),
    }
  } catch {
    return undefined
  }
}

// RFC 8017 A.1.1: SEQUENCE { modulus INTEGER, publicExponent INTEGER }.
function readNumbers(bits: Buffer): [modulus: Buffer, exponent: Buffer] | undefined {
  try {
    const [modulus, exponent, ...rest] = readDerElements(readOnly(bits, SEQUENCE).content)
    const numbers = [expectTag(modulus, INTEGER).content, expectTag(exponent, INTEGER).content] as const
    const isPositive = numbers.every((content) => content.length > 0 && (content[0] ?? 0x80) < 0x80)
    return isPositive && rest.length === 0 ? [...numbers] : undefined
  } catch {
    return undefined
  }
}

function bitsOf(positive: Buffer): number {
  const first = positive.findIndex((byte) => byte !== 0)
  return first === -1 ? 0 : (positive.length - first) * 8 - (Math.clz32(positive[first] ?? 0) - 24)
}
