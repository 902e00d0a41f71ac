// One photo of the packet in the document: the picture, its signed statement, the findings, and the certificates.

import type { Picture } from './document.ts'
import { dateOf, describePosition, metresOf, recordOf, wordsOf } from './document-words.ts'
import { describeMissingPicture, meaningOf, type PictureMissing, TIER_MEANINGS } from './sentences.ts'
import type { Sheet } from './sheet.ts'
import { describeResult } from './summary.ts'
import type { PacketAttestation } from './views.ts'

interface Place {
  number: number
  of: number
  picture: Picture | PictureMissing
}

export function layOutAttestation(sheet: Sheet, one: PacketAttestation, { number, of, picture }: Place): void {
  const { media } = one
  const isVideo = one.submission.media_type === 'video'
  const isErased = media.is_erased || one.erased_at !== null
  const shown = isErased ? 'gone' : picture
  sheet.heading(`${isVideo ? 'Video' : 'Photo'} ${number} of ${of}`, 2)
  sheet.pictured(typeof shown === 'string' ? describeMissingPicture(shown, isVideo) : shown, [
    ['Submission', one.attestation_id],
    ...(one.external_id === null ? [] : [['Sender’s name for it', one.external_id] as const]),
    ['Received', dateOf(one.accepted_at)],
    ['Examined', one.evaluated_at === null ? `not yet (${one.status})` : dateOf(one.evaluated_at)],
    [
      'File',
      `${media.content_type}, ${sizeOf(media.size)}${media.width === null ? '' : `, ${media.width} x ${media.height} pixels`}`,
    ],
    ['Media', media.media_id],
    ['SHA-256', media.sha256],
    ...(isErased
      ? [['Erased', 'The photo and its positions are gone; this fingerprint remains.'] as const]
      : typeof shown === 'string'
        ? []
        : [['Picture', 'A small copy for reading. The original is what the fingerprint names.'] as const]),
  ])
  sheet.heading('What was claimed', 3)
  sheet.facts(claimed(one))
  layOutResult(sheet, one)
  layOutCertificates(sheet, one)
}

function claimed(one: PacketAttestation): [string, string][] {
  const { submission, distance } = one
  const bundle = recordOf(submission.bundle)
  if (bundle === undefined) return [['Statement', 'The photo came without a signed statement of a device.']]
  const biometric = recordOf(bundle.biometric)
  const known: [string, string][] = [
    ['Taken at', typeof bundle.captured_at === 'string' ? dateOf(bundle.captured_at) : 'not said'],
    ['Position', describePosition(one)],
    [
      'Distance to the loss',
      distance === null
        ? 'can not be told'
        : `${metresOf(distance.metres)} (${distance.metres} m, accuracy of the position ${distance.accuracy_metres} m)`,
    ],
    ['Device', wordsOf(bundle.device_id ?? 'not named')],
    [
      'Person confirmed',
      biometric === undefined
        ? 'not said'
        : biometric.gated === true
          ? `yes, by ${wordsOf(biometric.method ?? 'a means that is not named')}`
          : 'no',
    ],
    ['Fingerprint signed', wordsOf(bundle.sensor_hash)],
  ]
  const video = recordOf(bundle.video_manifest)
  if (video !== undefined) {
    const seconds = typeof video.duration_us === 'number' ? `, ${Math.round(video.duration_us / 1e6)} seconds` : ''
    known.push(['Video', `${wordsOf(video.chunk_count)} parts${seconds}, each with a fingerprint of its own`])
  }
  if (bundle.session_nonce !== undefined) known.push(['One-time number', wordsOf(bundle.session_nonce)])
  return known
}

function layOutResult(sheet: Sheet, { result, found_later, failure, status }: PacketAttestation): void {
  sheet.heading('What was found', 3)
  if (result === null) {
    sheet.paragraph(failure ?? `There is no result: the submission is ${status}.`)
    return
  }
  sheet.paragraph(
    `${describeResult(result)} Protection of the signing key: ${TIER_MEANINGS[result.hardware_tier] ?? result.hardware_tier}.`,
  )
  const findings = [
    ...result.factors.map(({ code, points, evidence }) => ({ code, points: `+${points}`, evidence })),
    ...result.advisory_factors.map(({ code, evidence }) => ({ code, points: 'remark', evidence })),
    ...[...result.observations, ...found_later].map(({ code, evidence }) => ({ code, points: 'remark', evidence })),
  ]
  if (findings.length === 0) {
    sheet.paragraph('There was nothing to remark.')
    return
  }
  sheet.table(
    [
      { title: 'Finding', share: 0.43 },
      { title: 'Points', share: 0.09, align: 'right' },
      { title: 'Evidence', share: 0.48 },
    ],
    findings.map(({ code, points, evidence }) => {
      const { title, sentence } = meaningOf(code)
      return [`${title} (${code})${sentence === '' ? '' : `. ${sentence}`}`, points, wordsOf(evidence)]
    }),
  )
}

function layOutCertificates(sheet: Sheet, one: PacketAttestation): void {
  const { certificates, submission, key } = one
  sheet.heading('Signature and certificates', 3)
  const { signature } = submission
  if (signature === undefined) {
    sheet.paragraph('Nothing is signed.')
    return
  }
  sheet.facts([
    ['Signature', `${signature.alg}: ${signature.value}`],
    [
      'Checked with',
      key === null
        ? 'no key is known'
        : key.source === 'certificate'
          ? 'the key of the certificate that was sent'
          : 'the key of the registered device',
    ],
    ...(one.erased_at === null
      ? []
      : [
          [
            'Since the erasure',
            'the signature can not be checked again: the position was removed from what it covered',
          ] as const,
        ]),
  ])
  if (certificates.chain.length === 0) return
  sheet.table(
    [
      { title: 'Certificate of', share: 0.25 },
      { title: 'Issued by', share: 0.25 },
      { title: 'Valid', share: 0.2 },
      { title: 'Fingerprint (SHA-256)', share: 0.3, isMono: true },
    ],
    certificates.chain.map(({ subject, issuer, not_before, not_after, fingerprint }) => [
      subject,
      issuer,
      `${not_before.slice(0, 10)} to ${not_after.slice(0, 10)}`,
      fingerprint,
    ]),
  )
}

function sizeOf(bytes: number): string {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`
}
