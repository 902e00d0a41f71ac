import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { verifyEvidencePacket } from '#client/verify/packet.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { type CheckOptions, checkFile } from '../../../commands/evidence/check.ts'
import type { Answers } from '../answers.ts'
import type { PacketInput } from '../made/packets.ts'

export const answers: Answers = {
  'packets/photos': checkPacket,
  'packets/videos': checkPacket,
  'packets/documents': checkPacket,
}

async function checkPacket({ packet, file = '', file_base64, originals, jwks }: PacketInput) {
  const bytes =
    file_base64 === undefined
      ? Buffer.from(packet === undefined ? file : JSON.stringify(packet))
      : Buffer.from(file_base64, 'base64')
  const options = { keys: (jwks ?? undefined) as KeySet | undefined, ...(originals && optionsOf(originals)) }
  const { findings, packet: read } = await checkFile(bytes, options)
  const deviation = await findDeviation(bytes, options.keys)
  if (deviation !== undefined) return deviation
  const told = findings.filter(({ outcome }) => outcome !== 'ok').map((one) => [one.part, one.check, one.outcome])
  return { readable: read !== undefined, findings: told }
}

// The library's own answer, which checks less: the same for a text as for its bytes, and with the sum of its findings.
async function findDeviation(bytes: Buffer, keys: KeySet | undefined) {
  const report = await verifyEvidencePacket(bytes, { keys })
  const holds = report.findings.every(({ outcome }) => ['ok', 'skipped'].includes(outcome))
  if (report.holds !== holds) return { holds }
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return undefined
  const ofText = await verifyEvidencePacket(text, { keys })
  return isDeepStrictEqual(ofText, report) ? undefined : { ofText }
}

function optionsOf(originals: string[]): Pick<CheckOptions, 'findMedia' | 'openMedia'> {
  const files = originals.map((text) => Buffer.from(text, 'base64'))
  const find = (sha256: string) => files.find((bytes) => sha256Hex(bytes) === sha256)
  return {
    findMedia({ sha256, size }) {
      if (find(sha256) !== undefined) return 'found'
      return files.some(({ byteLength }) => byteLength === size) ? 'differs' : 'missing'
    },
    openMedia({ sha256 }) {
      const bytes = find(sha256)
      return bytes && Readable.from([bytes])
    },
  }
}
