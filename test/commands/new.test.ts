import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeNew } from '../../commands/new.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const NEEDED = [
  'src',
  'workers',
  'commands',
  'capture-kit',
  'clients',
  'migrations',
  'bench',
  'faults',
  'hostile',
  'test',
  'tools',
  'vectors',
  'Procfile',
  'package.json',
]

describe('npm run new', { timeout: 300_000 }, () => {
  let copy: string

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'countersign-new-'))
    for (const name of [...NEEDED, 'tsconfig.json', 'biome.json', '.gitignore']) {
      cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  it('writes a feature and a queue that compile, pass the linter, and are registered', async () => {
    const feature = writeNew(copy, ['feature', 'attest/samples'])
    const others = ['account/probes', 'agents/parts', 'trace/marks', 'authorize/limits']
    for (const other of others) writeNew(copy, ['feature', other])
    const queue = writeNew(copy, ['queue', 'sample'])
    expect(readFileSync(join(copy, 'src/attest/attest.ts'), 'utf8')).toContain('samplesFeature(p)')
    for (const [product = '', name = ''] of others.map((other) => other.split('/'))) {
      expect(readFileSync(join(copy, `src/${product}/${product}.ts`), 'utf8')).toMatch(
        `const ${name} = ${name}Feature(p)`,
      )
    }
    expect(readFileSync(join(copy, 'src/attest/samples/notes.ts'), 'utf8')).toContain("'GET /v1/samples'")
    expect(readFileSync(join(copy, 'Procfile'), 'utf8')).toContain('sample: node workers/sample.ts')
    expect([...feature.remaining, ...queue.remaining].join()).toMatch(/layers\.test\.ts.*compose\.yaml/s)

    // Not synchronously: vitest reports an error for a worker that does not answer for a minute.
    const run = (file: string, ...args: string[]) =>
      promisify(execFile)(process.execPath, [join(copy, 'node_modules', file), ...args], { cwd: copy })
    await run('@biomejs/biome/bin/biome', 'check', '--write', 'src', 'workers', 'test/attest/samples')
    await run('typescript/bin/tsc', '--noEmit')
  })

  it('refuses used names and unknown words, and then writes nothing', () => {
    expect(() => writeNew(copy, ['feature', 'attest/claims'])).toThrow('exists already')
    expect(() => writeNew(copy, ['queue', 'attest'])).toThrow('exists already')
    for (const words of [
      [],
      ['table', 'x'],
      ['feature', 'x'],
      ['feature', 'none/x'],
      ['queue', 'A'],
      ['queue', 'a', 'b'],
    ]) {
      expect(() => writeNew(copy, words)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
    }
  })
})
