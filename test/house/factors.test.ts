// A factor has places outside of the code that judges it. A forgotten one is named.

import { expect, it } from 'vitest'
import { ADVISORIES, BREAKS_PROVENANCE, FACTOR_CODES, FACTORS } from '#src/attest/factors/table.ts'
import { BREAKING, expectationOf, POINTS, TAMPERINGS, VIDEO_KINDS } from '../../capture-kit/findings.ts'

// Codes that no capture of the kit raises, and why.
const NOT_REHEARSED: Record<string, string> = {
  liveness_check_failed: 'the times in its videos are true',
  c2pa_invalid: 'its phones write no C2PA manifest',
  c2pa_present_valid: 'its phones write no C2PA manifest',
  carrier_policy_attestation_missing: 'its accounts set no risk policy',
  carrier_policy_biometric_missing: 'its accounts set no risk policy',
  carrier_policy_gps_missing: 'its accounts set no risk policy',
  ai_generated_likely: 'the demo has no detector',
  deepfake_likely: 'the demo has no detector',
}
const FILE = 'capture-kit/findings.ts'

it('each code is raised by a kind of capture of the kit, or has a reason why not', () => {
  const found = (['honest', ...TAMPERINGS, ...VIDEO_KINDS] as const).map((kind) => expectationOf(kind))
  const raised = found.flatMap(({ factors, advisoryFactors }) => [...factors, ...advisoryFactors])
  const codes = [...FACTOR_CODES, ...ADVISORIES]
  const forgotten = codes.filter((code) => !raised.includes(code) && NOT_REHEARSED[code] === undefined)
  expect({ file: FILE, forgotten }).toEqual({ file: FILE, forgotten: [] })
  const raisedAfterAll = Object.keys(NOT_REHEARSED).filter((code) => raised.includes(code))
  expect({ raisedAfterAll }).toEqual({ raisedAfterAll: [] })
  const unknown = [...raised, ...Object.keys(POINTS), ...Object.keys(NOT_REHEARSED)].filter(
    (code) => !(codes as string[]).includes(code),
  )
  expect({ file: FILE, unknown }).toEqual({ file: FILE, unknown: [] })
})

it('each factor that the kit raises has its points there once more', () => {
  const expected = Object.fromEntries(Object.entries(FACTORS).filter(([code]) => NOT_REHEARSED[code] === undefined))
  expect({ file: FILE, points: POINTS }).toEqual({ file: FILE, points: expected })
})

it('each factor that breaks the provenance is in the list of the kit', () => {
  const breaking = FACTOR_CODES.filter((code) => BREAKS_PROVENANCE[code])
  expect({ file: FILE, breaking: BREAKING.toSorted() }).toEqual({ file: FILE, breaking: breaking.toSorted() })
})
