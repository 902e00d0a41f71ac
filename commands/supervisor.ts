// Runs processes, those of the Procfile for example: one child each, restarted when it dies or freezes, stopped in order. A slow one is waited for and
// named, however long it takes.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '#src/config.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { createUsableTime } from './usable-time.ts'
import { abortable, createWaits, type Waits } from './waits.ts'

export interface Supervisor {
  internalPorts: Record<string, number>
  /** The current children by their Procfile names. */
  children: ReadonlyMap<string, ChildProcess>
  stop(): Promise<void>
}

interface SupervisorOptions {
  environment: Record<string, string>
  internalPortOf(name: string): number
  logOf(name: string): ProcessLog
  onWarning?: (line: string) => void
  /** Names the processes that are not ready yet. Its signal aborts a start that is in progress. */
  waits?: Waits
  /** Processes to run; by default those of the Procfile. */
  processes?: readonly ProcessLine[]
  /** Only these of them. */
  only?: readonly string[]
  /** Changes for one launch of one process, counted from 1. */
  environmentOf?(name: string, launch: number): Record<string, string>
  /** How long `stop` waits for a process before it kills it. */
  patienceMs?: number
  /** After which `stop` names the processes that it waits for. */
  slowEndMs?: number
  /** A process that does not answer for this long, in which it could have, is killed and restarted. */
  silentAfterMs?: number
}

interface ProcessLog {
  /** For messages to people. */
  file?: string
  write(line: string): unknown
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// A process that dies at once would otherwise be restarted in a tight loop.
const RESTART_AFTER_MS = 1_000
// Above a process's own default: SHUTDOWN_SECONDS of 25.
const STOP_PATIENCE_MS = 30_000
// A user who waits for the end of everything wants to know why.
const SLOW_END_MS = 5_000
// Far above what a busy event loop computes before it answers.
const SILENT_AFTER_MS = 60_000
const TAIL_LINES = 20

interface ProcessLine {
  name: string
  command: string[]
}

/** Everything in two processes: `all` does the work of every line of the Procfile but `web`. */
export const TWO_PROCESSES: readonly ProcessLine[] = ['web', 'all'].map((name) => ({
  name,
  command: ['node', `workers/${name}.ts`],
}))

export function readProcfile(): ProcessLine[] {
  return readFileSync(new URL('../Procfile', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':')
      return { name: name.trim(), command: rest.join(':').trim().split(/\s+/) }
    })
}

/**
 * Runs the Procfile, or other processes. Resolves when every process has reported that it is ready, and waits for that without a limit.
 * @throws {Error} naming a process that ended before, and why; or the signal's reason. No process runs then.
 */
export async function startProcesses(options: SupervisorOptions): Promise<Supervisor> {
  const { internalPortOf, logOf, onWarning = () => {}, only, environmentOf = () => ({}) } = options
  const { silentAfterMs = SILENT_AFTER_MS, waits = createWaits() } = options
  const children = new Map<string, ChildProcess>()
  const internalPorts: Record<string, number> = {}
  const launches = new Map<string, number>()
  const stopping = new AbortController()

  /** Resolves when the process is ready. One that freezes before that is launched again. */
  const start = async (name: string, command: string[]): Promise<void> => {
    const end = waits.begin(name, 'become ready')
    try {
      for (let isReady = false; !isReady; ) isReady = await launch(name, command)
    } finally {
      end()
    }
  }
  /** @returns false where the process froze and was killed. */
  const launch = async (name: string, command: string[]): Promise<boolean> => {
    const number = (launches.get(name) ?? 0) + 1
    launches.set(name, number)
    const { child, ready } = spawnProcess(
      name,
      command,
      {
        ...options.environment,
        // A restarted process keeps its port, so that its scraper finds it.
        INTERNAL_PORT: String(internalPorts[name] ?? internalPortOf(name)),
        ...environmentOf(name, number),
      },
      { log: logOf(name), onWarning },
    )
    children.set(name, child)
    let isFrozen = false
    const heartbeat = watchHeartbeat({
      ask: () => child.connected && child.send({ ping: true }, () => {}),
      onSilent: () => {
        isFrozen = true
        onWarning(`${name} has not answered for ${silentAfterMs / 1_000} s: it is killed`)
        child.kill('SIGKILL')
      },
      silentAfterMs,
      usableMs: createUsableTime(() => child.pid),
    })
    child.on('message', (message: { pong?: boolean }) => message.pong === true && heartbeat.answered())
    child.once('exit', heartbeat.stop)
    try {
      internalPorts[name] = await ready
    } catch (error) {
      heartbeat.stop()
      if (isFrozen && !stopping.signal.aborted) return false
      throw error
    }
    child.once('exit', (code, killer) => {
      if (stopping.signal.aborted) return
      onWarning(`${name} ended with ${killer ?? code}; starting it again`)
      void restart(name, command)
    })
    return true
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
  const lines = (options.processes ?? readProcfile()).filter(({ name }) => only === undefined || only.includes(name))
  try {
    waits.signal?.throwIfAborted()
    const started = Promise.all(lines.map(({ name, command }) => start(name, command)))
    await abortable(started, waits.signal)
  } catch (error) {
    await stop()
    throw error
  }
  return { internalPorts, children, stop }
}

interface Told {
  log: ProcessLog
  onWarning(line: string): void
}

/** `ready` answers with the process's internal port, or fails with its last output before it ended. */
function spawnProcess(name: string, command: string[], environment: Record<string, string>, { log, onWarning }: Told) {
  const [program = '', ...args] = command
  const { file } = log
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
    child.on('message', (message: { ready?: string; internalPort?: number }) => {
      if (message.ready === undefined) return
      isReady = true
      done(message.internalPort ?? 0)
    })
    child.on('error', fail)
    // Not `exit`: the last output may still be in the pipe.
    child.on('close', (code, killer) => {
      const end = killer === null ? `exit code ${code}` : `signal ${killer}`
      const log = file === undefined ? '' : ` (its log: ${file})`
      fail(new Error([`${name} could not start: it ended with ${end}${log}`, ...tail.map(textOf)].join('\n  ')))
    })
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

/**
 * The part of a process's log that a user should see while it runs: warnings and worse, and lines that are not log
 * lines.
 */
export function warningOf(line: string): string | undefined {
  const { level, text } = readLine(line)
  return level === undefined || ['warn', 'error', 'fatal'].includes(level) ? text : undefined
}

function textOf(line: string): string {
  return readLine(line).text
}

/** A line without a level is no log line. */
function readLine(line: string): { level?: string; text: string } {
  if (!line.startsWith('{')) return { text: line }
  try {
    const { level, msg, step, endpoint, err, reason, error } = JSON.parse(line)
    const parts = [msg, step, endpoint, reason, error, err?.message].filter((part) => typeof part === 'string')
    return { level: String(level), text: parts.join(': ') }
  } catch {
    return { text: line }
  }
}
