// The service's own check of a ledger, a part at a time: entries against their hashes, leaves against entries, stored nodes,
// the head and checkpoints against the leaves. It finds what was changed below the service. What was replaced as a whole,
// with all checkpoints, only a checkpoint in other hands tells: see docs/authorize/ledger.md.

import { verifyCheckpoint } from '#client/verify/checkpoint.ts'
import { isRemoved } from '#client/verify/removed.ts'
import { LONGER_KEPT_KINDS } from '#src/catalogue/decisions.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type Scope, timeOfId } from '#src/platform/ids.ts'
import { type DecisionEntry, type EntrySubjects, entryHash, subjectsOf } from '#src/platform/ledger/entry.ts'
import {
  appendLeaves,
  EMPTY_TREE,
  frontierBytes,
  LEVEL_WIDTH,
  leafHash,
  rootOf,
  type TreeNode,
  type TreeState,
} from '#src/platform/ledger/merkle.ts'
import { frontierRanges } from '#src/platform/ledger/proofs.ts'
import { keptSince } from '#src/platform/ledger/retention.ts'
import { type Checkpoint, findCheckpoints, findHead, hashRanges } from '#src/platform/ledger/tree-rows.ts'
import { createSlice } from '#src/platform/slices.ts'
import { findLeaves, findLogged, findNodes, findOldest, findUnlogged, type LeafRow } from './rows.ts'

export const LEDGER_PROBLEMS = {
  entry_changed: 'an entry does not have its hash',
  entry_misplaced: 'an entry is found by an id, a kind, a time, a reason or a jti that is not its own',
  entry_removed: 'an entry is gone that retention does not delete yet',
  entry_unlogged: 'an entry has no leaf and waits for none',
  leaf_changed: 'a leaf is not that of its entry',
  leaf_missing: 'a leaf is missing, so that nothing after it can be checked',
  node_changed: 'a stored node is not that of its leaves',
  head_changed: 'the head of the log is not that of its leaves',
  log_shortened: 'a checkpoint is of more leaves than there are',
  checkpoint_forked: 'a checkpoint is of other leaves',
  checkpoint_unsigned: 'a checkpoint is not signed by the service, or its signature is of something else',
} as const
export type LedgerProblemCode = keyof typeof LEDGER_PROBLEMS

export interface LedgerProblem {
  code: LedgerProblemCode
  position: number | null
  decisionId: string | null
}

export interface ChainCheck {
  /** Leaves of the log. */
  size: number
  from: number
  to: number
  /** Where the next part begins; null after the last. */
  next: number | null
  leaves: number
  /** Entries whose retention has ended. */
  gone: number
  checkpoints: number
  problems: LedgerProblem[]
  /** There are more than are listed. */
  hasMoreProblems: boolean
}

interface ChainDeps {
  db: Pick<Database, 'tenant'>
  signingKeys: Pick<SigningKeys, 'jwks'>
  now: () => Date
  maxPartBytes?: number
}

/** Leaves of one part. */
export const MAX_PART = 10_000
const STEP = 500
// An entry has a kilobyte or two, and older ones of a long policy up to a megabyte.
const STEP_BYTES = 2 * 1024 * 1024
/** A part ends at the next multiple of 256 leaves: some seconds of work in slices. */
const PART_BYTES = 64 * 1024 * 1024
const MAX_PROBLEMS = 100

export type Chain = ReturnType<typeof createChain>

