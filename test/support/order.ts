// The order in which a run starts its files: the longest of all projects, then one project after the other, those that start
// processes first, and of each project the long ones first.

import { PROJECTS, type ProjectName } from './projects.ts'

// Seconds that a file takes on a machine with two cores, of those that take long. A whole run prints its slowest files:
// a figure here need only be good enough to put them in order.
const SECONDS: Record<string, number> = {
  'test/hostile/hostile.test.ts': 30,
  'test/faults/kills.test.ts': 75,
  'test/faults/small.test.ts': 68,
  'test/commands/submit-resume.test.ts': 45,
  'test/docs/browser.test.ts': 60,
  'test/clients/python/package.test.ts': 45,
  'test/clients/python-verifier/package.test.ts': 25,
  'test/clients/go-verifier/package.test.ts': 20,
  'test/docs/phone.test.ts': 15,
  'test/platform/jobs/stuck.test.ts': 42,
  'test/clients/python/contract.test.ts': 27,
  'test/clients/guard/scenarios.test.ts': 25,
  'test/clients/python/scenarios.test.ts': 16,
  'test/platform/jobs/forgotten.test.ts': 11,
  'test/platform/http/long-polls.test.ts': 25,
  'test/commands/embedded/postgres.test.ts': 30,
  'test/workers/end-to-end.test.ts': 20,
  'test/faults/deliveries.test.ts': 30,
  'test/commands/diff.test.ts': 20,
  'test/faults/inference-kills.test.ts': 15,
  'test/workers/sequence.test.ts': 20,
  'test/house/processes.test.ts': 25,
  'test/commands/admin-processes.test.ts': 19,
  'test/commands/new.test.ts': 18,
  'test/platform/telemetry.test.ts': 16,
  'test/commands/submit.test.ts': 30,
  'test/docs/guides.test.ts': 30,
  'test/docs/integrate.test.ts': 13,
  'test/docs/submit.test.ts': 12,
  'test/workers/traces.test.ts': 12,
  'test/workers/secrets.test.ts': 25,
  'test/account/login/login.test.ts': 12,
  'test/commands/supervisor.test.ts': 35,
  'test/commands/start.test.ts': 71,
  'test/dashboard/adjuster.test.ts': 30,
  'test/dashboard/approver.test.ts': 25,
  'test/dashboard/authorize.test.ts': 25,
  'test/dashboard/pages.test.ts': 70,
  'test/dashboard/batch.test.ts': 15,
  'test/dashboard/wrong.test.ts': 30,
  'test/workers/s3.test.ts': 10,
  'test/trace/inferences/inferences.test.ts': 14,
  'test/trace/inferences/crash.test.ts': 12,
  'test/faults/attribution-kills.test.ts': 20,
  'test/capture-kit/command.test.ts': 10,
  'test/vectors/mutants.test.ts': 12,
  'test/vectors/service.test.ts': 12,
  'test/platform/jobs/engine.test.ts': 22,
  'test/house/access.test.ts': 22,
  'test/attest/media/decoder.test.ts': 18,
  'test/platform/http/watch-access.test.ts': 17,
  'test/attest/claims/access.test.ts': 12,
  'test/platform/retention.test.ts': 10,
  'test/platform/db/id-ranges.test.ts': 10,
  'test/attest/media/thumbnails.test.ts': 9,
  'test/attest/claims/locks.test.ts': 9,
  'test/platform/net/egress.test.ts': 8,
  'test/authorize/schedules/calendar.test.ts': 8,
  'test/attest/evidence/packet.test.ts': 8,
  'test/attest/evidence/pictures.test.ts': 7,
  'test/attest/claims/refusals.test.ts': 6,
  'test/attest/hardware/corpus.test.ts': 12,
  'test/attest/media/threads.test.ts': 8,
  'test/platform/http/body.test.ts': 7,
  // These files load SmolLM2.
  'test/trace/llama/forward.test.ts': 20,
  'test/trace/shares/prompt-attack.test.ts': 45,
  'test/trace/models/model-process.test.ts': 10,
}
export const TIMED_FILES: readonly string[] = Object.keys(SECONDS)

export interface TestFile {
  path: string
  project: ProjectName
}

// A file of this length at the end of a run would run alone. For it a worker process of its own is worth its start.
const LONG_SECONDS = 20

/** One project after the other: a pool passes a worker process on only to the next file, if that is of its project. */
export function orderFiles<File extends TestFile>(files: readonly File[]): File[] {
  const rankOf = (file: File) => (isLong(file) ? -1 : PROJECTS.indexOf(file.project))
  return files.toSorted((a, b) => rankOf(a) - rankOf(b) || secondsOf(b) - secondsOf(a))
}

export function isLong(file: Pick<TestFile, 'path'>): boolean {
  return secondsOf(file) >= LONG_SECONDS
}

function secondsOf({ path }: Pick<TestFile, 'path'>): number {
  return SECONDS[path] ?? 0
}
