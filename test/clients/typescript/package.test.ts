// The package as it is published: built by its own configuration, which knows browsers and no Node, packed by npm, installed into an
// empty folder, and run as plain JavaScript.

import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { publint } from 'publint'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '#client/core/version.ts'
import tokens from '../../../vectors/tokens/offline.json' with { type: 'json' }
import { startScripted } from '../../support/scripted.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../../..')
const SOURCE = join(ROOT, 'clients/typescript')
const COMPILER = join(ROOT, 'node_modules/.bin/tsc')
const MAX_BROTLI_BYTES = 25_000

let folder: string
let built: string
let user: string
let archive: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'))
  built = join(folder, 'package')
  user = join(folder, 'user')
  await cp(SOURCE, built, { recursive: true, filter: (path) => !/\/(?:dist|node_modules)$/.test(path) })
  await run(COMPILER, ['-p', built], { cwd: built })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: built })
  archive = join(folder, JSON.parse(stdout)[0].filename)
  await mkdir(user)
  await writeFile(join(user, 'package.json'), '{"type":"module","private":true}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: user })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const PROGRAM = `
import { Countersign, NotFoundError, type Claim } from '@countersign/client'
import { guard, NotAllowed, resumeGuards } from '@countersign/client/guard'
import { verifyIntentTokenOffline, canonicalize } from '@countersign/client/verify'

const countersign = new Countersign({ apiKey: 'svc_test_x', baseUrl: process.argv[2] as string })
const account: { accountId: string } = await countersign.account.retrieve()
const { data, requestId } = await countersign.account.retrieve().withResponse()
try {
  const claim: Claim = await countersign.claims.retrieve('clm_test_x')
  // A value that a later service adds is no error of types.
  const status: string = claim.riskStatus
  console.log(status)
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error
  console.log(account.accountId, data.accountId, requestId, error.code, canonicalize({ b: 1, a: 2 }))
}
const action = { action: 'Pay', payload: {}, agentSessionId: 'a', deviceId: 'd', journal: 'guards.jsonl' }
try {
  await guard(countersign, action, () => 'ran')
} catch (error) {
  if (!(error instanceof NotAllowed)) throw error
  console.log(error.reason, (await resumeGuards(countersign, 'guards.jsonl', () => 'failed')).open)
}
const verdict = await verifyIntentTokenOffline('no.token.at-all', { keys: { keys: [] } })
console.log(verdict.valid)
`

it.each([
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
])('a fresh install compiles in $moduleResolution without skipLibCheck, and runs', async (modules) => {
  const server = await startScripted([
    { json: { account_id: 'acc_1' } },
    { json: { account_id: 'acc_1' }, headers: { 'Request-Id': 'req_1' } },
    { status: 404, json: { code: 'not_found' } },
    { status: 409, json: { code: 'account_stopped' } },
  ])
  const name = `try-${modules.moduleResolution}`
  await writeFile(join(user, `${name}.ts`), `declare const process: { argv: string[] }\n${PROGRAM}`)
  await writeFile(
    join(user, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...modules,
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
      },
      files: [`${name}.ts`],
    }),
  )
  await run(COMPILER, ['-p', user], { cwd: user })
  const { stdout } = await run(process.execPath, [join(user, `${name}.js`), server.url], { cwd: user })
  await server.close()
  expect(stdout).toBe('acc_1 acc_1 req_1 not_found {"a":2,"b":1}\naccount_stopped []\nfalse\n')
})

describe('countersign-verify', () => {
  const command = () => join(user, 'node_modules/.bin/countersign-verify')
  const runs = async (args: string[], env: Record<string, string> = {}) => {
    const child = run(command(), args, { cwd: user, env: { ...process.env, ...env } })
    const { stdout, stderr } = await child.catch((error: { stdout: string; stderr: string }) => error)
    return { code: child.child.exitCode, shown: stdout === '' ? stderr : JSON.parse(stdout) }
  }
  const write = async (name: string, content: string) => {
    await writeFile(join(user, name), content)
    return name
  }

  it('checks a token with the key set, as the library does', async () => {
    const [vector] = tokens.cases
    const keys = await write('keys.json', JSON.stringify(vector?.input.jwks))
    const file = await write('token.jwt', `${vector?.input.token}\n`)
    const { code, shown } = await runs(['token', file, '--keys', keys])
    // It has expired since.
    expect({ code, shown }).toMatchObject({ code: 1, shown: { holds: false, reason: 'token_expired' } })
  })

  it('checks the raw body of a delivery, and takes the secret from the environment', async () => {
    const body = await write('body.json', '{"type":"ping"}')
    const at = Math.floor(Date.now() / 1_000)
    const hex = createHmac('sha256', 'whsec_x').update(`${at}.{"type":"ping"}`).digest('hex')
    const args = ['webhook', body, '--signature', `t=${at},v1=${hex}`]
    expect(await runs(args, { COUNTERSIGN_WEBHOOK_SECRET: 'whsec_y whsec_x' })).toMatchObject({
      code: 0,
      shown: { holds: true },
    })
    expect(await runs(args, { COUNTERSIGN_WEBHOOK_SECRET: 'whsec_y' })).toMatchObject({
      code: 1,
      shown: { holds: false, reason: 'signature_mismatch' },
    })
  })

  it('says of a file that is neither packet nor export that it does not hold', async () => {
    const file = await write('nothing.json', '{}')
    expect(await runs(['packet', file])).toMatchObject({ code: 1, shown: { holds: false } })
    expect(await runs(['ledger', file])).toMatchObject({ code: 1, shown: { holds: false } })
  })

  it.each([
    [[]],
    [['tokens', 'x']],
    [['token']],
    [['token', 'absent.jwt', '--keys', 'absent.json']],
    [['packet', 'nothing.json', '--kyes', 'x']],
    [['webhook', 'nothing.json']],
  ])('ends with 2 for the words %j', async (words) => {
    expect(await runs(words)).toMatchObject({ code: 2, shown: expect.stringContaining('countersign-verify: ') })
  })
})

it('the types need no more than those of Node', async () => {
  const path = join(user, 'node-only.ts')
  await writeFile(path, "import { Countersign } from '@countersign/client'\nexport const made = new Countersign()\n")
  const types = join(ROOT, 'node_modules/@types')
  const options = [
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2023',
    '--strict',
    '--noEmit',
    '--ignoreConfig',
  ]
  await run(COMPILER, [...options, '--typeRoots', types, '--types', 'node', path], { cwd: user })
})

it('publint has nothing to say', async () => {
  const { messages } = await publint({
    pkgDir: join(user, 'node_modules/@countersign/client'),
    strict: true,
    pack: false,
  })
  expect(messages).toEqual([])
})

it('attw finds the types of each entry, for users of ES modules', async () => {
  const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  const { stdout } = await run(process.execPath, [
    attw,
    archive,
    '--profile',
    'esm-only',
    '--no-definitely-typed',
    '--format',
    'json',
  ])
  const found = Object.values(JSON.parse(stdout).problems as Record<string, { resolutionKind: string }[]>).flat()
  // The profile leaves out what only users of CommonJS and of resolutions before Node 12 meet.
  expect(found.filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind))).toEqual([])
})

it('has no dependency, its own version, and the files that a package needs', async () => {
  const { version, dependencies, peerDependencies } = JSON.parse(await readFile(join(SOURCE, 'package.json'), 'utf8'))
  expect({ version, dependencies, peerDependencies }).toEqual({ version: VERSION })
  const files = await readdir(join(user, 'node_modules/@countersign/client'))
  expect(files.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json'])
})

it('is at most 25 kB with everything that pages use', async () => {
  const code = await bundle('client', 'client/verify')
  expect(brotliCompressSync(code).length).toBeLessThan(MAX_BROTLI_BYTES)
})

it('has guard in an entry of its own, which bundlers for browsers take', async () => {
  expect(await bundle('client')).not.toContain('NotExecuted')
  expect(await bundle('client/guard')).toContain('NotExecuted')
})

async function bundle(...entries: string[]): Promise<string> {
  const input = join(user, `${entries.join('-').replaceAll('/', '-')}.js`)
  await writeFile(input, entries.map((entry) => `export * from '@countersign/${entry}'\n`).join(''))
  const bundled = await rolldown({ input, platform: 'browser', cwd: user })
  const { output } = await bundled.generate({ format: 'esm', minify: true, codeSplitting: false })
  const code = output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')
  // Browsers have no modules of Node.
  expect(code).not.toMatch(/from\s*["']node:|import\(["']node:|\brequire\(/)
  return code
}
