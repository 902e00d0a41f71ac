// The verifier for Go by itself: its own tests, and an installation from a clean checkout.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { CLAIMS, KEY_SET, makeToken } from '../../../tools/vectors/made/token-parts.ts'
import { describeGos, GO_VERIFIER } from '../../support/go.ts'

const run = promisify(execFile)
const LIBRARIES = join(import.meta.dirname, '../../../docs/start/libraries.md')
// The first run of a version compiles the standard library.
const COMPILE_MS = 280_000

describeGos('the verifier', ({ env }, { isInstalled }) => {
  it(
    'passes its own tests: vectors and hostile key servers',
    async () => {
      const { stdout } = await run('go', ['test', './...'], { cwd: GO_VERIFIER, env }).catch(
        (error: { stdout?: string }) => ({ stdout: error.stdout || String(error) }),
      )
      expect(stdout).toMatch(/^ok\s+countersign-verifier-go\s/m)
      expect(stdout).not.toMatch(/^(?:FAIL|---)/m)
    },
    COMPILE_MS,
  )

  it.runIf(isInstalled)(
    'has no finding of vet and gofmt, and needs no other module',
    async () => {
      const { stderr } = await run('go', ['vet', './...'], { cwd: GO_VERIFIER, env })
      const { stdout: unformatted } = await run('gofmt', ['-l', '.'], { cwd: GO_VERIFIER, env })
      const { stdout: modules } = await run('go', ['list', '-m', 'all'], { cwd: GO_VERIFIER, env })
      expect([stderr, unformatted, modules]).toEqual(['', '', 'countersign-verifier-go\n'])
    },
    COMPILE_MS,
  )

  it(
    'installs from a clean checkout, by the lines of its README, and the examples of its README build; the first one verifies tokens',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'go-verifier-'))
      const app = join(folder, 'app')
      await cp(GO_VERIFIER, join(folder, 'countersign/clients/go-verifier'), { recursive: true })
      const readme = await readFile(join(GO_VERIFIER, 'README.md'), 'utf8')
      const [example = '', second = ''] = readme.match(/(?<=```go\n)[^`]*/g) ?? []
      expect(await readFile(LIBRARIES, 'utf8')).toContain(example)
      const iat = Math.floor(Date.now() / 1_000)
      const token = (more = {}) => makeToken({ payload: { ...CLAIMS, iat, exp: iat + 3_600, ...more } })
      const server = createServer((_, response) => response.end(JSON.stringify({ keys: KEY_SET })))
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      const { port } = server.address() as AddressInfo

      await mkdir(join(app, 'tool'), { recursive: true })
      await writeFile(join(app, 'main.go'), example.replace('https://api.example.com', `http://127.0.0.1:${port}`))
      await writeFile(join(app, 'tool/tool.go'), second)
      const inApp = { cwd: app, env: { ...env, NO_PROXY: '127.0.0.1' } }
      await run('go', ['mod', 'init', 'app'], inApp)
      for (const [, words = ''] of readme.matchAll(/^go (mod edit .*|get .*)$/gm))
        await run('go', words.split(' '), inApp)
      await run('go', ['build', './...'], inApp)
      const { stdout } = await run('go', ['run', '.', token(), token({ single_use: true }), 'x'], inApp)
      server.close()
      expect(stdout).toBe('true\nfalse\nfalse\n')
      await rm(folder, { recursive: true, force: true })
    },
    COMPILE_MS,
  )
})
