// vectors/packets: the files, and the documents. What is in the packets is in photo-packets.ts and video-packets.ts.

import { deflateSync } from 'node:zlib'
import type { SignedPacket } from '#src/attest/evidence/views.ts'
import type { VectorFile } from '../file.ts'
import { EARLY, hexDigest, makePacket, ORIGINAL, signPacket } from './packet-parts.ts'
import { PHOTOS } from './photo-packets.ts'
import { damaged, RECORD_KEY_SET, RECORD_KEYS, type RecordKey, signRecord } from './records.ts'
import { VIDEOS } from './video-packets.ts'

/** One of packet, file and file_base64. */
export interface PacketInput {
  packet?: object
  file?: string
  file_base64?: string
  /** base64 of the given originals; null: none were given. */
  originals: string[] | null
  /** null: the verifier has no keys but those of the packet. */
  jwks: { keys: RecordKey[] } | null
}

export type PacketFinding = [part: string, check: string, outcome: 'failed' | 'unproven' | 'skipped']

export interface PacketExpected {
  /** Whether the packet can be shown. */
  readable: boolean
  /** Without those that are ok. */
  findings: PacketFinding[]
}

export type PacketCase = [
  id: string,
  why: string,
  given: Partial<Omit<PacketInput, 'packet'>> & { packet?: SignedPacket | object },
  findings?: PacketFinding[],
  readable?: boolean,
]

const SOURCE =
  'Made by tools/vectors for this project; no third-party data. Keys are SHA-256 of `countersign token vectors: <name>` modulo ' +
  'the order of P-256, nonces follow RFC 6979; the certificates are of these keys. The keys are in no deployment.'
const ABOUT =
  'What a check of an evidence packet finds, with the keys `jwks` of the service (null: there are none) and the bytes of the ' +
  '`originals` (base64; null: none were given). `findings` are [part, check, outcome] in the order of docs/attest/evidence.md, without ' +
  'those that are ok; `readable` is whether the packet can be shown.'

function fileOf(name: string, cases: PacketCase[], about = ABOUT): VectorFile<PacketInput, PacketExpected> {
  return {
    family: 'packets',
    version: 1,
    source: SOURCE,
    about,
    cases: cases.map(([id, why, given, findings = [], readable = true]) => ({
      id: `packets-${name}-${id}`,
      title: `${answerOf(findings)}: ${why}`,
      input: { originals: [ORIGINAL.toString('base64')], jwks: { keys: RECORD_KEY_SET }, ...given },
      expect: { readable, findings },
    })),
  }
}

function answerOf(findings: readonly PacketFinding[]): string {
  const checks = (wanted: string) => findings.flatMap(([, check, outcome]) => (outcome === wanted ? check : []))
  const [failed, unproven, skipped] = [checks('failed'), checks('unproven'), checks('skipped')]
  if (failed.length > 0) return `refuse (${[...new Set(failed)].join(', ')})`
  if (unproven.length > 0) return `unproven (${unproven.join(', ')})`
  return skipped.length > 0 ? `accept, unchecked (${[...new Set(skipped)].join(', ')})` : 'accept'
}

export const makePhotos = () => fileOf('photos', PHOTOS)
export const makeVideos = () => fileOf('videos', VIDEOS)

const SIGNED = signPacket(makePacket())

// The part of a PDF that the check reads: the attached file, and the seal in the last line.
function pdfOf(
  packet: object | Buffer,
  { head = '', seal }: { head?: string; seal?: (sha256: string) => string } = {},
) {
  const attached = Buffer.isBuffer(packet) ? packet : Buffer.from(JSON.stringify(packet))
  const file = `%PDF-1.7\n1 0 obj\n<< /Type /EmbeddedFile ${head || `/Length ${attached.byteLength}`} >>\nstream\n`
  const pages = Buffer.concat([Buffer.from(file), attached, Buffer.from('\nendstream\nendobj\n%%EOF\n')])
  const line = seal === undefined ? '' : `%countersign-seal ${seal(hexDigest(pages))}\n`
  return Buffer.concat([pages, Buffer.from(line)])
}

type Claims = Record<string, unknown>
const sealed =
  (changes: Claims = {}, how?: Parameters<typeof signRecord>[2], typ = 'evidence-pdf+jwt') =>
  (pdf_sha256: string) =>
    signRecord(typ, { packet_id: 'evp', pdf_sha256, packet_sha256: SIGNED.packet_sha256, ...changes }, how)

// Without compression, which differs between versions of zlib.
const STORED = deflateSync(JSON.stringify(SIGNED), { level: 0 })
const HONEST = pdfOf(SIGNED, { seal: sealed() })
const document = (file: Buffer) => ({ file_base64: file.toString('base64') })
const SEAL: PacketFinding[] = [['pages', 'seal', 'failed']]
const NO_ATTACHMENT: PacketFinding[] = [
  ['file', 'attachment', 'failed'],
  ['pages', 'seal', 'skipped'],
]

const EARLY_PACKET = makePacket()
EARLY_PACKET.about.issued_at = EARLY
const EARLY_SIGNED = signPacket(EARLY_PACKET)
const NO_ABOUT = { ...SIGNED, packet: { ...SIGNED.packet, about: null } }

