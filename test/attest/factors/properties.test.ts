import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Facts } from '#src/attest/factors/facts.ts'
import { aggregate, judge } from '#src/attest/factors/judge.ts'
import { ADVISORIES, FACTOR_CODES, FACTORS } from '#src/attest/factors/table.ts'
import type { C2paFacts } from '#src/attest/media/c2pa-facts.ts'
import type { DeclaredFacts } from '#src/attest/media/declared.ts'
import type { ExifFacts } from '#src/attest/media/exif.ts'

const RUNS = { numRuns: 1_000 }

const time = fc.date({ min: new Date('2026-01-01'), max: new Date('2026-01-20'), noInvalidDate: true })
const maybe = <V>(value: fc.Arbitrary<V>) => fc.option(value, { nil: null })
// A stranger's text: any code point, lone surrogates, invisible characters, and any length.
const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.string({ unit: fc.constantFrom('\uD83D', '\uDE00', '\u202E', '\0', 'x'), maxLength: 600 }),
)
const own = fc.constantFrom('ours', 'also ours')
const id = fc.constantFrom('dev_test_a', 'dev_test_b')
const hash = fc.constantFrom('00'.repeat(32), 'ff'.repeat(32))
const position = {
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
}
const exifTime = fc.oneof(
  word,
  time.map((at) => at.toISOString().replaceAll('-', ':').replace('T', ' ').slice(0, 19)),
)
const exifText = fc.oneof(word, fc.constantFrom('GIMP 2.10', 'Canvas', '+01:00', '+99:00', '5', ''))

const exif: fc.Arbitrary<ExifFacts> = fc.oneof(
  fc.record({
    state: fc.constant('read' as const),
    dateTimeOriginal: maybe(exifTime),
    subSec: maybe(exifText),
    offset: maybe(exifText),
    make: maybe(word),
    model: maybe(word),
    software: maybe(exifText),
  }),
  fc.constantFrom({ state: 'missing' as const }, { state: 'not_applicable' as const }),
  fc.record({ state: fc.constant('unreadable' as const), detail: word }),
)
const codes = fc.array(fc.oneof(word, fc.constantFrom('claimSignature.mismatch', 'signingCredential.untrusted')), {
  maxLength: 3,
})
const c2pa: fc.Arbitrary<C2paFacts> = fc.oneof(
  fc.record({ state: fc.constant('absent' as const), manifestReference: maybe(word) }),
  fc.record({ state: fc.constant('malformed' as const), code: word }),
  fc.record({ state: fc.constant('unread' as const), why: fc.constant('too_large' as const), detail: word }),
  fc.constant({ state: 'not_applicable' as const }),
  fc.record({
    state: fc.constant('read' as const),
    manifest: fc.record({
      validationState: fc.constantFrom('Trusted' as const, 'Valid' as const, 'Invalid' as const),
      failures: codes,
      ingredientFailures: codes,
      signer: maybe(
        fc.record({
          issuer: maybe(word),
          commonName: maybe(word),
          algorithm: maybe(word),
          serial: maybe(word),
          signedAt: maybe(word),
        }),
      ),
      claimGenerator: maybe(word),
      manifestCount: fc.nat(9),
      ingredientCount: fc.nat(9),
      bareIngredientCount: fc.nat(9),
      hasWholeHistory: fc.boolean(),
      sources: fc.array(
        fc.record({
          manifest: fc.constantFrom('active' as const, 'ingredient' as const),
          action: maybe(fc.oneof(word, fc.constant('c2pa.created'))),
          type: fc.oneof(word, fc.constantFrom('trainedAlgorithmicMedia', 'digitalCapture', 'screenCapture')),
        }),
        { maxLength: 3 },
      ),
      sourceCount: fc.nat(9),
      trustList: fc.record({ certificates: fc.nat(9), sha256: hash }),
    }),
  }),
)
const declared: fc.Arbitrary<DeclaredFacts> = fc.record({
  sourceTypes: fc.array(
    fc.record({ where: fc.constant('xmp' as const), field: own, value: fc.oneof(word, fc.constant('print')) }),
    { maxLength: 2 },
  ),
  generators: fc.array(
    fc.record({ where: fc.constant('exif' as const), field: own, value: maybe(word), generator: own }),
    { maxLength: 2 },
  ),
  manifestReference: maybe(word),
})
const lossLocation = maybe(fc.record(position))
const geofenceMetres = fc.double({ min: 0, max: 1e7, noNaN: true })

