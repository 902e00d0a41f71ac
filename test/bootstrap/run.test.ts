// The bootstrap in checkouts of a few files, with an npm that is a script: what it installs is this machine's own Node.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive } from '#src/platform/db/holders.ts'
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

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
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

  it('is written so that an old Node gets as far as that sentence', () => {
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

  it('installs once and runs the command where its user stands', async () => {
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

  it('takes what somebody else installed, and installs again when the lock file changes', async () => {
    expect(spawnSync(process.execPath, ['npm-cli.js'], { cwd: root }).status).toBe(0)
    expect((await end(run())).stderr).toBe('')
    write(
      'package-lock.json',
      JSON.stringify({ packages: { ...LOCK.packages, 'node_modules/new': { version: '1.0.0' } } }),
    )
    expect((await end(run())).stderr).toContain('Installing dependencies')
    expect(installs()).toBe(2)
  })

  it('lets one of several first commands install, and the others wait for it', async () => {
    const results = await Promise.all([1, 2, 3].map(() => end(run([], { PAUSE_MS: '700' }))))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(installs()).toBe(1)
    expect(results.filter(({ stderr }) => stderr.includes('waiting for it'))).toHaveLength(2)
  })

  it('says that npm failed, and begins anew the next time', async () => {
    const failed = await end(run([], { FAIL: '1' }))
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/the registry is gone\n`npm install` failed[^\n]*\n$/)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(true)

    expect((await end(run())).code).toBe(0)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(false)
  })

  it('says which script must run when no Node came with the packages', async () => {
    const { code, stderr } = await end(run([], { NO_SCRIPTS: '1' }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/did not bring Node 24 .*ignore-scripts/)
  })

  it('says that npm is missing', async () => {
    const { code, stderr } = await end(run([], { npm_execpath: '', PATH: join(root, 'nowhere') }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/\nnpm was not found\.[^\n]*\n$/)
  })

  it('ends an install at once when it is interrupted, and begins anew the next time', async () => {
    const child = run([], { PAUSE_MS: '60000' })
    await until(() => existsSync(join(root, 'npm-pid')))
    child.kill('SIGINT')
    expect((await end(child)).code).toBe(130)
    await until(async () => !(await isAlive(Number(readFileSync(join(root, 'npm-pid'), 'utf8')))))

    expect((await end(run())).code).toBe(0)
    expect(existsSync(join(root, 'node_modules/half-unpacked'))).toBe(false)
  })

  it('waits for an npm whose starter was killed', async () => {
    const child = run([], { PAUSE_MS: '700' })
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

const LOCK = {
  packages: {
    '': { version: '0.0.0' },
    'node_modules/some': { version: '1.2.3' },
    'node_modules/for-another-platform': { version: '1.0.0', optional: true },
  },
}

// Writes what npm writes, in npm's order: packages, then scripts, and its record last.
const NPM = `
  const fs = require('fs')
  fs.appendFileSync('npm-runs', '.')
  fs.mkdirSync('node_modules/half-unpacked', { recursive: true })
  fs.writeFileSync('npm-pid', String(process.pid))
  if (process.env.FAIL) {
    console.error('the registry is gone')
    process.exit(1)
  }
  setTimeout(() => {
    fs.rmSync('node_modules/half-unpacked', { recursive: true })
    fs.mkdirSync('node_modules/node/bin', { recursive: true })
    fs.rmSync('node_modules/node/bin/node', { force: true })
    if (!process.env.NO_SCRIPTS) fs.symlinkSync(process.execPath, 'node_modules/node/bin/node')
    const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
    delete packages['']
    delete packages['node_modules/for-another-platform']
    fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }))
  }, Number(process.env.PAUSE_MS || 0))
`

const outputs = new WeakMap<ChildProcess, { stdout: string; stderr: string }>()

function run(args: string[] = [], environment: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ['bootstrap/run.cjs', 'commands/say.js', ...args], {
    cwd: root,
    env: {
      ...process.env,
      INIT_CWD: '',
      npm_lifecycle_event: '',
      npm_execpath: join(root, 'npm-cli.js'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  outputs.set(child, output)
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

function said(child: ChildProcess): string {
  return outputs.get(child)?.stdout ?? ''
}

function installs(): number {
  return readFileSync(join(root, 'npm-runs'), 'utf8').length
}

function write(name: string, text: string): void {
  writeFileSync(join(root, name), text)
}
