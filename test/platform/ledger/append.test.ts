import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId, type Scope } from '#src/platform/ids.ts'
import { appendLeaves, EMPTY_TREE, leafHash, rootOf, treeOf } from '#src/platform/ledger/merkle.ts'
import { consistencyRanges, inclusionRanges, verifyConsistency, verifyInclusion } from '#src/platform/ledger/proofs.ts'
import { findHead, hashRanges } from '#src/platform/ledger/tree-rows.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { DECISION, decisions, makeLedger, type TestLedger } from '../../support/ledger.ts'

interface Leaf {
  position: string
  leaf_sha256: Buffer
  decision_id: string
}

describe('the Merkle log of an account', () => {
  let database: TestDatabase
  let log: TestLedger

  beforeAll(async () => {
    database = await createTestDatabase()
    log = makeLedger(database)
  })
  afterAll(() => database?.close())

  const leavesOf = (scope: Scope) =>
    database.owner<Leaf>(
      `SELECT position, leaf_sha256, decision_id FROM ledger_leaves WHERE account_id = $1 AND environment = $2
       ORDER BY position`,
      [scope.accountId, scope.environment],
    )
  const headOf = (scope: Scope) => database.db.tenant(scope, (tx) => findHead(tx, scope))

  /** Every decision has one leaf, in an order without gaps, and the head and the stored nodes are of these leaves. */
  async function expectWhole(scope: Scope, count: number) {
    const leaves = await leavesOf(scope)
    expect(leaves.map(({ position }) => Number(position))).toEqual(Array.from({ length: count }, (_, index) => index))
    const entries = await database.owner<{ id: string; entry_sha256: Buffer }>(
      'SELECT id, entry_sha256 FROM decisions WHERE account_id = $1 AND environment = $2',
      [scope.accountId, scope.environment],
    )
    const hashes = new Map(entries.map(({ id, entry_sha256: hash }) => [id, leafHash(hash).toString('hex')]))
    expect(hashes.size).toBe(count)
    for (const { decision_id: id, leaf_sha256: hash } of leaves) expect(hashes.get(id)).toBe(hash.toString('hex'))
    const { tree, nodes } = appendLeaves(
      EMPTY_TREE,
      leaves.map(({ leaf_sha256: hash }) => hash),
    )
    expect(await headOf(scope)).toEqual(tree)
    const stored = await database.owner<{ level: number; position: string; node_sha256: Buffer }>(
      'SELECT level, position, node_sha256 FROM ledger_nodes WHERE account_id = $1 AND environment = $2',
      [scope.accountId, scope.environment],
    )
    const text = (level: number, position: number | string, hash: Buffer) =>
      `${level} ${position} ${hash.toString('hex')}`
    expect(stored.map((node) => text(node.level, node.position, node.node_sha256)).toSorted()).toEqual(
      nodes.map((node) => text(node.level, node.position, node.hash)).toSorted(),
    )
  }

  it('gets one leaf for each entry, while two processes append and entries commit meanwhile', async () => {
    const scopes = await Promise.all(Array.from({ length: 5 }, () => makeAccount(database)))
    const sequencers = [
      log.sequencer('ledger', { scopes: 3, rows: 40 }),
      log.sequencer('ledger', { scopes: 4, rows: 24 }),
    ]
    let isRecording = true
    const appending = sequencers.map(async ({ round }) => {
      while ((await round()).count > 0 || isRecording);
    })
    for (let batch = 0; batch < 12; batch += 1) {
      await Promise.all(scopes.map((scope, index) => log.record(scope, decisions(10 * (index + 1)))))
    }
    isRecording = false
    await Promise.all(appending)
    await log.appendAll()
    for (const [index, scope] of scopes.entries()) await expectWhole(scope, 12 * 10 * (index + 1))
    expect(await database.owner('SELECT 1 FROM ledger_pending')).toEqual([])
    // The two never worked on one account at once: the keys of the tables would have refused that.
    expect(await log.registry.metrics()).not.toMatch(/failures_total\{/)
    expect(await log.registry.metrics()).toMatch(/countersign_sequence_appended_total\{sequence="ledger"\} 1800\n/)
  })

  it('gives an entry its place by its commit, whatever its id', async () => {
    const scope = await makeAccount(database)
    const early = newId('dec', 'sandbox', DECISION.at.getTime() - 60_000)
    let commit = () => {}
    const held = new Promise<void>((done) => {
      commit = done
    })
    let isWritten = () => {}
    const written = new Promise<void>((done) => {
      isWritten = done
    })
    const slow = database.db.tenant(scope, async (tx) => {
      await log.ledger.record(tx, scope, { ...DECISION, id: early })
      isWritten()
      await held
    })
    await written
    const [late = ''] = await log.record(scope, decisions(1))
    await log.appendAll()
    commit()
    await slow
    await log.appendAll()
    expect((await leavesOf(scope)).map(({ decision_id: id }) => id)).toEqual([late, early])
  })

  it('does not stop at an account whose log was damaged', async () => {
    const [damaged, healthy] = [await makeAccount(database), await makeAccount(database)]
    await log.record(damaged, decisions(3))
    await log.appendAll()
    // As nobody but a superuser can: the head of another size.
    await database.owner(`UPDATE ledger_heads SET size = 1, frontier_sha256 = substr(frontier_sha256, 1, 32)
      WHERE account_id = '${damaged.accountId}'`)
    await log.record(damaged, decisions(2))
    await log.record(healthy, decisions(2))
    await log.appendAll()
    expect(await leavesOf(healthy)).toHaveLength(2)
    expect(await leavesOf(damaged)).toHaveLength(3)
    expect(await log.registry.metrics()).toMatch(/countersign_sequence_failures_total\{sequence="ledger"\} 1\n/)
    await database.owner(`DELETE FROM ledger_pending WHERE account_id = '${damaged.accountId}'`)
  })

  it('proves every leaf and every older tree from its stored nodes', async () => {
    const scope = await makeAccount(database, { environment: 'live' })
    await log.record(scope, decisions(700))
    await log.appendAll()
    const leaves = (await leavesOf(scope)).map(({ leaf_sha256: hash }) => hash)
    const prove = (ranges: Parameters<typeof hashRanges>[2]) =>
      database.db.tenant(scope, (tx) => hashRanges(tx, scope, ranges))
    const rootAt = (size: number) => rootOf(appendLeaves(EMPTY_TREE, leaves.slice(0, size)).tree)
    for (const [index, size] of [
      [0, 1],
      [3, 700],
      [255, 256],
      [256, 700],
      [511, 512],
      [699, 700],
      [17, 300],
    ] as const) {
      const proof = await prove(inclusionRanges(index, size))
      const leaf = leaves[index] ?? Buffer.alloc(0)
      expect(verifyInclusion({ index, size, leaf, root: rootAt(size), proof })).toBe(true)
      if (size === 1) continue
      const first = index + 1
      const path = await prove(consistencyRanges(first, size))
      const roots = { firstRoot: rootAt(first), secondRoot: rootAt(size) }
      expect(verifyConsistency({ first, second: size, proof: path, ...roots })).toBe(true)
    }
    await database.owner(`DELETE FROM ledger_nodes WHERE account_id = '${scope.accountId}' AND position = 1`)
    await expect(prove(inclusionRanges(3, 700))).rejects.toThrow(RangeError)
    expect(treeOf(700, Buffer.concat((await headOf(scope))?.frontier ?? [])).size).toBe(700)
  })
})

describe('the position of an event', () => {
  let database: TestDatabase
  let log: TestLedger

  beforeAll(async () => {
    database = await createTestDatabase()
    log = makeLedger(database)
  })
  afterAll(() => database?.close())

  const emit = (scope: Scope, count: number) =>
    database.db.tenant(scope, (tx) =>
      tx.query(
        `INSERT INTO events (account_id, environment, id, type, data)
         SELECT $1, $2, id, 'ping', '{}' FROM unnest($3::text[]) AS new (id)`,
        [
          scope.accountId,
          scope.environment,
          Array.from({ length: count }, (_, index) => newId('evt', scope.environment, Date.now(), index)),
        ],
      ),
    )
  const positionsOf = async (scope: Scope) => {
    const rows = await database.owner<{ position: string | null }>(
      'SELECT position FROM events WHERE account_id = $1 AND environment = $2 ORDER BY position',
      [scope.accountId, scope.environment],
    )
    return rows.map(({ position }) => (position === null ? null : Number(position)))
  }
  const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index)

  it('comes after the commit, without gaps or repeats, from two processes at once', async () => {
    const scopes = await Promise.all(Array.from({ length: 4 }, () => makeAccount(database)))
    const sequencers = [log.sequencer('events', { scopes: 2, rows: 30 }), log.sequencer('events')]
    let isEmitting = true
    const positioning = sequencers.map(async ({ round }) => {
      while ((await round()).count > 0 || isEmitting);
    })
    for (let batch = 0; batch < 10; batch += 1) await Promise.all(scopes.map((scope) => emit(scope, 15)))
    isEmitting = false
    await Promise.all(positioning)
    await log.appendAll('events')
    for (const scope of scopes) expect(await positionsOf(scope)).toEqual(upTo(150))
  })

  it('is given once: also when the events before it were deleted', async () => {
    const scope = await makeAccount(database)
    await emit(scope, 3)
    await log.appendAll('events')
    await database.db.tenant(scope, (tx) => tx.adhoc('DELETE FROM events'))
    await emit(scope, 2)
    await log.appendAll('events')
    expect(await positionsOf(scope)).toEqual(upTo(2, 4))
  })
})
