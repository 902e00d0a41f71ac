// Checks the lines of an export of the decision ledger, one after the other: the tree is rebuilt from the leaves, and compared
// with each checkpoint. The lines are untrusted. One line is in memory, and of the tree its few roots.

import { LONGER_KEPT_KINDS } from '../generated/constants.ts'
import { concat, encodeBase64url, isEqual, utf8 } from './bytes.ts'
import { canonicalize } from './canonicalize.ts'
import { type CheckpointClaims, verifyCheckpoint } from './checkpoint.ts'
import { createFindings, type LedgerFinding } from './ledger-findings.ts'
import {
  type CheckpointLine,
  type EntryLine,
  type HeadLine,
  type LeafLine,
  type LedgerExportLine,
  readLine,
} from './ledger-lines.ts'
import { appendLeaf, frontierLengthOf, rootOfFrontier } from './merkle.ts'
import type { RecordKeys } from './records.ts'
import { isRemoved, timeOfId } from './removed.ts'
import { sha256 } from './sha256.ts'
import { type Json, parseJson } from './strict-json.ts'

type Bytes = Uint8Array<ArrayBuffer>

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

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** MTH({d}) of RFC 6962 2.1. */
export function leafHash(data: Uint8Array): Bytes {
  return sha256(concat(LEAF, data))
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Bytes {
  return sha256(concat(NODE, left, right))
}

export interface LedgerExportOptions {
  /** Known to be the service's. Without them no signature is proven. */
  keys?: RecordKeys | undefined
  /** Checkpoints that were kept: only they show that a log was replaced as a whole. */
  checkpoints?: readonly HeldCheckpoint[]
}

/**
 * Checks a whole export (GET /v1/decisions/export): that each entry has its hash, that the leaves are complete and in order, and that
 * every checkpoint is signed and is of exactly the leaves before it. Never throws for what the lines say.
 * @param lines Values, or texts of one line each.
 */
export async function verifyLedgerExport(
  lines: Iterable<Json> | AsyncIterable<Json>,
  { keys, checkpoints = [] }: LedgerExportOptions = {},
): Promise<LedgerReport & { holds: boolean }> {
  const check = createLedgerCheck(keys, checkpoints)
  await check.begin()
  let number = 0
  for await (const line of lines) {
    number += 1
    const value = typeof line === 'string' ? tryParse(line) : line
    await check.take(value, `line ${number}`)
  }
  const report = check.finish()
  return { ...report, holds: report.findings.every(({ outcome }) => outcome === 'ok') }
}

// What is no JSON is no line of an export, and is reported as such.
function tryParse(line: string): Json {
  try {
    return parseJson(line, { maxDepth: 64 })
  } catch {
    return null
  }
}

/** @param keys Known to be the service's; without them no signature is proven. */
export function createLedgerCheck(keys: RecordKeys | undefined, held: readonly HeldCheckpoint[] = []) {
  const findings = createFindings()
  let head: HeadLine | undefined
  let tree: { size: number; frontier: Bytes[] } | undefined
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
    const line: LedgerExportLine | undefined = readLine(value)
    if (line === undefined) {
      findings.fail('line', place, 'it is no line of an export, or its entry was changed to something else')
      // It may have been a leaf.
      isBroken = true
      return
    }
    if (line.type === 'head') return takeHead(line, place)
    if (head === undefined || tree === undefined) return findings.fail('order', place, 'it comes before the head')
    if (hasEnded) return findings.fail('order', place, 'it comes after the end')
    if (line.type === 'entry') return takeEntry(line, place)
    if (line.type === 'leaf') return takeGone(line, place)
    if (line.type === 'checkpoint') return takeCheckpoint(line, head, place)
    hasEnded = true
    if (!isBroken && line.size !== tree.size) {
      findings.fail('complete', place, `the export is of ${line.size} leaves, and has ${tree.size}`)
    }
  }

  function takeHead(line: HeadLine, place: string): void {
    if (line.frontier.length !== frontierLengthOf(line.from)) {
      isBroken = true
      findings.fail('head', place, 'the hashes before the first leaf do not fit its position')
      return
    }
    if (head === undefined || tree === undefined) {
      head = line
      tree = { size: line.from, frontier: [...line.frontier] }
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
    if (line.from !== tree.size || !isEqual(concat(...line.frontier), concat(...tree.frontier))) {
      isBroken = true
      findings.fail('order', place, `it does not go on behind the ${tree.size} leaves of the part before`)
    }
  }

  function takeEntry({ entry_hash, leaf_hash, position, entry, raw }: EntryLine, place: string): void {
    counts.entries += 1
    const text = tryCanonicalize(raw)
    const where = `${place}, position ${position}, ${entry.decision_id}`
    if (text === undefined || !isEqual(sha256(utf8(text)), entry_hash))
      findings.fail('entry', where, 'the entry was changed: it does not have its hash')
    else if (entry.environment !== head?.environment)
      findings.fail('entry', where, `it is of the environment ${entry.environment}`)
    if (!isEqual(leafHash(entry_hash), leaf_hash)) findings.fail('leaf', where, 'the leaf is not that of the entry')
    if (!LONGER_KEPT_KINDS.includes(entry.kind)) oldestPresent = Math.min(oldestPresent, timeOfId(entry.decision_id))
    newestPresent = Math.max(newestPresent, timeOfId(entry.decision_id))
    append(position, leaf_hash, where)
  }

  function takeGone({ leaf_hash, position, decision_id: id }: LeafLine, place: string): void {
    counts.gone += 1
    const where = `${place}, position ${position}, ${id}`
    if (isRemoved({ madeAt: timeOfId(id), newestBefore: newestPresent, presentSince: oldestPresent })) {
      findings.fail(
        'removed',
        where,
        'the entry is gone, although older ones are there: retention deletes from the oldest on',
      )
    }
    append(position, leaf_hash, where)
  }

  function append(position: number, leaf: Bytes, where: string): void {
    if (isBroken || tree === undefined) return
    if (position !== tree.size) {
      isBroken = true
      findings.fail('order', where, `the leaf at position ${tree.size} is missing or is elsewhere`)
      return
    }
    appendLeaf(tree, leaf, nodeHash)
    tree.size += 1
    compareHeld()
  }

  async function takeCheckpoint(line: CheckpointLine, { account_id, environment }: HeadLine, place: string) {
    counts.checkpoints += 1
    const where = `${place}, checkpoint of ${line.size}`
    const claims = await claimsOf(where, line.jws)
    const isOf =
      claims === undefined ||
      (claims.account_id === account_id &&
        claims.env === environment &&
        claims.size === line.size &&
        claims.root === encodeBase64url(line.root) &&
        claims.at === line.at)
    if (!isOf) findings.fail('checkpoint', where, 'what is signed is not what the line says')
    if (line.at < signedAt) findings.fail('checkpoint', where, `it is older than the one before, of ${signedAt}`)
    signedAt = line.at
    if (isBroken || tree === undefined) return
    if (line.size !== tree.size) {
      findings.fail('checkpoint', where, `it is of ${line.size} leaves, and stands behind ${tree.size}`)
      return
    }
    if (!isEqual(rootOf(tree), line.root)) {
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
        claims.root === encodeBase64url(rootOf(tree))
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
      root: tree === undefined || isBroken ? undefined : encodeBase64url(rootOf(tree)),
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

/** undefined for numbers that a lenient parser rounded: then no hash is right. */
export function tryCanonicalize(value: Json): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}

// The root of the empty tree is SHA-256 of nothing (RFC 9162 2.1.1).
function rootOf({ frontier }: { frontier: readonly Bytes[] }): Bytes {
  return rootOfFrontier(frontier, nodeHash) ?? sha256(new Uint8Array())
}
