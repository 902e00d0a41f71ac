// Checks an evidence packet as the client library does, and besides what needs the service's code: the whole form of the packet, the
// certificates, the originals and the chains of videos.

import { verifyEvidencePacket } from '#client/verify/packet.ts'
import type { CheckFinding } from '#client/verify/packet-findings.ts'
import { jsonOf } from '#src/attest/evidence/digests.ts'
import { type EvidencePacket, type PacketAttestation, signedPacketView } from '#src/attest/evidence/views.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { checkCertificates, checkMedia } from './check-certificates.ts'
import { checkVideo, type OpenMedia } from './check-video.ts'

export interface CheckOptions {
  /** Keys known to be the service's. Without them the packet's own keys are used, and their origin is unproven. */
  keys?: KeySet | undefined
  /** Whether the given originals include this one; undefined when none were given. */
  findMedia?:
    | ((media: { sha256: string; size: number; mediaId: string }) => 'found' | 'differs' | 'missing')
    | undefined
  /** Opens one of the given originals; returns undefined when it is missing. */
  openMedia?: OpenMedia | undefined
}

export interface CheckReport {
  findings: CheckFinding[]
  /** Undefined when it can't be read. */
  packet: EvidencePacket | undefined
}

/** Never throws, whatever the file contains. */
export async function checkFile(file: Buffer, { keys, findMedia, openMedia }: CheckOptions = {}): Promise<CheckReport> {
  let packet: EvidencePacket | undefined
  const { findings } = await verifyEvidencePacket(file, {
    keys,
    findWrong(value) {
      const { data = null, error } = signedPacketView.safeParse(value)
      // Members that the view drops are not checked below, so they must not pass for a part of the packet.
      if (canonicalize(jsonOf(data)) === canonicalize(value as Json)) {
        packet = data?.packet
        return undefined
      }
      const issue = error?.issues[0]
      return issue === undefined ? 'it has members that a packet has not' : `/${issue.path.join('/')}: ${issue.message}`
    },
    async checkMore(attestation, whole) {
      // findWrong compared the whole form before.
      const [one, { devices }] = [attestation as unknown as PacketAttestation, whole as unknown as EvidencePacket]
      return [...checkCertificates(one, devices), checkMedia(one, findMedia), ...(await checkVideo(one, openMedia))]
    },
  })
  return { findings, packet }
}
