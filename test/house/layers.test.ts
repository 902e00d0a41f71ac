import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

// An import never goes up. Files directly in src/, process and services among them, put everything together.
const LAYERS: Record<string, number> = {
  catalogue: 0,
  platform: 0,
  account: 1,
  agents: 1,
  attest: 2,
  trace: 2,
  authorize: 3,
  overview: 4,
}
const TOP = 5
// Importable from every layer; they import none of our files.
const BASE = new Set([
  'src/failure.ts',
  'src/field-errors.ts',
  'src/guidance.ts',
  'src/guidance-conflicts.ts',
  'src/guidance-intents.ts',
])
// The layers inside of a product, lowest first. Folders of one layer don't import each other.
const INSIDE: Record<string, readonly (readonly string[])[]> = {
  attest: [
    ['media', 'video', 'hardware'],
    ['factors'],
    ['causes'],
    ['trust'],
    ['devices'],
    ['captures'],
    ['cases'],
    ['duplicates'],
    ['policy'],
    ['screen'],
    ['claims'],
    ['batches'],
    ['reevaluate'],
    ['evidence'],
    ['erasure'],
    ['analytics'],
  ],
  agents: [['registry']],
  trace: [
    ['gguf'],
    ['kernel', 'tokenizer', 'onnx'],
    ['llama'],
    ['probes', 'accelerator'],
    ['attribution'],
    ['exported'],
    ['models'],
    ['locks'],
    ['canaries'],
    ['inferences'],
    ['jobs'],
    ['diffs', 'shares', 'texts'],
  ],
  authorize: [
    ['policy', 'tokens'],
    ['webhooks', 'passkeys', 'mandates', 'schedules'],
    ['approvals', 'exclusions'],
    ['prescribers'],
    ['orders', 'incidents'],
    ['revocations'],
    ['intents'],
    ['decisions'],
    ['reports'],
    ['access'],
  ],
  overview: [['waiting', 'search', 'reference']],
}
// Pure decisions, proven by vectors. They import nothing with side effects.
const PURE = [
  'src/attest/factors/',
  'src/attest/hardware/revocations.ts',
  'src/attest/media/declared.ts',
  'src/attest/media/exif-time.ts',
  'src/attest/video/',
  'src/attest/cases/machine.ts',
  'src/attest/cases/sla.ts',
  'src/attest/screen/breaker.ts',
  'src/attest/screen/thresholds.ts',
  'src/attest/media/source-type.ts',
  'src/authorize/approvals/facts.ts',
  'src/authorize/approvals/preview.ts',
  'src/authorize/action-amounts.ts',
  'src/authorize/intents/facts.ts',
  'src/authorize/intents/pipeline.ts',
  'src/authorize/intents/reasons.ts',
  'src/authorize/intents/limits-steps.ts',
  'src/authorize/mandates/judge.ts',
  'src/authorize/mandates/narrowing.ts',
  'src/authorize/policy/checks.ts',
  'src/authorize/policy/compile.ts',
  'src/authorize/policy/conditions.ts',
  'src/authorize/policy/evaluate.ts',
  'src/authorize/policy/fields.ts',
  'src/authorize/policy/forms.ts',
  'src/authorize/policy/missing-fields.ts',
  'src/authorize/orders/judge.ts',
  'src/authorize/orders/state.ts',
  'src/authorize/prescribers/check-digits.ts',
  'src/authorize/prescribers/schedules.ts',
  'src/authorize/prescribers/substances.ts',
  'src/authorize/schedules/calendar.ts',
  'src/authorize/schedules/dates.ts',
  'src/authorize/schedules/frequency.ts',
  'src/authorize/schedules/judge.ts',
  'src/platform/amounts.ts',
  'src/platform/automaton.ts',
  'src/platform/sanitize.ts',
  'src/platform/jobs/fair-share.ts',
  'src/platform/jobs/poll-interval.ts',
  'src/platform/ledger/merkle.ts',
  'src/platform/ledger/proofs.ts',
  'src/platform/sequence-interval.ts',
  'src/account/webhooks/latency.ts',
  'src/account/webhooks/schedule.ts',
  'src/trace/canaries/judge.ts',
  'src/trace/diffs/judge.ts',
  'src/trace/diffs/kolmogorov.ts',
  'src/trace/diffs/neurons.ts',
  'src/trace/diffs/statistics.ts',
  'src/trace/probes/windows.ts',
  'src/trace/shares/graph.ts',
  'src/trace/shares/mask.ts',
  'src/authorize/policy/analyze.ts',
  'src/authorize/policy/comparisons.ts',
  'src/platform/patterns.ts',
  'src/authorize/policy/requirements.ts',
  'src/authorize/policy/samples.ts',
  'src/authorize/policy/satisfiability.ts',
  'src/authorize/policy/value-sets.ts',
  'src/authorize/policy/intervals.ts',
  'src/authorize/policy/comparison-sets.ts',
  'src/authorize/policy/work.ts',
]
// Libraries without side effects, which decisions may use.
const PURE_LIBRARIES = ['canonicalize', 'decimal.js', 're2js', 'temporal-polyfill']

