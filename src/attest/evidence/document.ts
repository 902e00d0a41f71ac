// Lays out the packet as a readable document: what was claimed, what was found, and how to check it. It shows only what
// is in the packet and evaluates nothing.

import { layOutAttestation } from './document-attestation.ts'
import { changesOf, dateOf, detailOf, momentOf, tableOf, wordsOf } from './document-words.ts'
import { meaningOf, type PictureMissing, TIER_MEANINGS } from './sentences.ts'
import { createSheet, type Sheet } from './sheet.ts'
import { countOf, summarize } from './summary.ts'
import type { Typeface } from './typeface.ts'
import type { EvidencePacket, SignedPacket } from './views.ts'

export interface Picture {
  jpeg: Buffer
  width: number
  height: number
}

const ATTACHMENT = 'evidence-packet.json'

/** @param pictures by media id. */
export async function layOut(
  signed: SignedPacket,
  pictures: ReadonlyMap<string, Picture | PictureMissing>,
  face: Typeface,
): Promise<Buffer> {
  const { packet } = signed
  const { about } = packet
  const sheet = createSheet(face, { title: `Evidence of claim ${about.claim_id}`, issuedAt: new Date(about.issued_at) })
  sheet.attach(ATTACHMENT, Buffer.from(JSON.stringify(signed)), 'The signed packet that this document shows')
  layOutTitle(sheet, signed)
  for (const [index, one] of packet.attestations.entries()) {
    sheet.newPage()
    layOutAttestation(sheet, one, {
      number: index + 1,
      of: packet.attestations.length,
      picture: pictures.get(one.media.media_id) ?? 'gone',
    })
  }
  sheet.newPage()
  layOutDevices(sheet, packet)
  layOutCases(sheet, packet)
  layOutTimeline(sheet, packet)
  layOutVerification(sheet, signed)
  return sheet.finish(`${about.packet_id}  SHA-256 ${signed.packet_sha256}`)
}

function layOutTitle(sheet: Sheet, { packet, packet_sha256 }: SignedPacket): void {
  const { about, claim } = packet
  sheet.gap(1)
  sheet.heading('Evidence packet', 1)
  sheet.paragraph(
    'What devices signed about the photos of one insurance claim, what an automatic examination found, and how anyone can check both without asking the service that made it.',
    { colour: '#5c5c5c', size: 10.5 },
  )
  sheet.gap(0.5)
  sheet.facts([
    ['Claim number', claim.reference ?? 'none was given'],
    ['Claim', claim.claim_id],
    ['Kind', claim.line ?? 'not said'],
    ['Loss at', claim.loss_at === null ? 'not said' : dateOf(claim.loss_at)],
    ['Place of the loss', placeOf(claim.loss_location, claim.erased_at)],
    ['Photos and videos', `${about.attestations.included} in this packet, ${about.attestations.total} in all`],
    ['Prepared at', dateOf(about.issued_at)],
    ['Account', `${about.account_id}${about.environment === 'sandbox' ? ' (sandbox: test data)' : ''}`],
    ['Packet', about.packet_id],
    ['Fingerprint (SHA-256)', packet_sha256],
  ])
  sheet.gap(0.8)
  sheet.box('In short', summarize(packet))
  if (claim.factor_codes.length > 0) {
    sheet.heading('Findings that count', 3)
    sheet.table(
      [
        { title: 'Finding', share: 0.3 },
        { title: 'What it means', share: 0.5 },
        { title: 'Photos', share: 0.2, align: 'right' },
      ],
      claim.factor_codes.map((code) => {
        const { title, sentence } = meaningOf(code)
        return [title, sentence, countOf(packet, code)]
      }),
    )
  }
  sheet.paragraph(about.statement, { size: 8.5, colour: '#5c5c5c' })
}

function placeOf(place: EvidencePacket['claim']['loss_location'], erasedAt: string | null): string {
  if (place !== null) return `${place.lat}, ${place.lng} (latitude, longitude)`
  return erasedAt === null ? 'not said' : 'erased, if it was said'
}

function layOutDevices(sheet: Sheet, { devices }: EvidencePacket): void {
  sheet.heading('Devices', 2)
  if (devices.length === 0) sheet.paragraph('None of the devices that are named here is in the register.')
  for (const device of devices) {
    const { hardware } = device
    sheet.heading(device.name ?? device.device_id, 3)
    sheet.facts([
      ['Device', device.device_id],
      ['Registered', `${dateOf(device.enrolled_at)}; now ${device.status}`],
      ...(device.revoked_at === null
        ? []
        : ([
            [
              'Revoked',
              `${dateOf(device.revoked_at)}, with effect from ${dateOf(device.revoke_effective_at ?? device.revoked_at)}`,
            ],
            ['Reason', device.revoke_reason ?? 'not said'],
          ] as const)),
      [
        'Certificate',
        `${device.certificate.subject}, valid ${dateOf(device.certificate.not_before)} to ${dateOf(device.certificate.not_after)}`,
      ],
      ['Key (SHA-256)', device.spki_sha256],
      ['Protection of the key', TIER_MEANINGS[device.hardware_tier] ?? device.hardware_tier],
      ...(hardware === null
        ? ([['Hardware evidence', 'none was ever sent']] as const)
        : ([
            ['Hardware evidence', `${hardware.format}, verified ${dateOf(hardware.verified_at)}`],
            ['List of revoked keys', hardware.revocation.status.replaceAll('_', ' ')],
            ...(hardware.reasons.length === 0
              ? []
              : ([['It proved less because', hardware.reasons.map(({ detail }) => detail).join('; ')]] as const)),
            ['What it says', wordsOf(hardware.android ?? hardware.apple)],
          ] as const)),
    ])
  }
}

