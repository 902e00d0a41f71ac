// The versions of Python that tests run with, and calls of the library for Python from a test.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { environmentOf, findInterpreters, type Interpreter, OLDEST } from '../../commands/python/environments.ts'

export const PACKAGE = resolve(import.meta.dirname, '../../clients/python')
export const VERIFIER = resolve(import.meta.dirname, '../../clients/python-verifier')

/** The sources of both packages, as PYTHONPATH and MYPYPATH have them. */
export const SOURCES = [PACKAGE, VERIFIER].map((folder) => join(folder, 'src')).join(delimiter)

const { oldest, newest } = findInterpreters()

/**
 * Runs tests with the oldest supported version and the newest of this machine. A version that is not there is skipped by
 * name, and fails where CI is set.
 */
export function describePythons(
  title: string,
  tests: (python: string, which: { isNewest: boolean; isOnly: boolean }) => void,
): void {
  const isOne = oldest?.path === newest?.path
  for (const [name, interpreter] of [
    [`Python ${OLDEST}`, oldest],
    ['the newest Python', newest],
  ] as const) {
    const isNewest = interpreter === newest
    const python = pythonOf(interpreter)
    if (python === undefined) describe(`${name}: ${title}`, () => missing(name))
    else if (isNewest || !isOne) {
      describe(`Python ${interpreter?.version}: ${title}`, () => tests(python, { isNewest, isOnly: isOne }))
    }
  }
}

/** The newest, else the oldest. */
export function anyPython(): string | undefined {
  return pythonOf(newest) ?? pythonOf(oldest)
}

function pythonOf(interpreter: Interpreter | undefined): string | undefined {
  if (interpreter === undefined) return undefined
  const python = environmentOf(interpreter)
  return existsSync(python) ? python : undefined
}

function missing(name: string): void {
  it.skipIf(!process.env.CI)(`${name} is on this machine, with its packages`, () => {
    expect.fail(`${name} is not here, or its packages could not be installed: \`node commands/python.ts\` says why`)
  })
}

export interface PythonTask {
  flavour: 'sync' | 'async'
  /** Names from the client to the method. */
  op: readonly string[]
  args?: readonly unknown[]
  /** A last argument of bytes, in base64. */
  bytes?: string
  /** A last argument that can be read once. */
  stream?: readonly unknown[]
  kwargs?: Record<string, unknown>
  options: Record<string, unknown>
  /** Header of every request, such as the cookie of a session. */
  headers?: Record<string, string>
  /** All items of a list in place of its first page. */
  iterates?: boolean
  /** Bodies of answers are given back as they came. */
  keeps_text?: boolean
  /** Waits between attempts, which are only noted otherwise. */
  sleeps?: boolean
  abort?: string | undefined
}

export interface PythonOutcome {
  /** `ok`, `aborted`, or the class of the error. */
  outcome: string
  answer?: unknown
  code?: string
  detail?: string
  status?: number | null
  request_id?: string | null
  retry_after?: number | null
  errors?: string[]
  shown?: string
  delays: number[]
  items: number
  texts: string[]
}

export interface PythonDriver {
  /** The call ends as soon as `cancel` is called. */
  run(task: PythonTask): { outcome: Promise<PythonOutcome>; cancel: () => void }
  close(): Promise<void>
}

/** A process that makes calls with the library. */
export function startPython(python: string): PythonDriver {
  const child: ChildProcess = spawn(python, [join(PACKAGE, 'tests/driver.py')], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, { settle: (outcome: PythonOutcome) => void; fail: (error: Error) => void }>()
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the process has no pipes')
  createInterface({ input: stdout }).on('line', (line) => {
    const outcome = JSON.parse(line) as PythonOutcome & { id: number }
    waiting.get(outcome.id)?.settle(outcome)
  })
  const ended = new Promise<void>((done) => {
    child.on('close', (code) => {
      for (const { fail } of waiting.values()) fail(new Error(`the driver ended with ${code}`))
      done()
    })
  })
  let last = 0
  return {
    run(task) {
      last += 1
      const id = last
      const outcome = new Promise<PythonOutcome>((settle, fail) => waiting.set(id, { settle, fail }))
      stdin.write(`${JSON.stringify({ ...task, id })}\n`)
      return { outcome, cancel: () => stdin.write(`${JSON.stringify({ cancel: id })}\n`) }
    },
    close() {
      stdin.end()
      return ended
    },
  }
}

/** For processes that use the packages from their sources. */
export function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { COUNTERSIGN_API_KEY: _key, COUNTERSIGN_BASE_URL: _url, ...own } = process.env
  return { ...own, PYTHONPATH: SOURCES, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '127.0.0.1', ...more }
}
