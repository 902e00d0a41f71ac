import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '#src/platform/crypto/digest.ts'
import {
  appendLeaves,
  EMPTY_TREE,
  frontierBytes,
  leafHash,
  rootOf,
  type TreeNode,
  type TreeState,
  treeOf,
} from '#src/platform/ledger/merkle.ts'
import {
  consistencyRanges,
  type FindNodes,
  frontierRanges,
  hashOfRange,
  inclusionRanges,
  type LeafRange,
  spansOf,
  verifyConsistency,
  verifyInclusion,
} from '#src/platform/ledger/proofs.ts'
import { readVectors } from '../../../tools/vectors/file.ts'
import type { ConsistencyInput, InclusionInput } from '../../../tools/vectors/made/tree-proofs.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const counted = (index: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(index))
  return leafHash(bytes)
}

/** A tree that was appended in batches, with what it stored. */
function grow(leaves: readonly Buffer[], batches: readonly number[] = [leaves.length]) {
  let tree: TreeState = EMPTY_TREE
  const nodes: TreeNode[] = []
  for (let at = 0, batch = 0; at < leaves.length; batch += 1) {
    const count = Math.max(1, batches[batch % batches.length] ?? 1)
    const grown = appendLeaves(tree, leaves.slice(at, at + count))
    tree = grown.tree
    nodes.push(...grown.nodes)
    at += count
  }
  const stored = new Map(nodes.map(({ level, position, hash }) => [`${level} ${position}`, hash]))
  const findNode = (level: number, position: number) => {
    const hash = level === 0 ? leaves[position] : stored.get(`${level} ${position}`)
    if (hash === undefined) throw new Error(`no node ${level} ${position}`)
    return hash
  }
  const findNodes: FindNodes = ({ level, from, count }) =>
    Buffer.concat(Array.from({ length: count }, (_, index) => findNode(level, from + index)))
  const prove = (ranges: LeafRange[]) => ranges.map((range) => hashOfRange(range, findNodes))
  return { tree, nodes, findNodes, prove }
}

