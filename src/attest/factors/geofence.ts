import type { Facts, Position } from './facts.ts'
import { isFix } from './gps.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

// IUGG mean radius. The sphere's error is up to 0.5 %, five metres in a fence of one kilometre.
const EARTH_RADIUS_METRES = 6_371_008.8

// The error of an honest fix indoors or by cell towers. No more is tolerated, because the sender states it.
const MAX_FORGIVEN_METRES = 5_000

/**
 * `geofence_mismatch`: even at the near edge of its own accuracy the capture is outside the fence around the loss. The
 * place first stated for the claim counts in addition to the submission's own, which the sender chooses.
 */
export function judgeGeofence(facts: Facts): AdvisoryFactor<'geofence_mismatch'> | null {
  const { bundle, policy } = facts
  const gps = bundle?.gps ?? null
  if (!isFix(gps)) return null
  const forgivenMetres = Math.min(gps.accuracyMetres, MAX_FORGIVEN_METRES)
  const distances = placesOf(facts).map(({ statedBy, place }) => {
    const measured = haversineMetres(gps, place)
    // Rounded to centimetres, so that the evidence states the compared values.
    return { statedBy, measuredMetres: centimetres(measured), beyondMetres: centimetres(measured - forgivenMetres) }
  })
  const [farthest] = distances.toSorted((a, b) => b.beyondMetres - a.beyondMetres)
  if (farthest === undefined || farthest.beyondMetres <= policy.geofenceMetres) return null
  return advisory('geofence_mismatch', {
    compared: 'distance of the capture from the loss, less its accuracy',
    expected: { max_distance_metres: policy.geofenceMetres },
    found: { distance_metres: farthest.beyondMetres, loss_stated_by: farthest.statedBy },
    measured_metres: farthest.measuredMetres,
    accuracy_metres: gps.accuracyMetres,
    forgiven_metres: forgivenMetres,
    distances: distances.map(({ statedBy, measuredMetres, beyondMetres }) => ({
      loss_stated_by: statedBy,
      measured_metres: measuredMetres,
      distance_metres: beyondMetres,
    })),
  })
}

type StatedBy = 'claim' | 'submission'

function placesOf({ lossLocation, claimLossLocation = null }: Facts): { statedBy: StatedBy; place: Position }[] {
  const isOne =
    claimLossLocation !== null &&
    lossLocation?.lat === claimLossLocation.lat &&
    lossLocation.lng === claimLossLocation.lng
  return [
    ...(claimLossLocation === null ? [] : [{ statedBy: 'claim' as const, place: claimLossLocation }]),
    ...(lossLocation === null || isOne ? [] : [{ statedBy: 'submission' as const, place: lossLocation }]),
  ]
}

/** Great-circle distance on the mean sphere. */
export function haversineMetres(a: Position, b: Position): number {
  const lat = Math.sin(radians(b.lat - a.lat) / 2)
  const lng = Math.sin(radians(b.lng - a.lng) / 2)
  const h = lat * lat + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * lng * lng
  // Rounding can bring antipodes slightly above 1, where the arcsine is NaN.
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(Math.min(1, h)))
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}

function centimetres(metres: number): number {
  return Math.round(metres * 100) / 100
}
