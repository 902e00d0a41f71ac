// Runs the Procfile: one child per line, restarted when it dies or freezes, stopped in order.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '#src/config.ts'
import { watchHeartbeat } from './heartbeat.ts'

export interface Supervisor {
  internalPorts: Record<string, number>
  /** The current children by their Procfile names. */
  children: ReadonlyMap<string, ChildProcess>
  stop(): Promise<void>
}

interface SupervisorOptions {
  environment: Record<string, string>
  internalPortOf(name: string): number
  logOf(name: string): { write(line: string): unknown }
  onWarning?: (line: string) => void
  /** Only these processes. */
  only?: readonly string[]
  /** Changes for one launch of one process, counted from 1. */
  environmentOf?(name: string, launch: number): Record<string, string>
  /** Aborts a start that is in progress. */
  signal?: AbortSignal
  /** How long `stop` waits for a process before it kills it. */
  patienceMs?: number
  /** After which `stop` names the processes that it waits for. */
  slowEndMs?: number
  /** A process that does not answer for this long is killed and restarted. */
  silentAfterMs?: number
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_DEADLINE_MS = 60_000
// A process that dies at once would otherwise be restarted in a tight loop.
const RESTART_AFTER_MS = 1_000
// Above a process's own default: SHUTDOWN_SECONDS of 25.
const STOP_PATIENCE_MS = 30_000
// A user who waits for the end of everything wants to know why.
const SLOW_END_MS = 5_000
// Far above what a busy event loop takes on a heavily overloaded machine.
const SILENT_AFTER_MS = 60_000
const TAIL_LINES = 20

export function readProcfile(): { name: string; command: string[] }[] {
  return readFileSync(new URL('../Procfile', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':')
      return { name: name.trim(), command: rest.join(':').trim().split(/\s+/) }
    })
}

/**
 * Resolves when every process has reported that it is ready.
 * @throws {Error} naming the process that did not start, and why; or the signal's reason. No process runs then.
 */
export async function startProcfile(options: SupervisorOptions): Promise<Supervisor> {
  const { internalPortOf, logOf, onWarning = () => {}, only, environmentOf = () => ({}), signal } = options
  const { silentAfterMs = SILENT_AFTER_MS } = options
  const children = new Map<string, ChildProcess>()
  const internalPorts: Record<string, number> = {}
  const launches = new Map<string, number>()
  const stopping = new AbortController()

  const start = async (name: string, command: string[]): Promise<void> => {
    const launch = (launches.get(name) ?? 0) + 1
    launches.set(name, launch)
    const { child, ready } = spawnProcess(
      name,
      command,
      {
        ...options.environment,
        // A restarted process keeps its port, so that its scraper finds it.
        INTERNAL_PORT: String(internalPorts[name] ?? internalPortOf(name)),
        ...environmentOf(name, launch),
      },
      { log: logOf(name), onWarning },
    )
    children.set(name, child)
    internalPorts[name] = await ready
    const heartbeat = watchHeartbeat({
      ask: () => child.connected && child.send({ ping: true }, () => {}),
      onSilent: () => {
        onWarning(`${name} has not answered for ${silentAfterMs / 1_000} s: it is killed`)
        child.kill('SIGKILL')
      },
      silentAfterMs,
    })
    child.on('message', (message: { pong?: boolean }) => message.pong === true && heartbeat.answered())
    child.once('exit', (code, killer) => {
      heartbeat.stop()
      if (stopping.signal.aborted) return
      onWarning(`${name} ended with ${killer ?? code}; starting it again`)
      void restart(name, command)
    })
  }
  const restart = async (name: string, command: string[]): Promise<void> => {
    while (!stopping.signal.aborted) {
      // stop() interrupts the pause.
      await delay(RESTART_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        return await start(name, command)
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error)
        // Another program took the port while the process was down.
        if (said.includes('EADDRINUSE')) delete internalPorts[name]
        if (!stopping.signal.aborted) onWarning(said)
      }
    }
  }
  const stop = async () => {
    stopping.abort()
    const patienceMs = options.patienceMs ?? STOP_PATIENCE_MS
    const left = new Set(children.keys())
    const sayWhy = () => onWarning(`still stopping: ${[...left].join(', ')}`)
    const slow = setTimeout(sayWhy, options.slowEndMs ?? SLOW_END_MS)
    await Promise.all([...children].map(([name, child]) => end(child, patienceMs).then(() => left.delete(name))))
    clearTimeout(slow)
  }
  const lines = readProcfile().filter(({ name }) => only === undefined || only.includes(name))
  try {
    await Promise.race([
      Promise.all(lines.map(({ name, command }) => start(name, command))),
      ...(signal === undefined ? [] : [untilAborted(signal)]),
    ])
  } catch (error) {
    await stop()
    throw error
  }
  return { internalPorts, children, stop }
}

interface Told {
  log: { write(line: string): unknown }
  onWarning(line: string): void
}

/** `ready` answers with the process's internal port, or fails with its last output before it ended. */
function spawnProcess(name: string, command: string[], environment: Record<string, string>, { log, onWarning }: Told) {
  const [program = '', ...args] = command
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: ROOT,
    env: childEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C reaches only the supervisor, which stops the children in order. Without a supervisor they stop by
    // themselves: their channel closes.
    detached: true,
  })
  const tail: string[] = []
  let isReady = false
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      log.write(`${line}\n`)
      tail.push(line)
      if (tail.length > TAIL_LINES) tail.shift()
      const warning = warningOf(line)
      if (isReady && warning !== undefined) onWarning(`${name}: ${warning}`)
    })
  }
  const ready = new Promise<number>((done, fail) => {
    const refuse = (what: string) => {
      clearTimeout(deadline)
      const said = tail.map(warningOf).filter((line) => line !== undefined)
      fail(new Error(`${name} ${[what, ...said].join('\n  ')}`))
    }
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      refuse(`was not ready within ${READY_DEADLINE_MS / 1_000} s`)
    }, READY_DEADLINE_MS)
    child.on('message', (message: { ready?: string; internalPort?: number }) => {
      if (message.ready === undefined) return
      clearTimeout(deadline)
      isReady = true
      done(message.internalPort ?? 0)
    })
    child.on('error', fail)
    // Not `exit`: the last output may still be in the pipe.
    child.on('close', (code, killer) => refuse(`could not start (it ended with ${killer ?? code})`))
  })
  return { child, ready }
}

async function end(child: ChildProcess, patienceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  await new Promise<void>((done) => {
    const deadline = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    child.once('exit', () => {
      clearTimeout(deadline)
      done()
    })
    child.kill('SIGTERM')
  })
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => {
    if (signal.aborted) fail(signal.reason)
    else signal.addEventListener('abort', () => fail(signal.reason), { once: true })
  })
}

/**
 * The part of a process's log that a user should see while it runs: warnings and worse, and lines that are not log
 * lines.
 */
export function warningOf(line: string): string | undefined {
  if (!line.startsWith('{')) return line
  try {
    const { level, msg, step, endpoint, err, reason, error } = JSON.parse(line)
    if (level !== 'warn' && level !== 'error' && level !== 'fatal') return undefined
    return [msg, step, endpoint, reason, error, err?.message].filter((part) => typeof part === 'string').join(': ')
  } catch {
    return line
  }
}
