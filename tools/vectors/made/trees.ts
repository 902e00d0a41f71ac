// Merkle trees from the recursive definitions of RFC 6962 section 2.1, apart from the code of the service, which appends and
// proves in other ways.

import { createHash } from 'node:crypto'

export type Tree = readonly Buffer[]

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

export const hashLeaf = (data: Uint8Array): Buffer => sha256(Buffer.of(0), data)
export const hashNode = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** The hash of the number `index`, as eight bytes. */
export function countedLeaf(index: number): Buffer {
  const data = Buffer.alloc(8)
  data.writeBigUInt64BE(BigInt(index))
  return hashLeaf(data)
}

export function countedLeaves(size: number): Tree {
  return Array.from({ length: size }, (_, index) => countedLeaf(index))
}

/** MTH(D[n]). */
export function rootOf(leaves: Tree): Buffer {
  const [first] = leaves
  if (first === undefined) return sha256()
  if (leaves.length === 1) return first
  const middle = splitOf(leaves.length)
  return hashNode(rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)))
}

/** PATH(m, D[n]). */
export function pathOf(index: number, leaves: Tree): Buffer[] {
  if (leaves.length < 2) return []
  const middle = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)]
  return index < middle ? [...pathOf(index, left), rootOf(right)] : [...pathOf(index - middle, right), rootOf(left)]
}

/** PROOF(m, D[n]). */
export function consistencyOf(first: number, leaves: Tree): Buffer[] {
  return subproof(first, leaves, true)
}

function subproof(first: number, leaves: Tree, isComplete: boolean): Buffer[] {
  if (first === leaves.length) return isComplete ? [] : [rootOf(leaves)]
  const middle = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)]
  return first <= middle
    ? [...subproof(first, left, isComplete), rootOf(right)]
    : [...subproof(first - middle, right, false), rootOf(left)]
}

/** Roots of the complete subtrees, the largest first. */
export function frontierOf(leaves: Tree): Buffer[] {
  if (leaves.length === 0) return []
  const width = 2 ** Math.floor(Math.log2(leaves.length))
  return [rootOf(leaves.slice(0, width)), ...frontierOf(leaves.slice(width))]
}

// The largest power of two below the number of leaves.
function splitOf(count: number): number {
  let middle = 1
  while (middle * 2 < count) middle *= 2
  return middle
}
