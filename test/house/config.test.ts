import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeConfig } from '#src/config.ts'
import { type ConfigPart, defineConfig, mergeKeys } from '#src/platform/config-keys.ts'

const ROOT = resolve(import.meta.dirname, '../..')

describe('the configuration', () => {
  it('has the keys of every part that declares some', async () => {
    const files = globSync('src/*/**/config.ts', { cwd: ROOT })
    const modules: Record<string, unknown>[] = await Promise.all(files.map((file) => import(resolve(ROOT, file))))
    const parts = modules.flatMap((each) => Object.values(each)).filter(isPart)
    expect(parts.length).toBeGreaterThanOrEqual(files.length)
    const known = new Set(describeConfig().map(({ key }) => key))
    expect(parts.flatMap(({ keys }) => Object.keys(keys)).filter((key) => !known.has(key))).toEqual([])
  })

  it('refuses a key that two parts declare', () => {
    const part = defineConfig({ title: 'Ports', keys: { PORT: z.string() } })
    expect(() => mergeKeys([part, part])).toThrow(/same configuration key/)
  })
})

function isPart(value: unknown): value is ConfigPart {
  return typeof value === 'object' && value !== null && 'keys' in value
}
