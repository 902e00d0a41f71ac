// Checks the certificates of an attestation against each other and against what is said of them, and its original file.

import { type CheckFinding, finding, skipped } from '#client/verify/packet-findings.ts'
import type { EvidencePacket, PacketAttestation } from '#src/attest/evidence/views.ts'
import { type Certificate, parseCertificate } from '#src/platform/crypto/x509.ts'
import type { CheckOptions } from './check.ts'

export function checkCertificates(one: PacketAttestation, devices: EvidencePacket['devices']): CheckFinding[] {
  const part = partOf(one)
  const { source, chain } = one.certificates
  if (chain.length === 0) return [skipped(part, 'certificates', 'there are none')]
  const read = chain.flatMap((stated) => {
    const parsed = parseCertificate(Buffer.from(stated.der, 'base64'))
    return parsed.ok ? [{ stated, certificate: parsed.certificate }] : []
  })
  if (read.length !== chain.length) return [finding(part, 'certificates', false, 'one of them can not be read')]
  const certificates = read.map(({ certificate }) => certificate)
  const isStated = read.every(({ stated, certificate }) => isAsStated(stated, certificate))
  const broken = certificates.findIndex((certificate, index) => !isSignedByOne(certificate, certificates, index))
  const device = devices.find(({ device_id }) => device_id === one.device_id)
  const key = source === 'submission' ? certificates[0]?.spki.toString('base64') : device?.spki
  const isOwnKey = one.key === null || key === undefined || one.key.spki === key
  const isRefused = one.result?.factors.some(({ code }) => code === 'cert_unknown_ca') ?? false
  return [
    finding(part, 'certificates', isStated, 'what is said of one of them is not what it says'),
    finding(part, 'signing key', isOwnKey, 'it is not the key of the first certificate'),
    isRefused
      ? skipped(part, 'certificate chain', 'it was found to lead to no known authority')
      : finding(
          part,
          'certificate chain',
          broken === -1,
          `certificate ${broken + 1} is not signed by any other of the chain`,
        ),
  ]
}

function isAsStated(stated: PacketAttestation['certificates']['chain'][number], one: Certificate): boolean {
  return (
    one.der.toString('base64') === stated.der &&
    one.subject === stated.subject &&
    one.issuer === stated.issuer &&
    one.serialNumberHex === stated.serial &&
    one.fingerprint === stated.fingerprint &&
    one.notBefore.toISOString() === stated.not_before &&
    one.notAfter.toISOString() === stated.not_after
  )
}

// The last one leads to a root, which may be missing.
function isSignedByOne(certificate: Certificate, all: readonly Certificate[], index: number): boolean {
  const issuers = all.filter((other) => other !== certificate && other.subject === certificate.issuer)
  if (issuers.length === 0) return index > 0 || all.length === 1
  return issuers.some((issuer) => certificate.x509.verify(issuer.publicKey))
}

export function checkMedia(
  { media, attestation_id }: PacketAttestation,
  findMedia: CheckOptions['findMedia'],
): CheckFinding {
  const part = `attestations/${attestation_id}`
  if (findMedia === undefined) return skipped(part, 'original', 'no originals were given (--media)')
  if (media.is_erased) return skipped(part, 'original', 'it was erased')
  const found = findMedia({ sha256: media.sha256, size: media.size, mediaId: media.media_id })
  const detail =
    found === 'differs' ? 'a file of its name or size has another fingerprint' : 'no file there has its fingerprint'
  return finding(part, 'original', found === 'found', detail)
}

function partOf({ attestation_id }: PacketAttestation): string {
  return `attestations/${attestation_id}`
}
