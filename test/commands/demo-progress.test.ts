import { expect, test } from 'vitest'
import { createProgress } from '../../commands/demo/progress.ts'

function run(ms: number, { isTTY = false, count = 300 } = {}): string {
  let written = ''
  let at = 5_000
  const write = (text: string) => {
    written += text
  }
  const progress = createProgress('Verdicts', 300, { screen: { isTTY, write }, now: () => at })
  at += ms
  progress.add(count)
  progress.end()
  return written
}

test('the rate of what was counted in no time is left out', () => {
  const bar = '#'.repeat(30)
  for (const ms of [0, 0.07, 499]) {
    expect(run(ms)).toBe(`Verdicts             [${bar}] 300/300\n`)
    expect(run(ms, { isTTY: true })).not.toContain('/s')
  }
})

test('the rate is that of the whole time', () => {
  expect(run(500)).toContain(' 300/300   600.0/s')
  expect(run(60_000)).toContain(' 300/300     5.0/s')
  expect(run(60_000, { isTTY: true, count: 0 })).toContain('/300     0.0/s')
})
