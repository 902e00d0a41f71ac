// The package by itself: its own tests, the type checkers, and an installation from a clean checkout.

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { describePythons, environment, PACKAGE } from '../../support/python.ts'
import { startScripted } from '../../support/scripted.ts'

const run = promisify(execFile)
const PYRIGHT = join(import.meta.dirname, '../../../node_modules/pyright/index.js')

describePythons('the package', (python, { isNewest }) => {
  // Beside the environment, so that the second run reads what the first found.
  const cache = join(dirname(dirname(python)), 'mypy')
  const env = environment({ MYPY_CACHE_DIR: cache })

  it('passes its own tests: models, uploads, secrets, vectors and the examples of its README', async () => {
    const { stdout } = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], { cwd: PACKAGE, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
    )
    expect(stdout).toMatch(/^\d+ passed(?:, \d+ skipped)? in /m)
    expect(stdout).not.toMatch(/failed|error/)
  })

  it('installs from a clean checkout, with its types, and runs without the sources', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'python-'))
    const target = join(folder, 'target')
    await cp(PACKAGE, join(folder, 'python'), { recursive: true, filter: (path) => !path.includes('cache') })
    // The environment has the dependencies, and what builds the package.
    const offline = ['--no-deps', '--no-build-isolation', '--no-index', '--quiet', '--disable-pip-version-check']
    await run(python, ['-m', 'pip', 'install', ...offline, '--target', target, join(folder, 'python')], { env })
    const server = await startScripted([{ json: { object: 'list', data: [], has_more: false, next_cursor: null } }])
    const [example = ''] = (await readFile(join(PACKAGE, 'README.md'), 'utf8')).match(/(?<=```python\n)[^`]*/) ?? []
    const program = example.replace(/ {4}photo = [^\n]*\n[^\n]*\n/, '')
    const installed = environment({
      PYTHONPATH: target,
      COUNTERSIGN_API_KEY: 'svc_test_x',
      COUNTERSIGN_BASE_URL: server.url,
    })
    const { stdout } = await run(python, ['-c', `${program}\nimport countersign; print(countersign.__file__)`], {
      env: installed,
      cwd: folder,
    })
    await server.close()
    expect(stdout.trim()).toBe(join(target, 'countersign/__init__.py'))
    expect(server.arrived).toHaveLength(1)
    expect(await readFile(join(target, 'countersign/py.typed'), 'utf8')).toBe('')
    await rm(folder, { recursive: true, force: true })
  })

  it.runIf(isNewest)('has no finding of mypy (strict)', async () => {
    const { stdout } = await run(python, ['-m', 'mypy', '--cache-dir', cache], { cwd: PACKAGE, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
    )
    expect(stdout).toMatch(/^Success: no issues found/)
  })

  it.runIf(isNewest)('has no finding of pyright', async () => {
    const { stdout } = await run(process.execPath, [PYRIGHT, '--pythonpath', python], { cwd: PACKAGE, env }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
    )
    expect(stdout).toMatch(/^0 errors, 0 warnings/m)
  })
})
