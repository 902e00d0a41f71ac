import { expect, describe as group, it, vi } from 'vitest'
import { compare, describe, judgeLimit, judgeRatio, median, percentile, withRecord } from '../../bench/harness.ts'

vi.spyOn(process.stdout, 'write').mockReturnValue(true)

group('figures', () => {
  it('the median is the middle value in order, of an even number the mean of the middle two', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([10, 9, 1, 2])).toBe(5.5)
    expect(median([])).toBeNaN()
  })

  it('a percentile is a measured value: the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect([0, 1, 50, 99, 100].map((p) => percentile(values, p))).toEqual([1, 1, 50, 99, 100])
    expect(percentile([7], 99)).toBe(7)
    expect(percentile([], 50)).toBeNaN()
  })

  it('sorting leaves the measured values unchanged', () => {
    const values = [3, 1, 2]
    median(values)
    percentile(values, 50)
    expect(values).toEqual([3, 1, 2])
  })

  it('are printed with their range', () => {
    expect(describe([3, 1, 2], 'ms')).toBe('2.00 ms (1.00 to 3.00)')
    expect(describe([1234.5], 'jobs/s')).toBe('1,235 jobs/s (1,235 to 1,235)')
  })
})

group('the record of a run', () => {
  const text =
    '# Benchmarks\n\n## Results\n\n### keys: 1\n\n- old\n\n### keys:one: 1\n\n- old part\n\n### keys-two: 1\n\n- kept\n'
  const sectionsOf = (written: string) => [...written.matchAll(/^### (.*)$/gm)].map(([, title]) => title)

  it('replaces the last one of the same benchmark and those of its parts', () => {
    const written = withRecord(text, 'keys', '### keys: 2\n\n- new\n')
    expect(written).toBe('# Benchmarks\n\n## Results\n\n### keys-two: 1\n\n- kept\n\n### keys: 2\n\n- new\n')
    expect(withRecord(written, 'keys', '### keys: 2\n\n- new\n')).toBe(written)
  })

  it('of a part replaces that part only', () => {
    expect(sectionsOf(withRecord(text, 'keys:one', '### keys:one: 2\n'))).toEqual([
      'keys: 1',
      'keys-two: 1',
      'keys:one: 2',
    ])
    expect(sectionsOf(withRecord(text, 'timing', '### timing: 2\n'))).toHaveLength(4)
  })
})

group('a verdict', () => {
  const rate = { name: 'x', unit: '1/s', floor: { label: 'floor' }, ours: { label: 'ours' }, bar: 0.5 }

  it('is the median of the ratios of each round, so that a slower machine affects both sides', () => {
    const floors = [100, 50, 10]
    const verdict = judgeRatio({ ...rate, floors, own: [60, 30, 1] })
    expect(verdict).toMatchObject({ name: 'x', isReached: true })
    expect(verdict.line).toContain('ratio 0.60 (bar >= 0.5)')
    expect(judgeRatio({ ...rate, floors, own: [40, 30, 1] }).line).toContain('ratio 0.40 (bar >= 0.5, missed)')
  })

  it('is reached from below for times, and from above for rates', () => {
    const runs = { floors: [10], own: [11] }
    expect(judgeRatio({ ...rate, ...runs, bar: 1.1, isTime: true }).isReached).toBe(true)
    expect(judgeRatio({ ...rate, ...runs, bar: 1.05, isTime: true }).isReached).toBe(false)
    expect(judgeRatio({ ...rate, ...runs, bar: 1.05 }).isReached).toBe(true)
  })

  it('is not reached without measurements', () => {
    expect(judgeRatio({ ...rate, floors: [], own: [] }).isReached).toBe(false)
    expect(judgeRatio({ ...rate, floors: [10], own: [Number.NaN], isTime: true }).isReached).toBe(false)
    expect(judgeLimit({ name: 'x', label: 'p99', unit: 'ms', values: [], max: 5 }).isReached).toBe(false)
  })

  it('is decided by the median when runs lie on both sides', () => {
    const limit = { name: 'x', label: 'p99', unit: 'ms', max: 5 }
    expect(judgeLimit({ ...limit, values: [9, 5, 1] })).toMatchObject({ isReached: true })
    expect(judgeLimit({ ...limit, values: [9, 6, 1], beside: 'p50 1 ms' }).line).toBe(
      'p99 6.00 ms (1.00 to 9.00) (bar <= 5 ms, missed); p50 1 ms',
    )
  })

  it('comes from alternating runs, after one run of each side that is not counted', async () => {
    const order: string[] = []
    const side = (name: string, results: number[]) => async () => {
      order.push(name)
      return results.shift() ?? Number.NaN
    }
    const { line } = await compare({
      ...rate,
      floor: { label: 'floor', run: side('A', [1, 100, 100]) },
      ours: { label: 'ours', run: side('B', [1, 70, 80]) },
      rounds: 2,
    })
    expect(order.join('')).toBe('ABABAB')
    expect(line).toContain('ratio 0.75')
  })
})
