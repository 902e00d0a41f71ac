// Files of vectors that client libraries run: where they are, their form and their one spelling. vectors/schema.json is the
// form in JSON Schema.

import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface VectorFile<Input = unknown, Expected = unknown> {
  family: string
  /** Rises when an answer of a case changes. New cases don't raise it. */
  version: number
  /** Where the cases and their answers come from. */
  source: string
  /** What input and expect mean. */
  about: string
  cases: VectorCase<Input, Expected>[]
}

export interface VectorCase<Input = unknown, Expected = unknown> {
  /** `<family>-<file>-<slug>`. Never changes. */
  id: string
  /** What a library must answer, and why. */
  title: string
  input: Input
  expect: Expected
}

/** Families that client libraries implement. Other folders of vectors/ are data of the service's own tests. */
export const FAMILIES = ['tokens', 'canonical', 'webhooks', 'passkeys', 'policy', 'ledger', 'packets'] as const

const FOLDER = resolve(import.meta.dirname, '../../vectors')

/** Files of the families, as `tokens/offline`. */
export function listVectors(): string[] {
  const files = globSync(`{${FAMILIES.join(',')}}/*.json`, { cwd: FOLDER })
  return files.map((file) => file.replace(/\.json$/, '')).toSorted()
}

export function pathOfVectors(name: string): string {
  return join(FOLDER, `${name}.json`)
}

export function readVectors<Input = unknown, Expected = unknown>(name: string): VectorFile<Input, Expected> {
  return JSON.parse(readFileSync(pathOfVectors(name), 'utf8')) as VectorFile<Input, Expected>
}

/** One line for each input and each answer, so that a difference of two versions names the case. */
export function formatVectors({ cases, ...head }: VectorFile): string {
  const members = Object.entries(head).map(([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  const blocks = cases.map((vector) => {
    const lines = Object.entries(vector).map(([name, value]) => `   ${JSON.stringify(name)}: ${write(value)}`)
    return `  {\n${lines.join(',\n')}\n  }`
  })
  return `{\n${members.join('\n')}\n "cases": [\n${blocks.join(',\n')}\n ]\n}\n`
}

// Works like JSON.stringify, which writes minus zero as 0.
function write(value: unknown): string {
  if (Object.is(value, -0)) return '-0.0'
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`
}
