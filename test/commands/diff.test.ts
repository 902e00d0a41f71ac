// `npm run diff` on real models: their exit codes are what CI goes by.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { DEFAULT_MODEL } from '#src/trace/models/model-files.ts'
import { readOptions } from '../../commands/diff/options.ts'
import { isUsageError } from '../../commands/sentence.ts'
import { createModelFolder } from '../support/gguf.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const place = createModelFolder()
afterAll(place.close)

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['commands/diff.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, TRACE_MODEL_DIR: join(place.folder, 'none') },
  })
  return { status, stdout, stderr }
}

/** The tiny model as another file, whose probe of one family reads all texts as more suspicious. */
function plant(name: string, family: string, bias: number): string {
  const bytes = Buffer.concat([readFileSync(DEFAULT_MODEL.path), Buffer.alloc(32)])
  const path = place.write(`${name}.gguf`, bytes)
  const set = JSON.parse(readFileSync(DEFAULT_MODEL.probesPath ?? '', 'utf8'))
  set.model.sha256 = createHash('sha256').update(bytes).digest('hex')
  for (const probe of set.probes) if (probe.family === family) probe.bias += bias
  place.write(`${name}.probes.json`, Buffer.from(JSON.stringify(set)))
  return path
}

function wordsFault(args: string[]): unknown {
  try {
    return readOptions(args)
  } catch (error) {
    return error
  }
}

function prompts(count: number): string {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ messages: [{ role: 'user', content: `What do ${index} lamps cost?` }] }),
  )
  return place.write(`${count}.jsonl`, Buffer.from(lines.join('\n')))
}

describe('npm run diff', () => {
  it.each([
    [[]],
    [['countersign-tiny']],
    [['countersign-tiny', 'gone.gguf']],
    [['countersign-tiny', 'countersign-tiny', 'more']],
    [['countersign-tiny', 'countersign-tiny', '--seed', '-1']],
    [['countersign-tiny', 'countersign-tiny', '--unknown']],
  ])('finds wrong words in %j', (args) => {
    expect(wordsFault(args)).toSatisfy(isUsageError)
  })

  // The least number of prompts for a verdict, by two models: a minute of processor time.
  it('ends with 1 for drift, and flags exactly the family that was planted', { timeout: 600_000 }, () => {
    const junit = join(place.folder, 'junit.xml')
    const planted = plant('planted', 'exfiltration', 9)
    const args = ['countersign-tiny', planted, '--eval', prompts(200), '--junit', junit, '--json']
    const { status, stdout, stderr } = run(...args)
    expect([status, stderr]).toEqual([1, ''])
    const { report, report_hash } = JSON.parse(stdout)
    expect(report).toMatchObject({ pass: false, verdict: 'drift', families_drifted: ['exfiltration'] })
    expect(report.next_token_kl).toMatchObject({ mean: 0, undefined_because: null })
    const hash = createHash('sha256')
      .update(canonicalize(report as Json))
      .digest('hex')
    expect(report_hash).toBe(hash)
    const xml = readFileSync(junit, 'utf8')
    expect(xml.match(/<failure /g)).toHaveLength(1)
    expect(xml).toMatch(/name="exfiltration"><failure type="drift" message="psi /)
    expect(xml).toContain('tests="6" failures="1" skipped="0"')
  })

  it('ends with 3 when it is inconclusive, says why, and repeats every figure by its seed', () => {
    const args = ['countersign-tiny', plant('little', 'sandbag', 9), '--eval', prompts(2), '--seed', '5']
    const first = run(...args)
    expect(first.status).toBe(3)
    expect(first.stdout).toContain('verdict                inconclusive: 2 prompts; 200 are needed')
    expect(run(...args)).toEqual(first)
  })

  it('ends with 2 for wrong words, and with 4 for models that can not be compared', () => {
    const broken = place.write('broken.gguf', Buffer.from('GGUF but not really, and long enough'))
    const bad = place.write('bad.jsonl', Buffer.from('{"messages":[{"role":"assistant","content":"x"}]}'))
    for (const args of [[], ['countersign-tiny', 'smollm9'], ['countersign-tiny', 'countersign-tiny', '--eval', bad]]) {
      expect([args, run(...args).status]).toEqual([args, 2])
    }
    const cut = place.write('cut.gguf', readFileSync(DEFAULT_MODEL.path).subarray(0, 200))
    const plain = place.write('plain.gguf', readFileSync(DEFAULT_MODEL.path))
    for (const [path, about] of [
      [broken, broken],
      [cut, cut],
      [plain, 'canary readings'],
    ] as const) {
      const { status, stdout, stderr } = run('countersign-tiny', path)
      expect([path, status, stdout]).toEqual([path, 4, ''])
      expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(about)])
      expect(stderr.includes('canary')).toBe(path === plain)
    }
  })
})
