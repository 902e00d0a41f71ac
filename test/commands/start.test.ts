// `npm start` as a user runs it, on embedded parts: beside a machine's other work, with a process that is slow, with one
// that can't run, and interrupted at any moment.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isAlive } from '../../commands/embedded/process-lock.ts'
import { readProcfile } from '../../commands/supervisor.ts'
import { until } from '../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
// Only what hangs takes so long.
const PATIENCE_MS = 600_000
const BUSY_LOOPS = 2

let directory: string
const children: ChildProcess[] = []

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-start-'))
  // As root, Postgres runs as another user, which must be able to enter.
  chmodSync(directory, 0o711)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await until(async () => !(await isServed()), { timeoutMs: PATIENCE_MS, what: 'the embedded Postgres ends' })
})
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))

interface Started {
  child: ChildProcess
  said(): string
  /** Its exit code. */
  ended: Promise<number | null>
}

function start(environment: Record<string, string> = {}, options: readonly string[] = []): Started {
  const child = spawn(process.execPath, ['commands/start.ts', ...options], {
    cwd: ROOT,
    // vitest sets some of them for itself.
    env: {
      ...process.env,
      MODE: 'development',
      DATA_DIR: directory,
      PORT: '0',
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile'),
      BASE_URL: '',
      DATABASE_URL: '',
      REDIS_URL: '',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  }
  return { child, said: () => text, ended: new Promise((done) => child.once('close', (code) => done(code))) }
}

const untilSays = ({ said, child }: Started, pattern: RegExp) =>
  until(
    () => {
      if (child.exitCode !== null && !pattern.test(said())) throw new Error(`npm start ended: ${said()}`)
      return pattern.test(said())
    },
    { timeoutMs: PATIENCE_MS, what: `npm start says ${pattern}` },
  )

/** The processes whose metrics can be read where `npm start` says. */
async function measuredBy({ said }: Started): Promise<string[]> {
  const [, shown = ''] = /\nMetrics\n((?: {2}.*\n)+)/.exec(said()) ?? []
  const rows = [...shown.matchAll(/^ {2}(\S+) +(\S+)$/gm)]
  for (const [, , url = ''] of rows) expect((await fetch(url)).status).toBe(200)
  return rows.map(([, name = '']) => name)
}

// In a session of its own, as another program: Linux shares the processors among sessions.
function spin(): void {
  children.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore', detached: true }))
}

/** A preload that runs JavaScript at the start of one process of the Procfile. */
function inProcess(name: string, script: string): Record<string, string> {
  const source = `if (process.argv[1].endsWith("workers/${name}.ts")) {${script}}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` }
}

function serverDirectory(): string {
  const embedded = join(directory, 'embedded')
  const note = join(embedded, 'apart')
  return existsSync(note) ? join(readFileSync(note, 'utf8'), 'postgres') : join(embedded, 'postgres')
}

async function isServed(): Promise<boolean> {
  for (const file of [join(serverDirectory(), 'postmaster.pid'), join(dirname(serverDirectory()), 'watchdog.pid')]) {
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
    if (await isAlive(pid, serverDirectory())) return true
  }
  return false
}

/** The tools that a host of MCP gets with the configuration that `npm start` prints. */
async function toolsBy({ said }: Started): Promise<string[]> {
  const [configuration = ''] = /\{"mcpServers".*\}$/m.exec(said()) ?? []
  const { command, args, env } = JSON.parse(configuration).mcpServers.countersign
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command, args, env }))
  const { tools } = await client.listTools()
  await client.close()
  return tools.map(({ name }) => name)
}

describe('npm start', { timeout: PATIENCE_MS }, () => {
  it('becomes ready beside two busy loops, at the first start, and ends in order', async () => {
    for (let loop = 0; loop < BUSY_LOOPS; loop += 1) spin()
    const started = start()
    await untilSays(started, /Ctrl-C drains and stops/)
    const baseUrl = /Countersign listens on (\S+)/.exec(started.said())?.[1]
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200)
    expect((await measuredBy(started)).sort()).toEqual(['all', 'web'])
    expect(await toolsBy(started)).toContain('verify_intent')
    started.child.kill('SIGINT')
    expect(await started.ended).toBe(0)
    expect(started.said()).toMatch(/Interrupted: draining\.\.\.\n[\s\S]*Stopped\.\n/)
    expect(await isServed()).toBe(false)
  })

  it('runs each line of the Procfile as a process of its own when it is told to', async () => {
    const started = start({}, ['--processes'])
    await untilSays(started, /Ctrl-C drains and stops/)
    expect((await measuredBy(started)).sort()).toEqual(
      readProcfile()
        .map(({ name }) => name)
        .sort(),
    )
    started.child.kill('SIGINT')
    expect(await started.ended).toBe(0)
  })

  it('fails when a process ends by an error of its own: its name, exit code, log and last lines', async () => {
    const started = start(inProcess('all', 'console.error("no such camera"); process.exit(7)'))
    expect(await started.ended).toBe(1)
    expect(started.said()).toContain(
      `all could not start: it ended with exit code 7 (its log: ${join(directory, 'logs/all.log')})\n  no such camera\n`,
    )
    expect(await isServed()).toBe(false)
  })

  it('names a process that is slow, and an interrupt stops everything in order', async () => {
    // It notices no signal, so that it is killed after the time that it has for its end.
    const frozen = inProcess('all', 'process.kill(process.pid, "SIGSTOP")')
    const started = start({ ...frozen, SHUTDOWN_SECONDS: '1' })
    await untilSays(started, /! waiting for .*all.*, which ha(?:s|ve) not become ready for \d+ s \(load \d/)
    started.child.kill('SIGINT')
    expect(await started.ended).toBe(130)
    expect(started.said()).toMatch(/Interrupted before it was ready\. Stopped\.\n/)
    expect(await isServed()).toBe(false)
  })

  it.each(['Starting embedded Postgres', 'Migrated the database'])(
    'stops everything in order when it is interrupted after %j',
    async (line) => {
      rmSync(join(directory, 'embedded'), { recursive: true, force: true })
      const started = start()
      await untilSays(started, new RegExp(line))
      started.child.kill('SIGTERM')
      expect(await started.ended).toBe(143)
      expect(started.said()).toMatch(/Terminated before it was ready\. Stopped\.\n/)
      expect(await isServed()).toBe(false)
    },
  )
})
