// Checks the lines of an export of the decision ledger, one after the other: the tree is rebuilt from the leaves, and compared
// with each checkpoint. The lines are untrusted. One line is in memory, and of the tree its few roots.

import { z } from 'zod'
import { LONGER_KEPT_KINDS } from '#src/catalogue/decisions.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { timeOfId } from '#src/platform/ids.ts'
import { type CheckpointClaims, verifyCheckpoint } from '#src/platform/ledger/checkpoint-check.ts'
import { entryHash } from '#src/platform/ledger/entry.ts'
import { appendLeaves, leafHash, rootOf, type TreeState, treeOf } from '#src/platform/ledger/merkle.ts'
import { isRemoved } from '#src/platform/ledger/retention.ts'
import { createFindings, type LedgerFinding } from './findings.ts'

export interface HeldCheckpoint {
  /** Where it comes from. */
  name: string
  jws: string
}

export interface LedgerReport {
  findings: LedgerFinding[]
  accountId: string | undefined
  environment: string | undefined
  from: number
  /** Leaves up to the last one of the export. */
  size: number
  root: string | undefined
  entries: number
  /** Leaves whose entries are gone. */
  gone: number
  checkpoints: number
}

const HASH = /^[A-Za-z0-9_-]{43}$/
const hash = z
  .string()
  .regex(HASH)
  .transform((text) => Buffer.from(text, 'base64url'))
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('head'),
    version: z.literal(1),
    account_id: z.string(),
    environment: z.enum(['sandbox', 'live']),
    from: count,
    size: count,
    frontier: z.array(hash).max(64),
  }),
  z.object({
    type: z.literal('entry'),
    position: count,
    leaf_hash: hash,
    entry_hash: hash,
    entry: z.looseObject({ decision_id: z.string(), kind: z.string(), environment: z.string() }),
  }),
  z.object({ type: z.literal('leaf'), position: count, leaf_hash: hash, decision_id: z.string() }),
  z.object({ type: z.literal('checkpoint'), size: count, root: hash, at: z.string(), jws: z.string() }),
  z.object({ type: z.literal('end'), size: count }),
])
type ParsedLine = z.infer<typeof lineSchema>
type LineOf<Type extends ParsedLine['type']> = Extract<ParsedLine, { type: Type }>

