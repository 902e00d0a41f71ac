// Proofs that an account gives to others: that an entry is in the log that a checkpoint signs, and that the log has only
// grown from one checkpoint to another.

import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { leafHash, rootOf } from '#src/platform/ledger/merkle.ts'
import { consistencyRanges, frontierRanges, inclusionRanges } from '#src/platform/ledger/proofs.ts'
import { type Checkpoint, findCheckpoints, findHead, hashRanges } from '#src/platform/ledger/tree-rows.ts'
import { findDecision } from './rows.ts'

export interface Inclusion {
  decisionId: string
  entrySha256: Buffer
  leaf: Buffer
  position: number
  size: number
  root: Buffer
  proof: Buffer[]
  /** Null where a size was asked for that no checkpoint has. */
  checkpoint: Checkpoint | null
}

export interface Consistency {
  from: { size: number; root: Buffer }
  to: { size: number; root: Buffer }
  proof: Buffer[]
}

interface ProvingDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
}

export type Proving = ReturnType<typeof createProving>

export function createProving({ db, pager }: ProvingDeps) {
  return {
    /**
     * @param size Of the tree; that of the newest checkpoint when absent.
     * @throws {Failure} `not_found`, `environment_mismatch`; `not_ready` while no checkpoint covers the entry;
     * `invalid_request` at `?size`.
     */
    async include(scope: Scope, id: string, size?: number): Promise<Inclusion> {
      checkId(id, 'dec', scope.environment)
      return db.tenant(scope, (tx) => include(tx, scope, id, size), { isSnapshot: true })
    },

    /** @throws {Failure} `invalid_request` at `?from` or `?to`; `not_ready` while there is no checkpoint. */
    async compare(scope: Scope, from: number, to?: number): Promise<Consistency> {
      return db.tenant(scope, (tx) => compare(tx, scope, from, to), { isSnapshot: true })
    },

    /** The largest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async checkpoints(scope: Scope, query: PageQuery): Promise<CountedPage<Checkpoint>> {
      const list = { route: 'GET /v1/decisions/checkpoints', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) =>
          findCheckpoints(tx, scope, {
            order: 'newest',
            limit,
            ...(before !== undefined && { below: Number(before) }),
          }),
        keyOf: ({ size }) => String(size),
      })
    },
  }

  async function include(tx: Tx, scope: Scope, id: string, asked: number | undefined): Promise<Inclusion> {
    // Sent together, as the reads below are.
    const [row, size] = await Promise.all([findDecision(tx, id), asked === undefined ? newestSize(tx, scope) : asked])
    if (row === undefined) throw new Failure('not_found', 'There is no such decision, or its retention has ended.')
    if (row.position === null) {
      throw notReady('The decision has no place in the log yet. It usually has one within two seconds.', 2)
    }
    const { position, entrySha256 } = row
    if (size <= position) {
      if (asked !== undefined) throw invalidField('?size', 'out_of_range', `must be above ${position}`)
      throw notReady('No checkpoint covers the decision yet. One is signed at most a minute later.', 60)
    }
    if (asked !== undefined) await checkSize(tx, scope, '?size', asked)
    const path = inclusionRanges(position, size)
    const [hashes, checkpoint] = await Promise.all([
      hashRanges(tx, scope, [...path, ...frontierRanges(size)]),
      checkpointOf(tx, scope, size),
    ])
    return {
      decisionId: id,
      entrySha256,
      leaf: leafHash(entrySha256),
      position,
      size,
      root: rootOf({ size, frontier: hashes.slice(path.length) }),
      proof: hashes.slice(0, path.length),
      checkpoint: checkpoint ?? null,
    }
  }

  async function compare(tx: Tx, scope: Scope, from: number, asked: number | undefined): Promise<Consistency> {
    const to = asked ?? (await newestSize(tx, scope))
    if (to === 0) throw notReady('There is no checkpoint yet.', 60)
    if (asked !== undefined) await checkSize(tx, scope, '?to', asked)
    if (from > to) throw invalidField('?from', 'out_of_range', `must be at most ${to}`)
    const [path, older, newer] = [consistencyRanges(from, to), frontierRanges(from), frontierRanges(to)]
    const hashes = await hashRanges(tx, scope, [...path, ...older, ...newer])
    const [start, end] = [path.length, path.length + older.length]
    return {
      from: { size: from, root: rootOf({ size: from, frontier: hashes.slice(start, end) }) },
      to: { size: to, root: rootOf({ size: to, frontier: hashes.slice(end) }) },
      proof: hashes.slice(0, start),
    }
  }
}

async function newestSize(tx: Tx, scope: Scope): Promise<number> {
  const [newest] = await findCheckpoints(tx, scope, { order: 'newest', limit: 1 })
  return newest?.size ?? 0
}

async function checkpointOf(tx: Tx, scope: Scope, size: number): Promise<Checkpoint | undefined> {
  const [one] = await findCheckpoints(tx, scope, { from: size, below: size + 1, order: 'newest', limit: 1 })
  return one
}

async function checkSize(tx: Tx, scope: Scope, pointer: string, asked: number): Promise<void> {
  const size = (await findHead(tx, scope))?.size ?? 0
  if (asked > size) throw invalidField(pointer, 'out_of_range', `must be at most ${size}, the size of the log`)
}

/** @param seconds After which it usually is there. */
export function notReady(detail: string, seconds: number): Failure {
  return new Failure('not_ready', { detail, headers: { 'Retry-After': String(seconds) } })
}