const facts: fc.Arbitrary<Facts> = fc.record({
  acceptedAt: time,
  bundle: maybe(
    fc.record({
      capturedAt: time,
      sensorHash: hash,
      gps: maybe(fc.record({ ...position, accuracyMetres: fc.nat(100_000), isMock: fc.boolean() })),
      biometric: maybe(fc.record({ isGated: fc.boolean(), method: maybe(fc.constantFrom('face', 'passcode')) })),
      deviceId: maybe(id),
      sessionNonce: maybe(own),
    }),
  ),
  media: fc.record({
    sha256: hash,
    contentType: fc.constant('image/jpeg'),
    mediaType: fc.constantFrom('image' as const, 'video' as const),
  }),
  signature: maybe(
    fc.record({
      isValid: fc.boolean(),
      code: fc.constantFrom('valid' as const, 'mismatch' as const, 'no_key' as const),
      keySource: maybe(fc.constantFrom('certificate' as const, 'device' as const)),
    }),
  ),
  chain: maybe(
    fc.record({
      isTrusted: fc.boolean(),
      code: maybe(own),
      detail: maybe(word),
      anchor: maybe(own),
      subject: maybe(word),
    }),
  ),
  device: maybe(
    fc.record({
      id: maybe(id),
      state: fc.constantFrom('enrolled' as const, 'not_enrolled' as const, 'expired' as const, 'revoked' as const),
      why: fc.constant('why'),
      revokedAt: maybe(time),
      revokeEffectiveAt: maybe(time),
      hardwareTier: fc.constantFrom('none' as const, 'software' as const, 'tee' as const, 'strongbox' as const),
    }),
  ),
  session: maybe(
    fc.record({
      nonce: own,
      state: fc.constantFrom('accepted' as const, 'unknown' as const, 'reused' as const),
      issuedAt: maybe(time),
      expiresAt: maybe(time),
      consumedBy: maybe(own),
      deviceId: maybe(id),
      claimReference: maybe(own),
    }),
  ),
  claimReference: maybe(own),
  exif,
  c2pa,
  declared,
  lossLocation,
  claimLossLocation: lossLocation,
  policy: fc.record({
    geofenceMetres,
    thresholds: fc.record({ review: fc.nat(1000), failed: fc.nat(1000) }),
    requireSessionNonce: fc.boolean(),
  }),
})

test('no place that a submission states hides the distance to the claim’s place', () => {
  fc.assert(
    fc.property(facts, lossLocation, (given, place) => {
      const isFound = (stated: typeof place) =>
        judge({ ...given, lossLocation: stated }).advisoryFactors.some(({ code }) => code === 'geofence_mismatch')
      if (isFound(given.claimLossLocation ?? null)) expect(isFound(place)).toBe(true)
    }),
  )
})

test('the score is the sum of the table’s points over the factors', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { riskScore, factors } = judge(given)
      expect(riskScore).toBe(factors.reduce((sum, { code }) => sum + FACTORS[code], 0))
      for (const { code, points } of factors) expect(points).toBe(FACTORS[code])
    }),
    RUNS,
  )
})

test('advisory facts never change the score, the factors or either status', () => {
  fc.assert(
    fc.property(facts, facts, geofenceMetres, (given, { exif, c2pa, declared, lossLocation }, otherFence) => {
      const policy = { ...given.policy, geofenceMetres: otherFence }
      const other = judge({ ...given, exif, c2pa, declared, lossLocation, policy } as Facts)
      const scored = (judgement: typeof other) => ({ ...judgement, advisoryFactors: [], observations: [] })
      expect(scored(other)).toEqual(scored(judge(given)))
    }),
    RUNS,
  )
})

test('codes follow the order of the table, each at most once', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { factors, advisoryFactors } = judge(given)
      const codes = factors.map(({ code }) => code)
      const advised = advisoryFactors.map(({ code }) => code)
      expect(codes).toEqual(FACTOR_CODES.filter((code) => codes.includes(code)))
      expect(advised).toEqual(ADVISORIES.filter((code) => advised.includes(code)))
    }),
    RUNS,
  )
})

test('the same facts give the same evaluation, and are not modified', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const copy = structuredClone(given)
      expect(judge(given)).toEqual(judge(copy))
      expect(given).toEqual(copy)
    }),
    RUNS,
  )
})

test('without a bundle there is no_manifest alone; with a bundle never', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const codes = judge(given).factors.map(({ code }) => code)
      if (given.bundle === null) expect(codes).toEqual(['no_manifest'])
      else expect(codes).not.toContain('no_manifest')
    }),
    RUNS,
  )
})

test('evidence contains no text beyond its length limit, and none that can not be signed', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { factors, advisoryFactors, observations } = judge(given)
      for (const { evidence } of [...factors, ...advisoryFactors, ...observations]) {
        for (const text of stringsOf(evidence)) expect(text.length <= 256 && text.isWellFormed()).toBe(true)
      }
    }),
    RUNS,
  )
})

test('one more attestation never improves a claim', () => {
  fc.assert(
    fc.property(fc.array(facts, { minLength: 1, maxLength: 4 }), facts, (earlier, later) => {
      const before = aggregate(earlier.map(judge))
      const after = aggregate([...earlier, later].map(judge))
      expect(after?.riskScore).toBeGreaterThanOrEqual(before?.riskScore ?? 0)
      expect(after?.factorCodes).toEqual(expect.arrayContaining(before?.factorCodes ?? []))
      expect(after?.advisoryCodes).toEqual(expect.arrayContaining(before?.advisoryCodes ?? []))
    }),
    RUNS,
  )
})

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(stringsOf) : []
}
