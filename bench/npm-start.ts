// `npm start` as a user runs it, with its data in a folder of the benchmark.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '#src/config.ts'
import { withDescendants } from './processor-time.ts'

const READY_LINE = 'drains and stops'
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface StartOptions {
  /** Without it the queues are on Postgres. */
  redisUrl?: string | undefined
  /** Where compiled code is kept; without it each start compiles. */
  compileCache?: string
}

export function spawnStart(directory: string, { redisUrl = '', compileCache }: StartOptions = {}): ChildProcess {
  return spawn(process.execPath, ['commands/start.ts'], {
    cwd: ROOT,
    env: childEnvironment({
      MODE: 'development',
      DATABASE_URL: '',
      REDIS_URL: redisUrl,
      DATA_DIR: directory,
      PORT: '0',
      ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
    }),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
}

/** The processes of a start, each once: the watchdog of the embedded Postgres may be a child of the first. */
export function processesOf(child: ChildProcess, directory: string): number[] {
  const watchdog = Number(readFileSync(join(directory, 'embedded/watchdog.pid'), 'utf8'))
  return [...new Set([child.pid ?? 0, watchdog].flatMap(withDescendants))]
}

export function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((done, fail) => {
    let said = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes(READY_LINE)) done()
    })
    child.once('exit', (code) => fail(new Error(`npm start ended with ${code}`)))
  })
}

export function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((done) => {
    child.once('exit', () => done())
    child.kill('SIGTERM')
  })
}
