// Inclusion and consistency proofs of RFC 6962 section 2.1: which parts of the tree a proof consists of, their hashes from
// the stored nodes, and the checks (RFC 9162 sections 2.1.3.2 and 2.1.4.2). Pure.

import { rootOfInclusion, rootsOfConsistency } from '#client/verify/merkle.ts'
import { LEVEL_WIDTH, nodeHash, rootOfRow } from './merkle.ts'

/** The leaves [start, end), whose hash is one element of a proof. */
export interface LeafRange {
  start: number
  end: number
}

/** Neighbouring stored nodes of one level; level 0 are the leaves. */
export interface NodeSpan {
  level: number
  from: number
  count: number
}

/** The hashes of the nodes of a span, side by side. */
export type FindNodes = (span: NodeSpan) => Uint8Array

/** PATH(m, D[n]): from the leaf's neighbour to the top. @throws {RangeError} unless 0 <= index < size. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  if (!isIn(index, 0, size - 1)) throw new RangeError(`leaf ${index} is not in a tree of ${size} leaves`)
  const ranges: LeafRange[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start)
    if (index < middle) {
      ranges.push({ start: middle, end })
      end = middle
    } else {
      ranges.push({ start, end: middle })
      start = middle
    }
  }
  return ranges.reverse()
}

/** PROOF(m, D[n]). @throws {RangeError} unless 0 < first <= second. */
export function consistencyRanges(first: number, second: number): LeafRange[] {
  if (!isIn(first, 1, second)) throw new RangeError(`a tree of ${first} leaves is no beginning of one of ${second}`)
  const ranges: LeafRange[] = []
  let [start, end] = [0, second]
  // While the older tree is a left subtree of the newer one, its root is known to the verifier.
  let isKnown = true
  while (first < end) {
    const middle = start + largestPowerBelow(end - start)
    if (first <= middle) {
      ranges.push({ start: middle, end })
      end = middle
    } else {
      ranges.push({ start, end: middle })
      start = middle
      isKnown = false
    }
  }
  if (!isKnown) ranges.push({ start, end })
  return ranges.reverse()
}

/** The parts of the leaves [0, size) whose roots are the frontier of the tree. */
export function frontierRanges(size: number): LeafRange[] {
  return completeParts({ start: 0, end: size })
}

/** The stored nodes from which the hashes of the ranges follow: each one once, neighbours together. */
export function spansOf(ranges: readonly LeafRange[]): NodeSpan[] {
  const spans = ranges.flatMap(completeParts).map(spanOf)
  spans.sort((a, b) => a.level - b.level || a.from - b.from)
  const merged: NodeSpan[] = []
  for (const span of spans) {
    const last = merged.at(-1)
    if (last === undefined || last.level !== span.level || last.from + last.count < span.from) merged.push({ ...span })
    else last.count = Math.max(last.count, span.from + span.count - last.from)
  }
  return merged
}

/** MTH of a range, from the nodes that `spansOf` names. */
export function hashOfRange(range: LeafRange, findNodes: FindNodes): Buffer {
  let hash: Buffer | undefined
  for (const part of completeParts(range).reverse()) {
    const subtree = rootOfRow(findNodes(spanOf(part)))
    hash = hash === undefined ? subtree : nodeHash(subtree, hash)
  }
  if (hash === undefined) throw new RangeError('the range is empty')
  return hash
}

export interface InclusionClaim {
  index: number
  size: number
  leaf: Buffer
  root: Buffer
  proof: readonly Buffer[]
}

/** RFC 9162 2.1.3.2. */
export function verifyInclusion({ root, ...claim }: InclusionClaim): boolean {
  return rootOfInclusion(claim, nodeHash)?.equals(root) === true
}

export interface ConsistencyClaim {
  first: number
  firstRoot: Buffer
  second: number
  secondRoot: Buffer
  proof: readonly Buffer[]
}

/** RFC 9162 2.1.4.2. */
export function verifyConsistency({ secondRoot, ...claim }: ConsistencyClaim): boolean {
  const { first, firstRoot, second, proof } = claim
  if (first === second) return isIn(first, 1, second) && proof.length === 0 && firstRoot.equals(secondRoot)
  const roots = rootsOfConsistency(claim, nodeHash)
  return roots?.older.equals(firstRoot) === true && roots.newer.equals(secondRoot)
}

// Complete subtrees, the largest first. The start of a range of a proof is a multiple of each of them.
function completeParts({ start, end }: LeafRange): LeafRange[] {
  const parts: LeafRange[] = []
  for (let at = start; at < end; ) {
    const width = largestPowerWithin(end - at)
    parts.push({ start: at, end: at + width })
    at += width
  }
  return parts
}

function spanOf({ start, end }: LeafRange): NodeSpan {
  let level = 0
  let unit = 1
  while (unit * LEVEL_WIDTH <= end - start) {
    level += 1
    unit *= LEVEL_WIDTH
  }
  return { level, from: start / unit, count: (end - start) / unit }
}

function largestPowerBelow(count: number): number {
  return largestPowerWithin(count - 1)
}

function largestPowerWithin(count: number): number {
  let power = 1
  while (power * 2 <= count) power *= 2
  return power
}

function isIn(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && Number.isSafeInteger(most) && value >= least && value <= most
}
