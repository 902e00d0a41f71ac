import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutCoordinates } from '#client/verify/coordinates.ts'
import { judge } from '#src/attest/factors/judge.ts'
import { factsOf } from '../factors/vectors.ts'

describe('the removal of positions', () => {
  it('leaves everything else unchanged', () => {
    const submission = {
      media_type: 'image',
      claim: { reference: 'r-1', loss_location: { lat: 1.5, lng: 2.5 }, loss_at: '2026-01-01T00:00:00Z' },
      bundle: {
        version: 1,
        gps: { lat: 1.5, lng: 2.5, accuracy_m: 5 },
        biometric: null,
        attestation: { chain: ['AA=='] },
      },
      signature: { alg: 'ES256', value: 'AA' },
    }
    expect(withoutCoordinates(submission)).toEqual({
      media_type: 'image',
      claim: { reference: 'r-1', loss_at: '2026-01-01T00:00:00Z' },
      bundle: { version: 1, biometric: null, attestation: { chain: ['AA=='] } },
      signature: { alg: 'ES256', value: 'AA' },
    })
    for (const plain of [null, true, 0, '', 'lat', [], [1, 'gps'], {}]) expect(withoutCoordinates(plain)).toEqual(plain)
  })

  it('finds them at any depth, in lists and in any notation', () => {
    const evidence = [{ code: 'x', evidence: { found: [{ Latitude: 1 }, { at: { LNG: 2, km: 3 } }] } }]
    expect(withoutCoordinates(evidence)).toEqual([{ code: 'x', evidence: { found: [{}, { at: { km: 3 } }] } }])
  })

  it('finds nothing in a signed result: it contains no position', () => {
    // Digits that occur nowhere else, so that no distance or time shows them by chance.
    const degree = (most: number) => fc.integer({ min: -most * 1e9, max: most * 1e9 }).map((units) => units / 1e9)
    const place = fc.record({ lat: degree(90), lng: degree(180) })
    fc.assert(
      fc.property(place, place, fc.boolean(), (gps, lossLocation, isMock) => {
        const judgement = judge(
          factsOf({ '/bundle/gps': { ...gps, accuracyMetres: 5, isMock }, '/lossLocation': lossLocation }),
        )
        const text = JSON.stringify(judgement)
        for (const number of [gps.lat, gps.lng, lossLocation.lat, lossLocation.lng]) {
          const digits = String(Math.abs(number))
          if (digits.length > 8) expect(text).not.toContain(digits)
        }
        expect(withoutCoordinates(JSON.parse(text))).toEqual(JSON.parse(text))
      }),
      { numRuns: 200 },
    )
  })
})
