// The versions of Python that the library for Python is tested with, each with an environment of what its lock file pins. The
// environments are kept outside of the checkout, so that they are made once for each lock file.

import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export interface Interpreter {
  /** `3.10` */
  version: string
  path: string
}

/** The oldest version that the package takes. */
export const OLDEST = '3.10'

const LOCK_FILE = fileURLToPath(new URL('../../clients/python/requirements.lock', import.meta.url))
// Debian packages venv and ensurepip apart from Python.
const PROBE = 'import ensurepip, ssl, sys, venv; print("%d.%d" % sys.version_info[:2])'

/** The oldest supported version and the newest of this machine, where they are there. */
export function findInterpreters(): { oldest: Interpreter | undefined; newest: Interpreter | undefined } {
  const found = new Map<number, Interpreter>()
  for (const path of findCandidates()) {
    const { stdout, status } = spawnSync(path, ['-c', PROBE], { encoding: 'utf8', timeout: 20_000 })
    const version = status === 0 ? stdout.trim() : ''
    const [, minor] = /^3\.(\d+)$/.exec(version) ?? []
    if (minor !== undefined && !found.has(Number(minor))) found.set(Number(minor), { version, path })
  }
  const newest = Math.max(...found.keys())
  return { oldest: found.get(10), newest: newest >= 10 ? found.get(newest) : undefined }
}

// On the path, and where pyenv and uv keep what they install.
function findCandidates(): string[] {
  const { PATH = '', PYENV_ROOT = join(homedir(), '.pyenv') } = process.env
  const places = [
    ...PATH.split(delimiter).map((folder) => join(folder, 'python3*')),
    join(PYENV_ROOT, 'versions/3.*/bin/python3'),
    join(homedir(), '.local/share/uv/python/*/bin/python3'),
  ]
  const paths = places.flatMap((place) => globSync(place)).filter((path) => /\/python3(?:\.\d+)?$/.test(path))
  return [...new Set(paths.map((path) => realpathSync(path)))]
}

/** The interpreter of the environment, which may not be there yet. */
export function environmentOf({ version, path }: Interpreter): string {
  const hash = createHash('sha256').update(path).update(readFileSync(LOCK_FILE)).digest('hex').slice(0, 16)
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return join(cache, 'countersign', `python-${version}-${hash}`, 'bin', 'python')
}

/** Makes the environment, unless it is there. @throws when a package can't be had, or is not the one of the lock file. */
export async function makeEnvironment(interpreter: Interpreter): Promise<void> {
  const python = environmentOf(interpreter)
  if (existsSync(python)) return
  const folder = join(python, '../..')
  await mkdir(join(folder, '..'), { recursive: true })
  // It takes its name when it is whole, so that another run never uses a half of it.
  const made = await mkdtemp(`${folder}-`)
  try {
    const run = promisify(execFile)
    await run(interpreter.path, ['-m', 'venv', made])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes']
    await run(join(made, 'bin/python'), [...pip, '--only-binary', ':all:', '-r', LOCK_FILE])
    await rename(made, folder)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(python)) throw error
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}
