// Lines of exports of the ledger in log.ts, for the cases of vectors/ledger/exports.json.

import { createHash } from 'node:crypto'
import type { Json } from '#src/platform/crypto/canonical.ts'
import {
  ACCOUNT,
  base64url,
  claimsOf,
  decisionId,
  ENTRIES,
  type Entry,
  hashEntry,
  LEAVES,
  leavesOf,
  makeEntry,
  signCheckpoint,
} from './log.ts'
import type { RecordKey } from './records.ts'
import { frontierOf, rootOf, type Tree } from './trees.ts'

export interface ExportInput {
  /** Lines of one export, or of several that go on where the one before ended. */
  lines: Json[]
  /** Checkpoints that the verifier kept. */
  kept: { name: string; jws: string }[]
  /** null: the verifier has no keys, and proves no signature. */
  jwks: { keys: RecordKey[] } | null
}

export interface ExportExpected {
  /** In the order in which they are found. */
  findings: [check: string, outcome: 'ok' | 'failed' | 'unproven'][]
  size: number
  /** base64url; null where the tree can't be built. */
  root: string | null
  entries: number
  gone: number
  checkpoints: number
}

export type Line = { [name: string]: Json }

export const headOf = (from: number, leaves: Tree, changes: Line = {}): Line => ({
  type: 'head',
  version: 1,
  account_id: ACCOUNT,
  environment: 'sandbox',
  from,
  size: leaves.length,
  frontier: frontierOf(leaves.slice(0, from)).map(base64url),
  ...changes,
})
export const entryLine = (position: number, entry: Entry, changes: Line = {}): Line => ({
  type: 'entry',
  position,
  leaf_hash: base64url(leavesOf([entry])[0] ?? Buffer.alloc(0)),
  entry_hash: base64url(hashEntry(entry)),
  entry,
  ...changes,
})
export const goneLine = (position: number, changes: Line = {}): Line => ({
  type: 'leaf',
  position,
  leaf_hash: base64url(LEAVES[position] ?? Buffer.alloc(0)),
  decision_id: ENTRIES[position]?.decision_id ?? '',
  ...changes,
})
export function checkpointLine(leaves: Tree, changes: Line = {}): Line {
  const claims = claimsOf(leaves)
  const { size, root, at } = claims
  return { type: 'checkpoint', size, root, at, jws: signCheckpoint(claims), ...changes }
}
export const endOf = (size: number): Line => ({ type: 'end', size })

export const FOUR = LEAVES.slice(0, 4)
/** Head, four entries, a checkpoint, three entries, a checkpoint, end. */
export const WHOLE: Line[] = [
  headOf(0, LEAVES),
  ...ENTRIES.slice(0, 4).map((entry, at) => entryLine(at, entry)),
  checkpointLine(FOUR),
  ...ENTRIES.slice(4).map((entry, at) => entryLine(at + 4, entry)),
  checkpointLine(LEAVES),
  endOf(7),
]
export const HEAD = 0
export const FIRST = 1
export const THIRD = 3
export const FOURTH = 4
export const OLD_CHECKPOINT = 5
export const CHECKPOINT = 9
export const END = 10
/** Behind the fourth leaf. */
export const REST: Line[] = [headOf(4, LEAVES), ...WHOLE.slice(OLD_CHECKPOINT + 1)]
export const BEGIN: Line[] = [headOf(0, FOUR), ...WHOLE.slice(1, OLD_CHECKPOINT + 1), endOf(4)]

export const withLine = (at: number, changes: Line): Line[] => WHOLE.with(at, { ...WHOLE[at], ...changes })
export const without = (...lines: number[]): Line[] => WHOLE.filter((_, at) => !lines.includes(at))
export const inserted = (at: number, line: Json): Json[] => WHOLE.toSpliced(at, 0, line as Line)

export const EDITED = makeEntry(3, { valid: true })
export const OTHER_HASH = createHash('sha256').update('another').digest('base64url')
/** The same log with another fourth entry: what an operator would write who changes history. */
export const REWRITTEN_ENTRIES = ENTRIES.with(3, EDITED)
export const REWRITTEN = leavesOf(REWRITTEN_ENTRIES)
export const REWRITTEN_LINES: Line[] = [
  headOf(0, REWRITTEN),
  ...REWRITTEN_ENTRIES.map((entry, at) => entryLine(at, entry)),
  checkpointLine(REWRITTEN),
  endOf(7),
]
export const signed = (
  leaves: Tree,
  changes: Record<string, unknown>,
  options?: Parameters<typeof signCheckpoint>[1],
) => signCheckpoint(claimsOf(leaves, changes), options)

export type Finding = ExportExpected['findings'][number]
export const failed = (...checks: string[]): Finding[] => checks.map((check) => [check, 'failed'])

export interface Case {
  lines: Json[]
  findings?: Finding[]
  kept?: ExportInput['kept']
  jwks?: ExportInput['jwks']
  expect?: Partial<ExportExpected>
}
export type ExportCase = [id: string, why: string, given: Case]

export const kept = (name: string, jws: string) => [{ name, jws }]
export const KEPT_FOUR = kept('four', signCheckpoint(claimsOf(FOUR)))

// Entries an hour and more apart, so that the clocks of the processes explain nothing.
export function spread(kind: string): { entries: Entry[]; leaves: Tree } {
  const entries = [0, 1, 2].map((index) => {
    const at = Date.parse('2026-11-20T00:00:00.000Z') + index * 4 * 3_600_000
    const made = { decision_id: decisionId(at, index), at: new Date(at).toISOString() }
    return makeEntry(index, { ...made, kind: index === 0 ? kind : 'verify' })
  })
  return { entries, leaves: leavesOf(entries) }
}

export function linesWithout(entries: readonly Entry[], leaves: Tree, id?: string): Line[] {
  const [zero = EDITED, one = EDITED, two = EDITED] = entries
  return [
    headOf(0, leaves),
    entryLine(0, zero),
    {
      type: 'leaf',
      position: 1,
      leaf_hash: base64url(leaves[1] ?? Buffer.alloc(0)),
      decision_id: id ?? one.decision_id,
    },
    entryLine(2, two),
    checkpointLine(leaves),
    endOf(3),
  ]
}

export function goneBehind(kind: string): Case {
  const { entries, leaves } = spread(kind)
  const expect = { size: 3, root: base64url(rootOf(leaves)), entries: 2, gone: 1, checkpoints: 1 }
  return { lines: linesWithout(entries, leaves), expect }
}
