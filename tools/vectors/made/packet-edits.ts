// Changes of an honest packet. What is changed before the packet is signed leaves its own signature whole, so that each case
// fails in one place.

import type { EvidencePacket, PacketAttestation, SignedPacket } from '#src/attest/evidence/views.ts'
import { AUTHORITY_CERTIFICATE, DEVICE_CERTIFICATE, type StatedCertificate } from './certificates.ts'
import {
  ATTESTATION,
  type AttestationParts,
  EARLY,
  makeAttestation,
  makePacket,
  resultPayload,
  signPacket,
} from './packet-parts.ts'
import type { PacketFinding } from './packets.ts'
import { RECORD_KEY_SET, RECORD_KEYS, signRecord } from './records.ts'

export const PART = `attestations/${ATTESTATION}`
export const SECOND = 'att_test_01m812n8p2ec1th6tjk5cw6cam'
export const HASH = '0'.repeat(64)

/** The parts of the honest packet, in their order. */
export const ALL_PARTS = [
  'about',
  'claim',
  PART,
  'devices/dev_test_01m812n8ggfzkbv1fwd60zgppf',
  'cases',
  'timeline',
  'keys',
]

export const failed = (part: string, ...checks: string[]): PacketFinding[] =>
  checks.map((check) => [part, check, 'failed'])

/** A packet that is signed after `edit` changed it. */
export function signedAfter(
  edit: (packet: EvidencePacket) => unknown,
  packet = makePacket(),
): { packet: SignedPacket } {
  edit(packet)
  return { packet: signPacket(packet) }
}

/** A packet that is changed after it was signed. */
export function changed(
  edit: (signed: SignedPacket) => unknown,
  signed = signPacket(makePacket()),
): { packet: SignedPacket } {
  const copy = structuredClone(signed)
  edit(copy)
  return { packet: copy }
}

/** The only attestation, changed before the packet is signed. */
export const withOne = (edit: (one: PacketAttestation) => unknown, parts: AttestationParts = {}) => {
  const one = makeAttestation(parts)
  edit(one)
  return { packet: signPacket(makePacket([one])) }
}
export const withParts = (parts: AttestationParts) => withOne(() => {}, parts)
export const factor = (code: string, points: number) =>
  ({ code, points, evidence: { compared: '', expected: '', found: '' } }) as never
export const scored = (code: string, points: number, provenance_status = 'verified') => ({
  factors: [factor(code, points)],
  risk_score: points,
  provenance_status,
})

export const afterSigning = (part: string): PacketFinding[] => [
  ...failed('packet', 'digest', 'stated digest'),
  ...failed(part, 'digest'),
]

// Adds a second attestation, older than the first.
export const two = () => makePacket([makeAttestation(), makeAttestation({ id: SECOND })])

export type Earlier = PacketAttestation['earlier_results'][number]
export function withEarlier(
  changes: Partial<Earlier> = {},
  signed: { typ?: string; payload?: object; how?: object } = {},
) {
  return withOne((one) => {
    const earlier = {
      risk_status: 'passed',
      risk_score: 0,
      provenance_status: 'verified',
      evaluated_at: '2026-11-20T12:10:00.000Z',
    }
    const payload = { attestation_id: one.attestation_id, ...earlier, ...signed.payload }
    const result_jws = signRecord(signed.typ ?? 'attest-result+jwt', payload, signed.how)
    one.earlier_results.push({ ...earlier, replaced_at: '2026-11-20T12:30:00.000Z', result_jws, ...changes })
  })
}

export function withCertificates(...chain: StatedCertificate[]) {
  return withOne((one) => Object.assign(one.certificates, { chain }))
}
export const stated = (changes: Partial<StatedCertificate>) =>
  withCertificates({ ...DEVICE_CERTIFICATE, ...changes }, AUTHORITY_CERTIFICATE)

export const noResult = (one: PacketAttestation) =>
  Object.assign(one, { status: 'queued', evaluated_at: null, result: null })
export const PLAIN_PHOTO: AttestationParts = { result: scored('no_manifest', 60, 'unattested') }
export function plainPhoto(one: PacketAttestation, bundle_sha256: string | null = null): void {
  Object.assign(one, { bundle_sha256, key: null, certificates: { source: 'none', chain: [] } })
  Object.assign(one.submission, { bundle: undefined, signature: undefined })
  if (one.result !== null) one.result.result_jws = signRecord('attest-result+jwt', resultPayload(one, one.result))
}
export const NO_CERTIFICATES: PacketFinding = [PART, 'certificates', 'skipped']

export const REVOKED = { key: RECORD_KEYS.revoked }
export const earlyPacket = () => {
  const packet = makePacket()
  packet.about.issued_at = EARLY
  return packet
}
// The key set says that the key is sound: the packet is newer, and says that it was revoked.
export const UNMARKED = { keys: RECORD_KEY_SET.map(({ revoked: _, ...key }) => key) }

// The same bytes: the last character of 64 carries two bits, and four that are to be zero.
export function respelled(jws: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return `${jws.slice(0, -1)}${alphabet[alphabet.indexOf(jws.at(-1) ?? '') + 1]}`
}
