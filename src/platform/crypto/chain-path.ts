// The search for a path. It visits each certificate once, the one with the fewest intermediates below it first. Fewer
// intermediates never reach less far, so no path is tried twice, and a mesh of cross-signed certificates stays cheap.

import { LRUCache } from 'lru-cache'
import { judgeIssuer, type Obstacle } from '#src/platform/crypto/chain-rules.ts'
import type { Certificate, ChainVerdict, KeyAlgorithm } from '#src/platform/crypto/x509.ts'

export interface CheckInput {
  chain: readonly Certificate[]
  anchors: readonly Certificate[]
  at: Date
}

// In checks of a P-256 signature (0.08 ms): 20 ms of the event loop. A chain of eight P-521 certificates needs 168, and
// a P-256 chain may have two hundred anchors of one name. The search through a hostile mesh ends here.
const MAX_WORK = 256
const WORK: Record<KeyAlgorithm, number> = { 'ec-p256': 1, ed25519: 2, rsa: 1, 'ec-p384': 10, 'ec-p521': 24 }

/** The leaf was checked before; the comment of `checkChain` applies. */
export function findPath(leaf: Certificate, { chain, anchors, at }: CheckInput): ChainVerdict {
  const isAnchor = new Set(anchors.map(({ fingerprint }) => fingerprint))
  // The sent certificates come first: they identify the right one among anchors of one name.
  const candidates = [...chain.slice(1), ...anchors]
  const reached = new Set<string>()
  const open: Step[] = [{ certificate: leaf, signed: undefined, intermediates: 0, depth: 0 }]
  let furthest: (Obstacle & { certificate: Certificate; depth: number }) | undefined
  let work = 0
  const isSigned = (subject: Certificate, issuer: Certificate) => {
    work += workOf(issuer)
    return work <= MAX_WORK && isSignedBy(subject, issuer)
  }

  for (let step = takeFewest(open); step !== undefined; step = takeFewest(open)) {
    const { certificate, depth } = step
    if (reached.has(certificate.fingerprint)) continue
    reached.add(certificate.fingerprint)
    if (depth > 0 && isAnchor.has(certificate.fingerprint)) return trust(step)

    const named = candidates.filter((issuer) => isIssuerName(certificate, issuer))
    // One key made the signature. Once it is found, only certificates of that key can continue the path.
    const signer = named.find((issuer) => isSigned(certificate, issuer))
    if (signer === undefined) {
      const others = named.length > 0 ? [] : chain.slice(1)
      note(certificate, depth, explainDeadEnd(certificate, named.length > 0, others, isSigned))
      continue
    }
    const issuers = named.filter(({ spkiDigest }) => spkiDigest.equals(signer.spkiDigest))
    const intermediates = step.intermediates + (depth === 0 || isSelfIssued(certificate) ? 0 : 1)
    for (const issuer of issuers) {
      const obstacle = judgeIssuer(issuer, { intermediates, at, isAnchor: isAnchor.has(issuer.fingerprint) })
      if (obstacle === undefined) open.push({ certificate: issuer, signed: step, intermediates, depth: depth + 1 })
      else note(issuer, depth + 1, obstacle)
    }
  }
  if (furthest === undefined || work > MAX_WORK) {
    const detail = furthest === undefined ? 'its issuers sign each other in a loop' : 'has too many possible issuers'
    return distrust({ code: 'unknown_ca', detail }, leaf)
  }
  return distrust(furthest, furthest.certificate)

  function note(certificate: Certificate, depth: number, obstacle: Obstacle): void {
    if (furthest === undefined || depth > furthest.depth) furthest = { ...obstacle, certificate, depth }
  }

  function distrust({ code, detail }: Obstacle, { fingerprint, subject }: Certificate): ChainVerdict {
    const index = chain.findIndex((sent) => sent.fingerprint === fingerprint)
    const name = subject === '' ? 'the certificate without a name' : subject.slice(0, 200)
    return { isTrusted: false, code, detail: `${name}: ${detail}`, index: index === -1 ? chain.length : index }
  }
}

// RSA with an exponent of 32 bits costs the square of the modulus: 0.06 ms at 2,048 bits, 0.7 at 8,192.
function workOf({ keyAlgorithm, keyBits }: Certificate): number {
  return keyAlgorithm === 'rsa' ? Math.ceil((keyBits / 2_048) ** 2) : WORK[keyAlgorithm]
}

/** A certificate that a chain of valid signatures reaches, and the certificate that it signed. */
interface Step {
  certificate: Certificate
  signed: Step | undefined
  /** Intermediates between this certificate and the leaf, without self-issued ones. */
  intermediates: number
  depth: number
}

function trust(top: Step): ChainVerdict {
  const path: string[] = []
  for (let step: Step | undefined = top; step !== undefined; step = step.signed) {
    path.unshift(step.certificate.fingerprint)
  }
  return { isTrusted: true, path, anchor: top.certificate.fingerprint }
}

function takeFewest(open: Step[]): Step | undefined {
  let best = 0
  for (const [index, step] of open.entries()) {
    if (step.intermediates < (open[best]?.intermediates ?? 0)) best = index
  }
  return open.splice(best, 1)[0]
}

function isIssuerName(subject: Certificate, issuer: Certificate): boolean {
  return issuer.subjectDer.equals(subject.issuerDer) && issuer.fingerprint !== subject.fingerprint
}

function isSelfIssued({ subjectDer, issuerDer }: Certificate): boolean {
  return subjectDer.equals(issuerDer)
}

function explainDeadEnd(
  certificate: Certificate,
  isNameKnown: boolean,
  others: readonly Certificate[],
  isSigned: (subject: Certificate, issuer: Certificate) => boolean,
): Obstacle {
  if (isSelfIssued(certificate) && isSigned(certificate, certificate)) {
    return { code: 'unknown_ca', detail: 'is a root that is not registered' }
  }
  if (isNameKnown) return { code: 'bad_signature', detail: 'its signature is not by the issuer that it names' }
  const signer = others.find((other) => other !== certificate && isSigned(certificate, other))
  if (signer !== undefined) {
    return { code: 'name_mismatch', detail: 'was signed by a certificate of the chain, but names another issuer' }
  }
  return { code: 'unknown_ca', detail: 'its issuer is neither in the chain nor a registered root' }
}

// Cached by the issuer's key and the subject's bytes: a signature depends on nothing else.
const signatures = new LRUCache<string, boolean>({ max: 10_000 })

/** Whether the key made the signature of `subject`; does not check names, dates or what the key may do. */
export function isSignedBy(subject: Certificate, issuer: Pick<Certificate, 'spkiDigest' | 'publicKey'>): boolean {
  const pair = `${subject.fingerprint}${issuer.spkiDigest.toString('latin1')}`
  const known = signatures.get(pair)
  if (known !== undefined) return known
  const isValid = verifySignature(subject, issuer)
  signatures.set(pair, isValid)
  return isValid
}

function verifySignature({ x509 }: Certificate, { publicKey }: Pick<Certificate, 'publicKey'>): boolean {
  try {
    return x509.verify(publicKey)
  } catch {
    return false // The algorithm doesn't fit the key.
  }
}
