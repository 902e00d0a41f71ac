import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `gps_absent`: a position that the device itself calls mocked is not a fix. */
export function judgeGps({ bundle: { gps } }: CapturedFacts): ScoredFactor<'gps_absent'> | null {
  if (gps !== null && !gps.isMock) return null
  return scored('gps_absent', {
    compared: 'GPS fix of the bundle',
    expected: 'a fix',
    found: gps === null ? null : 'mock location',
    mock: gps !== null,
  })
}
