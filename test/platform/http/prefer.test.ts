import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePrefer } from '#src/platform/http/prefer.ts'

describe('Prefer: wait', () => {
  it.each([
    [undefined, 10, undefined],
    ['', 10, undefined],
    ['wait=0', 0, 'wait=0'],
    ['wait=30', 30, 'wait=30'],
    ['wait=31', 30, 'wait=30'],
    ['wait=999999999', 30, 'wait=30'],
    ['Wait = 5', 5, 'wait=5'],
    ['wait="7"', 7, 'wait=7'],
    ['respond-async, wait=5', 5, 'wait=5'],
    ['respond-async;x="a,b;wait=9", wait=5;y=z', 5, 'wait=5'],
    ['return=minimal; foo="wait=1,wait=2", handling=lenient,wait=3', 3, 'wait=3'],
    ['wait=4, wait=20', 4, 'wait=4'],
    ['foo="a\\"b", wait=6', 6, 'wait=6'],
    ['wait', 10, undefined],
    ['wait=', 10, undefined],
    ['wait=-1', 10, undefined],
    ['wait=1.5', 10, undefined],
    ['wait=5s', 10, undefined],
    ['wait=5 6', 10, undefined],
    ['wait=0x10', 10, undefined],
    ['wait=٣', 10, undefined],
    ['wait="5', 10, undefined],
    ['waiting=5', 10, undefined],
    ['x-wait=5', 10, undefined],
    ['"wait=5"', 10, undefined],
    [',wait=5', 5, 'wait=5'],
    ['wait=99999999999999999999', 10, undefined],
  ])('%j means %d seconds', (header, waitSeconds, applied) => {
    expect(parsePrefer(header)).toEqual(applied === undefined ? { waitSeconds } : { waitSeconds, applied })
  })

  it('stays within its bounds, whatever is sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'wait=0159",; \\\t'), maxLength: 200 }), (header) => {
        const { waitSeconds } = parsePrefer(header)
        return Number.isInteger(waitSeconds) && waitSeconds >= 0 && waitSeconds <= 30
      }),
      { numRuns: 2_000, seed: 1 },
    )
    for (const unit of ['a="', '"', 'a,', 'a=\\', ' ', 'wait=,', 'a=";', '\\"'])
      parsePrefer(unit.repeat(16_000 / unit.length))
  })
})
