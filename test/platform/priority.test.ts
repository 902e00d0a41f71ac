import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRelief } from '#src/platform/priority.ts'

const OWN = 5
const LOWEST = 19
const elapsedMs = 2_000
const starved = { ranMs: 60, waitedMs: 1_900, elapsedMs }
const idle = { ranMs: 2, waitedMs: 1, elapsedMs }

describe('the priority of a session that yields', () => {
  const priorities = (uses: readonly (typeof idle)[]) => {
    const next = createRelief({ own: OWN, lowest: LOWEST })
    return uses.map(next)
  }

  it.each([
    ['idle', idle],
    ['busy, and waiting a little', { ranMs: 1_500, waitedMs: 400, elapsedMs }],
    ['waiting with several threads, of which enough run', { ranMs: 1_200, waitedMs: 3_000, elapsedMs }],
    ['waiting for a part of the period', { ranMs: 10, waitedMs: 1_000, elapsedMs }],
    ['counted anew, because threads have ended', { ranMs: -800, waitedMs: -900, elapsedMs }],
  ])('stays the lowest for a process that is %s', (_, use) => {
    expect(priorities([use])).toEqual([LOWEST])
  })

  it('is that of the process for ten seconds after two in which it got next to nothing', () => {
    expect(priorities([idle, starved, idle, idle, idle, idle, idle, idle])).toEqual([
      LOWEST,
      OWN,
      OWN,
      OWN,
      OWN,
      OWN,
      LOWEST,
      LOWEST,
    ])
  })

  it('is never the lowest right after such a period, whatever was before', () => {
    const use = fc.record({
      ranMs: fc.double({ min: 0, max: 8_000, noNaN: true }),
      waitedMs: fc.double({ min: 0, max: 8_000, noNaN: true }),
      elapsedMs: fc.constant(elapsedMs),
    })
    fc.assert(
      fc.property(fc.array(use), (uses) => {
        expect(priorities([...uses, starved]).at(-1)).toBe(OWN)
      }),
    )
  })
})
