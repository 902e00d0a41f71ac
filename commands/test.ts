// `npm test`: types, lint, and every test. Further arguments go to vitest: `npm test -- test/attest`. The last line
// says how many passed and failed; types, lint and a file that can't be loaded count as one each. Types and lint run
// beside the tests at a low priority: many tests wait for processes of their own, and leave processor time.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tallyReport } from './test-report.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const bin = (path: string) => join(ROOT, 'node_modules', path)
const args = process.argv.slice(2)
const say = (line: string) => process.stderr.write(`${line}\n`)

let stopping = false
process.on('disconnect', () => {
  stopping = true
})

installRedis()
await fetchModel()
await preparePython()
// The processes that tests start.
await run([join(ROOT, 'commands/compile-cache.ts')])
// Tests open its pages. A whole run builds it once, and nothing when its sources are those of the last build.
await run([join(ROOT, 'commands/dashboard.ts'), 'build'])
const tally = { passed: 0, failed: 0 }
const steps =
  args.length > 0
    ? []
    : [
        step('types', [bin('typescript/bin/tsc'), '--noEmit']),
        step('types of the dashboard', [bin('typescript/bin/tsc'), '--noEmit', '-p', 'dashboard']),
        step('lint', [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']),
      ]
await Promise.all([...steps, runTests()])
await new Promise((written) => process.stdout.write(`${tally.passed} passed, ${tally.failed} failed\n`, written))
// The channel to the parent process would keep this process alive.
process.exit(tally.failed === 0 ? 0 : 1)

// Its output is printed at its end: a line of it between the lines of the tests would not be noticed.
async function step(name: string, command: string[]): Promise<void> {
  const { code, output } = await runAside(command)
  if (code === 0) tally.passed += 1
  else tally.failed += 1
  say(`${output}${name} ${code === 0 ? 'passed' : 'failed'}`)
}

async function runTests(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-report-'))
  const report = join(directory, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    if (args.length === 0) reporters.push(`--reporter=${join(ROOT, 'test/support/slowest.ts')}`)
    const status = await run([bin('vitest/vitest.mjs'), 'run', ...reporters, ...args])
    const { passed, failed, failedFiles } = tallyReport(readFileSync(report, 'utf8'), status)
    tally.passed += passed
    tally.failed += failed
    for (const { name, message } of failedFiles) say(`${name} failed as a whole: ${message}`)
  } catch (error) {
    say(`the tests left no report: ${error instanceof Error ? error.message : error}`)
    tally.failed += 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function run(command: string[]): Promise<number> {
  if (stopping) return Promise.resolve(1)
  return exitOf(spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 2, 2] }))
}

async function runAside(command: string[]): Promise<{ code: number; output: string }> {
  if (stopping) return { code: 1, output: '' }
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
  return { code: await exitOf(child), output }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((done) => {
    process.once('disconnect', () => child.kill('SIGTERM'))
    child.on('error', () => done(1))
    // `close` comes after the last of its output.
    child.on('close', (code) => done(code ?? 1))
  })
}

// Both engines are tested where Redis is available: root on a Debian machine gets it installed.
function installRedis(): void {
  if (spawnSync('redis-server', ['--version']).status === 0) return
  if (userInfo().uid === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    say('Installing redis-server (once)...')
    const quiet = { stdio: 'ignore' } as const
    spawnSync('apt-get', ['update'], quiet)
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], quiet)
  }
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    say('No redis-server on this machine: the tests run on the Postgres engine alone. Install it to test both.')
  }
}

// A run of some files fetches nothing, unless it must not skip a test: 100 MB are much for a test of something else.
async function fetchModel(): Promise<void> {
  if (args.length > 0 && !process.env.CI) return
  const model = join(ROOT, 'commands/model.ts')
  if ((await runAside([model, 'check', 'smollm2-135m-instruct'])).code === 0) return
  say('Fetching the model SmolLM2 (once)...')
  const { code, output } = await runAside([model, 'fetch', 'smollm2'])
  if (code !== 0) say(`${output}SmolLM2 was not fetched: the tests that run it are skipped, and fail where CI is set.`)
}

// Two minutes of a slow line, once for each lock file of the library.
async function preparePython(): Promise<void> {
  if (args.length > 0 && !process.env.CI && !args.some((argument) => argument.includes('clients'))) return
  const { code, output } = await runAside([join(ROOT, 'commands/python.ts')])
  if (code !== 0) say(`${output}The library for Python is not tested with every version, which fails where CI is set.`)
}
