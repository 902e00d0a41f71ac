// The tables that a fleet plan draws from.
import type { Biometric } from './device.ts'
import type { CameraModel } from './exif.ts'

export interface Place {
  lat: number
  lng: number
  altitudeMetres: number
  utcOffsetMinutes: number
}

/** Every offset is a multiple of a quarter of an hour, like all time zones. */
export const PLACES: readonly [Place, ...Place[]] = [
  { lat: 52.5163, lng: 13.3777, altitudeMetres: 35, utcOffsetMinutes: 60 },
  { lat: 51.5007, lng: -0.1246, altitudeMetres: 15, utcOffsetMinutes: 0 },
  { lat: 40.7484, lng: -73.9857, altitudeMetres: 12, utcOffsetMinutes: -300 },
  { lat: 39.7392, lng: -104.9903, altitudeMetres: 1609, utcOffsetMinutes: -420 },
  { lat: -33.8568, lng: 151.2153, altitudeMetres: 5, utcOffsetMinutes: 660 },
  { lat: -23.5505, lng: -46.6333, altitudeMetres: 760, utcOffsetMinutes: -180 },
  { lat: 28.6129, lng: 77.2295, altitudeMetres: 216, utcOffsetMinutes: 330 },
  { lat: 35.6586, lng: 139.7454, altitudeMetres: 18, utcOffsetMinutes: 540 },
]

export const CAMERAS: readonly [CameraModel, ...CameraModel[]] = [
  {
    make: 'Apple',
    model: 'iPhone 15 Pro',
    lens: 'iPhone 15 Pro back triple camera 6.77mm f/1.78',
    firmware: '17.6.1',
    fNumber: 1.78,
    focalLengthMm: 6.77,
  },
  {
    make: 'samsung',
    model: 'SM-S921B',
    lens: 'Samsung Galaxy S24 rear wide camera 5.4mm f/1.8',
    firmware: 'S921BXXS4AXH1',
    fNumber: 1.8,
    focalLengthMm: 5.4,
  },
  {
    make: 'Google',
    model: 'Pixel 8',
    lens: 'Pixel 8 back camera 6.9mm f/1.68',
    firmware: 'HDR+ 1.0.641377609zd',
    fNumber: 1.68,
    focalLengthMm: 6.9,
  },
  {
    make: 'Fairphone',
    model: 'FP5',
    lens: 'Fairphone 5 rear camera 5.56mm f/1.88',
    firmware: 'FP5.TT4G.A.172.20240804',
    fNumber: 1.88,
    focalLengthMm: 5.56,
  },
]

/** What image editors write in place of the firmware's name. */
export const EDITORS: readonly [string, ...string[]] = [
  'Adobe Photoshop 25.0 (Windows)',
  'Adobe Photoshop Lightroom Classic 13.5 (Macintosh)',
  'GIMP 2.10.36',
  'Snapseed 2.22',
]

export const GATED: readonly [Biometric, ...Biometric[]] = [
  { gated: true, method: 'face' },
  { gated: true, method: 'fingerprint' },
]

/** The biometric member of captures without one. A passcode gates a capture, and is no biometric. */
export const UNGATED: readonly [Biometric | undefined, ...Biometric[]] = [
  undefined,
  { gated: false },
  { gated: true, method: 'passcode' },
]

export const LINES: readonly [string, ...string[]] = ['auto', 'property', 'travel']