const DOCUMENTS: PacketCase[] = [
  [
    'line-end-other',
    'another character than a line end follows the seal',
    document(Buffer.concat([HONEST.subarray(0, -1), Buffer.from('%')])),
    SEAL,
  ],
  [
    'seal-long',
    'the seal is longer than any that the service writes',
    document(pdfOf(SIGNED, { seal: sealed({ note: 'x'.repeat(900) }) })),
    SEAL,
  ],
  ['seal-null', 'what the seal signs is null', document(pdfOf(SIGNED, { seal: sealed({}, { text: 'null' }) })), SEAL],
  [
    'seal-key-revoked-later',
    'the key of the seal was revoked later: nothing else vouches for the time that the packet states',
    document(
      pdfOf(EARLY_SIGNED, {
        seal: sealed({ packet_sha256: EARLY_SIGNED.packet_sha256 }, { key: RECORD_KEYS.revoked }),
      }),
    ),
    [['pages', 'key of the seal', 'unproven']],
  ],
  [
    'about-null',
    'nothing is said of the packet',
    document(pdfOf(NO_ABOUT, { seal: sealed() })),
    [
      ['file', 'shape', 'failed'],
      ['packet', 'digest', 'failed'],
      ['packet', 'stated digest', 'failed'],
      ['about', 'names', 'failed'],
      ['about', 'digest', 'failed'],
    ],
    false,
  ],
  [
    'attachment-no-stream-with-length',
    'the attached file has a length, and no content',
    document(Buffer.from('%PDF-1.7\n/Type /EmbeddedFile /Length 2\n')),
    NO_ATTACHMENT,
    false,
  ],
  ['whole', 'the pages and the packet are those that were sealed', document(HONEST)],
  [
    'page-changed',
    'a page was changed',
    document(Buffer.from(HONEST.toString('latin1').replace('%%EOF', '%%EOX'), 'latin1')),
    SEAL,
  ],
  ['no-seal', 'the last line was taken out, as by saving the file again', document(pdfOf(SIGNED)), SEAL],
  ['text-behind-seal', 'text follows the seal', document(Buffer.concat([HONEST, Buffer.from('%\n')])), SEAL],
  ['no-line-end', 'the line end behind the seal is missing', document(HONEST.subarray(0, -1)), SEAL],
  ['seal-far', 'the seal is not in the last line', document(Buffer.concat([HONEST, Buffer.alloc(2_000, 0x0a)])), SEAL],
  [
    'seal-damaged',
    'the signature of the seal does not verify',
    document(pdfOf(SIGNED, { seal: (sha256) => damaged(sealed()(sha256)) })),
    SEAL,
  ],
  [
    'seal-of-stranger',
    'the seal is signed by a key in no set',
    document(pdfOf(SIGNED, { seal: sealed({}, { key: RECORD_KEYS.stranger }) })),
    SEAL,
  ],
  [
    'seal-of-other-pages',
    'the seal is that of other pages',
    document(pdfOf(SIGNED, { seal: sealed({ pdf_sha256: '0'.repeat(64) }) })),
    SEAL,
  ],
  [
    'seal-of-other-packet',
    'the seal is that of another packet',
    document(pdfOf(SIGNED, { seal: sealed({ packet_sha256: '0'.repeat(64) }) })),
    SEAL,
  ],
  [
    'seal-of-other-kind',
    'what is signed is no seal',
    document(pdfOf(SIGNED, { seal: sealed({}, {}, 'evidence-packet+jwt') })),
    SEAL,
  ],
  [
    'seal-no-object',
    'what the seal signs is no object',
    document(pdfOf(SIGNED, { seal: sealed({}, { text: '[]' }) })),
    SEAL,
  ],
  [
    'seal-key-revoked',
    'the key of the seal was revoked, and the packet is of a time of the doubt',
    document(pdfOf(SIGNED, { seal: sealed({}, { key: RECORD_KEYS.revoked }) })),
    [['pages', 'key of the seal', 'failed']],
  ],
  [
    'attachment-inflated',
    'the attached file is compressed',
    document(pdfOf(STORED, { head: `/Length ${STORED.byteLength} /Filter /FlateDecode`, seal: sealed() })),
  ],
  ['no-attachment', 'no packet is attached', document(Buffer.from('%PDF-1.7\n%%EOF\n')), NO_ATTACHMENT, false],
  [
    'attachment-no-stream',
    'the attached file has no content',
    document(Buffer.from('%PDF-1.7\n/Type /EmbeddedFile\n')),
    NO_ATTACHMENT,
    false,
  ],
  [
    'attachment-far',
    'the content of the attached file does not follow its description',
    document(Buffer.from(`%PDF-1.7\n/Type /EmbeddedFile /Length 2${' '.repeat(3_000)}\nstream\n{}\n`)),
    NO_ATTACHMENT,
    false,
  ],
  [
    'attachment-no-length',
    'the attached file has no length',
    document(pdfOf(SIGNED, { head: '/Size 7' })),
    NO_ATTACHMENT,
    false,
  ],
  [
    'attachment-cut',
    'the attached file ends too early',
    document(pdfOf(SIGNED, { head: '/Length 999999' })),
    NO_ATTACHMENT,
    false,
  ],
  [
    'attachment-not-inflated',
    'the attached file says that it is compressed, and is not',
    document(pdfOf(SIGNED, { head: `/Length ${JSON.stringify(SIGNED).length} /Filter /FlateDecode` })),
    NO_ATTACHMENT,
    false,
  ],
  [
    'attachment-no-packet',
    'the attached file is no packet',
    document(pdfOf(Buffer.from('{}'), { seal: sealed() })),
    [
      ['file', 'shape', 'failed'],
      ['pages', 'seal', 'skipped'],
    ],
    false,
  ],
]

const DOCUMENT_ABOUT = `${ABOUT} \`file_base64\` is as much of a PDF as the check reads; viewers do not show it.`
export const makeDocuments = () => fileOf('documents', DOCUMENTS, DOCUMENT_ABOUT)
