// The Procfile's processes, several of a kind, each watched and started again by a supervisor of its own, as an
// operator's platform would.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Supervisor, startProcesses } from '../commands/supervisor.ts'
import { until } from '../test/support/until.ts'
import type { Kind } from './plan.ts'

export interface Instance {
  /** The kind and a number: `attest-1`. */
  name: string
  kind: Kind
  pid(): number | undefined
  signal(signal: NodeJS.Signals): void
  /** Additions to the environment of its next launches. */
  prepare(environment: Record<string, string>): void
  /** Ends the process and waits until its successor is ready. Answers its exit code and how long it took to end. */
  replace(signal: 'SIGTERM' | 'SIGKILL'): Promise<{ code: number | null; endedInMs: number }>
  /** Resolves when a launch later than the `n`-th is ready. */
  untilReady(n: number): Promise<void>
  /** Launches that became ready so far. */
  launches(): number
  stop(): Promise<void>
}

interface StartOptions {
  kind: Kind
  number: number
  environment: Record<string, string>
  /** The folder of its log, one file for all its launches. */
  directory: string
}

/** The preload that `skewed` needs, as an environment. */
export function skewedBy(minutes: number): Record<string, string> {
  const preload = fileURLToPath(new URL('./skew.ts', import.meta.url))
  return { NODE_OPTIONS: `--import=${preload}`, CLOCK_SKEW_MS: String(minutes * 60_000) }
}

/** The preload that records the memory of a process, as an environment. */
export function weighedAs(name: string, journal: string): Record<string, string> {
  const preload = fileURLToPath(new URL('./heap-sampling.ts', import.meta.url))
  return { NODE_OPTIONS: `--import=${preload}`, WEIGHT_NAME: name, WEIGHT_JOURNAL: journal }
}

const READY_MS = 90_000

export async function startInstance({ kind, number, environment, directory }: StartOptions): Promise<Instance> {
  const name = `${kind}-${number}`
  const log = createWriteStream(join(directory, `${name}.log`), { flags: 'a' })
  let prepared: Record<string, string> = {}
  let launches = 0
  const supervisor: Supervisor = await startProcesses({
    only: [kind],
    environment,
    internalPortOf: () => 0,
    environmentOf: () => prepared,
    logOf: () => ({
      write(line) {
        if (line.includes('"msg":"ready"')) launches += 1
        return log.write(line)
      },
    }),
    onWarning: (line) => void log.write(`${JSON.stringify({ supervisor: line })}\n`),
  })
  const child = () => supervisor.children.get(kind)
  const untilReady = (n: number) =>
    until(() => launches > n, { timeoutMs: READY_MS, everyMs: 20, what: `launch ${n + 1} of ${name} is ready` })

  return {
    name,
    kind,
    untilReady,
    launches: () => launches,
    pid: () => child()?.pid,
    signal: (signal) => void child()?.kill(signal),
    prepare(next) {
      prepared = next
    },
    async replace(signal) {
      const ending = child()
      const before = launches
      const since = performance.now()
      let code: number | null = null
      if (ending !== undefined && ending.exitCode === null && ending.signalCode === null) {
        const ended = once(ending, 'exit')
        ending.kill(signal)
        code = (await ended)[0]
      }
      const endedInMs = performance.now() - since
      await untilReady(before)
      return { code, endedInMs }
    },
    async stop() {
      child()?.kill('SIGCONT')
      await supervisor.stop()
      log.end()
    },
  }
}
