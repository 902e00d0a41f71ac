// The Merkle tree of RFC 6962 section 2.1 (the same as RFC 9162 section 2.1): growth, roots and proofs over any hash of two
// nodes. The service runs the same functions with a hash of its own.

/** The hash of a node above two others. */
export type HashPair<Hash> = (left: Hash, right: Hash) => Hash

/**
 * Adds one leaf hash to a frontier, in place: the roots of the complete subtrees that make up the tree, the largest first, one for each
 * bit of `size`.
 * @param onComplete Hears of each subtree that the leaf completes: its height, its position among those of this height, and its root.
 */
export function appendLeaf<Hash extends Uint8Array>(
  { size, frontier }: { size: number; frontier: Hash[] },
  leaf: Hash,
  hashPair: HashPair<Hash>,
  onComplete: (height: number, position: number, hash: Hash) => void = () => {},
): void {
  let top = leaf
  let height = 0
  // Sizes exceed 32 bits, so no bit operators. Each trailing one of the size is a subtree that the leaf completes.
  let rest = size
  while (rest % 2 === 1) {
    top = hashPair(frontier.pop() ?? top, top)
    rest = (rest - 1) / 2
    height += 1
    onComplete(height, rest, top)
  }
  frontier.push(top)
}

/** MTH(D[n]); undefined for the empty tree. */
export function rootOfFrontier<Hash extends Uint8Array>(
  frontier: readonly Hash[],
  hashPair: HashPair<Hash>,
): Hash | undefined {
  let root: Hash | undefined
  for (let index = frontier.length - 1; index >= 0; index -= 1) {
    const subtree = frontier[index] as Hash
    root = root === undefined ? subtree : hashPair(subtree, root)
  }
  return root
}

/** How many roots the frontier of a tree of this size has. */
export function frontierLengthOf(size: number): number {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}

/** RFC 9162 2.1.3.2: the root that a proof leads to; undefined where its length does not fit. */
export function rootOfInclusion<Hash extends Uint8Array>(
  { index, size, leaf, proof }: { index: number; size: number; leaf: Hash; proof: readonly Hash[] },
  hashPair: HashPair<Hash>,
): Hash | undefined {
  if (!isIn(index, 0, size - 1)) return undefined
  let [node, last] = [index, size - 1]
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (node % 2 === 1 || node === last) {
      hash = hashPair(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      hash = hashPair(hash, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? hash : undefined
}

/** RFC 9162 2.1.4.2, for 0 < first < second: the roots of both trees to which a proof leads; undefined where its length does not fit. */
export function rootsOfConsistency<Hash extends Uint8Array>(
  { first, firstRoot, second, proof }: { first: number; firstRoot: Hash; second: number; proof: readonly Hash[] },
  hashPair: HashPair<Hash>,
): { older: Hash; newer: Hash } | undefined {
  if (!isIn(first, 1, second - 1)) return undefined
  const [seed, ...rest] = isPowerOfTwo(first) ? [firstRoot, ...proof] : proof
  if (seed === undefined) return undefined
  let [node, last] = [first - 1, second - 1]
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  let [older, newer] = [seed, seed]
  for (const sibling of rest) {
    if (last === 0) return undefined
    if (node % 2 === 1 || node === last) {
      older = hashPair(sibling, older)
      newer = hashPair(sibling, newer)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      newer = hashPair(newer, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? { older, newer } : undefined
}

function isIn(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && Number.isSafeInteger(most) && value >= least && value <= most
}

function isPowerOfTwo(value: number): boolean {
  return frontierLengthOf(value) === 1
}
