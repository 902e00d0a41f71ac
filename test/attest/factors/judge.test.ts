import { describe, expect, test } from 'vitest'
import { haversineMetres } from '#src/attest/factors/geofence.ts'
import { type AttestationStanding, aggregate, judge, scoreOf } from '#src/attest/factors/judge.ts'
import { withScreening } from '#src/attest/factors/screening.ts'
import { ADVISORIES, advisory, FACTOR_CODES, FACTORS, RULES_VERSION, scored } from '#src/attest/factors/table.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { quote } from '#src/platform/sanitize.ts'
import { factsOf, vectors } from './vectors.ts'

describe('vectors', () => {
  test.each(vectors.cases)('$about: $name', ({ set, expect: expected }) => {
    const judgement = judge(factsOf(set))
    expect({
      factors: judgement.factors.map(({ code, points }) => [code, points]),
      advisory: judgement.advisoryFactors.map(({ code }) => code),
      riskScore: judgement.riskScore,
      riskStatus: judgement.riskStatus,
      provenanceStatus: judgement.provenanceStatus,
      hardwareTier: judgement.hardwareTier,
      observations: judgement.observations.map(({ code }) => code),
    }).toEqual({ ...expected, observations: expected.observations ?? [], evidence: undefined })
    expect(judgement.rulesVersion).toBe(RULES_VERSION)
    for (const [code, members] of Object.entries(expected.evidence ?? {})) {
      const finding = [...judgement.factors, ...judgement.advisoryFactors].find((factor) => factor.code === code)
      expect(finding?.evidence).toMatchObject(members)
    }
  })

  test('were written for the present rules', () => expect(vectors.rulesVersion).toBe(RULES_VERSION))

  test.each([...FACTOR_CODES, ...ADVISORIES])('cover the limit of %s from both sides', (code) => {
    const about = vectors.cases.filter((vector) => vector.about === code)
    for (const { raises, expect: expected } of about) {
      const codes = [...expected.factors.map(([factor]) => factor), ...expected.advisory]
      expect(codes.includes(code)).toBe(raises)
    }
    expect(new Set(about.map(({ raises }) => raises))).toEqual(new Set([true, false]))
  })
})

test('the points are those of the specification, in these rules', () => {
  // A change of the points is a change of the rules.
  expect({ RULES_VERSION, ...FACTORS }).toEqual({
    RULES_VERSION: 'attest-rules/7',
    biometric_absent: 10,
    cert_unknown_ca: 40,
    device_not_enrolled: 20,
    device_revoked: 80,
    frame_hash_mismatch: 50,
    gps_absent: 30,
    hardware_backing_absent: 40,
    liveness_check_failed: 40,
    no_manifest: 60,
    sensor_hash_mismatch: 50,
    session_nonce_mismatch: 70,
    signature_invalid: 70,
    timestamp_stale: 25,
    video_manifest_incomplete: 40,
  })
})

test('an advisory factor has no points and can not be summed', () => {
  const advised = advisory('exif_missing', { compared: 'a', expected: 'b', found: 'c' })
  expect(advised).not.toHaveProperty('points')
  // @ts-expect-error an advisory factor is no scored factor
  const add = () => scoreOf([advised])
  // @ts-expect-error an advisory code has no points in the table
  const look = () => FACTORS.exif_missing
  // @ts-expect-error a scored factor is not shown as an advisory one
  const show = (): ReturnType<typeof advisory> => scored('gps_absent', { compared: 'a', expected: 'b', found: 'c' })
  expect([add, look, show]).toHaveLength(3)
})

test('evidence is plain JSON that can be signed, and contains no coordinate', () => {
  for (const { set } of vectors.cases) {
    const facts = factsOf(set)
    const { factors, advisoryFactors } = judge(facts)
    for (const { evidence } of [...factors, ...advisoryFactors]) {
      expect(JSON.parse(canonicalize(evidence))).toEqual(evidence)
      expect(Object.keys(evidence).slice(0, 3)).toEqual(['compared', 'expected', 'found'])
      expect(JSON.stringify(evidence)).not.toMatch(/"(lat|lng|gps)"/)
    }
  }
})

test('a stranger’s text is truncated and sanitized before it becomes evidence', () => {
  const chain = {
    isTrusted: false,
    code: 'unknown_ca',
    detail: null,
    anchor: null,
    subject: `CN=\u202Eevil\0${'x'.repeat(9e5)}`,
  }
  const [factor] = judge(factsOf({ '/chain': chain })).factors
  expect(factor?.evidence.subject).toBe(`CN=evil${'x'.repeat(249)}`)
  expect(quote('\uD83D')).toBe('\uFFFD')
  expect(quote(`${'x'.repeat(255)}\u{1F600}`)).toBe(`${'x'.repeat(255)}\uFFFD`)
  expect(quote(' \0\u200B ')).toBeNull()
})

