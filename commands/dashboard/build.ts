// Builds the dashboard into dashboard/dist when what it is made from has changed since the last build.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'
import { type Build, DIST } from '#src/dashboard/files.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = join(ROOT, 'dashboard')
const INPUTS = ['dashboard/*.{html,ts,json}', 'dashboard/src/**/*', 'clients/typescript/src/**/*', 'package-lock.json']
const COMPRESSED = /\.(?:js|css|json|svg)$/
// Below this, compressing saves no TCP packet; the service asks for both codings of every text, whatever its size.
const TAIL_LINES = 20

/** SHA-256 over the names and contents of everything that a build is made from. */
export function hashInputs(): string {
  const hash = createHash('sha256')
  const files = INPUTS.flatMap((pattern) => globSync(pattern, { cwd: ROOT, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  for (const file of files) {
    const content = readFileSync(file)
    hash.update(`${file.slice(ROOT.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Whether dashboard/dist was built from what is there now. */
export function isBuilt(inputs = hashInputs()): boolean {
  const marker = join(DIST, 'built.json')
  return existsSync(marker) && (JSON.parse(readFileSync(marker, 'utf8')) as Build).inputs === inputs
}

/**
 * Builds where needed, in a child process, and puts the build in place of the one before in one step. Two builds at once
 * cost time and do no harm.
 * @throws {Error} with the last lines of Vite.
 */
export async function buildDashboard({ signal }: { signal?: AbortSignal } = {}): Promise<'built' | 'current'> {
  const inputs = hashInputs()
  if (isBuilt(inputs)) return 'current'
  const fresh = mkdtempSync(join(FOLDER, '.build-'))
  try {
    await runVite(['build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn'], signal)
    const files = readdirSync(join(fresh, 'assets'))
    for (const file of files) if (COMPRESSED.test(file)) compress(join(fresh, 'assets', file))
    const build: Build = { inputs, files }
    writeFileSync(join(fresh, 'built.json'), JSON.stringify(build))
    replace(fresh)
    return 'built'
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Whether the packages that build it are installed: a production install leaves them out. */
export function canBuild(): boolean {
  return viteProgram() !== undefined
}

/** @throws {Error} when Vite fails; the reason of the signal. */
export async function runVite(args: readonly string[], signal?: AbortSignal): Promise<void> {
  const program = viteProgram()
  if (program === undefined) throw new Error('Vite is not installed: run `npm ci` without --omit=dev.')
  const child = spawn(process.execPath, [program, ...args], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      said += data
    })
  }
  const code = await new Promise<number | null>((done, fail) => {
    child.on('error', fail)
    child.on('close', done)
  })
  if (code !== 0) {
    throw new Error(`The dashboard was not built:\n${said.trim().split('\n').slice(-TAIL_LINES).join('\n')}`)
  }
}

function compress(file: string): void {
  const content = readFileSync(file)
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 10, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT }
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }))
  writeFileSync(`${file}.gz`, gzipSync(content))
}

// A folder can't replace one that is not empty, so there are two renames. A page that asks in between is told to wait.
function replace(fresh: string): void {
  const former = `${fresh}-former`
  if (existsSync(DIST)) renameSync(DIST, former)
  try {
    renameSync(fresh, DIST)
  } catch (error) {
    // Another build was faster.
    if (!isBuilt()) throw error
  } finally {
    rmSync(former, { recursive: true, force: true })
  }
}

function viteProgram(): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js')
  } catch {
    return undefined
  }
}
