// The package as it is published: built by its own configuration, which knows browsers and no Node, and run as plain JavaScript.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../../..')
const PACKAGE = join(ROOT, 'clients/typescript')

const PROGRAM = `
import { verifyIntentTokenOffline } from './dist/countersign.js'
import { readFileSync } from 'node:fs'
const { cases: [{ input: { token, now, jwks } }] } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { valid } = await verifyIntentTokenOffline(token, { keys: jwks, now: () => new Date(now * 1000) })
console.log(valid)
`

it('the package builds without Node’s types, and its JavaScript verifies a token', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'client-'))
  try {
    const compiler = join(ROOT, 'node_modules/.bin/tsc')
    await run(compiler, ['-p', PACKAGE, '--outDir', join(folder, 'dist')], { cwd: ROOT })
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'try.js'), PROGRAM)
    const vectors = join(ROOT, 'vectors/tokens/offline.json')
    const { stdout } = await run(process.execPath, [join(folder, 'try.js'), vectors])
    expect(stdout.trim()).toBe('true')
    const { exports, dependencies } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'))
    expect(exports['.'].default).toBe('./dist/countersign.js')
    expect(dependencies).toBeUndefined()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
