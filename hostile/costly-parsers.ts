// Well-formed certificates made to be costly: RSA keys of every length of modulus and exponent. The longer both are,
// the longer a verifier takes for their signatures.

import { checkChain, parseChain } from '#src/platform/crypto/x509.ts'
import { rsaSpki, unsignedCertificate } from '../test/support/costly-certificates.ts'
import { CHAIN_CODES } from './body-parsers.ts'
import { randomBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { CHAIN, ROOT } from './seeds.ts'

// OpenSSL accepts every exponent up to moduli of 3,072 bits, and 64 bits of exponent above.
const MODULUS_BITS = [512, 1_024, 2_047, 2_048, 3_071, 3_072, 3_073, 4_096, 8_192, 8_193, 16_384]
const EXPONENT_BITS = [1, 2, 17, 32, 33, 64, 65, 256, 2_047]
const MAX_ISSUERS = 7
/** No key in use has a longer one; most have 17 bits. */
const MAX_EXPONENT = 2n ** 64n
const NOW = new Date('2026-11-20T12:00:00Z')

/** A leaf, and up to seven CA certificates with the name of its issuer. */
export function makeCostlyChain(dice: Dice): Buffer[] {
  const random = (size: number) => randomBytes(dice, size)
  const name = `Costly ${dice.below(1_000_000)}`
  const authorities = Array.from({ length: 1 + dice.below(MAX_ISSUERS) }, () => {
    const modulusBits = dice.once(2) ? 3_072 : dice.pick(MODULUS_BITS)
    const exponentBits = dice.once(2) ? modulusBits - 1 : dice.pick(EXPONENT_BITS)
    const spki = rsaSpki({ modulusBits, exponentBits, random })
    return unsignedCertificate({ subject: name, issuer: name, spki, isCa: true, random })
  })
  const spki = rsaSpki({ modulusBits: 2_048, exponentBits: 17, random })
  const leaf = dice.once(4)
    ? unsignedCertificate({ subject: 'Phone', issuer: name, spki, isCa: false, random })
    : unsignedCertificate({ subject: 'Phone', issuer: name, spki: P256_SPKI, isCa: false, random })
  return [leaf, ...authorities]
}

export function costlyParsers(): Parser[] {
  return [
    {
      name: 'certificate chain of costly keys',
      source: 'platform/crypto/x509',
      // Seven honest signatures take a millisecond.
      limit: { kind: 'thread', ms: 20 },
      refusals: CHAIN_CODES,
      make: (dice) => pack(makeCostlyChain(dice)),
      run(input) {
        const chain = unpack(input)
        const parsed = parseChain(chain)
        if (!parsed.ok) return parsed.code
        for (const { publicKey, keyAlgorithm } of parsed.certificates) {
          const { publicExponent = 0n } = publicKey.asymmetricKeyDetails ?? {}
          hold(keyAlgorithm !== 'rsa' || publicExponent < MAX_EXPONENT, 'no key whose exponent is made to cost')
        }
        const verdict = checkChain({ chain: parsed.certificates, anchors: parsed.certificates.slice(1), at: NOW })
        hold(!verdict.isTrusted, 'the chain has no valid signature')
        return verdict.isTrusted ? 'accepted' : verdict.code
      },
    },
  ]
}

// From the seeds' phone: the same in every run.
const P256_SPKI = spkiOfSeed()

function spkiOfSeed(): Buffer {
  const parsed = parseChain([...CHAIN, ROOT])
  const spki = parsed.ok ? parsed.certificates[0]?.spki : undefined
  if (spki === undefined) throw new Error('the seeds have no key')
  return spki
}

function pack(parts: readonly Buffer[]): Buffer {
  return Buffer.from(parts.map((part) => part.toString('base64')).join('\n'))
}

function unpack(bytes: Buffer): Buffer[] {
  return bytes
    .toString()
    .split('\n')
    .map((text) => Buffer.from(text, 'base64'))
}
