import { describe, expect, it } from 'vitest'
import { takeRandomBytes } from '#src/platform/crypto/random.ts'

describe('takeRandomBytes', () => {
  it('gives every taker bytes of its own, in whatever sizes they are taken', () => {
    const taken = Array.from({ length: 2_000 }, (_, index) => takeRandomBytes([12, 16, 64][index % 3] ?? 0))
    expect(taken.slice(0, 3).map(({ byteLength }) => byteLength)).toEqual([12, 16, 64])
    const before = taken.map((bytes) => bytes.toString('hex'))
    expect(new Set(before).size).toBe(2_000)
    for (const [index, bytes] of taken.entries()) {
      bytes.fill(0)
      expect(taken[index + 1]?.toString('hex')).toBe(before[index + 1])
    }
  })
})
