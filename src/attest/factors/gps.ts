import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

// A cell tower places a phone within some kilometres. Beyond this the position says no more than the region, and the sender
// chooses the figure.
export const MAX_FIX_ACCURACY_METRES = 20_000

type Gps = CapturedFacts['bundle']['gps']

/** Whether a position says where the capture was: not when the device itself calls it mocked, nor when it could be anywhere. */
export function isFix(gps: Gps): gps is NonNullable<Gps> {
  return gps !== null && faultOf(gps) === null
}

/** `gps_absent` */
export function judgeGps({ bundle: { gps } }: CapturedFacts): ScoredFactor<'gps_absent'> | null {
  const found = gps === null ? null : faultOf(gps)
  if (gps !== null && found === null) return null
  return scored('gps_absent', {
    compared: 'GPS fix of the bundle',
    expected: 'a fix',
    found,
    mock: gps?.isMock ?? false,
    accuracy_metres: gps?.accuracyMetres ?? null,
    max_accuracy_metres: MAX_FIX_ACCURACY_METRES,
  })
}

function faultOf({ isMock, accuracyMetres }: NonNullable<Gps>): string | null {
  if (isMock) return 'mock location'
  return accuracyMetres <= MAX_FIX_ACCURACY_METRES ? null : 'too inaccurate'
}
