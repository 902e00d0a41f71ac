// Times as cameras and programs write them into EXIF, many of them against its form. A time that is there and can't be read
// is distinct from none. Pure.

/** The texts of the tags; null without the tag. */
export interface ExifTimeTags {
  dateTimeOriginal: string | null
  subSec: string | null
  offset: string | null
}

export type ExifTime =
  /** No tag, or one that says that the time is unknown. */
  | { state: 'none' }
  | { state: 'unreadable'; text: string }
  | {
      state: 'read'
      /** UTC where the offset is known, otherwise the local time read as UTC. */
      timeMs: number
      /** Normalised to +hh:mm; null where the zone is unknown. */
      offset: string | null
      text: string
      /** A zone that is there and can't be read; null otherwise. */
      unreadableOffset: string | null
    }

// EXIF 3.0 4.6.6: YYYY:MM:DD HH:MM:SS. Programs also write dashes, slashes or dots, ISO 8601 with a fraction and a zone, hours up
// to 12 with AM or PM, or leave the seconds out.
const TIME =
  /^(\d{4})([:/.-])(\d{2})\2(\d{2})(?: +|T)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([AP]M)?(?![\d:])(.*)$/i
const OFFSET = /^([+-])(\d{1,2}):?(\d{2})$/
const UTC = /^(?:Z|UTC|GMT)$/i
// EXIF 3.0 4.6.6.2: blanks between the colons mean unknown. Cameras without a clock write zeros.
const UNKNOWN_TIME = /^[ :/.T0-]*$/
const UNKNOWN_OFFSET = /^[ :+-]*$/

/** Every zone is at most 14 hours from UTC. */
export const MAX_ZONE_MS = 14 * 60 * 60 * 1000

/** Combines DateTimeOriginal, SubSecTimeOriginal and OffsetTimeOriginal. */
export function readExifTime({ dateTimeOriginal, subSec, offset }: ExifTimeTags): ExifTime {
  const written = dateTimeOriginal?.trim() ?? ''
  if (UNKNOWN_TIME.test(written)) return { state: 'none' }
  const unreadable: ExifTime = { state: 'unreadable', text: written }
  const match = TIME.exec(written)
  if (match === null) return unreadable
  const [, year, , month, day, hour = '', minute = '', second = '00', fraction, half, rest = ''] = match
  const hours = hoursOf(Number(hour), half)
  // A leap second (60) is the second that follows 59.
  const isLeap = second === '60'
  const clock = [String(hours).padStart(2, '0'), minute, isLeap ? '59' : second].join(':')
  // SubSecTimeOriginal is the digits after the decimal point: "5" is half a second.
  const digits = (fraction ?? /^\d+/.exec(subSec ?? '')?.[0] ?? '').padEnd(3, '0').slice(0, 3)
  const local = `${year}-${month}-${day}T${clock}.${digits}`
  const localMs = Date.parse(`${local}Z`)
  // Date.parse turns February 30 into March: a time that does not format back as written is invalid.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== `${local}Z`) return unreadable
  const own = rest.trim()
  // The zone of the time itself, as ISO 8601 writes it, is about no other time.
  const zoneText = UNKNOWN_OFFSET.test(own) ? (offset?.trim() ?? '') : own
  const zone = readOffset(zoneText)
  return {
    state: 'read',
    timeMs: localMs + (isLeap ? 1_000 : 0) - (zone?.ms ?? 0),
    offset: zone?.text ?? null,
    text: `${local}${zone?.text ?? ''}`,
    unreadableOffset: zone !== null || UNKNOWN_OFFSET.test(zoneText) ? null : zoneText,
  }
}

/** Null for blanks, and for what is no zone. */
export function readOffset(text: string): { ms: number; text: string } | null {
  if (UTC.test(text)) return { ms: 0, text: '+00:00' }
  const match = OFFSET.exec(text)
  if (match === null) return null
  const [, sign, hours = '', minutes] = match
  const ms = (Number(hours) * 60 + Number(minutes)) * 60 * 1000
  if (Number(minutes) > 59 || ms > MAX_ZONE_MS) return null
  return { ms: sign === '-' ? -ms : ms, text: `${sign}${hours.padStart(2, '0')}:${minutes}` }
}

/** Whether the text says that the zone is unknown. */
export function isUnknownOffset(text: string): boolean {
  return UNKNOWN_OFFSET.test(text.trim())
}

// Phones that count the hours of a day from 1 to 24 write the first hour as 24, of the day that begins.
function hoursOf(hours: number, half: string | undefined): number {
  if (half === undefined || hours > 12) return hours === 24 ? 0 : hours
  return (hours % 12) + (half.toUpperCase() === 'PM' ? 12 : 0)
}
