// docs/operate/configuration.md is made of the configuration's own keys: `UPDATE=1 npm test -- test/house/configuration.test.ts`
// writes it.

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeConfig, readConfig } from '#src/config.ts'

const FILE = resolve(import.meta.dirname, '../../docs/operate/configuration.md')
const NEEDED = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  BLOB_STORE: 'disk:none',
}
const INTRODUCTION = `# Configuration

Every key of the service with its default, by the part that owns it. Keys are environment variables; an empty one counts as not set. One message
at the start names all that are missing or wrong, and the process exits with 78. What production demands and refuses is in
[Deploying](deploy.md#production).

Only the commands read \`DATABASE_OWNER_URL\` ([Postgres](deploy.md#postgres)) and \`DATA_DIR\`, the folder in which \`npm start\` keeps everything:
\`.data\` in the checkout, where nothing else is said. Node reads \`NODE_COMPILE_CACHE\` ([Memory and start](scale.md#memory-and-start)).
`
if (process.env.UPDATE !== undefined) writeFileSync(FILE, pageOf())

describe('docs/operate/configuration.md', () => {
  it('is made of the keys of the configuration (UPDATE=1 writes it)', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(pageOf())
  })

  it('has every key once, with a sentence', () => {
    const keys = [...readFileSync(FILE, 'utf8').matchAll(/^\| `([A-Z0-9_]+)` +\| .+? +\| .*\w.* \|$/gm)].map(
      ([, key]) => key,
    )
    expect(keys).toEqual(describeConfig().map(({ key }) => key))
  })
})

function pageOf(): string {
  const sections = Map.groupBy(describeConfig(), ({ title }) => title)
  const defaults: Record<string, unknown> = readConfig(NEEDED)
  const texts = [...sections].map(([title, keys]) => {
    const rows = keys.map(({ key, description }) => [`\`${key}\``, defaultOf(key, defaults[key]), textOf(description)])
    return `## ${title}\n\n${tableOf([['key', 'default', 'what'], ...rows])}\n`
  })
  return [INTRODUCTION, ...texts].join('\n')
}

function defaultOf(key: string, value: unknown): string {
  if (key in NEEDED) return 'required'
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none'
  return String(value)
}

// Keys are code, and a path of a guide becomes a link from docs/operate/.
function textOf(description: string): string {
  return description
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/(?<!`)\b[A-Z]+(?:_[A-Z]+)+\b(?!`)/g, '`$&`')
    .replaceAll(/docs\/([a-z]+)\/([a-z0-9-]+)\.md(#[a-z0-9-]+)?/g, (_, folder, name, anchor = '') => {
      const path = folder === 'operate' ? `${name}.md` : `../${folder}/${name}.md`
      return `[${name}.md](${path}${anchor})`
    })
}

function tableOf(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lineOf = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [lineOf(head), lineOf(widths.map((width) => '-'.repeat(width))), ...body.map(lineOf)].join('\n')
}
