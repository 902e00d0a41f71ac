import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/cluster.ts'],
    // Two files at a time: each real-process test brings processes of its own, and the machines have two cores.
    maxWorkers: 2,
    // Bounds for what hangs, not for what is slow: each test waits for conditions, on machines with other work too.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    // Sharp and worker threads dislike being loaded twice into one process.
    pool: 'forks',
  },
})
