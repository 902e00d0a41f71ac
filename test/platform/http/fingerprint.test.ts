import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { fingerprintInSlices, fingerprintOf } from '#src/platform/http/fingerprint.ts'

it('is the same for a body that is hashed in slices', async () => {
  const json = fc.jsonValue({ maxDepth: 6 }) as fc.Arbitrary<Json>
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const long: Json = {
        bundle: { video_manifest: { chunks: Array(2_000).fill({ b: value, a: 1 }) } },
        other: [value],
      }
      expect(await fingerprintInSlices(long)).toEqual(fingerprintOf(long))
      expect(await fingerprintInSlices(value)).toEqual(fingerprintOf(value))
    }),
    { seed: 20_261_122, numRuns: 40 },
  )
  expect(await fingerprintInSlices(undefined)).toEqual(fingerprintOf(undefined))
})

it('has the digest of a long string in place of its token', async () => {
  const digest = Buffer.alloc(32, 7)
  const taken = (token: string) => new Map([[token, { byteLength: 1, pieces: [], sha256: digest }]])
  const one = await fingerprintInSlices({ media: { data: 'token one' } }, taken('token one'))
  expect(one).toEqual(fingerprintOf({ media: { data: 'token two' } }, taken('token two')))
  expect(one).not.toEqual(fingerprintOf({ media: { data: 'token one' } }))
})
