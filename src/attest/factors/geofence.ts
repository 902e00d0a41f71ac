import type { Facts, Position } from './facts.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

// IUGG mean radius. The sphere is wrong by up to 0.5 %, five metres in a fence of one kilometre.
const EARTH_RADIUS_METRES = 6_371_008.8

/** `geofence_mismatch`: the capture is outside the fence around the loss even at the near edge of its own accuracy. */
export function judgeGeofence({ bundle, lossLocation, policy }: Facts): AdvisoryFactor<'geofence_mismatch'> | null {
  const gps = bundle?.gps
  if (gps === null || gps === undefined || gps.isMock || lossLocation === null) return null
  const distanceMetres = haversineMetres(gps, lossLocation)
  // In whole centimetres, so that what the evidence says is what was compared.
  const beyondMetres = centimetres(distanceMetres - gps.accuracyMetres)
  if (beyondMetres <= policy.geofenceMetres) return null
  return advisory('geofence_mismatch', {
    compared: 'distance of the capture from the loss, less its accuracy',
    expected: { max_distance_metres: policy.geofenceMetres },
    found: { distance_metres: beyondMetres },
    measured_metres: centimetres(distanceMetres),
    accuracy_metres: gps.accuracyMetres,
  })
}

/** Great-circle distance on the mean sphere. */
export function haversineMetres(a: Position, b: Position): number {
  const lat = Math.sin(radians(b.lat - a.lat) / 2)
  const lng = Math.sin(radians(b.lng - a.lng) / 2)
  const h = lat * lat + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * lng * lng
  // Rounding can carry antipodes a hair above 1; the arcsine of more than 1 is no number.
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(Math.min(1, h)))
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}

function centimetres(metres: number): number {
  return Math.round(metres * 100) / 100
}
