// Trust anchors of C2PA manifests: signers, from the deployment's file or the public list, and those that an account
// adds; time-stamp authorities, from the public list.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readCertificateFields } from '#src/platform/crypto/certificate-fields.ts'
import { sha256, sha256Hex } from '#src/platform/crypto/digest.ts'
import { rsaProblem } from '#src/platform/crypto/public-key.ts'
import { pemOf } from '#src/platform/crypto/x509.ts'

export interface TrustList {
  pem: string
  /** The number of distinct certificates. */
  certificates: number
  /**
   * Over the concatenated, sorted SHA-256 fingerprints: the same certificates give the same digest, in whatever order.
   */
  sha256: string
}

const publicList = (name: string) => fileURLToPath(new URL(`./trust-lists/${name}`, import.meta.url))

/** The lists of the C2PA conformance programme that come with the service: trust-lists/README.md. */
export const PUBLIC_SIGNERS = publicList('C2PA-TRUST-LIST.pem')
export const PUBLIC_AUTHORITIES = publicList('C2PA-TSA-TRUST-LIST.pem')

/** The public list of the C2PA conformance programme has 30. */
const MAX_LIST_CERTIFICATES = 1_000
const MAX_FILE_BYTES = 4 * 1024 * 1024
const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g

/**
 * The certificates (DER) of a PEM file, the format in which C2PA trust lists are published.
 * @throws {Error} with a sentence for the operator: no such file, no certificate in it, an unreadable one, or one that
 * is no CA.
 */
export function readTrustAnchors(path: string): Buffer[] {
  const text = readText(path)
  if (text.includes('PRIVATE KEY-----')) throw new Error('names a file that holds a private key')
  const ders = [...text.matchAll(BLOCK)].map(([, base64 = '']) => Buffer.from(base64, 'base64'))
  if (ders.length === 0) throw new Error('names a file without a PEM certificate')
  if (ders.length > MAX_LIST_CERTIFICATES)
    throw new Error(`names a file of more than ${MAX_LIST_CERTIFICATES} certificates`)
  for (const [index, der] of ders.entries()) {
    const problem = anchorProblem(der)
    if (problem !== undefined) throw new Error(`names a file whose certificate ${index + 1} ${problem}`)
  }
  return ders
}

/**
 * Why this can't be an anchor; undefined when it can. Every key type that Node supports is accepted: cameras don't sign
 * with P-256 only.
 */
function anchorProblem(der: Buffer): string | undefined {
  try {
    const problem = rsaProblem(readCertificateFields(der).spki)
    return problem ?? (new X509Certificate(der).ca ? undefined : 'is not a CA certificate')
  } catch {
    return 'is not a certificate'
  }
}

export function trustListOf(ders: readonly Uint8Array[]): TrustList {
  const byFingerprint = new Map(ders.map((der) => [sha256Hex(der), der]))
  const sorted = [...byFingerprint].sort(([a], [b]) => (a < b ? -1 : 1))
  const fingerprints = sorted.map(([fingerprint]) => fingerprint)
  return {
    pem: sorted.map(([, der]) => pemOf(der)).join(''),
    certificates: sorted.length,
    sha256: sha256(Buffer.from(fingerprints.join(''), 'hex')).toString('hex'),
  }
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path)
    if (bytes.length > MAX_FILE_BYTES) throw new Error('too large')
    return bytes.toString('latin1')
  } catch (error) {
    throw new Error('names no file that can be read', { cause: error })
  }
}