test.each([
  ['a quarter of a meridian', { lat: 0, lng: 33 }, { lat: 90, lng: 0 }, 10_007_557.2],
  ['antipodes', { lat: 12.3456789, lng: 98.7654321 }, { lat: -12.3456789, lng: -81.2345679 }, 20_015_114.4],
  [
    'antipodes that round beyond the sphere',
    { lat: -84.7342, lng: 18.3879 },
    { lat: 84.7342, lng: -161.6121 },
    20_015_114.4,
  ],
  // From the spherical law of cosines.
  ['Paris to London', { lat: 48.8566, lng: 2.3522 }, { lat: 51.5074, lng: -0.1278 }, 343_556.5],
  ['nowhere', { lat: -33.8, lng: 151.2 }, { lat: -33.8, lng: 151.2 }, 0],
])('haversineMetres measures %s', (_, a, b, metres) => {
  expect(haversineMetres(a, b)).toBeCloseTo(metres, 0)
  expect(haversineMetres(b, a)).toBe(haversineMetres(a, b))
})

describe('the standing of a claim', () => {
  const standing = (change: Partial<AttestationStanding>): AttestationStanding => ({
    provenanceStatus: 'verified',
    riskStatus: 'passed',
    riskScore: 0,
    factors: [],
    advisoryFactors: [],
    ...change,
  })

  test('is undefined before its first evaluation', () => expect(aggregate([])).toBeNull())

  test('is that of its one attestation', () => {
    const { factors, advisoryFactors, ...own } = judge(factsOf({ '/bundle/gps': null, '/exif': { state: 'missing' } }))
    expect(aggregate([{ ...own, factors, advisoryFactors }])).toEqual({
      provenanceStatus: 'verified',
      riskStatus: 'review',
      riskScore: 30,
      factorCodes: ['gps_absent'],
      advisoryCodes: ['exif_missing'],
    })
  })

  test('takes the highest score with its status, the worst provenance, and all codes in the order of the table', () => {
    const standings = [
      standing({ riskScore: 25, riskStatus: 'review', factors: [{ code: 'timestamp_stale' }] }),
      standing({
        riskScore: 60,
        riskStatus: 'failed',
        provenanceStatus: 'unattested',
        factors: [{ code: 'no_manifest' }],
      }),
      standing({
        riskScore: 50,
        riskStatus: 'failed',
        provenanceStatus: 'broken',
        factors: [{ code: 'sensor_hash_mismatch' }],
      }),
      standing({ provenanceStatus: 'attested_unverified', advisoryFactors: [{ code: 'exif_missing' }] }),
      standing({ riskScore: 25, factors: [{ code: 'timestamp_stale' }], advisoryFactors: [{ code: 'exif_missing' }] }),
    ]
    for (const order of [standings, standings.toReversed()]) {
      expect(aggregate(order)).toEqual({
        provenanceStatus: 'broken',
        riskStatus: 'failed',
        riskScore: 60,
        factorCodes: ['no_manifest', 'sensor_hash_mismatch', 'timestamp_stale'],
        advisoryCodes: ['exif_missing'],
      })
    }
  })

  test.each([
    ['verified', 'attested_unverified'],
    ['attested_unverified', 'unattested'],
    ['unattested', 'broken'],
  ] as const)('is worse %s with %s', (better, worse) => {
    const both = [standing({ provenanceStatus: worse }), standing({ provenanceStatus: better })]
    expect(aggregate(both)?.provenanceStatus).toBe(worse)
  })

  test('accepts more attestations than a call may have arguments', () => {
    expect(aggregate(new Array<AttestationStanding>(200_000).fill(standing({ riskScore: 30 })))?.riskScore).toBe(30)
  })

  test('takes, under two thresholds, the status of the highest score, and of equal scores the worse status', () => {
    const old = standing({ riskScore: 55, riskStatus: 'failed' })
    expect(aggregate([old, standing({ riskScore: 60, riskStatus: 'review' })])?.riskStatus).toBe('review')
    expect(aggregate([standing({ riskScore: 55, riskStatus: 'review' }), old])?.riskStatus).toBe('failed')
  })
})

test('keeps the codes of screenings; other codes come from its attestations only', () => {
  const own = aggregate([judge(factsOf({ '/exif': { state: 'missing' } }))])
  if (own === null) throw new Error('one judgement is a standing')
  expect(withScreening(own, [])).toBe(own)
  expect(withScreening(own, ['exif_editor_trace', 'exif_missing'])).toBe(own)
  const both = withScreening(own, ['deepfake_likely', 'ai_generated_likely', 'geofence_mismatch'])
  expect(both).toEqual({ ...own, advisoryCodes: ['exif_missing', 'ai_generated_likely', 'deepfake_likely'] })
  expect(withScreening(both, ['deepfake_likely'])).toBe(both)
})
