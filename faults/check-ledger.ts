// I6 for the ledger: every decision that was recorded has one leaf, the tree is that of the leaves, every checkpoint is signed
// and is of the tree as it was; and every event has a position of its own.

import { verifyCheckpoint } from '#client/verify/checkpoint.ts'
import type { KeySet, PublishedKey } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'
import { appendLeaves, EMPTY_TREE, frontierBytes, leafHash, rootOf } from '#src/platform/ledger/merkle.ts'
import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'
import type { LeafFact, LedgerFacts } from './ledger.ts'

export async function checkLedgers({ ledgers, signers }: Evidence): Promise<Finding[]> {
  const wrong = [...checkLeaves(ledgers), ...(await checkTrees(ledgers, keySetOf(signers))), ...checkPositions(ledgers)]
  return wrong.map((what) => ({ invariant: 'I6', what }))
}

function checkLeaves({ decided, executedTwice, decisions, leaves, pending }: LedgerFacts): string[] {
  const wrong: string[] = pending === 0 ? [] : [`${pending} decisions have no leaf although all work has ended`]
  for (const jti of executedTwice) wrong.push(`the token ${jti} was executed twice`)
  const byId = groupBy(leaves, ({ decisionId }) => decisionId)
  const known = new Set(decisions.map(({ id }) => id))
  for (const id of decided) if (!known.has(id)) wrong.push(`the decision ${id} was committed, and is not there`)
  for (const { id, scope, hash } of decisions) {
    const own = byId.get(id) ?? []
    if (own.length !== 1) wrong.push(`the decision ${id} has ${own.length} leaves`)
    const expected = leafHash(Buffer.from(hash, 'hex')).toString('hex')
    for (const leaf of own) {
      if (leaf.hash !== expected || leaf.scope !== scope) wrong.push(`the leaf of ${id} is of another entry`)
    }
  }
  for (const { decisionId } of leaves) if (!known.has(decisionId)) wrong.push(`a leaf is of no decision: ${decisionId}`)
  return wrong
}

async function checkTrees({ leaves, heads, checkpoints }: LedgerFacts, keys: KeySet): Promise<string[]> {
  const wrong: string[] = []
  const logs = groupBy(leaves, ({ scope }) => scope)
  const signed = groupBy(checkpoints, ({ scope }) => scope)
  for (const [scope, own] of logs) {
    if (own.some(({ position }, index) => position !== index)) wrong.push(`the leaves of ${scope} have gaps`)
    const { tree } = appendLeaves(EMPTY_TREE, own.map(hashOf))
    const head = heads.find((one) => one.scope === scope)
    const isHead = head?.size === tree.size && head.frontier === frontierBytes(tree).toString('hex')
    if (!isHead) wrong.push(`the head of ${scope} is not that of its ${tree.size} leaves`)
    for (const { size, jws } of signed.get(scope) ?? []) {
      const verdict = await verifyCheckpoint(jws, keys)
      const root = rootOf(appendLeaves(EMPTY_TREE, own.slice(0, size).map(hashOf)).tree).toString('base64url')
      const isIt =
        verdict.isValid &&
        verdict.claims.size === size &&
        verdict.claims.root === root &&
        `${verdict.claims.account_id} ${verdict.claims.env}` === scope
      if (!isIt) wrong.push(`the checkpoint of ${scope} at ${size} is not signed, or is of other leaves`)
    }
  }
  return wrong
}

function checkPositions({ positions }: LedgerFacts): string[] {
  const wrong = positions.filter(({ position }) => position === null).map(({ id }) => `the event ${id} has no position`)
  for (const [scope, events] of groupBy(positions, (event) => event.scope)) {
    const given = events.flatMap(({ position }) => position ?? [])
    if (new Set(given).size !== given.length) wrong.push(`two events of ${scope} have one position`)
  }
  return wrong
}

function hashOf({ hash }: LeafFact): Buffer {
  return Buffer.from(hash, 'hex')
}

function keySetOf(signers: Evidence['signers']): KeySet {
  const keys = Object.entries(signers).map(([kid, { environment, jwk }]): PublishedKey => {
    const { x, y } = jwk as { x: string; y: string }
    const point = { kty: 'EC', crv: 'P-256', x, y } as const
    return { ...point, kid, alg: 'ES256', use: 'sig', env: environment as Environment, family: 'record' }
  })
  return { keys }
}
