import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inspectModel } from '#src/trace/llama/model.ts'
import { addProbesFile, DEFAULT_MODEL } from '#src/trace/models/model-files.ts'
import { loadProbeSet, parseProbeSet } from '#src/trace/probes/probe-set.ts'
import { createModelFolder } from '../../support/gguf.ts'

const TEXT = readFileSync(DEFAULT_MODEL.probesPath ?? '', 'utf8')
const { sha256, shape } = inspectModel(DEFAULT_MODEL.path)
const folder = createModelFolder()

afterAll(() => folder.close())

/** The committed file with the value at this path replaced; undefined removes it. */
function changed(path: readonly (string | number)[], value: unknown): string {
  const whole = JSON.parse(TEXT)
  let place = whole
  for (const key of path.slice(0, -1)) place = place[key]
  place[path.at(-1) ?? ''] = value
  return JSON.stringify(whole)
}

describe('a file of probes', () => {
  it.each<[string, string]>([
    ['is no JSON', TEXT.slice(0, -9)],
    ['is a list', '[]'],
    ['has no probes', changed(['probes'], [])],
    ['has an unknown member', changed(['probes', 0, 'extra'], 1)],
    ['has an unknown kind', changed(['probes', 0, 'kind'], 'keyword')],
    ['has an unknown aggregator', changed(['probes', 0, 'aggregator'], 'mean')],
    ['has a weight that is no number', changed(['probes', 0, 'weights', 3], null)],
    ['has a bias beyond all numbers', TEXT.replace(/"bias": [^,]+/, '"bias": 1e999')],
    ['has a threshold of 0', changed(['probes', 0, 'threshold'], 0)],
    ['has a threshold above 1', changed(['probes', 0, 'threshold'], 1.1)],
    ['has a family twice', changed(['probes', 1, 'family'], 'credential_access')],
    ['has a family with blanks', changed(['probes', 0, 'family'], 'a b')],
    ['has no card', changed(['probes', 0, 'card'], undefined)],
    ['names no model', changed(['model', 'sha256'], 'none')],
  ])('is refused when it %s', (_, text) => {
    expect(() => parseProbeSet(text)).toThrow(expect.objectContaining({ code: 'model_file_invalid' }))
  })

  it.each<[string, string, object]>([
    ['another file', TEXT, { sha256: '0'.repeat(64) }],
    ['another width', TEXT, { shape: { ...shape, width: 64, heads: 2 } }],
    ['fewer layers', changed(['probes', 0, 'layer'], 9), {}],
    ['another number of weights', changed(['probes', 0, 'weights'], [1]), {}],
  ])('is refused for a model with %s', (name, text, model) => {
    const path = folder.write(`${name.replaceAll(' ', '-')}.probes.json`, Buffer.from(text))
    expect(() => loadProbeSet(path, { sha256, shape, ...model })).toThrow(
      expect.objectContaining({ code: 'model_file_invalid' }),
    )
  })

  it('that is absent or too long is refused', () => {
    const long = folder.write('long.probes.json', Buffer.alloc(8_000_001, 32))
    for (const path of [long, '/nowhere.probes.json']) {
      expect(() => loadProbeSet(path, { sha256, shape })).toThrow(
        expect.objectContaining({ code: 'model_file_invalid' }),
      )
    }
  })
})

describe('a probe whose card says measured', () => {
  const whole = JSON.parse(TEXT)
  const statusOf = (generated: object | undefined) => {
    const [first, ...rest] = whole.probes
    const card = { ...first.card, status: 'measured', known_failures: [], generated }
    const { probes } = parseProbeSet(JSON.stringify({ ...whole, probes: [{ ...first, card }, ...rest] }))
    return { status: probes[0]?.card.status, failures: probes[0]?.card.known_failures.length }
  }
  const runs = (trips: number, count: number) => ({ runs: count, trips, false_positive_rate: 0, by_kind: {} })

  it('is experimental without figures of completions of the model itself, as older files are', () => {
    expect(statusOf(undefined)).toEqual({ status: 'experimental', failures: 1 })
  })

  it('is experimental where it trips on more than 1.5 % of these', () => {
    expect([statusOf(runs(0, 60)).status, statusOf(runs(1, 60)).status]).toEqual(['measured', 'experimental'])
    expect([statusOf(runs(3, 200)).status, statusOf(runs(4, 200)).status]).toEqual(['measured', 'experimental'])
  })
})

describe('probes that are put beside a model', () => {
  it('belong to its file, and replace those before', () => {
    const facts = inspectModel(DEFAULT_MODEL.path)
    const source = DEFAULT_MODEL.probesPath ?? ''
    folder.write('mine.probes.json', Buffer.from('{}'))
    addProbesFile(folder.folder, { id: 'mine', facts }, source)
    expect(readFileSync(join(folder.folder, 'mine.probes.json'), 'utf8')).toBe(TEXT)
    const other = { id: 'mine', facts: { ...facts, sha256: '0'.repeat(64) } }
    expect(() => addProbesFile(folder.folder, other, source)).toThrow(
      expect.objectContaining({ code: 'model_file_invalid' }),
    )
    expect(readdirSync(folder.folder).filter((name) => name.includes('partial'))).toEqual([])
  })
})
