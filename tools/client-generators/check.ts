// Puts the OpenAPI document through the generators that callers use, and checks what they write: see README.md.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allRoutes } from '#src/app.ts'
import { readConfig } from '#src/config.ts'
import { notesOf } from '#src/docs/notes.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices } from '#src/services.ts'
import { type ClientDocument, callsOf } from './calls.ts'

const NPM_PACKAGES = ['typescript@5.9.3', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0']
const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
}

// openapi-python-client asks isinstance(body, list[...]) where a body may be an array or lines, which Python refuses.
const FAULT_OF_GENERATOR = /Parameterized generics cannot be used with class or instance checks/

const folder = mkdtempSync(join(tmpdir(), 'client-generators-'))
const document = await readDocument()
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
tell(`${operations.length} operations, ${Object.keys(document.components.schemas).length} schemas, in ${folder}`)

const failures = [...checkTypeScript(), ...checkPython()]
for (const failure of failures) tell(failure)
tell(failures.length === 0 ? 'every generator is content' : `${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1

async function readDocument(): Promise<ClientDocument> {
  const baseUrl = 'https://api.example.test'
  const config = readConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BLOB_STORE: 'disk:none',
  })
  const services = createServices({ config, log: createLog({ process: 'tools', level: 'silent' }) })
  const routes = services.features.flatMap((feature) => feature.routes ?? [])
  const table = allRoutes({ routes, jwks: async () => ({ keys: [] }), baseUrl })
  const described = await describeRoutes(table, { baseUrl, notes: notesOf(services.features) })
  await services.close()
  return JSON.parse(JSON.stringify(described))
}

function checkTypeScript(): string[] {
  const place = join(folder, 'typescript')
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...NPM_PACKAGES], { cwd: place })
  run('npx', ['openapi-typescript', '../openapi.json', '-o', 'api.d.ts'], place)
  const calls = callsOf(document)
  writeFileSync(join(place, 'calls.ts'), calls.text)
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }))
  const { status, output } = run('npx', ['tsc', '-p', '.'], place)
  tell(
    `openapi-typescript: ${calls.operations} operations called, ${calls.answers} answers assigned, tsc ended with ${status}`,
  )
  return status === 0 ? [] : output.split('\n').filter(Boolean)
}

function checkPython(): string[] {
  const bin = join(folder, 'venv', 'bin')
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')])
  execFileSync(join(bin, 'pip'), ['install', '--quiet', '-r', join(import.meta.dirname, 'requirements.txt')])
  return [...checkPythonClient(bin), ...checkPydantic(bin)]
}

function checkPythonClient(bin: string): string[] {
  const place = join(folder, 'python-client')
  mkdirSync(place)
  writeFileSync(join(place, 'config.json'), JSON.stringify({ content_type_overrides: bytesTypes() }))
  const options = ['generate', '--path', '../openapi.json', '--config', 'config.json', '--meta', 'none']
  const { output } = run(join(bin, 'openapi-python-client'), [...options, '--output-path', 'countersign_api'], place)
  const warnings = output.split('\n').filter((line) => /^WARNING|^ERROR|^Unable/.test(line))
  const api = join(place, 'countersign_api', 'api')
  const functions = readdirSync(api, { recursive: true, encoding: 'utf8' }).filter((path) => /[^_]\.py$/.test(path))
  const missing = operations.length - functions.length
  const checked = mypyOf(bin, 'countersign_api', place)
  tell(`openapi-python-client: ${functions.length} operations, ${warnings.length} warnings, mypy: ${checked.summary}`)
  return [
    ...warnings,
    ...(missing === 0 ? [] : [`openapi-python-client lacks ${missing} operations`]),
    ...checked.errors,
  ]
}

// It knows JSON and bytes, and takes what others are by its configuration.
function bytesTypes(): Record<string, string> {
  const types = operations.flatMap(({ requestBody, responses }) => [
    ...Object.keys(requestBody?.content ?? {}),
    ...Object.values(responses).flatMap(({ content }) => Object.keys(content ?? {})),
  ])
  const others = new Set(types.filter((type) => !/json$/.test(type) || type === 'application/x-ndjson'))
  return Object.fromEntries([...others].map((type) => [type, 'application/octet-stream']))
}

function checkPydantic(bin: string): string[] {
  const place = join(folder, 'pydantic')
  mkdirSync(place)
  const options = ['--input', '../openapi.json', '--input-file-type', 'openapi', '--output', 'models.py']
  const style = ['--output-model-type', 'pydantic_v2.BaseModel', '--target-python-version', '3.11', '--use-annotated']
  const made = run(join(bin, 'datamodel-codegen'), [...options, ...style], place)
  if (made.status !== 0) return [`datamodel-code-generator: ${made.output}`]
  const text = readFileSync(join(place, 'models.py'), 'utf8')
  const classes = new Set([...text.matchAll(/^(?:class )?(\w+)(?:\(| = )/gm)].map(([, name]) => name))
  const lacking = Object.keys(document.components.schemas).filter((name) => !classes.has(name))
  const checked = mypyOf(bin, 'models.py', place)
  tell(`datamodel-code-generator: ${classes.size} models, ${lacking.length} missing, mypy: ${checked.summary}`)
  return [...lacking.map((name) => `datamodel-code-generator has no ${name}`), ...checked.errors]
}

function mypyOf(bin: string, target: string, place: string): { errors: string[]; summary: string } {
  const { output } = run(join(bin, 'mypy'), [target], place)
  const errors = output.split('\n').filter((line) => /: error: /.test(line))
  const own = errors.filter((line) => !FAULT_OF_GENERATOR.test(line))
  return {
    errors: own,
    summary: `${own.length} errors, ${errors.length - own.length} of a known fault of the generator`,
  }
}

function run(command: string, options: string[], cwd: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, options, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 })
  return { status, output: `${stdout ?? ''}${stderr ?? ''}` }
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`)
}
