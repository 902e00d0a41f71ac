// Explains the codes to readers without technical knowledge: a lawyer, a judge, a policyholder. One or two plain
// sentences each, which claim no more than the evidence next to them supports.

import type { AdvisoryCode, FactorCode } from '../factors/table.ts'

export interface Meaning {
  title: string
  sentence: string
}

const FACTOR_MEANINGS: Record<FactorCode, Meaning> = {
  device_revoked: {
    title: 'The device was revoked',
    sentence:
      'The insurer has withdrawn its trust in the device that signed this photo, for example because it was lost, with ' +
      'effect from a time before the photo came in.',
  },
  session_nonce_mismatch: {
    title: 'The one-time number is wrong',
    sentence:
      'Before a capture the service can give out a number that is good once and for some minutes. The number in this ' +
      'capture is missing, was never given out, was used before, belongs to another device, another claim or another time.',
  },
  signature_invalid: {
    title: 'The signature is not valid',
    sentence:
      'The statement that came with the photo (time, place, fingerprint of the file) does not carry a valid signature of ' +
      'the device. It may have been changed after it was signed, or it was signed by another party.',
  },
  no_manifest: {
    title: 'There is no signed statement',
    sentence:
      'The photo came without any signed statement of a device. Nothing is known of when, where or with what it was taken.',
  },
  frame_hash_mismatch: {
    title: 'Parts of the video were changed',
    sentence: 'At least one part of the video is not the part that the device signed.',
  },
  sensor_hash_mismatch: {
    title: 'The file is not the one that was signed',
    sentence:
      'The device signed the fingerprint of another file than the one that was sent: the photo was changed or replaced ' +
      'after it was taken.',
  },
  cert_unknown_ca: {
    title: 'No known authority vouches for the device',
    sentence:
      'The certificates of the device do not lead to an authority that the insurer has registered, or were not valid at ' +
      'the time of the capture.',
  },
  hardware_backing_absent: {
    title: 'No proof of a protected key',
    sentence:
      'It is not proven that the signing key is kept in protected hardware of the phone. It could have been copied and ' +
      'used elsewhere.',
  },
  liveness_check_failed: {
    title: 'The video does not look live',
    sentence:
      'Times, durations or the arrival of the parts of the video do not fit a recording that was made as it says.',
  },
  video_manifest_incomplete: {
    title: 'The video is not complete',
    sentence: 'Parts of the video, or of the list that describes them, are missing.',
  },
  gps_absent: {
    title: 'There is no position',
    sentence:
      'The signed statement says no place, or one that could be off by more than 20 km, or the device itself said that ' +
      'the place was simulated.',
  },
  timestamp_stale: {
    title: 'The photo was old when it came in',
    sentence: 'More than 72 hours passed between the capture and the submission.',
  },
  device_not_enrolled: {
    title: 'The device is not registered',
    sentence: 'The device that signed is not in the insurer’s register of devices, or its registration had lapsed.',
  },
  biometric_absent: {
    title: 'The person was not confirmed',
    sentence: 'The device did not confirm by face or fingerprint who took the photo.',
  },
}

const ADVISORY_MEANINGS: Record<AdvisoryCode, Meaning> = {
  exif_missing: {
    title: 'The file has no camera data',
    sentence:
      'A file that comes straight from a camera has a block of data about the capture; this one has none that can be read.',
  },
  exif_timestamp_mismatch: {
    title: 'The times differ',
    sentence: 'The time in the file’s own camera data is not the time that the device signed.',
  },
  exif_editor_trace: {
    title: 'The file went through an editor',
    sentence: 'The file names an image editor as the software that wrote it.',
  },
  geofence_mismatch: {
    title: 'The place is far from the loss',
    sentence:
      'The stated position is farther from the place of the loss than the insurer allows: from the place that was stated ' +
      'first for the claim, or from the one that came with this photo.',
  },
  c2pa_absent: {
    title: 'There are no content credentials',
    sentence: 'The file carries no content credentials (C2PA). Most files do not.',
  },
  c2pa_invalid: {
    title: 'The content credentials do not hold',
    sentence:
      'The file carries content credentials (C2PA) that do not hold: they do not fit the file, their signature is not ' +
      'valid, or they name an earlier file whose own credentials do not hold.',
  },
  c2pa_present_valid: {
    title: 'There are valid content credentials',
    sentence: 'The file carries content credentials (C2PA) that fit it.',
  },
  carrier_policy_attestation_missing: {
    title: 'The insurer asks for a signed capture',
    sentence: 'The insurer’s own rules ask for a signed statement of a device, and there is none.',
  },
  carrier_policy_biometric_missing: {
    title: 'The insurer asks for a confirmed person',
    sentence: 'The insurer’s own rules ask for a confirmation by face or fingerprint, and there is none.',
  },
  carrier_policy_gps_missing: {
    title: 'The insurer asks for a position',
    sentence: 'The insurer’s own rules ask for a position, and there is none.',
  },
  ai_generated_likely: {
    title: 'Possibly made by a computer',
    sentence:
      'A detector found it likely that the picture was generated by software. Detectors err in both directions.',
  },
  deepfake_likely: {
    title: 'Possibly a manipulated face',
    sentence:
      'A detector found it likely that a face in the picture was replaced or generated. Detectors err in both directions.',
  },
}

