import { expect, test } from 'vitest'
import { compareResult, expectationOf, POINTS, TAMPERINGS } from '../../capture-kit/findings.ts'
import { type PlannedCapture, planFleet } from '../../capture-kit/fleet.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')
const HOUR_MS = 3_600_000
const SIZES = [16, 17, 40, 250, 3000]

const plan = (claims: number, seed = 1) => planFleet({ seed, claims, now: NOW })
const ageHours = ({ capturedAt }: PlannedCapture) => (NOW.getTime() - capturedAt.getTime()) / HOUR_MS

test('a fleet is the same plan for the same seed, and another for another seed', () => {
  expect(plan(100)).toEqual(plan(100))
  expect(plan(100, 2).captures).not.toEqual(plan(100).captures)
})

test('a fleet has as many captures as requested, each with a claim and an id of its own', () => {
  for (const claims of [1, 2, 3, 15, ...SIZES]) {
    const { captures } = plan(claims)
    expect(captures).toHaveLength(claims)
    expect(new Set(captures.map(({ externalId }) => externalId)).size).toBe(claims)
    expect(new Set(captures.map(({ claim }) => claim.reference)).size).toBe(claims)
  }
  for (const claims of [0, -1, 1.5, Number.NaN]) expect(() => plan(claims)).toThrow(RangeError)
})

test('a fleet covers every kind from 16 captures on, and is about 70 % honest when there are enough', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const claims of SIZES) {
      const kinds = plan(claims, seed).captures.map(({ kind }) => kind)
      expect(new Set(kinds)).toEqual(new Set(['honest', ...TAMPERINGS]))
      const share = kinds.filter((kind) => kind === 'honest').length / claims
      if (claims > 50) expect(share).toBeCloseTo(0.7, 2)
    }
  }
})

test('a fleet expects a score that is the sum of its factors, with the status and provenance that follow', () => {
  for (const { kind, expected } of plan(250).captures) {
    expect(expected).toEqual(expectationOf(kind))
    expect(expected.riskScore).toBe(expected.factors.reduce((sum, code) => sum + (POINTS[code] ?? Number.NaN), 0))
    expect(expected.riskStatus).toBe(
      expected.riskScore >= 50 ? 'failed' : expected.riskScore >= 25 ? 'review' : 'passed',
    )
    expect(expected.factors.includes('hardware_backing_absent')).toBe(kind !== 'no_manifest')
  }
})

test.each([
  ['honest', ['hardware_backing_absent'], [], [40, 'review', 'verified']],
  ['wrong_hash', ['hardware_backing_absent', 'sensor_hash_mismatch'], [], [90, 'failed', 'broken']],
  ['wrong_signer', ['hardware_backing_absent', 'signature_invalid'], [], [110, 'failed', 'broken']],
  [
    'unknown_ca',
    ['cert_unknown_ca', 'device_not_enrolled', 'hardware_backing_absent'],
    [],
    [100, 'failed', 'attested_unverified'],
  ],
  ['not_enrolled', ['device_not_enrolled', 'hardware_backing_absent'], [], [60, 'failed', 'attested_unverified']],
  ['revoked', ['device_revoked', 'hardware_backing_absent'], [], [120, 'failed', 'broken']],
  ['stale', ['hardware_backing_absent', 'timestamp_stale'], [], [65, 'failed', 'verified']],
  ['replayed_nonce', ['hardware_backing_absent', 'session_nonce_mismatch'], [], [110, 'failed', 'broken']],
  ['no_gps', ['gps_absent', 'hardware_backing_absent'], [], [70, 'failed', 'verified']],
  ['no_biometric', ['biometric_absent', 'hardware_backing_absent'], [], [50, 'failed', 'verified']],
  ['edited_exif', ['hardware_backing_absent'], ['exif_editor_trace'], [40, 'review', 'verified']],
  ['missing_exif', ['hardware_backing_absent'], ['exif_missing'], [40, 'review', 'verified']],
  ['exif_time', ['hardware_backing_absent'], ['exif_timestamp_mismatch'], [40, 'review', 'verified']],
  ['far_from_loss', ['hardware_backing_absent'], ['geofence_mismatch'], [40, 'review', 'verified']],
  ['no_manifest', ['no_manifest'], [], [60, 'failed', 'unattested']],
] as const)('%s: %j', (kind, factors, advisory, [riskScore, riskStatus, provenanceStatus]) => {
  const advisoryFactors = ['c2pa_absent', ...advisory]
  expect(expectationOf(kind)).toEqual({ factors, advisoryFactors, riskScore, riskStatus, provenanceStatus })
})

test('a fleet replays each nonce once, after its honest use, from the same device and within its time', () => {
  for (const seed of [1, 2, 3]) {
    const { captures, sessions } = plan(800, seed)
    for (let session = 0; session < sessions; session += 1) {
      const uses = captures.filter((capture) => capture.session === session)
      expect(uses.map(({ kind }) => kind)).toEqual(['honest', 'replayed_nonce'])
      expect(new Set(uses.map(({ device }) => device)).size).toBe(1)
      expect(uses.map(ageHours)).toEqual([0, 0])
    }
    expect(captures.filter(({ kind }) => kind === 'replayed_nonce')).toHaveLength(sessions)
  }
})

test('a fleet changes each capture as its kind says, and nothing else', () => {
  const { captures, devices } = plan(800)
  for (const capture of captures) {
    const { kind, exif, gps, biometric, claim } = capture
    const standing = devices[capture.device]?.standing
    const expectedStanding = { revoked: 'revoked', not_enrolled: 'not_enrolled', unknown_ca: 'stranger' }[
      kind as string
    ]
    expect(standing).toBe(expectedStanding ?? 'enrolled')
    expect(gps === undefined).toBe(kind === 'no_gps')
    expect(exif === null).toBe(kind === 'missing_exif')
    const hasBiometric = biometric?.gated === true && biometric.method !== 'passcode'
    expect(hasBiometric).toBe(kind !== 'no_biometric')
    expect(/photoshop|lightroom|gimp|snapseed/i.test(exif?.software ?? '')).toBe(kind === 'edited_exif')

    const age = ageHours(capture)
    if (kind === 'stale') expect(age).toBeGreaterThanOrEqual(73)
    else expect(age).toBeLessThan(48)
    if (exif !== null) {
      const isOff = Math.abs(exif.takenAt.getTime() - capture.capturedAt.getTime()) > 300_000
      expect(isOff).toBe(kind === 'exif_time')
      if (isOff) expect(exif.hasOffset).toBe(true)
      expect(exif.gps && { lat: exif.gps.lat, lng: exif.gps.lng }).toEqual(gps && { lat: gps.lat, lng: gps.lng })
    }
    if (gps !== undefined) {
      const metres = Math.abs(gps.lat - claim.loss_location.lat) * 111_320
      expect(metres > 1000).toBe(kind === 'far_from_loss')
    }
  }
})

test('a fleet reports every difference between plan and result, and none where there is none', () => {
  const expected = expectationOf('no_gps')
  const result = {
    factors: [{ code: 'hardware_backing_absent' }, { code: 'gps_absent' }],
    advisory_factors: [{ code: 'c2pa_absent' }],
    risk_score: 70,
    risk_status: 'failed',
    provenance_status: 'verified',
  }
  expect(compareResult(expected, result)).toEqual([])
  expect(compareResult(expected, { ...result, factors: [], risk_score: 0 })).toEqual([
    'factors: planned gps_absent hardware_backing_absent, found none',
    'risk_score: planned 70, found 0',
  ])
  expect(compareResult(expected, {})).toHaveLength(5)
})