/** @param keys Known to be the service's; without them no signature is proven. */
export function createLedgerCheck(keys: KeySet | undefined, held: readonly HeldCheckpoint[] = []) {
  const findings = createFindings()
  let head: LineOf<'head'> | undefined
  let tree: TreeState | undefined
  /** After a gap, positions and roots say nothing more. */
  let isBroken = false
  let hasEnded = false
  let signedSize = 0
  let signedAt = ''
  let oldestPresent = Number.POSITIVE_INFINITY
  let newestPresent = Number.NEGATIVE_INFINITY
  const counts = { entries: 0, gone: 0, checkpoints: 0 }
  const wanted = new Map<number, { name: string; claims: CheckpointClaims }[]>()

  async function begin(): Promise<void> {
    for (const { name, jws } of held) {
      const claims = await claimsOf(name, jws)
      if (claims !== undefined) wanted.set(claims.size, [...(wanted.get(claims.size) ?? []), { name, claims }])
    }
  }

  /** @param place For people: file and line. */
  async function take(value: Json, place: string): Promise<void> {
    const parsed = lineSchema.safeParse(value)
    if (!parsed.success) {
      findings.fail('line', place, 'it is no line of an export, or its entry was changed to something else')
      // It may have been a leaf.
      isBroken = true
      return
    }
    const line = parsed.data
    if (line.type === 'head') return takeHead(line, place)
    if (head === undefined || tree === undefined) return findings.fail('order', place, 'it comes before the head')
    if (hasEnded) return findings.fail('order', place, 'it comes after the end')
    if (line.type === 'entry') return takeEntry(line, value, place)
    if (line.type === 'leaf') return takeGone(line, place)
    if (line.type === 'checkpoint') return takeCheckpoint(line, head, place)
    hasEnded = true
    if (!isBroken && line.size !== tree.size) {
      findings.fail('complete', place, `the export is of ${line.size} leaves, and has ${tree.size}`)
    }
  }

  function takeHead(line: LineOf<'head'>, place: string): void {
    const frontier = Buffer.concat(line.frontier)
    let start: TreeState
    try {
      start = treeOf(line.from, frontier)
    } catch {
      isBroken = true
      findings.fail('head', place, 'the hashes before the first leaf do not fit its position')
      return
    }
    if (head === undefined || tree === undefined) {
      head = line
      tree = start
      compareHeld()
      return
    }
    if (line.account_id !== head.account_id || line.environment !== head.environment) {
      findings.fail(
        'head',
        place,
        `it is of ${line.account_id} ${line.environment}, not of ${head.account_id} ${head.environment}`,
      )
      return
    }
    hasEnded = false
    if (isBroken) return
    if (line.from !== tree.size || !frontier.equals(Buffer.concat(tree.frontier))) {
      isBroken = true
      findings.fail('order', place, `it does not go on behind the ${tree.size} leaves of the part before`)
    }
  }

  function takeEntry({ entry_hash, leaf_hash, position, entry }: LineOf<'entry'>, value: Json, place: string): void {
    counts.entries += 1
    const text = canonicalize((value as { entry: Json }).entry)
    const where = `${place}, position ${position}, ${entry.decision_id}`
    if (!entryHash(text).equals(entry_hash))
      findings.fail('entry', where, 'the entry was changed: it does not have its hash')
    else if (entry.environment !== head?.environment)
      findings.fail('entry', where, `it is of the environment ${entry.environment}`)
    if (!leafHash(entry_hash).equals(leaf_hash)) findings.fail('leaf', where, 'the leaf is not that of the entry')
    if (!LONGER_KEPT_KINDS.some((kind) => kind === entry.kind))
      oldestPresent = Math.min(oldestPresent, timeOfId(entry.decision_id))
    newestPresent = Math.max(newestPresent, timeOfId(entry.decision_id))
    append(position, leaf_hash, where)
  }

  function takeGone({ leaf_hash, position, decision_id: id }: LineOf<'leaf'>, place: string): void {
    counts.gone += 1
    const where = `${place}, position ${position}, ${id}`
    const limits = { newestBefore: newestPresent, oldestPresent, keptSince: Number.POSITIVE_INFINITY }
    if (isRemoved({ madeAt: timeOfId(id), ...limits })) {
      findings.fail(
        'removed',
        where,
        'the entry is gone, although older ones are there: retention deletes from the oldest on',
      )
    }
    append(position, leaf_hash, where)
  }

  function append(position: number, leaf: Buffer, where: string): void {
    if (isBroken || tree === undefined) return
    if (position !== tree.size) {
      isBroken = true
      findings.fail('order', where, `the leaf at position ${tree.size} is missing or is elsewhere`)
      return
    }
    tree = appendLeaves(tree, [leaf]).tree
    compareHeld()
  }

  async function takeCheckpoint(
    line: LineOf<'checkpoint'>,
    { account_id, environment }: LineOf<'head'>,
    place: string,
  ) {
    counts.checkpoints += 1
    const where = `${place}, checkpoint of ${line.size}`
    const claims = await claimsOf(where, line.jws)
    const isOf =
      claims === undefined ||
      (claims.account_id === account_id &&
        claims.env === environment &&
        claims.size === line.size &&
        claims.root === line.root.toString('base64url') &&
        claims.at === line.at)
    if (!isOf) findings.fail('checkpoint', where, 'what is signed is not what the line says')
    if (line.at < signedAt) findings.fail('checkpoint', where, `it is older than the one before, of ${signedAt}`)
    signedAt = line.at
    if (isBroken || tree === undefined) return
    if (line.size !== tree.size) {
      findings.fail('checkpoint', where, `it is of ${line.size} leaves, and stands behind ${tree.size}`)
      return
    }
    if (!rootOf(tree).equals(line.root)) {
      findings.fail('checkpoint', where, 'it is of other leaves: one up to here was changed, or it is forged')
      return
    }
    if (claims !== undefined || keys === undefined) signedSize = line.size
  }

  async function claimsOf(where: string, jws: string): Promise<CheckpointClaims | undefined> {
    if (keys === undefined) return undefined
    const verdict = await verifyCheckpoint(jws, keys)
    if (!verdict.isValid) {
      findings.fail('signature', where, WORDS[verdict.reason])
      return undefined
    }
    const { claims, revoked, kid } = verdict
    if (revoked !== undefined) {
      const { revoked_at: at, doubted_since: since } = revoked
      findings.doubt('signature', where, `its key ${kid} was revoked at ${at}, and is doubted since ${since}`)
    }
    return claims
  }

  function compareHeld(): void {
    if (tree === undefined || head === undefined || isBroken) return
    for (const { name, claims } of wanted.get(tree.size) ?? []) {
      const isSame =
        claims.account_id === head.account_id &&
        claims.env === head.environment &&
        claims.root === rootOf(tree).toString('base64url')
      if (isSame) findings.pass('kept', name, `the log begins with its ${tree.size} leaves`)
      else
        findings.fail(
          'kept',
          name,
          `the log does not begin with its ${tree.size} leaves: it was replaced, or is another`,
        )
    }
    wanted.delete(tree.size)
  }

  function finish(): LedgerReport {
    if (head === undefined) findings.fail('head', 'the file', 'it has no head: it is no export of a ledger')
    else if (!hasEnded) findings.fail('complete', 'the file', 'it ends before the last line of the export')
    const size = tree?.size ?? 0
    if (head !== undefined && !isBroken && signedSize !== size) {
      findings.fail('checkpoint', 'the file', `no valid checkpoint is of its ${size} leaves`)
    }
    for (const { name, claims } of [...wanted.values()].flat()) {
      if (claims.size < (head?.from ?? 0)) {
        findings.doubt('kept', name, `the export begins behind its ${claims.size} leaves: take it from the beginning`)
      } else if (!isBroken) {
        findings.fail('kept', name, `the log has ${size} leaves, and had ${claims.size}: it was shortened`)
      }
    }
    if (keys === undefined)
      findings.doubt('signature', 'the file', 'without the keys of the service no signature is checked')
    return {
      findings: findings.list(),
      accountId: head?.account_id,
      environment: head?.environment,
      from: head?.from ?? 0,
      size,
      root: tree === undefined || isBroken ? undefined : rootOf(tree).toString('base64url'),
      ...counts,
    }
  }

  return { begin, take, finish }
}

const WORDS = {
  malformed: 'the signature can not be read',
  unknown_key: 'it is signed with a key that is not among the record keys',
  bad_signature: 'the signature does not verify',
  no_checkpoint: 'what is signed is no checkpoint',
}
