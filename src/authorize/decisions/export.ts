// The ledger as lines that a stranger can check without the service: see docs/authorize/ledger.md. It goes up to a checkpoint, so that
// every line is covered by a signature, and it can be taken up again behind any position.

import { invalidField } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import { frontierRanges } from '#src/platform/ledger/proofs.ts'
import { type Checkpoint, findCheckpoints, findHead, hashRanges } from '#src/platform/ledger/tree-rows.ts'
import { createSlice, type Slice } from '#src/platform/slices.ts'
import { notReady } from './proving.ts'
import { findLogged, type LeafRow } from './rows.ts'

/** The lines of an export, in this order: head, then entries, leaves and checkpoints by position, then end. */
export type LedgerLine =
  | {
      type: 'head'
      version: 1
      account_id: string
      environment: Scope['environment']
      /** The position of the first leaf. */
      from: number
      /** Leaves of the log at the export's last checkpoint. */
      size: number
      /** Roots of the complete subtrees of the leaves before `from`, the largest first. */
      frontier: string[]
    }
  | { type: 'entry'; position: number; leaf_hash: string; entry_hash: string; entry: DecisionEntry | string }
  /** Of an entry that is gone. */
  | { type: 'leaf'; position: number; leaf_hash: string; decision_id: string }
  | { type: 'checkpoint'; size: number; root: string; at: string; jws: string }
  | { type: 'end'; size: number }

interface ExportDeps {
  db: Pick<Database, 'tenant'>
  pageRows?: number
  pageBytes?: number
}

// An entry has a kilobyte or two, and older ones of a long policy up to a megabyte.
const PAGE_ROWS = 500
const PAGE_BYTES = 2 * 1024 * 1024

export type LedgerExport = ReturnType<typeof createLedgerExport>

export function createLedgerExport({ db, pageRows = PAGE_ROWS, pageBytes = PAGE_BYTES }: ExportDeps) {
  /**
   * @param after The last position that the caller has.
   * @throws {Failure} `invalid_request` at `?after`; `not_ready` while there is no checkpoint.
   */
  return async (scope: Scope, after: number | undefined): Promise<AsyncGenerator<LedgerLine>> => {
    const from = after === undefined ? 0 : after + 1
    const { size, frontier } = await db.tenant(
      scope,
      async (tx) => {
        const [newest] = await findCheckpoints(tx, scope, { order: 'newest', limit: 1 })
        if (newest === undefined) throw notReady('The ledger has no checkpoint yet.', 60)
        const head = (await findHead(tx, scope))?.size ?? 0
        if (from > newest.size) throw invalidField('?after', 'out_of_range', `must be below ${newest.size}`)
        // A log that was shortened is exported as far as it goes, without its end.
        const start = Math.min(from, head)
        return { size: newest.size, frontier: await hashRanges(tx, scope, frontierRanges(start)) }
      },
      { isSnapshot: true },
    )
    const head: LedgerLine = {
      type: 'head',
      version: 1,
      account_id: scope.accountId,
      environment: scope.environment,
      from,
      size,
      frontier: frontier.map(textOf),
    }
    return linesOf(scope, head, createSlice())
  }

  // Each page is a transaction of its own: a slow reader holds no connection and no snapshot.
  async function* linesOf(scope: Scope, head: LedgerLine & { type: 'head' }, slice: Slice): AsyncGenerator<LedgerLine> {
    yield head
    for (let at = head.from; at < head.size; ) {
      const page = { from: at, to: Math.min(at + pageRows, head.size), maxBytes: pageBytes }
      const { rows, checkpoints, end } = await db.tenant(scope, (tx) => findLogged(tx, scope, page))
      let next = 0
      for (const row of rows) {
        yield lineOf(row)
        const checkpoint = checkpoints[next]
        if (checkpoint?.size === row.position + 1) {
          yield signedLine(checkpoint)
          next += 1
        }
        if (slice.isOver()) await slice.next()
      }
      // What has no leaf before it is shown all the same.
      yield* checkpoints.slice(next).map(signedLine)
      if (rows.length < end - at) return
      at = end
    }
    yield { type: 'end', size: head.size }
  }
}

function lineOf({ position, leaf, decisionId, entry, entrySha256 }: LeafRow): LedgerLine {
  if (entry === null || entrySha256 === null) {
    return { type: 'leaf', position, leaf_hash: textOf(leaf), decision_id: decisionId }
  }
  const hashes = { leaf_hash: textOf(leaf), entry_hash: textOf(entrySha256) }
  return { type: 'entry', position, ...hashes, entry: parsedOf(entry) }
}

// A text that was changed below the service is shown as it is.
function parsedOf(entry: string): DecisionEntry | string {
  try {
    return JSON.parse(entry) as DecisionEntry
  } catch {
    return entry
  }
}

function signedLine({ size, root, at, jws }: Checkpoint): LedgerLine {
  return { type: 'checkpoint', size, root: textOf(root), at: at.toISOString(), jws }
}

function textOf(hash: Buffer): string {
  return hash.toString('base64url')
}
