import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAmount, parseAmount } from '#src/platform/amounts.ts'

describe('amounts', () => {
  it('are read as exact decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 19n }), (units) => {
        const text = `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`
        expect(parseAmount(text)).toBe(units)
      }),
    )
    for (const none of ['1000000000000000.0001', '1.00001', ' 1', '', '١', '+1', '1.', '1e3', '00', 1e21, true, null]) {
      expect(parseAmount(none), String(none)).toBeUndefined()
    }
  })

  it('are written as the shortest text that reads as the same', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }), (units) => {
        const text = formatAmount(units)
        expect(parseAmount(text)).toBe(units)
        expect(text).not.toMatch(/\.\d*0$|\.$|^-0$/)
      }),
    )
    expect([0n, 10_000n, 125_000n, 1n, -5_000n].map(formatAmount)).toEqual(['0', '1', '12.5', '0.0001', '-0.5'])
  })
})
