// Writes the EXIF block of a phone's camera (CIPA DC-008, EXIF 2.32): a TIFF of three directories. Not by an image
// library, because libraries overwrite the orientation and the version, add tags, and need milliseconds; a fleet labels
// thousands of photos.
import { ascii, type Directory, type Entry, type Fraction, long, rational, raw, short, writeTiff } from './tiff.ts'

export interface CameraModel {
  make: string
  model: string
  lens: string
  /** The firmware's name, which the maker writes into Software. */
  firmware: string
  fNumber: number
  focalLengthMm: number
}

export interface ExifFacts {
  camera: CameraModel
  takenAt: Date
  /** The local clock's offset in minutes east of UTC. The tags hold local time. */
  utcOffsetMinutes: number
  /** Whether OffsetTime* is written. Many phones leave it out, and a reader then has only the local time. */
  hasOffset: boolean
  gps?: { lat: number; lng: number; altitudeMetres: number } | undefined
  exposureSeconds: number
  iso: number
  /** EXIF orientation, 1 to 8; by default 1, upright. */
  orientation?: number
  /** Replaces the camera's firmware, as an image editor does. */
  software?: string | undefined
  /** 32 hex digits, unique per photo, as cameras write them. */
  imageId?: string
}

/** `Exif\0\0` and the TIFF block: the content of a JPEG's APP1 segment. `size` is in pixels. */
export function exifBlock(facts: ExifFacts, size: { width: number; height: number }): Buffer {
  return Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), writeTiff(exifDirectory(facts, size))])
}

/** The tags of the camera, with the directories that they lead to. In a TIFF file, the picture's own tags are added. */
export function exifDirectory(facts: ExifFacts, size: { width: number; height: number }): Directory {
  const { camera } = facts
  const local = localTime(facts.takenAt, facts.utcOffsetMinutes)
  const offset = facts.hasOffset ? offsetText(facts.utcOffsetMinutes) : undefined
  const subSeconds = String(facts.takenAt.getUTCMilliseconds()).padStart(3, '0')

  const image = [
    ascii(0x010f, camera.make),
    ascii(0x0110, camera.model),
    short(0x0112, facts.orientation ?? 1),
    rational(0x011a, [72, 1]),
    rational(0x011b, [72, 1]),
    short(0x0128, 2),
    ascii(0x0131, facts.software ?? camera.firmware),
    ascii(0x0132, local),
    short(0x0213, 1),
  ]
  const photo = [
    rational(0x829a, exposure(facts.exposureSeconds)),
    rational(0x829d, hundredths(camera.fNumber)),
    short(0x8822, 2),
    short(0x8827, facts.iso),
    raw(0x9000, '0232'),
    ascii(0x9003, local),
    ascii(0x9004, local),
    ...(offset === undefined ? [] : [ascii(0x9010, offset), ascii(0x9011, offset), ascii(0x9012, offset)]),
    raw(0x9101, '\x01\x02\x03\x00'),
    rational(0x920a, hundredths(camera.focalLengthMm)),
    ascii(0x9291, subSeconds),
    ascii(0x9292, subSeconds),
    raw(0xa000, '0100'),
    short(0xa001, 1),
    long(0xa002, size.width),
    long(0xa003, size.height),
    ...(facts.imageId === undefined ? [] : [ascii(0xa420, facts.imageId)]),
    ascii(0xa434, camera.lens),
  ]
  const gps = facts.gps === undefined ? [] : [{ tag: 0x8825, to: { entries: gpsEntries(facts.gps, facts.takenAt) } }]
  return { entries: image, links: [{ tag: 0x8769, to: { entries: photo } }, ...gps] }
}

function gpsEntries(gps: { lat: number; lng: number; altitudeMetres: number }, takenAt: Date): Entry[] {
  const stamp = localTime(takenAt, 0)
  return [
    { tag: 0x0000, type: 1, count: 4, value: Buffer.from([2, 3, 0, 0]) },
    ascii(0x0001, gps.lat < 0 ? 'S' : 'N'),
    rational(0x0002, ...degrees(gps.lat)),
    ascii(0x0003, gps.lng < 0 ? 'W' : 'E'),
    rational(0x0004, ...degrees(gps.lng)),
    { tag: 0x0005, type: 1, count: 1, value: Buffer.from([gps.altitudeMetres < 0 ? 1 : 0]) },
    rational(0x0006, hundredths(Math.abs(gps.altitudeMetres))),
    rational(0x0007, [takenAt.getUTCHours(), 1], [takenAt.getUTCMinutes(), 1], [takenAt.getUTCSeconds(), 1]),
    ascii(0x001d, stamp.slice(0, 10)),
  ]
}

function hundredths(number: number): Fraction {
  return [Math.round(number * 100), 100]
}

function exposure(seconds: number): Fraction {
  return seconds < 1 ? [1, Math.round(1 / seconds)] : hundredths(seconds)
}

// Seconds of arc in ten-thousandths: 3 mm on the ground. Rounded once and then split, so that 59.99999" can't become
// 60".
function degrees(angle: number): [Fraction, Fraction, Fraction] {
  const parts = Math.round(Math.abs(angle) * 36_000_000)
  return [
    [Math.floor(parts / 36_000_000), 1],
    [Math.floor(parts / 600_000) % 60, 1],
    [parts % 600_000, 10_000],
  ]
}

function localTime(at: Date, utcOffsetMinutes: number): string {
  const wall = new Date(at.getTime() + utcOffsetMinutes * 60_000).toISOString()
  return `${wall.slice(0, 10).replaceAll('-', ':')} ${wall.slice(11, 19)}`
}

function offsetText(minutes: number): string {
  const pad = (number: number): string => String(number).padStart(2, '0')
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}
