// A reporter: names the slowest files and tests at the end of a run.

import type { Reporter, TestModule } from 'vitest/node'

const MOST = 20

interface Timed {
  name: string
  ms: number
}

// vitest loads a reporter by its default export.
export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({ name: module.relativeModuleId, ms: durationOf(module) }))
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        name: `${module.relativeModuleId} > ${test.fullName}`,
        ms: test.diagnostic()?.duration ?? 0,
      })),
    )
    process.stderr.write(`${describe('files', files)}${describe('tests', tests)}\n`)
  }
}

// With its imports and hooks, which the time of its tests does not contain.
function durationOf(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
  return prepareDuration + setupDuration + collectDuration + duration
}

function describe(what: string, timed: Timed[]): string {
  const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, MOST)
  const lines = slowest.map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}\n`)
  return `\nThe slowest ${what}:\n${lines.join('')}`
}
