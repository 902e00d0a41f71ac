// Runs the Procfile: one child per line, restarted when it dies, ended in order.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '#src/config.ts'

export interface Supervisor {
  internalPorts: Record<string, number>
  /** The children by their Procfile names, as they are now. */
  children: ReadonlyMap<string, ChildProcess>
  stop(): Promise<void>
}

interface SupervisorOptions {
  environment: Record<string, string>
  internalPortOf(name: string): number
  logOf(name: string): Writable
  onWarning?: (line: string) => void
  /** Only these processes. */
  only?: readonly string[]
  /** Changes for one launch of one process, counted from 1. */
  environmentOf?(name: string, launch: number): Record<string, string>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_DEADLINE_MS = 60_000
// A process that dies at once would otherwise be started as fast as the machine can.
const RESTART_AFTER_MS = 1_000

export function readProcfile(): { name: string; command: string[] }[] {
  return readFileSync(new URL('../Procfile', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':')
      return { name: name.trim(), command: rest.join(':').trim().split(/\s+/) }
    })
}

/** Resolves when every process has said that it is ready. */
export async function startProcfile(options: SupervisorOptions): Promise<Supervisor> {
  const { environment, internalPortOf, logOf, onWarning = () => {}, only, environmentOf = () => ({}) } = options
  const children = new Map<string, ChildProcess>()
  const internalPorts: Record<string, number> = {}
  const launches = new Map<string, number>()
  let isStopping = false

  const start = (name: string, command: string[], log: Writable): Promise<void> => {
    const [program = '', ...args] = command
    const launch = (launches.get(name) ?? 0) + 1
    launches.set(name, launch)
    const child = spawn(program === 'node' ? process.execPath : program, args, {
      cwd: ROOT,
      env: childEnvironment({
        ...environment,
        INTERNAL_PORT: String(internalPortOf(name)),
        ...environmentOf(name, launch),
      }),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    children.set(name, child)
    const tail: string[] = []
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        log.write(`${line}\n`)
        tail.push(line)
        if (tail.length > 20) tail.shift()
        const warning = warningOf(line)
        if (warning !== undefined) onWarning(`${name}: ${warning}`)
      })
    }
    return new Promise((ready, fail) => {
      const deadline = setTimeout(() => fail(new Error(`${name} was not ready in time`)), READY_DEADLINE_MS)
      child.on('message', (message: { ready?: string; internalPort?: number }) => {
        if (message.ready === undefined) return
        clearTimeout(deadline)
        internalPorts[name] = message.internalPort ?? 0
        ready()
      })
      child.on('error', fail)
      child.on('exit', (code, signal) => {
        clearTimeout(deadline)
        fail(new Error(`${name} ended with ${signal ?? code} before it was ready:\n${tail.join('\n')}`))
        if (isStopping || !(name in internalPorts)) return
        onWarning(`${name} ended with ${signal ?? code}; starting it again`)
        setTimeout(() => {
          if (!isStopping) start(name, command, log).catch((error: Error) => onWarning(error.message))
        }, RESTART_AFTER_MS)
      })
    })
  }

  const stop = async () => {
    isStopping = true
    await Promise.all([...children.values()].map(end))
  }
  try {
    const lines = readProcfile().filter(({ name }) => only === undefined || only.includes(name))
    await Promise.all(lines.map(({ name, command }) => start(name, command, logOf(name))))
  } catch (error) {
    await stop()
    throw error
  }
  return { internalPorts, children, stop }
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((done) => {
    child.once('exit', () => done())
    child.kill('SIGTERM')
  })
}

/** What a person should see of a process's log while it runs: warnings and worse, and whatever is no log line. */
function warningOf(line: string): string | undefined {
  if (!line.startsWith('{')) return line
  try {
    const { level, msg, err, reason } = JSON.parse(line)
    if (level !== 'warn' && level !== 'error' && level !== 'fatal') return undefined
    return [msg, reason, err?.message].filter((part) => typeof part === 'string').join(': ')
  } catch {
    return line
  }
}