function layOutCases(sheet: Sheet, { cases }: EvidencePacket): void {
  sheet.heading('What people decided', 2)
  if (cases.length === 0) sheet.paragraph('No case was opened for this claim.')
  for (const one of cases) {
    sheet.heading(`Case ${one.case_id}`, 3)
    sheet.facts([
      [
        'State',
        `${one.status.replaceAll('_', ' ')}${one.reason_code === null ? '' : `, because: ${one.reason_code.replaceAll('_', ' ')}`}`,
      ],
      ['Opened', dateOf(one.created_at)],
      ['Closed', one.closed_at === null ? 'not yet' : dateOf(one.closed_at)],
      ['In the hands of', one.assignee ?? 'not assigned yet'],
    ])
    if (one.history_omitted > 0) sheet.paragraph(`${one.history_omitted} earlier entries are left out.`)
    sheet.table(
      [
        { title: 'When', share: 0.2 },
        { title: 'What', share: 0.26 },
        { title: 'Who', share: 0.22 },
        { title: 'Note', share: 0.32 },
      ],
      one.history.map((entry) => [
        dateOf(entry.at),
        `${momentOf(`case.${entry.kind}`)}${entry.to === null || entry.kind === 'opened' ? '' : ` to ${entry.to.replaceAll('_', ' ')}`}${entry.reason_code === null ? '' : ` (${entry.reason_code.replaceAll('_', ' ')})`}`,
        entry.actor ?? (entry.via === 'system' ? 'the service' : 'not named'),
        entry.note ??
          (entry.note_withheld ? 'withheld' : entry.note_erased_at === null ? changesOf(entry.changes) : 'erased'),
      ]),
    )
  }
}

function layOutTimeline(sheet: Sheet, { timeline }: EvidencePacket): void {
  sheet.heading('What happened when', 2)
  if (timeline.omitted > 0) sheet.paragraph('Earlier events are left out.')
  sheet.table(
    [
      { title: 'When (UTC)', share: 0.2 },
      { title: 'What', share: 0.25 },
      { title: 'About', share: 0.25 },
      { title: 'Detail', share: 0.3 },
    ],
    timeline.moments.map(({ at, kind, subject, detail }) => [dateOf(at), momentOf(kind), subject, detailOf(detail)]),
  )
}

function layOutVerification(sheet: Sheet, { packet, signature }: SignedPacket): void {
  const { about, keys, attestations } = packet
  sheet.heading('How to check it', 2)
  sheet.paragraph(
    `This file carries the whole packet as an attachment (${ATTACHMENT}). The service signed a fingerprint of each part of it, and the last line of the file is its signature over every page. To check both, offline:`,
  )
  sheet.table(
    [{ title: 'Command', share: 1, isMono: true }],
    [[`npm run evidence -- verify FILE.pdf --keys jwks.json --media FOLDER`]],
  )
  sheet.paragraph(
    `jwks.json holds the service’s public keys; they are published at ${about.keys_at}. FOLDER holds the original photos: their fingerprints are compared. The command names each part that does not hold. No part of the check needs the service.`,
  )
  sheet.paragraph(
    'Without the command: the fingerprint of the packet is the SHA-256 of its canonical form (RFC 8785). Signatures are JWS (RFC 7515) with ES256. A device signs the canonical form of its statement (member "bundle") with the key of its certificate.',
  )
  sheet.heading('Fingerprints of the originals', 3)
  sheet.table(
    [
      { title: 'Photo', share: 0.08, align: 'right' },
      { title: 'Media', share: 0.32 },
      { title: 'SHA-256', share: 0.6, isMono: true },
    ],
    attestations.map(({ media }, index) => [String(index + 1), media.media_id, media.sha256]),
  )
  sheet.heading('Keys of the service', 3)
  sheet.table(
    [
      { title: 'Key', share: 0.5, isMono: true },
      { title: 'Where to compare it', share: 0.5 },
    ],
    keys.map(({ kid, revoked }) => [
      kid,
      revoked === undefined
        ? about.keys_at
        : `${about.keys_at}. Revoked ${dateOf(revoked.revoked_at)}: its signatures are doubted since ${dateOf(revoked.doubted_since)}`,
    ]),
  )
  sheet.heading('Signature of the packet', 3)
  const [header = '', payload = '', value = ''] = signature.split('.')
  sheet.facts([
    ['Header', tableOf(header)],
    ['Covers', `${payload.length} characters, in the attachment`],
    ['Signature', value],
  ])
}
