import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { orderFiles } from './test/support/order.ts'
import { createProjectOf, findTests, type ProjectName, readRepository } from './test/support/projects.ts'

// One more than cores, since files of `process` wait for a part of their time. Each brings up to eight processes of its
// own and has connections to the one Postgres of the run, so more cores don't mean as many more files.
const WORKERS = Math.min(Math.max(availableParallelism(), 2), 4) + 1
const CLUSTER = ['test/support/cluster.ts']

const files = Map.groupBy(findTests(), createProjectOf(readRepository()))
const include = (name: ProjectName) => files.get(name) ?? []

class FileOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const known = specifications.map((specification) => ({
      specification,
      path: relative(import.meta.dirname, specification.moduleId),
      project: specification.project.name as ProjectName,
    }))
    return orderFiles(known).map(({ specification }) => specification)
  }
}

export default defineConfig({
  test: {
    // test/support/projects.ts says what they are.
    projects: [
      { extends: true, test: { name: 'process', include: include('process'), globalSetup: CLUSTER } },
      { extends: true, test: { name: 'alone', include: include('alone'), globalSetup: CLUSTER } },
      {
        extends: true,
        test: {
          name: 'rows',
          include: include('rows'),
          globalSetup: CLUSTER,
          setupFiles: ['test/support/photos.ts'],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'pure', include: include('pure'), isolate: false } },
    ],
    maxWorkers: WORKERS,
    sequence: { sequencer: FileOrder },
    // Node itself loads the files, as it loads the service: what it refuses fails here too, and a file with three
    // hundred imports starts in half the time. `vi.mock` does not work then.
    experimental: { viteModuleRunner: false },
    // Bounds for what hangs, not for what is slow: each test waits for conditions, on machines with other work too.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000, interval: 10 } },
    // Sharp and worker threads dislike being loaded twice into one process.
    pool: 'forks',
  },
})
