import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

// An import never goes up. `process` and `services` put everything together, so they stand beside app and the workers.
const FLOORS: Record<string, number> = { platform: 0, account: 1, agents: 1, attest: 2, trace: 2, authorize: 3 }
const TOP = 4
// Known by everybody, knowing nobody.
const GROUND = new Set(['src/failure.ts', 'src/guidance.ts'])
// Judgement: what decides, proven by vectors. Imports nothing that acts.
const PURE = [
  'src/attest/factors/',
  'src/attest/hardware/revocations.ts',
  'src/attest/media/declared.ts',
  'src/attest/video/',
  'src/attest/cases/machine.ts',
  'src/attest/cases/sla.ts',
  'src/attest/screen/breaker.ts',
  'src/attest/screen/thresholds.ts',
  'src/platform/jobs/share.ts',
  'src/platform/visible.ts',
  'src/platform/jobs/pace.ts',
  'src/account/webhooks/schedule.ts',
]

const sources = walk('src').concat(walk('workers'))

describe('the house', () => {
  it('has floors: an import never goes up', () => {
    const climbs = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/') && floorOf(target) > floorOf(file))
        .map((target) => `${file} imports ${target}`),
    )
    expect(climbs).toEqual([])
  })

  it('keeps rooms of one floor apart: attest does not know account', () => {
    const neighbours = sources.flatMap((file) => {
      const room = roomOf(file)
      if (room === undefined || room === 'platform') return []
      return importsOf(file)
        .filter((target) => {
          const other = roomOf(target)
          return other !== undefined && other !== room && FLOORS[other] === FLOORS[room]
        })
        .map((target) => `${file} imports ${target}`)
    })
    expect(neighbours).toEqual([])
  })

  it('keeps judgement pure: types, node: and each other', () => {
    const impure = sources
      .filter((file) => PURE.some((path) => file.startsWith(path)))
      .flatMap((file) =>
        valueImportsOf(file)
          .filter((target) => !target.startsWith('node:') && !PURE.some((path) => target.startsWith(path)))
          .map((target) => `${file} imports ${target}`),
      )
    expect(impure).toEqual([])
  })

  it('lets only one file know BullMQ, and only the configuration know the environment', () => {
    const holders = (pattern: RegExp) => sources.filter((file) => pattern.test(read(file)))
    expect(holders(/from 'bullmq'/)).toEqual(['src/platform/jobs/bull.ts'])
    expect(holders(/process\.env/)).toEqual(['src/config.ts'])
  })

  it('has one kind of outbound call: undici is known to platform/net alone', () => {
    const callers = sources.filter((file) => /from 'undici'|\bfetch\(/.test(read(file)))
    expect(callers.filter((file) => !file.startsWith('src/platform/net/'))).toEqual([])
  })

  it('keeps files small', () => {
    const tooLong = (files: string[], most: number) =>
      files.map((file) => ({ file, lines: read(file).split('\n').length })).filter(({ lines }) => lines > most)
    expect(tooLong([...sources, ...walk('commands'), ...walk('capture-kit'), ...walk('bench')], 330)).toEqual([])
    // A table of cases grows longer than what it tests.
    expect(tooLong(walk('test'), 420)).toEqual([])
  })

  it('has no barrels, no default exports, no enums', () => {
    const names = sources.filter((file) => /(^|\/)(index|types|utils|common|helpers)\.ts$/.test(file))
    const defaults = sources.filter((file) => /^export default /m.test(read(file)))
    const enums = sources.filter((file) => /^\s*(export )?(const )?enum /m.test(read(file)))
    expect({ names, defaults, enums }).toEqual({ names: [], defaults: [], enums: [] })
  })

  it('keeps migrations free of the code that changes after them', () => {
    const bound = walk('migrations').filter((file) => /from '(#src|\.\.?\/)/.test(read(file)))
    expect(bound).toEqual([])
  })

  it('lets the capture kit be lifted out', () => {
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

function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

function floorOf(file: string): number {
  if (GROUND.has(file)) return -1
  return FLOORS[roomOf(file) ?? ''] ?? TOP
}
