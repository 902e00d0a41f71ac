import { quote } from '#src/platform/sanitize.ts'
import type { Evidence } from '../media/declared.ts'
import { MAX_ZONE_MS, readExifTime } from '../media/exif-time.ts'
import { findEditor } from './editors.ts'
import type { Facts } from './facts.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

const TOLERANCE_MS = 300 * 1000
// Without an offset the camera's zone is unknown. Every zone is a multiple of 15 minutes from UTC.
const ZONE_STEP_MS = 15 * 60 * 1000

/** `exif_missing`: a fresh capture, that is one with a bundle, has no readable EXIF. */
export function judgeExifPresence({ bundle, exif }: Facts): AdvisoryFactor<'exif_missing'> | null {
  if (bundle === null || exif.state === 'read' || exif.state === 'not_applicable') return null
  return advisory('exif_missing', {
    compared: 'EXIF block of the media',
    expected: 'readable',
    found: exif.state,
    ...(exif.state === 'unreadable' && { detail: quote(exif.detail) }),
  })
}

/** `exif_timestamp_mismatch`: no finding where EXIF gives no time that can be read; see `observeExif`. */
export function judgeExifTime({ bundle, exif }: Facts): AdvisoryFactor<'exif_timestamp_mismatch'> | null {
  if (bundle === null || exif.state !== 'read') return null
  const taken = readExifTime(exif)
  if (taken.state !== 'read') return null
  const differenceMs = Math.abs(taken.timeMs - bundle.capturedAt.getTime())
  if (isWithinTolerance(differenceMs, taken.offset !== null)) return null
  return advisory('exif_timestamp_mismatch', {
    compared: 'EXIF DateTimeOriginal and captured_at',
    expected: bundle.capturedAt.toISOString(),
    found: taken.text,
    // In UTC where the offset is known; otherwise the camera's local time against captured_at in UTC.
    difference_seconds: differenceMs / 1000,
    utc_offset: taken.offset,
    tolerance_seconds: TOLERANCE_MS / 1000,
  })
}

/** `exif_editor_trace`: also without a bundle, because it is about the media alone. */
export function judgeExifEditor({ exif }: Facts): AdvisoryFactor<'exif_editor_trace'> | null {
  if (exif.state !== 'read' || exif.software === null) return null
  const editor = findEditor(exif.software, exif.make)
  if (editor === undefined) return null
  return advisory('exif_editor_trace', {
    compared: 'EXIF Software',
    expected: 'no image editor',
    found: quote(exif.software),
    editor,
  })
}

/**
 * `exif_not_read`: EXIF that is there and can't be read is not absent. For a capture, `exif_missing` reports an absent
 * block; the media of a submission without a bundle need no EXIF, and may have it.
 */
export function observeExif({ bundle, exif }: Facts): { code: 'exif_not_read'; evidence: Evidence }[] {
  if (exif.state === 'unreadable') return bundle === null ? [notRead('EXIF block', exif.detail)] : []
  if (exif.state !== 'read') return []
  const taken = readExifTime(exif)
  if (taken.state === 'unreadable') return [notRead('DateTimeOriginal', taken.text)]
  if (taken.state === 'none' || taken.unreadableOffset === null) return []
  return [notRead('offset', taken.unreadableOffset)]
}

function notRead(what: 'EXIF block' | 'DateTimeOriginal' | 'offset', detail: string) {
  const evidence: Evidence = { compared: 'EXIF of the media', expected: 'readable', found: what, detail: quote(detail) }
  return { code: 'exif_not_read', evidence } as const
}

function isWithinTolerance(differenceMs: number, isZoneKnown: boolean): boolean {
  if (isZoneKnown) return differenceMs <= TOLERANCE_MS
  const remainderMs = differenceMs % ZONE_STEP_MS
  const distanceMs = Math.min(remainderMs, ZONE_STEP_MS - remainderMs)
  return differenceMs <= MAX_ZONE_MS + TOLERANCE_MS && distanceMs <= TOLERANCE_MS
}
