// The order in which a run starts its files: the long ones first, and those that start processes beside those that
// compute, since the former wait for most of their time.

import type { ProjectName } from './projects.ts'

// Seconds that a file takes on a machine with two cores, of those that take long. A whole run prints its slowest files:
// a figure here need only be good enough to put them in order.
const SECONDS: Record<string, number> = {
  'test/hostile/hostile.test.ts': 90,
  'test/docs/browser.test.ts': 57,
  'test/commands/submit-resume.test.ts': 50,
  'test/faults/kills.test.ts': 45,
  'test/platform/jobs/stuck.test.ts': 42,
  'test/faults/small.test.ts': 35,
  'test/platform/db/embedded.test.ts': 30,
  'test/workers/end-to-end.test.ts': 20,
  'test/commands/new.test.ts': 18,
  'test/platform/telemetry.test.ts': 16,
  'test/commands/submit.test.ts': 13,
  'test/docs/integrate.test.ts': 13,
  'test/workers/traces.test.ts': 12,
  'test/commands/supervisor.test.ts': 11,
  'test/workers/s3.test.ts': 10,
  'test/capture-kit/command.test.ts': 10,
  'test/platform/jobs/engine.test.ts': 22,
  'test/attest/media/decoder.test.ts': 18,
  'test/attest/claims/access.test.ts': 12,
  'test/platform/retention.test.ts': 10,
  'test/attest/media/thumbnails.test.ts': 9,
  'test/attest/claims/locks.test.ts': 9,
  'test/platform/net/egress.test.ts': 8,
  'test/attest/evidence/packet.test.ts': 8,
  'test/attest/evidence/pictures.test.ts': 7,
  'test/attest/claims/refusals.test.ts': 6,
  'test/attest/hardware/corpus.test.ts': 32,
  'test/attest/media/threads.test.ts': 8,
  'test/platform/http/body.test.ts': 7,
}
const DEFAULT_SECONDS: Record<ProjectName, number> = { process: 4, rows: 2, pure: 0.3 }

export const TIMED_FILES: readonly string[] = Object.keys(SECONDS)

export interface TestFile {
  path: string
  project: ProjectName
}

/**
 * Starts as a pool of `workers` would if one of them took the files of `rows` and the others those of `process`. The
 * files of `pure` come last and together: a pool passes a shared worker process only to the next file of the queue.
 */
export function orderFiles<File extends TestFile>(files: readonly File[], workers: number): File[] {
  const of = (name: ProjectName) =>
    files.filter(({ project }) => project === name).toSorted((a, b) => secondsOf(b) - secondsOf(a))
  const [waiting, computing, shared] = [of('process'), of('rows'), of('pure')]
  const busyFor = new Array<number>(workers).fill(0)
  const ordered: File[] = []
  while (waiting.length + computing.length > 0) {
    const worker = busyFor.indexOf(Math.min(...busyFor))
    const [first, second] = worker === 0 ? [computing, waiting] : [waiting, computing]
    const next = first.shift() ?? second.shift()
    if (next === undefined) break
    ordered.push(next)
    busyFor[worker] = (busyFor[worker] ?? 0) + secondsOf(next)
  }
  return [...ordered, ...shared]
}

function secondsOf({ path, project }: TestFile): number {
  return SECONDS[path] ?? DEFAULT_SECONDS[project]
}
