// What a capture says, out of the submission as it was sent: that is any JSON, so each member is looked at before use.

import type { SubmittedAttestation } from '@countersign/client'

export interface Place {
  lat: number
  lng: number
}

export interface Capture {
  isVideo: boolean
  capturedAt: string | undefined
  /** Where the device says that it was. */
  gps: (Place & { accuracyMetres: number; isMock: boolean }) | undefined
  /** Where this submission says that the loss was. */
  loss: Place | undefined
  biometric: string | undefined
  chunks: readonly Chunk[]
  durationUs: number | undefined
}

export interface Chunk {
  index: number
  bytes: number | undefined
  frames: number | undefined
  firstUs: number | undefined
  lastUs: number | undefined
}

export function captureOf({ submission }: SubmittedAttestation): Capture {
  const bundle = recordIn(submission, 'bundle')
  const gps = recordIn(bundle, 'gps')
  const place = placeIn(gps)
  const manifest = recordIn(bundle, 'video_manifest')
  const chunks = manifest.chunks
  const biometric = recordIn(bundle, 'biometric')
  return {
    isVideo: submission.media_type === 'video',
    capturedAt: textIn(bundle, 'captured_at'),
    gps: place && { ...place, accuracyMetres: numberIn(gps, 'accuracy_m') ?? 0, isMock: gps.mock === true },
    loss: placeIn(recordIn(submission.claim, 'loss_location')),
    biometric: biometric.gated === true ? (textIn(biometric, 'method') ?? 'yes') : undefined,
    chunks: Array.isArray(chunks) ? chunks.map(chunkOf) : [],
    durationUs: numberIn(manifest, 'duration_us'),
  }
}

function chunkOf(chunk: unknown, position: number): Chunk {
  return {
    index: numberIn(chunk, 'index') ?? position,
    bytes: numberIn(chunk, 'bytes'),
    frames: numberIn(chunk, 'frames'),
    firstUs: numberIn(chunk, 'first_pts_us'),
    lastUs: numberIn(chunk, 'last_pts_us'),
  }
}

function placeIn(value: unknown): Place | undefined {
  const lat = numberIn(value, 'lat')
  const lng = numberIn(value, 'lng')
  return lat === undefined || lng === undefined ? undefined : { lat, lng }
}

export function recordIn(value: unknown, name: string): Record<string, unknown> {
  const member = memberOf(value, name)
  return typeof member === 'object' && member !== null && !Array.isArray(member)
    ? (member as Record<string, unknown>)
    : {}
}

export function numberIn(value: unknown, name: string): number | undefined {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : undefined
}

export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' && member !== '' ? member : undefined
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

const EARTH_RADIUS_METRES = 6_371_008.8

/** Great-circle distance, on the sphere that the service uses. */
export function metresBetween(a: Place, b: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const lat = Math.sin(radians(b.lat - a.lat) / 2)
  const lng = Math.sin(radians(b.lng - a.lng) / 2)
  const h = lat * lat + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * lng * lng
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(Math.min(1, h)))
}
