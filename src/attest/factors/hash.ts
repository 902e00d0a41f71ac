import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `sensor_hash_mismatch`: these are not the bytes that the device signed. */
export function judgeHash({ bundle, media }: CapturedFacts): ScoredFactor<'sensor_hash_mismatch'> | null {
  if (media.sha256 === bundle.sensorHash) return null
  return scored('sensor_hash_mismatch', {
    compared: 'SHA-256 of the media',
    expected: bundle.sensorHash,
    found: media.sha256,
  })
}
