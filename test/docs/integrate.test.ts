import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

// The guide is run as a newcomer does it: files are written, commands are typed in order, and the output that the guide
// shows is compared with theirs.

const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = ['bash', 'curl', 'openssl', 'python3']
const missing = TOOLS.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' }).status !== 0)
const run = promisify(execFile)

interface Block {
  language: string
  text: string
  line: number
}

const blocks = blocksOf(readFileSync(join(ROOT, 'docs/integrate.md'), 'utf8'))

describe.skipIf(missing.length > 0)(
  `the guide (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    let system: System
    let folder: string
    let port: number
    let receiver: { child: ChildProcess; printed: () => string } | undefined

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres' })
      folder = mkdtempSync(join(tmpdir(), 'countersign-guide-'))
      port = await freePort()
      writeFileSync(join(folder, 'photo.jpg'), await renderPhoto({ seed: 1, width: 640, height: 480, exif: null }))
    })
    afterAll(async () => {
      receiver?.child.kill('SIGKILL')
      await system?.close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    })

    it('runs from the first block to the last, and prints what it shows', async () => {
      let printed = ''
      for (const { language, text, line } of blocks) {
        const content = placed(text)
        const place = `docs/integrate.md:${line}`
        if (language === 'ts' || language === 'python') writeFileSync(join(folder, nameOf(content)), content)
        else if (language === 'sh') printed = await type(content, place)
        else if (language === 'sh receiver') await restart(content)
        else if (language === 'text') expectLines(printed, content, place)
        else if (language === 'text receiver') {
          await until(() => isPrinted(receiver?.printed() ?? '', content)).catch(() => {
            expect.fail(`${place}: the receiver printed\n${receiver?.printed()}`)
          })
        }
      }
    })

    it('signs the bytes that it shows', async () => {
      const [bundle] = blocks.filter(({ language }) => language === 'json')
      const [canonical] = blocks.filter(({ language }) => language === 'canonical')
      const cases = acceptedVectors()
      const inputs = [{ json: bundle?.text ?? '', canonical: canonical?.text.trimEnd() ?? '' }, ...cases]
      const script = `import { canonicalize } from './sign.mts'
      const inputs = JSON.parse(await new Response(process.stdin).text())
      console.log(JSON.stringify(inputs.map((json) => canonicalize(JSON.parse(json)))))`
      const answer = pipe(
        'node',
        ['--input-type=module', '-e', script],
        inputs.map(({ json }) => json),
      )
      expect(answer).toEqual(inputs.map(({ canonical: expected }) => expected))
    })

    it('verifies signatures as the vectors require, in both languages', () => {
      const cases = signatureCases()
      expect(cases.length).toBeGreaterThan(20)
      const expected = cases.map(({ valid }) => valid)
      const script = `import { isGenuine } from './webhook.mts'
      const cases = JSON.parse(await new Response(process.stdin).text())
      console.log(JSON.stringify(cases.map((c) => isGenuine(Buffer.from(c.body, 'base64'), c.header, c.secret, c.now))))`
      expect(pipe('node', ['--input-type=module', '-e', script], cases)).toEqual(expected)
      const python = [
        'import base64, json, sys',
        'from webhook import is_genuine',
        'cases = json.load(sys.stdin)',
        'print(json.dumps([is_genuine(base64.b64decode(c["body"]), c["header"], c["secret"], c["now"]) for c in cases]))',
      ].join('\n')
      expect(pipe('python3', ['-c', python], cases)).toEqual(expected)
    })

    it('contains TypeScript that compiles', async () => {
      const files = blocks.filter(({ language }) => language === 'ts').map(({ text }) => nameOf(text))
      const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--allowImportingTsExtensions', '--skipLibCheck']
      const types = ['--target', 'esnext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
      const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...types, ...files], {
        cwd: folder,
        env: environment(),
      }).catch((error: { stdout: string }) => error)
      expect(stdout).toBe('')
    })

    function placed(text: string): string {
      return text
        .replaceAll('http://localhost:8080', system.baseUrl)
        .replaceAll('svc_test_your_own_key', system.key)
        .replaceAll('4000', String(port))
    }

    // One shell per block; variables of a block exist in the next, as in a terminal.
    async function type(commands: string, place: string): Promise<string> {
      const script = [
        'set -aeo pipefail',
        'if [ -f .shell ]; then source ./.shell; fi',
        commands,
        `{ export -p | grep -v -E ' (HOME|OLDPWD|PATH|PWD|SHLVL|_)='; declare -f; } > .shell`,
      ].join('\n')
      try {
        const { stdout } = await run('bash', ['-c', script], { cwd: folder, env: environment() })
        return stdout
      } catch (error) {
        const { stdout, stderr } = error as { stdout: string; stderr: string }
        throw new Error(`${place} failed:\n${stderr}\n${stdout}`)
      }
    }

    async function restart(command: string): Promise<void> {
      const before = receiver?.child
      if (before !== undefined) {
        before.kill('SIGINT')
        await until(() => before.exitCode !== null || before.signalCode !== null)
      }
      const child = spawn('bash', ['-c', `exec ${command}`], { cwd: folder, env: environment() })
      let printed = ''
      const listen = (chunk: Buffer) => {
        printed += String(chunk)
      }
      child.stdout.on('data', listen)
      child.stderr.on('data', listen)
      receiver = { child, printed: () => printed }
      await until(() => printed.includes('listening'))
    }

    function pipe(command: string, args: string[], input: unknown): unknown {
      const { stdout, stderr } = spawnSync(command, args, {
        cwd: folder,
        env: environment(),
        input: JSON.stringify(input),
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      return JSON.parse(stdout)
    }
  },
)

function environment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME } = process.env
  return { HOME, PATH: [join(ROOT, 'node_modules/.bin'), PATH].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' }
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: content = '', index }) => ({
    language,
    text: content,
    line: text.slice(0, index).split('\n').length,
  }))
}

function nameOf(content: string): string {
  const name = /^(?:\/\/|#) ([a-z]+\.(?:mts|py))$/m.exec(content)?.[1]
  if (name === undefined) throw new Error(`a file of the guide has no name:\n${content}`)
  return name
}

function expectLines(printed: string, expected: string, place: string): void {
  if (!isPrinted(printed, expected)) expect.fail(`${place}: this was printed instead:\n${printed}`)
}

/** Whether every expected line occurs; `...` stands for anything. */
function isPrinted(printed: string, expected: string): boolean {
  return expected
    .trimEnd()
    .split('\n')
    .every((line) => {
      const parts = line.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(`^${parts.join('.*')}$`, 'm').test(printed)
    })
}

function acceptedVectors(): { json: string; canonical: string }[] {
  const { cases }: { cases: { input?: string; canonical: string }[] } = JSON.parse(
    readFileSync(join(ROOT, 'vectors/canonical/accepted.json'), 'utf8'),
  )
  return cases.flatMap(({ input, canonical }) => (input === undefined ? [] : [{ json: input, canonical }]))
}

interface SignatureCase {
  body: string
  header: string
  secret: string
  now: number
  valid: boolean
}

// The guide's verifiers know one secret and one tolerance, and leave the body to its parser.
function signatureCases(): SignatureCase[] {
  const { verify } = JSON.parse(readFileSync(join(ROOT, 'vectors/webhooks/signatures.json'), 'utf8'))
  return verify.flatMap((one: Record<string, unknown>) => {
    const headers = one.headers as Record<string, unknown>
    const header = headers['service-signature']
    const secrets = one.secrets as string[]
    const [secret = ''] = secrets
    const { valid, reason } = one.verdict as { valid: boolean; reason?: string }
    const isKnown = secrets.length === 1 && typeof header === 'string' && one.tolerance === undefined
    if (!isKnown || reason === 'invalid_json') return []
    const body = one.body_base64 ?? Buffer.from(String(one.body)).toString('base64')
    return [{ body, header, secret, now: one.now, valid }]
  })
}

function freePort(): Promise<number> {
  return new Promise((done, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
