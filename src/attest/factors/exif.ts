import { quote } from '#src/platform/sanitize.ts'
import type { ExifFacts } from '../media/exif.ts'
import { findEditor } from './editors.ts'
import type { Facts } from './facts.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

const TOLERANCE_MS = 300 * 1000
// Without OffsetTimeOriginal the camera's zone is unknown. Every zone is a multiple of 15 minutes from UTC, at most
// 14 hours.
const ZONE_STEP_MS = 15 * 60 * 1000
const MAX_ZONE_MS = 14 * 60 * 60 * 1000

// EXIF 3.0 4.6.6: YYYY:MM:DD HH:MM:SS. Dashes and a T are common mistakes of software; blanks and zeros mean unknown.
const TIME = /^(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}:\d{2}:\d{2})/
const OFFSET = /^([+-])(\d{2}):?(\d{2})$/

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

/** `exif_timestamp_mismatch`: no finding where EXIF gives no time. */
export function judgeExifTime({ bundle, exif }: Facts): AdvisoryFactor<'exif_timestamp_mismatch'> | null {
  if (bundle === null || exif.state !== 'read') return null
  const taken = takenAt(exif)
  if (taken === null) return null
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

function isWithinTolerance(differenceMs: number, isZoneKnown: boolean): boolean {
  if (isZoneKnown) return differenceMs <= TOLERANCE_MS
  const remainderMs = differenceMs % ZONE_STEP_MS
  const distanceMs = Math.min(remainderMs, ZONE_STEP_MS - remainderMs)
  return differenceMs <= MAX_ZONE_MS + TOLERANCE_MS && distanceMs <= TOLERANCE_MS
}

interface Taken {
  /** UTC where the offset is known, otherwise the local time read as UTC. */
  timeMs: number
  /** Normalised to +hh:mm. */
  offset: string | null
  text: string
}

/** Combines DateTimeOriginal, SubSecTimeOriginal and OffsetTimeOriginal; null when they do not name a time. */
function takenAt(exif: Extract<ExifFacts, { state: 'read' }>): Taken | null {
  const match = TIME.exec(exif.dateTimeOriginal ?? '')
  if (match === null) return null
  const [, year, month, day, clock] = match
  // SubSecTimeOriginal is the digits after the decimal point: "5" is half a second.
  const fraction = (/^\d+/.exec(exif.subSec ?? '')?.[0] ?? '').padEnd(3, '0').slice(0, 3)
  const local = `${year}-${month}-${day}T${clock}.${fraction}`
  const offset = offsetOf(exif.offset)
  const localMs = Date.parse(`${local}Z`)
  // Date.parse turns February 30 into March: a time that does not format back as written is invalid.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== `${local}Z`) return null
  return { timeMs: localMs - (offset?.ms ?? 0), offset: offset?.text ?? null, text: `${local}${offset?.text ?? ''}` }
}

function offsetOf(text: string | null): { ms: number; text: string } | null {
  if (text === 'Z') return { ms: 0, text: '+00:00' }
  const match = OFFSET.exec(text ?? '')
  if (match === null) return null
  const [, sign, hours, minutes] = match
  const ms = (Number(hours) * 60 + Number(minutes)) * 60 * 1000
  if (Number(minutes) > 59 || ms > MAX_ZONE_MS) return null
  return { ms: sign === '-' ? -ms : ms, text: `${sign}${hours}:${minutes}` }
}
