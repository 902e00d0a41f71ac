import { readFileSync } from 'node:fs'
import type { Facts } from '#src/attest/factors/facts.ts'
import type { AdvisoryCode, FactorCode } from '#src/attest/factors/table.ts'

export interface Case {
  name: string
  about: FactorCode | AdvisoryCode | null
  raises: boolean
  set: Record<string, unknown>
  expect: {
    factors: [FactorCode, number][]
    advisory: AdvisoryCode[]
    riskScore: number
    riskStatus: string
    provenanceStatus: string
    hardwareTier: string
    observations?: string[]
    evidence?: Record<string, Record<string, unknown>>
  }
}

const FILE = new URL('../../../vectors/attest/factors.json', import.meta.url)
const TIMES = new Set(['acceptedAt', 'capturedAt', 'revokedAt', 'revokeEffectiveAt', 'issuedAt', 'expiresAt'])

export const vectors: { rulesVersion: string; base: unknown; cases: Case[] } = JSON.parse(readFileSync(FILE, 'utf8'))

/** The base facts with what `set` names (JSON pointer to value) replaced. */
export function factsOf(set: Record<string, unknown>): Facts {
  const facts = structuredClone(vectors.base)
  for (const [pointer, value] of Object.entries(set)) replace(facts, pointer.split('/').slice(1), value)
  return JSON.parse(JSON.stringify(facts), (key, value) => (TIMES.has(key) && value !== null ? new Date(value) : value))
}

function replace(parent: unknown, path: string[], value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined || parent === null || typeof parent !== 'object') throw new Error(`no parent for ${path}`)
  if (rest.length === 0) Object.assign(parent, { [key]: value })
  else replace(Reflect.get(parent, key), rest, value)
}
