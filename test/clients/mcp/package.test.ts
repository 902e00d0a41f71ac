// The package as it is published: built, packed by npm, installed into an empty folder with what it depends on, and started as its
// README says.

import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../../clients/mcp/manifest.json' with { type: 'json' }
import packageJson from '../../../clients/mcp/package.json' with { type: 'json' }
import server from '../../../clients/mcp/server.json' with { type: 'json' }
import { OPERATIONS } from '../../../clients/mcp/src/generated/operations.ts'
import { DEFAULT_TOOLS } from '../../../clients/mcp/src/tools/defaults.ts'
import { VERSION } from '../../../clients/mcp/src/version.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { ERAS, type Era, makeClient } from './connect.ts'
import manifestSchema from './schemas/manifest.schema.json' with { type: 'json' }
import serverSchema from './schemas/server.schema.json' with { type: 'json' }

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../../..')
const MODULES = join(ROOT, 'node_modules')
const DEPENDENCIES = ['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod']
// The inspector has 110 MB of dependencies: a folder with it installed is named by this variable.
const INSPECTOR = process.env.MCP_INSPECTOR

let folder: string
let user: string
let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService()
  caller = await service.makeCaller()
  folder = await mkdtemp(join(tmpdir(), 'mcp-'))
  user = join(folder, 'user')
  const filter = (path: string) => !/\/(?:dist|node_modules)$/.test(path)
  await cp(join(ROOT, 'clients/typescript'), join(folder, 'typescript'), { recursive: true, filter })
  await cp(join(ROOT, 'clients/mcp'), join(folder, 'mcp'), { recursive: true, filter })
  const env = { ...process.env, PATH: [join(MODULES, '.bin'), process.env.PATH].join(delimiter) }
  await run('npm', ['run', 'build'], { cwd: join(folder, 'mcp'), env })
  const places = [join(folder, 'mcp'), ...DEPENDENCIES.map((name) => join(MODULES, name))]
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...places], {
    cwd: folder,
  })
  const archives = (JSON.parse(packed.stdout) as { filename: string }[]).map(({ filename }) => join(folder, filename))
  await mkdir(user)
  await writeFile(join(user, 'package.json'), '{"type":"module","private":true}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...archives], { cwd: user })
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

interface Started {
  client: Client
  /** What it wrote to standard error. */
  said(): string
}

/** The first example of the README, with the address and the key of this service. */
async function startAsDocumented(era: Era, key = caller.key): Promise<Started> {
  const readme = await readFile(join(user, 'node_modules/@countersign/mcp/README.md'), 'utf8')
  const [, example = ''] = /```json\n([\s\S]+?)```/.exec(readme) ?? []
  const { command, args, env } = JSON.parse(example).mcpServers.countersign
  expect(Object.keys(env)).toEqual(['COUNTERSIGN_BASE_URL', 'COUNTERSIGN_API_KEY'])
  const given = { ...process.env, COUNTERSIGN_BASE_URL: service.app.url, COUNTERSIGN_API_KEY: key } as Record<
    string,
    string
  >
  const transport = new StdioClientTransport({ command, args, env: given, cwd: user, stderr: 'pipe' })
  let text = ''
  transport.stderr?.on('data', (chunk) => {
    text += chunk
  })
  const { client } = makeClient(era, {})
  await client.connect(transport)
  return { client, said: () => text }
}

const ACTION = {
  action_description: 'Buy a coffee',
  action_payload: { amount: 3 },
  agent_session_id: 's-1',
  device_id: 'd-1',
}

it.each(ERAS)('the first example of the README starts it, for a host of the %s era', async (era) => {
  const { client, said } = await startAsDocumented(era)
  expect(client.getServerVersion()).toMatchObject({ name: 'countersign', version: VERSION })
  const authorized = await client.callTool({ name: 'authorize_intent', arguments: ACTION })
  const { intent_token } = authorized.structuredContent as { intent_token: string }
  const verified = await client.callTool({ name: 'verify_intent', arguments: { ...ACTION, intent_token } })
  expect(verified.structuredContent).toMatchObject({ valid: true })
  await client.close()
  expect(said()).toBe('')
})

it('a key that the service does not know starts it, and stays out of everything it writes', async () => {
  const key = `svc_test_${'z'.repeat(30)}`
  const { client, said } = await startAsDocumented('legacy', key)
  const refused = await client.callTool({ name: 'list_claims' })
  expect(refused).toMatchObject({ isError: true, structuredContent: { status: 401 } })
  await client.close()
  expect(said()).toContain('the scopes of the key are unknown')
  expect(`${said()}${JSON.stringify(refused)}`).not.toContain(key)
})

describe('the command', () => {
  const command = () => join(user, 'node_modules/.bin/countersign-mcp')
  const ends = async (args: string[], env: Record<string, string>) => {
    const { COUNTERSIGN_API_KEY: _key, COUNTERSIGN_BASE_URL: _url, ...rest } = process.env
    const child = run(command(), args, { cwd: user, env: { ...rest, ...env } })
    child.child.stdin?.end()
    const { stdout, stderr } = await child.catch((error: { stdout: string; stderr: string }) => error)
    return { code: child.child.exitCode, stdout, stderr }
  }
  const ADDRESS = { COUNTERSIGN_BASE_URL: 'http://127.0.0.1:1' }

  it.each([
    [['--toolsets', 'payments'], ADDRESS, 'unknown toolset payments; known are all, intent,'],
    [['--key', 'svc_live_hunter2'], ADDRESS, 'unknown option'],
    [[], ADDRESS, 'COUNTERSIGN_API_KEY is missing'],
    [[], { COUNTERSIGN_API_KEY: 'svc_live_hunter2' }, 'COUNTERSIGN_BASE_URL) is missing'],
    [[], { ...ADDRESS, COUNTERSIGN_API_KEY: 'svc_live_hunter2\nX: 1' }, 'characters that no API key has'],
    [
      [],
      { COUNTERSIGN_BASE_URL: 'http://user:hunter2@127.0.0.1', COUNTERSIGN_API_KEY: 'svc_test_x' },
      'must not hold a password',
    ],
  ])('ends with 2 for %j, with a sentence and without a secret', async (args, env, message) => {
    const { code, stdout, stderr } = await ends(args, env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('hunter2')
  })

  it('lists its options, and leaves standard output to the protocol', async () => {
    expect(await ends(['--help'], {})).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('--read-only'),
    })
  })

  it('serves HTTP until it is told to end', async () => {
    const env = { ...process.env, COUNTERSIGN_BASE_URL: service.app.url, COUNTERSIGN_API_KEY: caller.key }
    const child = spawn(command(), ['--http', '--port', '0'], { cwd: user, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const [, url = ''] =
      /listens on (\S+)/.exec(String(await new Promise((said) => child.stderr.once('data', said)))) ?? []
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body })
    expect(await answer.text()).toContain('verify_intent')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

it('has the files that a package needs, one version, and no dependency but the SDK', async () => {
  const installed = join(user, 'node_modules/@countersign/mcp')
  const files = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'manifest.json', 'package.json', 'server.json']
  expect((await readdir(installed)).sort()).toEqual(files)
  expect(packageJson.dependencies).toEqual({ '@modelcontextprotocol/server': expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  const versions = [packageJson.version, server.version, server.packages[0]?.version, manifest.version]
  expect(versions).toEqual(versions.map(() => VERSION))
  // The client is part of the bundle.
  expect(await readdir(join(user, 'node_modules/@countersign'))).toEqual(['mcp'])
})

it('describes itself to the registry and to desktop hosts in their schemas', () => {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false })
  for (const [schema, value] of [
    [serverSchema, server],
    [manifestSchema, manifest],
  ] as const) {
    const validate = ajv.compile(schema)
    validate(value)
    expect(validate.errors ?? []).toEqual([])
    expect(validate({ ...value, unknown_member: 1 })).toBe(false)
  }
  expect(server.name).toBe(packageJson.mcpName)
  expect(server.packages[0]?.identifier).toBe(packageJson.name)
  const toolOf = new Map(OPERATIONS.map(({ name, tool }) => [name, tool]))
  const tools = [...DEFAULT_TOOLS.map(({ operation }) => toolOf.get(operation)), 'find_operations', 'call_operation']
  expect(manifest.tools.map(({ name }) => name)).toEqual(tools)
  expect(`./${manifest.server.entry_point}`).toBe(`./${packageJson.bin['countersign-mcp']}`)
})

it.skipIf(INSPECTOR === undefined)(
  'the command line of the inspector lists and calls its tools (skipped without MCP_INSPECTOR)',
  async () => {
    const inspector = join(
      INSPECTOR ?? '',
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    )
    const env = ['-e', `COUNTERSIGN_BASE_URL=${service.app.url}`, '-e', `COUNTERSIGN_API_KEY=${caller.key}`]
    const inspect = async (...words: string[]) => {
      const target = [process.execPath, join(user, 'node_modules/@countersign/mcp/dist/countersign-mcp.js')]
      const { stdout } = await run(process.execPath, [inspector, '--cli', ...env, ...target, ...words], { cwd: user })
      return JSON.parse(stdout)
    }
    const { tools } = await inspect('--method', 'tools/list', '--strict')
    expect(tools.length).toBe(26)
    const called = await inspect('--method', 'tools/call', '--tool-name', 'list_claims')
    expect(called).toMatchObject({ structuredContent: { data: [] } })
  },
)