/** Findings of the service's own, which never count. */
const OBSERVATION_MEANINGS: Record<string, Meaning> = {
  duplicate_media: {
    title: 'The same file in another claim',
    sentence: 'Exactly this file was sent before, for another claim of the same insurer.',
  },
  similar_media: {
    title: 'A similar picture in another claim',
    sentence: 'A picture that looks much like this one was sent before, for another claim. It may show the same scene.',
  },
  not_comparable: {
    title: 'Not compared with other pictures',
    sentence: 'The picture could not be compared with those of earlier claims.',
  },
  declared_ai_generated: {
    title: 'The file says it was made by a computer',
    sentence:
      'Data in the file itself declare that a program generated the picture. Such data can be added and removed.',
  },
  declared_ai_partly_generated: {
    title: 'The file says a part was made by a computer',
    sentence:
      'Data in the file itself declare that a program generated a part of it. Such data can be added and removed.',
  },
  declared_not_captured: {
    title: 'The file says it is not from a camera',
    sentence:
      'Data in the file itself declare that the picture was drawn, scanned or taken from a screen. Such data can be added ' +
      'and removed.',
  },
  declared_capture: {
    title: 'The file says it came from a camera',
    sentence: 'Data in the file itself declare that a camera took the picture. Such data can be added and removed.',
  },
  c2pa_not_read: {
    title: 'Content credentials were not read',
    sentence:
      'The file carries content credentials (C2PA), or may carry them, and they were not read. Nothing is known of what ' +
      'they say.',
  },
  exif_not_read: {
    title: 'Camera data were not read',
    sentence:
      'The file carries data of a camera (EXIF) that could not be read: all of them, the time of the picture, or its time zone. ' +
      'Nothing was concluded from them.',
  },
}

export const RISK_MEANINGS: Record<string, string> = {
  pending: 'Nothing has been examined yet.',
  passed: 'The findings add up to less than what asks for a second look.',
  review: 'The findings add up to enough that a person should look at them.',
  failed: 'The findings add up to so much that they must be explained before anyone relies on what was sent.',
}

export const PROVENANCE_MEANINGS: Record<string, string> = {
  verified: 'A registered device signed exactly this file, and a known authority vouches for the device.',
  attested_unverified:
    'A device signed this file, but the device is not registered, or no authority that the insurer knows vouches for it.',
  unattested: 'No device signed anything about this file.',
  broken: 'There is a signed statement, and it does not hold or its device is not trusted any more: see the findings.',
}

export const TIER_MEANINGS: Record<string, string> = {
  none: 'none was proven',
  software: 'the key is kept by software',
  tee: 'the key is kept in a protected part of the phone’s processor',
  strongbox: 'the key is kept in a security chip of the phone',
  secure_enclave: 'the key is kept in the security processor of the phone',
}

/** The meaning of a code; an unlisted code is shown as it is. */
export function meaningOf(code: string): Meaning {
  const known: Record<string, Meaning> = { ...FACTOR_MEANINGS, ...ADVISORY_MEANINGS, ...OBSERVATION_MEANINGS }
  const words = code.replaceAll('_', ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return (Object.hasOwn(known, code) ? known[code] : undefined) ?? { title, sentence: '' }
}

/** Why a document shows no picture. `not_tried`: the document's picture time was over before it, or before it was ready. */
export type PictureMissing = 'unreadable' | 'too_costly' | 'not_tried' | 'gone'

const MISSING_PICTURES: Record<PictureMissing, string> = {
  unreadable: 'No picture is shown: this file can not be drawn here.',
  too_costly: 'No picture is shown: drawing this file takes more time or memory than is allowed.',
  not_tried: 'No picture is shown: it was not ready in the time that is allowed for the pictures of a document.',
  gone: 'No picture is shown: it was erased.',
}

export function describeMissingPicture(why: PictureMissing, isVideo: boolean): string {
  return isVideo && why === 'unreadable' ? 'No picture is shown: this is a video.' : MISSING_PICTURES[why]
}
