// What vitest's report in JSON says of a run.

import { z } from 'zod'

const REPORT = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
})

export interface TestTally {
  passed: number
  failed: number
  /** Files that failed without a failed test: they could not be loaded, or failed in a hook. */
  failedFiles: { name: string; message: string }[]
}

/**
 * Counts the tests of a run, and each file that failed without a failed test as one failure. An error outside of any file shows in
 * the exit code alone, and counts as one failure too.
 * @param exitCode Exit code of vitest.
 * @throws {z.ZodError} when the text is no report of vitest.
 */
export function tallyReport(text: string, exitCode: number): TestTally {
  const report = REPORT.parse(JSON.parse(text))
  const failedFiles = report.testResults
    .filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'))
    .map(({ name, message = '' }) => ({ name, message }))
  const failed = report.numFailedTests + failedFiles.length
  return { passed: report.numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed, failedFiles }
}