export function createChain({ db, signingKeys, now, maxPartBytes = PART_BYTES }: ChainDeps) {
  /** Checks a part that begins at `from`, or at the multiple of 256 before it. */
  return async (scope: Scope, part: { from: number; limit: number }): Promise<ChainCheck> => {
    const head = (await db.tenant(scope, (tx) => findHead(tx, scope))) ?? EMPTY_TREE
    const from = Math.min(part.from, head.size) - (Math.min(part.from, head.size) % LEVEL_WIDTH)
    const whole = from + part.limit
    const planned = whole >= head.size ? head.size : whole - (whole % LEVEL_WIDTH)
    const report = createReport()
    const counts = { leaves: 0, checkpoints: 0 }
    let gone = 0

    const start = await beginAt(scope, from)
    if (start === undefined) report.add('leaf_missing', from - 1)
    const walked = start === undefined ? undefined : await walk(scope, start, planned, { report, counts })
    const to = walked?.end ?? planned
    if (walked !== undefined) {
      await checkNodes(scope, { from, to }, walked.nodes, report)
      if (to === head.size && !frontierBytes(walked.tree).equals(frontierBytes(head)))
        report.add('head_changed', to - 1)
      await checkUnlogged(scope, walked, to === head.size, report)
      gone = await checkGone(scope, walked, report)
    }
    if (to === head.size) await checkLength(scope, head.size, report)
    return { size: head.size, from, to, next: to === head.size ? null : to, ...counts, gone, ...report.result() }
  }

  async function beginAt(scope: Scope, size: number): Promise<TreeState | undefined> {
    if (size === 0) return EMPTY_TREE
    try {
      const frontier = await db.tenant(scope, (tx) => hashRanges(tx, scope, frontierRanges(size)))
      return { size, frontier }
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  async function walk(
    scope: Scope,
    start: TreeState,
    to: number,
    { report, counts }: { report: Report; counts: { leaves: number; checkpoints: number } },
  ): Promise<Walked | undefined> {
    const keys = await signingKeys.jwks()
    const previousId = await idBefore(scope, start.size)
    const walked: Walked = {
      tree: start,
      nodes: [],
      lastId: '',
      previousId,
      newest: timeOfId(previousId) || 0,
      gone: [],
      end: to,
    }
    const slice = createSlice()
    let bytes = 0
    for (let at = start.size; at < walked.end; ) {
      const page = { from: at, to: Math.min(at + STEP, walked.end), maxBytes: STEP_BYTES }
      const { rows, checkpoints, end } = await db.tenant(scope, (tx) => findLogged(tx, scope, page))
      for (const [index, row] of rows.entries()) {
        if (row.position !== at + index) break
        counts.leaves += 1
        const { newest, gone } = walked
        if (row.entry === null || row.entrySha256 === null) gone.push({ ...row, newestBefore: newest })
        else {
          judgeEntry(row, row.entry, row.entrySha256, report)
          bytes += row.entry.length
          walked.newest = Math.max(newest, timeOfId(row.decisionId))
        }
        if (row.decisionId > walked.lastId) walked.lastId = row.decisionId
        if (slice.isOver()) await slice.next()
      }
      const from = at
      const isWhole = rows.length === end - from && rows.every(({ position }, index) => position === from + index)
      if (!isWhole) {
        report.add('leaf_missing', firstGap(rows, at))
        return undefined
      }
      grow(walked, rows, checkpoints, (checkpoint, root) => {
        if (!isEqualBytes(root, checkpoint.root)) report.add('checkpoint_forked', checkpoint.size - 1)
      })
      for (const checkpoint of checkpoints) {
        counts.checkpoints += 1
        const verdict = await verifyCheckpoint(checkpoint.jws, keys)
        const isSigned = verdict.isValid && isOf(verdict.claims, scope, checkpoint)
        if (!isSigned) report.add('checkpoint_unsigned', checkpoint.size - 1)
      }
      at = end
      if (bytes >= maxPartBytes) walked.end = Math.min(to, Math.ceil(end / LEVEL_WIDTH) * LEVEL_WIDTH)
    }
    return walked
  }

  async function idBefore(scope: Scope, position: number): Promise<string> {
    if (position === 0) return ''
    const page = { from: position - 1, to: position, maxBytes: 1 }
    const { rows } = await db.tenant(scope, (tx) => findLeaves(tx, scope, page))
    return rows[0]?.decisionId ?? ''
  }

  async function checkNodes(
    scope: Scope,
    range: { from: number; to: number },
    computed: readonly TreeNode[],
    report: Report,
  ): Promise<void> {
    const stored = await db.tenant(scope, (tx) => findNodes(tx, scope, range))
    const known = new Map(stored.map((node) => [`${node.level} ${node.position}`, node.hash]))
    for (const { level, position, hash } of computed) {
      const found = known.get(`${level} ${position}`)
      if (found === undefined || !isEqualBytes(found, hash)) {
        report.add('node_changed', (position + 1) * LEVEL_WIDTH ** level - 1)
      }
    }
  }

  // Every entry lies between the newest id of the part before and that of this part, or it is new.
  async function checkUnlogged(scope: Scope, { previousId, lastId }: Walked, isLast: boolean, report: Report) {
    const stretch = { above: previousId, upTo: isLast ? undefined : lastId, limit: MAX_PROBLEMS }
    for (const id of await db.tenant(scope, (tx) => findUnlogged(tx, scope, stretch))) {
      report.add('entry_unlogged', null, id)
    }
  }

  // After the walk: what retention deletes meanwhile is older than what it leaves.
  async function checkGone(scope: Scope, { gone }: Walked, report: Report): Promise<number> {
    if (gone.length === 0) return 0
    const oldest = await db.tenant(scope, (tx) => findOldest(tx, scope, LONGER_KEPT_KINDS))
    const oldestPresent = oldest === undefined ? Number.POSITIVE_INFINITY : timeOfId(oldest)
    const presentSince = Math.min(oldestPresent, keptSince(scope, now()))
    const removed = gone.filter(({ decisionId, newestBefore }) =>
      isRemoved({ madeAt: timeOfId(decisionId), newestBefore, presentSince }),
    )
    for (const { position, decisionId } of removed) report.add('entry_removed', position, decisionId)
    return gone.length - removed.length
  }

  async function checkLength(scope: Scope, size: number, report: Report): Promise<void> {
    const range = { from: size + 1, order: 'newest', limit: 1 } as const
    const [beyond] = await db.tenant(scope, (tx) => findCheckpoints(tx, scope, range))
    // The log may have grown since its head was read.
    const newest = beyond === undefined ? undefined : await db.tenant(scope, (tx) => findHead(tx, scope))
    if (beyond !== undefined && beyond.size > (newest?.size ?? 0)) report.add('log_shortened', beyond.size - 1)
  }
}

interface Walked {
  /** Where the part ends. */
  end: number
  tree: TreeState
  nodes: TreeNode[]
  /** The highest id of the part. */
  lastId: string
  /** Id of the leaf before the part. */
  previousId: string
  /** When the newest entry so far was made, by its id; 0 before the first. */
  newest: number
  /** Leaves whose entries are gone. */
  gone: (LeafRow & { newestBefore: number })[]
}

type Report = ReturnType<typeof createReport>

function createReport() {
  const problems: LedgerProblem[] = []
  return {
    add(code: LedgerProblemCode, position: number | null, decisionId: string | null = null) {
      problems.push({ code, position, decisionId })
    },
    result: () => ({
      problems: problems.slice(0, MAX_PROBLEMS),
      hasMoreProblems: problems.length > MAX_PROBLEMS,
    }),
  }
}

function judgeEntry(row: LeafRow, entry: string, entrySha256: Buffer, report: Report): void {
  if (!isEqualBytes(row.leaf, leafHash(entrySha256))) report.add('leaf_changed', row.position, row.decisionId)
  if (!isEqualBytes(entryHash(entry), entrySha256)) report.add('entry_changed', row.position, row.decisionId)
  else if (!isFoundAsItSays(row, entry)) report.add('entry_misplaced', row.position, row.decisionId)
}

// Lists and retention go by copies of what an entry says. One that was changed would hide it.
function isFoundAsItSays({ decisionId, copies }: LeafRow, text: string): boolean {
  const entry = JSON.parse(text) as DecisionEntry
  const { decision_id: id, kind, at, reason } = entry
  const subjects = Object.entries(subjectsOf(entry)) as [keyof EntrySubjects, string | null][]
  return (
    id === decisionId &&
    kind === copies.kind &&
    Date.parse(at) === copies.at?.getTime() &&
    reason === copies.reason &&
    subjects.every(([name, value]) => value === copies.subjects[name])
  )
}

function grow(
  walked: Walked,
  rows: readonly LeafRow[],
  checkpoints: readonly Checkpoint[],
  judge: (checkpoint: Checkpoint, root: Buffer) => void,
): void {
  const append = (leaves: readonly LeafRow[]) => {
    const grown = appendLeaves(
      walked.tree,
      leaves.map(({ leaf }) => leaf),
    )
    walked.tree = grown.tree
    walked.nodes.push(...grown.nodes)
  }
  let done = 0
  for (const checkpoint of checkpoints) {
    const until = checkpoint.size - (rows[0]?.position ?? 0)
    append(rows.slice(done, until))
    done = until
    judge(checkpoint, rootOf(walked.tree))
  }
  append(rows.slice(done))
}

function isOf(
  claims: { account_id: string; env: string; size: number; root: string },
  { accountId, environment }: Scope,
  { size, root }: Checkpoint,
): boolean {
  return (
    claims.account_id === accountId &&
    claims.env === environment &&
    claims.size === size &&
    claims.root === root.toString('base64url')
  )
}

function firstGap(rows: readonly LeafRow[], from: number): number {
  const index = rows.findIndex(({ position }, place) => position !== from + place)
  return from + (index === -1 ? rows.length : index)
}
