import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tallyReport } from '../../commands/test-report.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

// A folder of the checkout, since vitest itself is resolved from there.
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.cache-report-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs vitest over these files and returns its tally. */
async function runFiles(files: Record<string, string>) {
  const directory = mkdtempSync(join(folder, 'run-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  writeFileSync(join(directory, 'vitest.config.mjs'), 'export default {}')
  const report = join(directory, 'report.json')
  const args = [VITEST, 'run', '--root', directory, '--reporter=json', `--outputFile.json=${report}`]
  const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return tallyReport(readFileSync(report, 'utf8'), code)
}

const passing = "import { it } from 'vitest'\nit('passes', () => {})\n"
const failing = "import { it } from 'vitest'\nit('fails', () => { throw new Error('no') })\n"

describe('the tally of a run of tests', () => {
  it('counts each file that could not be loaded, beside the tests that failed', async () => {
    const tally = await runFiles({
      'passing.test.mjs': passing,
      'failing.test.mjs': failing,
      'first.test.mjs': `throw new Error('first')\n${passing}`,
      'second.test.mjs': `throw new Error('second')\n${passing}`,
    })
    expect(tally).toMatchObject({ passed: 1, failed: 3 })
    expect(tally.failedFiles.map(({ name }) => name.replace(/.*\//, '')).toSorted()).toEqual([
      'first.test.mjs',
      'second.test.mjs',
    ])
    expect(tally.failedFiles[0]?.message).toMatch(/first|second/)
  })

  it('counts a file whose hook failed after its tests had passed', async () => {
    const hook = `${passing}import { afterAll } from 'vitest'\nafterAll(() => { throw new Error('hook') })\n`
    expect(await runFiles({ 'hook.test.mjs': hook })).toMatchObject({ passed: 1, failed: 1 })
  })

  it('counts an error outside of any file by the exit code', () => {
    const report = JSON.stringify({ numPassedTests: 2, numFailedTests: 0, testResults: [] })
    expect(tallyReport(report, 1)).toEqual({ passed: 2, failed: 1, failedFiles: [] })
    expect(tallyReport(report, 0)).toEqual({ passed: 2, failed: 0, failedFiles: [] })
  })

  it('refuses what is no report', () => {
    expect(() => tallyReport('{}', 0)).toThrow()
  })
})
