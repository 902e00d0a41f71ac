// The measured processes: workers/*.ts as the Procfile starts them, and floors as separate processes. Their logs are
// written, but not to the terminal.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '#src/config.ts'
import type { Options } from './harness.ts'

export interface Process {
  pid: number
  /** The port on which it listens, if it does. */
  port: number
  /** Sends a floor a task, and answers its reply. */
  ask<Answer>(task: unknown): Promise<Answer>
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_DEADLINE_MS = 60_000

/**
 * @param file From the project's root, such as `workers/web.ts`.
 * @throws {Error} when it does not report in time that it is ready.
 */
export async function startProcess(
  file: string,
  environment: Record<string, string>,
  { profileDirectory }: Pick<Options, 'profileDirectory'> = {},
): Promise<Process> {
  const name = file.replace(/^.*\//, '').replace(/\.ts$/, '')
  const profiling =
    profileDirectory === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`]
  const child = spawn(process.execPath, [...profiling, file], {
    cwd: ROOT,
    env: childEnvironment(environment),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Same as the supervisor: the kernel schedules each session as one group.
    detached: true,
  })
  const port = await untilReady(child, file)
  return {
    pid: child.pid ?? 0,
    port,
    ask: <Answer>(task: unknown) =>
      new Promise<Answer>((done, fail) => {
        const onExit = () => fail(new Error(`${file} ended before its answer`))
        child.once('exit', onExit)
        child.once('message', (message) => {
          child.off('exit', onExit)
          done(message as Answer)
        })
        child.send({ task })
      }),
    stop: () => stop(child),
  }
}

/** The process's peak memory while `work` ran, in MB; undefined where the system does not report it. */
export async function peakMemory(pid: number, work: () => Promise<unknown>): Promise<number | undefined> {
  const isTold = resetPeak(pid)
  await work()
  if (!isTold) return undefined
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024
}

/**
 * Processor time that the process has used so far, in ms; undefined where the system does not report it. On a machine
 * that is also used otherwise it says more than a rate.
 */
export function processorMs(pid: number): number | undefined {
  try {
    // Fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms; the second field may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}

// Linux: writing 5 sets the high-water mark to the current resident size.
function resetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  } catch {
    return false
  }
}

function untilReady(child: ChildProcess, file: string): Promise<number> {
  return new Promise((done, fail) => {
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      fail(new Error(`${file} was not ready in time`))
    }, READY_DEADLINE_MS)
    child.once('exit', (code) => {
      clearTimeout(deadline)
      fail(new Error(`${file} could not start (it ended with ${code})`))
    })
    child.once('message', (message: { port?: number }) => {
      clearTimeout(deadline)
      done(message.port ?? 0)
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise<void>((done) => {
    const deadline = setTimeout(() => child.kill('SIGKILL'), 30_000)
    child.once('exit', () => {
      clearTimeout(deadline)
      done()
    })
    child.kill('SIGTERM')
  })
}
