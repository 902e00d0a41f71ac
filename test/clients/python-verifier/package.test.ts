// The verifier for Python by itself: its own tests, the type checkers, an installation from a clean checkout, and the sources
// that it shares with the whole library.

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { describePythons, environment, PACKAGE as LIBRARY, VERIFIER } from '../../support/python.ts'

const run = promisify(execFile)
const PYRIGHT = join(import.meta.dirname, '../../../node_modules/pyright/index.js')

describePythons('the verifier', (python, { isNewest }) => {
  const cache = join(dirname(dirname(python)), 'mypy-verifier')
  const env = environment({ MYPY_CACHE_DIR: cache, PYTHONPATH: join(VERIFIER, 'src') })

  it('passes its own tests: vectors, hostile key servers and the examples of its README', async () => {
    const { stdout } = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
      cwd: VERIFIER,
      env,
    }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }))
    expect(stdout).toMatch(/^\d+ passed(?:, \d+ skipped)? in /m)
    expect(stdout).not.toMatch(/failed|error/)
  })

  it('installs from a clean checkout, with its types, needs cryptography alone, and runs without the sources', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'python-verifier-'))
    const target = join(folder, 'target')
    await cp(VERIFIER, join(folder, 'checkout'), { recursive: true, filter: (path) => !path.includes('cache') })
    // The environment has the dependency, and what builds the package.
    const offline = ['--no-deps', '--no-build-isolation', '--no-index', '--quiet', '--disable-pip-version-check']
    await run(python, ['-m', 'pip', 'install', ...offline, '--target', target, join(folder, 'checkout')], { env })
    const [example = ''] = (await readFile(join(VERIFIER, 'README.md'), 'utf8')).match(/(?<=```python\n)[^`]*/) ?? []
    const program = `${example}
import importlib.metadata
import countersign_verifier
print(is_allowed("x"), countersign_verifier.__file__, *importlib.metadata.requires("countersign-verifier"))`
    const { stdout } = await run(python, ['-c', program], { env: environment({ PYTHONPATH: target }), cwd: folder })
    expect(stdout.trim()).toBe(`False ${join(target, 'countersign_verifier/__init__.py')} cryptography>=42`)
    expect(await readFile(join(target, 'countersign_verifier/py.typed'), 'utf8')).toBe('')
    await rm(folder, { recursive: true, force: true })
  })

  it.runIf(isNewest)('has no finding of mypy (strict)', async () => {
    const { stdout } = await run(python, ['-m', 'mypy', '--cache-dir', cache], { cwd: VERIFIER, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
    )
    expect(stdout).toMatch(/^Success: no issues found/)
  })

  it.runIf(isNewest)('has no finding of pyright', async () => {
    const { stdout } = await run(process.execPath, [PYRIGHT, '--pythonpath', python], { cwd: VERIFIER, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
    )
    expect(stdout).toMatch(/^0 errors, 0 warnings/m)
  })
})

// Neither package can depend on the other: both are installed from a checkout.
it('the verifier has the sources of the whole library, byte by byte', async () => {
  const [ours, library] = [join(VERIFIER, 'src/countersign_verifier'), join(LIBRARY, 'src/countersign')]
  const names = (await readdir(join(ours, '_verify'))).filter((name) => name.endsWith('.py'))
  expect(names.toSorted()).toEqual([
    '__init__.py',
    'canonical.py',
    'claims.py',
    'key_set_http.py',
    'key_source.py',
    'signatures.py',
    'strict_json.py',
    'tokens.py',
  ])
  for (const name of names) {
    const [verifier, other] = await Promise.all(
      [ours, library].map((folder) => readFile(join(folder, '_verify', name), 'utf8')),
    )
    expect(verifier === other, `${name}: copy it from clients/python`).toBe(true)
  }
})