describe('the Merkle tree', () => {
  // Roots and proofs that other programs computed. test/vectors verifies the same proofs.
  const trees = readVectors<{ leaves?: string[]; counted?: number }, { root: string }>('ledger/trees').cases
  const inclusion = readVectors<InclusionInput>('ledger/inclusion').cases
  const consistency = readVectors<ConsistencyInput>('ledger/consistency').cases
  const all = Array.from({ length: 70_001 }, (_, index) => counted(index))

  it.each(trees)('$title', ({ input, expect: { root } }) => {
    const leaves = input.leaves?.map((data) => leafHash(hex(data))) ?? all.slice(0, input.counted)
    const { tree, prove } = grow(leaves, [97, 4_096])
    expect(rootOf(tree)).toEqual(hex(root))
    const proofs = { inclusion: 0, consistency: 0 }
    for (const { input: claim } of inclusion) {
      if (claim.root !== root) continue
      proofs.inclusion += 1
      expect(prove(inclusionRanges(claim.index, claim.size))).toEqual(claim.proof.map(hex))
    }
    for (const { input: claim } of consistency) {
      if (claim.second_root !== root) continue
      proofs.consistency += 1
      expect(prove(consistencyRanges(claim.first, claim.second))).toEqual(claim.proof.map(hex))
    }
    if (leaves.length > 0) expect(Math.min(proofs.inclusion, proofs.consistency)).toBeGreaterThan(0)
  })

  it('does not depend on how the leaves were batched, and its state is the roots of its parts', () => {
    const sizes = fc.integer({ min: 1, max: 1_500 })
    fc.assert(
      fc.property(
        sizes,
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
        (size, batches) => {
          const all = Array.from({ length: size }, (_, index) => counted(index))
          const [once, often] = [grow(all), grow(all, batches)]
          expect(rootOf(often.tree)).toEqual(rootOf(once.tree))
          expect(often.nodes).toEqual(once.nodes)
          expect(often.prove(frontierRanges(size))).toEqual([...often.tree.frontier])
          expect(treeOf(size, frontierBytes(often.tree))).toEqual(often.tree)
          expect(() => treeOf(size + 1, frontierBytes(often.tree).subarray(1))).toThrow(RangeError)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('proves every leaf and every older tree, and nothing else', () => {
    const proven = fc.integer({ min: 1, max: 700 }).chain((size) =>
      fc.record({
        size: fc.constant(size),
        index: fc.integer({ min: 0, max: size - 1 }),
        first: fc.integer({ min: 1, max: size }),
        change: fc.nat(),
      }),
    )
    const all = Array.from({ length: 700 }, (_, index) => counted(index))
    const known = new Map<number, ReturnType<typeof grow>>()
    const treeWith = (size: number) => {
      const tree = known.get(size) ?? grow(all.slice(0, size))
      known.set(size, tree)
      return tree
    }
    fc.assert(
      fc.property(proven, ({ size, index, first, change }) => {
        const { tree, prove } = treeWith(size)
        const root = rootOf(tree)
        const leaf = counted(index)
        const proof = prove(inclusionRanges(index, size))
        expect(verifyInclusion({ index, size, leaf, root, proof })).toBe(true)
        expect(verifyInclusion({ index, size, leaf: counted(index + 1), root, proof })).toBe(false)
        expect(verifyInclusion({ index, size, leaf, root, proof: [...proof, root] })).toBe(false)
        if (size > 1) {
          expect(verifyInclusion({ index: (index + 1) % size, size, leaf, root, proof })).toBe(false)
          expect(verifyInclusion({ index, size, leaf, root, proof: proof.slice(1) })).toBe(false)
        }
        const firstRoot = rootOf(treeWith(first).tree)
        const path = prove(consistencyRanges(first, size))
        const claim = { first, firstRoot, second: size, secondRoot: root, proof: path }
        expect(verifyConsistency(claim)).toBe(true)
        expect(verifyConsistency({ ...claim, secondRoot: sha256('another') })).toBe(false)
        expect(verifyConsistency({ ...claim, firstRoot: sha256('another') })).toBe(false)
        if (path.length > 0) {
          const forged = path.with(change % path.length, sha256('another'))
          expect(verifyConsistency({ ...claim, proof: forged })).toBe(false)
          expect(verifyConsistency({ ...claim, proof: path.slice(0, -1) })).toBe(false)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('reads at most 256 stored nodes of a level on each side of a proof', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 45 }), fc.double({ min: 0, max: 1, noNaN: true }), (size, at) => {
        const index = Math.min(size - 1, Math.floor(at * size))
        for (const ranges of [inclusionRanges(index, size), consistencyRanges(index + 1, size)]) {
          const counts = new Map<number, number>()
          for (const { level, count } of spansOf(ranges)) counts.set(level, (counts.get(level) ?? 0) + count)
          expect(Math.max(0, ...counts.values())).toBeLessThanOrEqual(512)
          expect(Math.max(0, ...counts.keys())).toBeLessThanOrEqual(6)
        }
      }),
    )
    // Both neighbours of a span are read together.
    expect(spansOf(inclusionRanges(0, 256))).toEqual([{ level: 0, from: 1, count: 255 }])
  })

  it('refuses proofs of what can not be', () => {
    expect(() => inclusionRanges(3, 3)).toThrow(RangeError)
    expect(() => inclusionRanges(-1, 3)).toThrow(RangeError)
    expect(() => consistencyRanges(0, 3)).toThrow(RangeError)
    expect(() => consistencyRanges(4, 3)).toThrow(RangeError)
    const [leaf, root] = [counted(0), counted(0)]
    for (const size of [0, -1, 1.5, Number.NaN, 2 ** 60]) {
      expect(verifyInclusion({ index: 0, size, leaf, root, proof: [] })).toBe(false)
      expect(verifyConsistency({ first: 0, firstRoot: root, second: size, secondRoot: root, proof: [] })).toBe(false)
    }
  })
})