// A statement that changes rows, with the name of its table.
const WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+([a-z_]{3,})\b(?=\s+(?:SET|AS|WHERE|[a-z]+\s+SET)\b|\s*\(|\s*$)/gm
const READ = /\b(?:FROM|JOIN)\s+([a-z_]{3,})\b/g
// Folders that read a table of a folder above them, each with its reason. Remove what is gone; before you add one, look whether the
// folder above could pass what is needed.
const READS_FROM_BELOW: Record<string, string> = {
  'src/attest/media: attestations':
    'media that an attestation shows are not erased, and are answered with their claims',
  'src/attest/media: exclusion_imports': 'uploaded exclusion lists are in the store too, and are no strays',
  'src/attest/devices: capture_sessions': 'a device is kept while a session names it',
  'src/attest/captures: attestations': 'sessions and streams are kept while an attestation needs them',
  'src/attest/cases: claims': 'a case is locked together with its claim, and says what is known of it',
  'src/attest/duplicates: attestations':
    'fingerprints are inserted from attestations in the transaction that settles them',
  'src/attest/duplicates: claims': 'duplicates of an unknown claim are not found',
  'src/attest/screen: attestations':
    'a screening of bytes that are attested has them re-evaluated, and keeps their media',
  'src/attest/screen: claims': 'a screening locks its claim against closing',
  'src/authorize/exclusions: prescribers': 'accounts are screened again when a prescriber has changed',
  'src/platform/jobs: accounts': 'no job of a suspended account is dispatched, and those of a closed one are held',
}
// Remove each exception with its reason; add none.
const KNOWN_CLIMBS = new Set<string>([])

const sources = walk('src').concat(walk('workers'))

describe('the layers', () => {
  it('are kept: no file imports from a higher layer', () => {
    const climbs = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/') && layerOf(target) > layerOf(file))
        .map((target) => `${file} imports ${target}`),
    )
    expect(climbs).toEqual([])
  })

  it('separate folders of one layer: attest does not import trace', () => {
    const sideways = sources.flatMap((file) => {
      const own = layerNameOf(file)
      if (own === undefined || own === 'platform' || own === 'catalogue') return []
      return importsOf(file)
        .filter((target) => {
          const other = layerNameOf(target)
          return other !== undefined && other !== own && LAYERS[other] === LAYERS[own]
        })
        .map((target) => `${file} imports ${target}`)
    })
    expect(sideways).toEqual([])
  })

  it('are kept inside a product', () => {
    const climbs = sources.flatMap((file) => {
      const own = placeOf(file)
      if (own === undefined) return []
      return importsOf(file)
        .filter((target) => {
          const other = placeOf(target)
          return other?.product === own.product && other.folder !== own.folder && other.layer >= own.layer
        })
        .map((target) => `${file} imports ${target}`)
    })
    expect(climbs.filter((climb) => !KNOWN_CLIMBS.has(climb))).toEqual([])
    expect([...KNOWN_CLIMBS].filter((climb) => !climbs.includes(climb))).toEqual([])
  })

  it('contain every folder of a product', () => {
    for (const [product, layers] of Object.entries(INSIDE)) {
      const folders = readdirSync(join(ROOT, 'src', product)).filter((name) => !name.endsWith('.ts'))
      expect(folders.toSorted()).toEqual(layers.flat().toSorted())
    }
  })

  it('keep the catalogue free of imports from the code that reads it', () => {
    const bound = walk('src/catalogue').flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/') && !target.startsWith('src/catalogue/'))
        .map((target) => `${file} imports ${target}`),
    )
    expect(bound).toEqual([])
  })

  it('keep decisions pure: they import types, node: and each other', () => {
    const impure = sources
      .filter((file) => PURE.some((path) => file.startsWith(path)))
      .flatMap((file) =>
        valueImportsOf(file)
          .filter((target) => !target.startsWith('node:') && !PURE_LIBRARIES.includes(target))
          .filter((target) => !PURE.some((path) => target.startsWith(path)))
          // The verifiers of the client library run in browsers: they do no I/O of their own.
          .filter((target) => !target.startsWith('#client/verify/'))
          .map((target) => `${file} imports ${target}`),
      )
    expect(impure).toEqual([])
  })

  it('allow one file to import BullMQ, and only the configuration to read the environment', () => {
    const holders = (pattern: RegExp) => sources.filter((file) => pattern.test(read(file)))
    expect(holders(/from 'bullmq'/)).toEqual(['src/platform/jobs/bull.ts'])
    expect(holders(/process\.env/)).toEqual(['src/config.ts'])
  })

  it('allow one file to use the Postgres driver below its public interface', () => {
    const users = sources.filter(
      (file) => /from 'pg'/.test(read(file)) && /pg\.Query\b|\bpg as unknown\b|\bconnection: \{/.test(read(file)),
    )
    expect(users).toEqual(['src/platform/db/driver.ts'])
  })

  it('allow one folder to write a table', () => {
    const writers = new Map<string, Set<string>>()
    for (const file of walk('src')) {
      for (const [, table = ''] of read(file).matchAll(WRITE)) {
        const folder = file.split('/').slice(0, 3).join('/')
        writers.set(table, (writers.get(table) ?? new Set()).add(folder))
      }
    }
    const shared = [...writers].filter(([, folders]) => folders.size > 1)
    expect(shared.map(([table, folders]) => `${table}: ${[...folders].join(', ')}`)).toEqual([])
    expect(writers.size).toBeGreaterThan(30)
  })

  it('list each read of a table that a folder above writes, with its reason', () => {
    const climbs = new Set<string>()
    const owners = new Map<string, string>()
    for (const file of walk('src')) {
      for (const [, table = ''] of read(file).matchAll(WRITE)) owners.set(table, file)
    }
    for (const file of walk('src')) {
      for (const [, table = ''] of read(file).matchAll(READ)) {
        const owner = owners.get(table)
        if (owner !== undefined && isAbove(owner, file))
          climbs.add(`${file.split('/').slice(0, 3).join('/')}: ${table}`)
      }
    }
    expect([...climbs].toSorted()).toEqual(Object.keys(READS_FROM_BELOW).toSorted())
  })

  it('have one kind of outbound call: only platform/net imports undici', () => {
    const callers = sources.filter((file) => /from 'undici'|\bfetch\(/.test(read(file)))
    expect(callers.filter((file) => !file.startsWith('src/platform/net/'))).toEqual([])
  })

  it('have small files', () => {
    const tooLong = (files: string[], most: number) =>
      files.map((file) => ({ file, lines: read(file).split('\n').length })).filter(({ lines }) => lines > most)
    expect(
      tooLong([...sources, ...walk('commands'), ...walk('capture-kit'), ...walk('bench'), ...walk('faults')], 500),
    ).toEqual([])
    // A table of cases grows longer than the code under test.
    expect(tooLong([...walk('test'), ...walk('hostile')], 500)).toEqual([])
  })

  it('have no barrels, no default exports, no enums', () => {
    const names = sources.filter((file) => /(^|\/)(index|types|utils|common|helpers)\.ts$/.test(file))
    const defaults = sources.filter((file) => /^export default /m.test(read(file)))
    const enums = sources.filter((file) => /^\s*(export )?(const )?enum /m.test(read(file)))
    expect({ names, defaults, enums }).toEqual({ names: [], defaults: [], enums: [] })
  })

  it("take callers' times by one schema, which refuses the years that answers can't write", () => {
    const own = sources.filter((file) => read(file).includes('offset: true'))
    expect(own).toEqual(['src/platform/http/params.ts'])
  })

  it('take texts for people by one schema, which refuses those of which nothing can be seen', () => {
    const own = sources.filter((file) => /\.string\(\)\s*\.trim\(\)\s*\.min\(/.test(read(file)))
    expect(own).toEqual(['src/platform/http/params.ts'])
  })

  it('export no type name twice: one name has one meaning', () => {
    const declared = walk('src').flatMap((file) =>
      [...read(file).matchAll(/^export (?:declare )?(?:interface|type|class) ([A-Z]\w*)/gm)].map(([, name]) => ({
        name,
        file,
      })),
    )
    const byName = [...Map.groupBy(declared, ({ name }) => name).values()].filter(({ length }) => length > 1)
    expect(byName.map((same) => same.map(({ name, file }) => `${name} in ${file}`))).toEqual([])
  })

  it('keep migrations free of imports from code that changes after them', () => {
    const bound = walk('migrations').filter((file) => /from '(#src|\.\.?\/)/.test(read(file)))
    expect(bound).toEqual([])
  })

  it('keep the capture kit free of imports from the service', () => {
    const bound = walk('capture-kit').filter((file) => importsOf(file).some((target) => target.startsWith('src/')))
    expect(bound).toEqual([])
  })
})

function walk(folder: string): string[] {
  const path = join(ROOT, folder)
  if (!existsSync(path)) return []
  return readdirSync(path).flatMap((name) => {
    const file = join(folder, name)
    if (statSync(join(ROOT, file)).isDirectory()) return walk(file)
    return file.endsWith('.ts') ? [file] : []
  })
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function importsOf(file: string): string[] {
  return matches(file, /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm)
}

function valueImportsOf(file: string): string[] {
  return matches(file, /^import (?!type )[^'"]*?from '([^']+)'/gm)
}

function matches(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? ''
    if (target.startsWith('#src/')) return target.replace('#src/', 'src/')
    if (target.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(file), target))
    return target
  })
}

function layerNameOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

// `src/attest/claims/rows.ts` is in the folder claims of the product attest.
function placeOf(file: string): { product: string; folder: string; layer: number } | undefined {
  const [, product = '', folder = ''] = /^src\/([^/]+)\/([^/]+)\//.exec(file) ?? []
  const layer = INSIDE[product]?.findIndex((names) => names.includes(folder)) ?? -1
  return layer === -1 ? undefined : { product, folder: `${product}/${folder}`, layer }
}

function isAbove(file: string, other: string): boolean {
  const [higher, lower] = [placeOf(file), placeOf(other)]
  if (higher === undefined || lower === undefined || higher.product !== lower.product) {
    return layerOf(file) > layerOf(other)
  }
  return higher.folder !== lower.folder && higher.layer >= lower.layer
}

function layerOf(file: string): number {
  if (BASE.has(file)) return -1
  return LAYERS[layerNameOf(file) ?? ''] ?? TOP
}
