// The Merkle tree of RFC 6962 section 2.1 (the same as RFC 9162 section 2.1): hashes, growth and the state that growth
// needs. Pure. Growth and roots are the client library's, over a hash that is faster here.

import { createHash, hash } from 'node:crypto'
import { appendLeaf, frontierLengthOf, rootOfFrontier } from '#client/verify/merkle.ts'

export const HASH_BYTES = 32
/** Nodes of every eighth height are stored: a proof reads at most 256 nodes of a level on each side. */
const LEVEL_HEIGHT = 8
/** Leaves below a node of level 1. */
export const LEVEL_WIDTH = 2 ** LEVEL_HEIGHT

/** Everything of a tree that an append and the root need. */
export interface TreeState {
  size: number
  /** Roots of the complete subtrees that make up the tree, the largest first: one for each bit of `size`. */
  frontier: readonly Buffer[]
}

/** The root of a complete subtree of 256^level leaves, the `position`-th of its level. */
export interface TreeNode {
  level: number
  position: number
  hash: Buffer
}

export const EMPTY_TREE: TreeState = { size: 0, frontier: [] }

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)
// What is hashed for a node. Hashing does not wait, so one is enough.
const PAIR = Buffer.concat([NODE, Buffer.alloc(2 * HASH_BYTES)])

/** MTH({d}) of RFC 6962 2.1. */
export function leafHash(data: Uint8Array): Buffer {
  return createHash('sha256').update(LEAF).update(data).digest()
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.byteLength !== HASH_BYTES || right.byteLength !== HASH_BYTES) {
    return hash('sha256', Buffer.concat([NODE, left, right]), 'buffer')
  }
  PAIR.set(left, 1)
  PAIR.set(right, 1 + HASH_BYTES)
  return Buffer.from(hashOfPair(), 'binary')
}

/** The root above nodes that lie side by side: a power of two of them. */
export function rootOfRow(row: Uint8Array): Buffer {
  const nodes = Buffer.from(row)
  for (let count = nodes.byteLength / HASH_BYTES; count > 1; count /= 2) {
    for (let index = 0; index < count / 2; index += 1) {
      nodes.copy(PAIR, 1, 2 * index * HASH_BYTES, 2 * (index + 1) * HASH_BYTES)
      nodes.write(hashOfPair(), index * HASH_BYTES, 'binary')
    }
  }
  return nodes.subarray(0, HASH_BYTES)
}

// A text: a Buffer for each hash takes node three times as long. A proof in a long log is some hundred hashes.
const hashOfPair = () => hash('sha256', PAIR, 'binary')

/** Adds leaf hashes. Returns the new state, and the stored nodes that became complete. */
export function appendLeaves(tree: TreeState, leaves: readonly Buffer[]): { tree: TreeState; nodes: TreeNode[] } {
  const frontier = [...tree.frontier]
  const nodes: TreeNode[] = []
  let size = tree.size
  for (const leaf of leaves) {
    appendLeaf({ size, frontier }, leaf, nodeHash, (height, position, hash) => {
      if (height % LEVEL_HEIGHT === 0) nodes.push({ level: height / LEVEL_HEIGHT, position, hash })
    })
    size += 1
  }
  return { tree: { size, frontier }, nodes }
}

/** MTH(D[n]); of the empty tree SHA-256 of nothing. */
export function rootOf({ frontier }: TreeState): Buffer {
  return rootOfFrontier(frontier, nodeHash) ?? hash('sha256', '', 'buffer')
}

export function frontierBytes({ frontier }: TreeState): Buffer {
  return Buffer.concat(frontier)
}

/** @throws {RangeError} when the bytes are not the frontier of a tree of this size. */
export function treeOf(size: number, bytes: Uint8Array): TreeState {
  const frontier = splitHashes(bytes)
  if (!Number.isSafeInteger(size) || size < 0 || frontier.length !== frontierLengthOf(size)) {
    throw new RangeError(`a tree of ${size} leaves has no frontier of ${bytes.byteLength} bytes`)
  }
  return { size, frontier }
}

/** @throws {RangeError} when the length is no multiple of that of a hash. */
function splitHashes(bytes: Uint8Array): Buffer[] {
  if (bytes.byteLength % HASH_BYTES !== 0) throw new RangeError(`${bytes.byteLength} bytes are no whole hashes`)
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, index) =>
    all.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  )
}
