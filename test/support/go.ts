// The versions of Go that tests run with: the oldest that the verifier takes, and the installed one.

import { execFile } from 'node:child_process'
import { delimiter, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

export const GO_VERIFIER = resolve(import.meta.dirname, '../../clients/go-verifier')

export interface Go {
  /** `1.21.13` */
  version: string
  env: NodeJS.ProcessEnv
}

// The last release of Go 1.21. A newer Go fetches it through the module proxy, once.
const OLDEST = '1.21.13'
const FETCH_MS = 180_000

// Where Go's own archive installs it, which is not in the PATH of every shell.
const PATH = [process.env.PATH, '/usr/local/go/bin'].join(delimiter)

const run = promisify(execFile)
const [oldest, installed] = await Promise.all([findGo(`go${OLDEST}`), findGo('local')])

/** The installed one. */
export const go: Go | undefined = installed

/** Runs tests with both. A version that can't be had is skipped by name, and fails where CI is set. */
export function describeGos(title: string, tests: (go: Go, which: { isInstalled: boolean }) => void): void {
  for (const [name, found] of [
    [`Go ${OLDEST}`, oldest],
    ['the installed Go', installed],
  ] as const) {
    const isInstalled = found === installed
    if (found === undefined) describe(`${name}: ${title}`, () => missingGo(name))
    else if (isInstalled || found.version !== installed?.version) {
      describe(`Go ${found.version}: ${title}`, () => tests(found, { isInstalled }))
    }
  }
}

export function missingGo(name: string): void {
  it.skipIf(!process.env.CI)(`${name} is on this machine`, () => expect.fail(`${name} is not here`))
}

async function findGo(toolchain: string): Promise<Go | undefined> {
  const env = { ...process.env, PATH, GOTOOLCHAIN: toolchain, GOWORK: 'off', GOFLAGS: '-mod=mod' }
  try {
    const { stdout } = await run('go', ['env', 'GOVERSION'], { env, timeout: FETCH_MS })
    return { version: stdout.trim().replace(/^go/, ''), env }
  } catch {
    return undefined
  }
}
