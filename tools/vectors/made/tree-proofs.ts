// Inclusion and consistency proofs that are refused. All are in trees of counted leaves.

import type { VectorFile } from '../file.ts'
import { consistencyOf, countedLeaf, countedLeaves, hashNode, pathOf, rootOf } from './trees.ts'

/** All bytes are hex. */
export interface InclusionInput {
  index: number
  size: number
  leaf_hash: string
  root: string
  proof: string[]
}

export interface ConsistencyInput {
  first: number
  first_root: string
  second: number
  second_root: string
  proof: string[]
}

const SOURCE =
  'Made by tools/vectors for this project from the recursive definitions of RFC 6962 section 2.1; no third-party data.'
const hex = (bytes: Buffer) => bytes.toString('hex')
const flipped = (text: string) => `${text.slice(0, -1)}${(Number.parseInt(text.slice(-1), 16) ^ 1).toString(16)}`

// Seven leaves: the right side of the tree is not complete.
const SEVEN = countedLeaves(7)
const INCLUDED: InclusionInput = {
  index: 3,
  size: 7,
  leaf_hash: hex(countedLeaf(3)),
  root: hex(rootOf(SEVEN)),
  proof: pathOf(3, SEVEN).map(hex),
}
const [P0 = '', P1 = '', P2 = ''] = INCLUDED.proof
const LAST: InclusionInput = { ...INCLUDED, index: 6, leaf_hash: hex(countedLeaf(6)), proof: pathOf(6, SEVEN).map(hex) }
const ONE: InclusionInput = { index: 0, size: 1, leaf_hash: hex(countedLeaf(0)), root: hex(countedLeaf(0)), proof: [] }

// The root above a leaf at the left edge, with P0 on the right of every step.
function topOf(leaf: Buffer, height: number): Buffer {
  let top = leaf
  for (let step = 0; step < height; step += 1) top = hashNode(top, Buffer.from(P0, 'hex'))
  return top
}

const NOT_INCLUDED: [id: string, why: string, input: InclusionInput][] = [
  ['truncated-first', 'the first hash of the proof is missing', { ...INCLUDED, proof: [P1, P2] }],
  ['truncated-middle', 'a hash in the midst of the proof is missing', { ...INCLUDED, proof: [P0, P2] }],
  ['truncated-last', 'the last hash of the proof is missing', { ...INCLUDED, proof: [P0, P1] }],
  ['empty', 'the proof is empty, and the leaf is not the only one', { ...INCLUDED, proof: [] }],
  ['extended', 'a hash follows the proof', { ...INCLUDED, proof: [P0, P1, P2, P2] }],
  ['extended-root', 'the root follows the proof', { ...INCLUDED, proof: [P0, P1, P2, INCLUDED.root] }],
  [
    'extended-with-root',
    'a hash follows the proof, and the root is that of a taller tree',
    { ...INCLUDED, proof: [P0, P1, P2, P2], root: hex(hashNode(Buffer.from(P2, 'hex'), rootOf(SEVEN))) },
  ],
  ['extended-front', 'the leaf precedes the proof', { ...INCLUDED, proof: [INCLUDED.leaf_hash, P0, P1, P2] }],
  ['swapped', 'two hashes of the proof changed places', { ...INCLUDED, proof: [P1, P0, P2] }],
  ['reversed', 'the proof begins at the top', { ...INCLUDED, proof: [P2, P1, P0] }],
  ['repeated', 'a hash of the proof is there twice, and another one is not', { ...INCLUDED, proof: [P0, P0, P2] }],
  ...INCLUDED.proof.map((_, at): [string, string, InclusionInput] => [
    `changed-${at}`,
    `one bit of hash ${at} of the proof was changed`,
    { ...INCLUDED, proof: INCLUDED.proof.with(at, flipped(INCLUDED.proof[at] ?? '')) },
  ]),
  ['leaf-changed', 'one bit of the leaf was changed', { ...INCLUDED, leaf_hash: flipped(INCLUDED.leaf_hash) }],
  ['leaf-other', 'the leaf is another one of the tree', { ...INCLUDED, leaf_hash: hex(countedLeaf(2)) }],
  ['root-changed', 'one bit of the root was changed', { ...INCLUDED, root: flipped(INCLUDED.root) }],
  ['root-of-other-size', 'the root is that of the tree before', { ...INCLUDED, root: hex(rootOf(SEVEN.slice(0, 6))) }],
  ['root-is-leaf', 'the root is the leaf: the proof leads elsewhere', { ...INCLUDED, root: INCLUDED.leaf_hash }],
  ['index-sibling', 'the index is that of the neighbour: left and right change places', { ...INCLUDED, index: 2 }],
  ['index-subtree', 'the index is in another subtree of the same height', { ...INCLUDED, index: 1 }],
  ['index-right', 'the index is in the right subtree, whose paths are as long', { ...INCLUDED, index: 5 }],
  ['index-last', 'the index is that of the last leaf, whose path is shorter', { ...INCLUDED, index: 6 }],
  ['index-size', 'the index is that of the next leaf', { ...INCLUDED, index: 7 }],
  ['index-beyond', 'the index is far beyond the tree', { ...INCLUDED, index: 1_003 }],
  ['index-negative', 'the index is negative', { ...INCLUDED, index: -1 }],
  ['index-minus-one-of-one', 'the index is negative, in a tree of one leaf', { ...ONE, index: -1 }],
  ['index-one-of-one', 'the index is the size, in a tree of one leaf', { ...ONE, index: 1 }],
  ['index-fraction', 'the index is no whole number', { ...INCLUDED, index: 3.5 }],
  ['index-fraction-of-one', 'the index is no whole number, in a tree of one leaf', { ...ONE, index: 0.5 }],
  [
    'index-fraction-of-two',
    'the index is between two leaves',
    { ...ONE, index: 0.5, size: 2, root: hex(rootOf(countedLeaves(2))), proof: [hex(countedLeaf(1))] },
  ],
  ['size-four', 'the size is smaller: the proof has a hash too many', { ...INCLUDED, size: 4 }],
  ['size-nine', 'the size is larger: the proof has a hash too few', { ...INCLUDED, size: 9 }],
  ['size-zero', 'an empty tree has no leaf', { ...ONE, size: 0 }],
  ['size-negative', 'the size is negative', { ...ONE, size: -1 }],
  ['size-fraction', 'the size is no whole number', { ...ONE, size: 1.5 }],
  ['size-beyond-safe', 'the size is beyond 2^53: two sizes would be one number', { ...ONE, size: 2 ** 60 }],
  [
    'size-beyond-safe-with-path',
    'the size is beyond 2^53, and the path leads to the root',
    { ...ONE, size: 2 ** 60, proof: Array.from({ length: 61 }, () => P0), root: hex(topOf(countedLeaf(0), 61)) },
  ],
  ['one-with-proof', 'a tree of one leaf has an empty proof', { ...ONE, proof: [P0] }],
  [
    'last-as-if-complete',
    'the last leaf of an incomplete tree has a shorter path',
    { ...LAST, proof: [P0, ...LAST.proof] },
  ],
  ['last-truncated', 'the path of the last leaf lacks its top', { ...LAST, proof: LAST.proof.slice(0, 1) }],
  [
    'last-sides',
    'a last leaf without a neighbour is on the right: the hashes are joined in the other order',
    { ...LAST, root: hex(hashNode(hashNode(countedLeaf(6), rootOf(SEVEN.slice(4, 6))), rootOf(SEVEN.slice(0, 4)))) },
  ],
  ['hash-short', 'a hash of the proof has 31 bytes', { ...INCLUDED, proof: [P0.slice(2), P1, P2] }],
  ['hash-long', 'a hash of the proof has 33 bytes', { ...INCLUDED, proof: [`${P0}00`, P1, P2] }],
  ['root-empty', 'the root is empty', { ...INCLUDED, root: '' }],
  ['leaf-is-data', 'the leaf is the data, and not their hash', { ...INCLUDED, leaf_hash: '0000000000000003' }],
]

const grown = (first: number, second: number): ConsistencyInput => {
  const leaves = countedLeaves(second)
  return {
    first,
    first_root: hex(rootOf(leaves.slice(0, first))),
    second,
    second_root: hex(rootOf(leaves)),
    proof: consistencyOf(first, leaves).map(hex),
  }
}
const GROWN = grown(3, 7)
const [C0 = '', C1 = '', C2 = '', C3 = ''] = GROWN.proof
// The older tree is a complete subtree of the newer one.
const POWER = grown(4, 7)
const SAME = grown(7, 7)
// A log whose leaf 1 is another one.
const FORK = [...SEVEN].with(1, countedLeaf(1_001))

const NOT_GROWN: [id: string, why: string, input: ConsistencyInput][] = [
  ['truncated-first', 'the first hash of the proof is missing', { ...GROWN, proof: [C1, C2, C3] }],
  ['truncated-last', 'the last hash of the proof is missing', { ...GROWN, proof: [C0, C1, C2] }],
  ['empty', 'the proof is empty, and the sizes differ', { ...GROWN, proof: [] }],
  ['empty-of-power', 'the proof is empty, and the older tree is a complete subtree', { ...POWER, proof: [] }],
  ['extended', 'a hash follows the proof', { ...GROWN, proof: [...GROWN.proof, C0] }],
  [
    'extended-with-roots',
    'a hash follows the proof, and both roots are those of taller trees',
    {
      ...GROWN,
      proof: [...GROWN.proof, C0],
      first_root: hex(hashNode(Buffer.from(C0, 'hex'), Buffer.from(GROWN.first_root, 'hex'))),
      second_root: hex(hashNode(Buffer.from(C0, 'hex'), Buffer.from(GROWN.second_root, 'hex'))),
    },
  ],
  ['extended-root', 'the newer root follows the proof', { ...GROWN, proof: [...GROWN.proof, GROWN.second_root] }],
  ['swapped', 'two hashes of the proof changed places', { ...GROWN, proof: [C1, C0, C2, C3] }],
  ['swapped-top', 'the last two hashes of the proof changed places', { ...GROWN, proof: [C0, C1, C3, C2] }],
  ['reversed', 'the proof begins at the top', { ...GROWN, proof: GROWN.proof.toReversed() }],
  ...GROWN.proof.map((_, at): [string, string, ConsistencyInput] => [
    `changed-${at}`,
    `one bit of hash ${at} of the proof was changed`,
    { ...GROWN, proof: GROWN.proof.with(at, flipped(GROWN.proof[at] ?? '')) },
  ]),
  ['first-root-changed', 'one bit of the older root was changed', { ...GROWN, first_root: flipped(GROWN.first_root) }],
  [
    'second-root-changed',
    'one bit of the newer root was changed',
    { ...GROWN, second_root: flipped(GROWN.second_root) },
  ],
  [
    'power-first-root-changed',
    'one bit of the older root was changed, which the proof begins with',
    { ...POWER, first_root: flipped(POWER.first_root) },
  ],
  [
    'power-second-root-changed',
    'one bit of the newer root was changed, and the older tree is a complete subtree',
    { ...POWER, second_root: flipped(POWER.second_root) },
  ],
  [
    'power-root-repeated',
    'the proof begins with the older root, which the verifier has already',
    { ...POWER, proof: [POWER.first_root, ...POWER.proof] },
  ],
  [
    'roots-swapped',
    'the newer root stands for the older one',
    { ...GROWN, first_root: GROWN.second_root, second_root: GROWN.first_root },
  ],
  ['sizes-swapped', 'the log has shrunk', { ...GROWN, first: 7, second: 3 }],
  ['first-other', 'the older size is another one', { ...GROWN, first: 2 }],
  ['first-five', 'the older size is larger', { ...GROWN, first: 5 }],
  ['second-other', 'the newer size needs a longer proof', { ...GROWN, second: 9 }],
  ['second-four', 'the newer size needs a shorter proof', { ...GROWN, second: 4 }],
  [
    'fork',
    'an old leaf was changed: the proof is that of the other log, and the older root is not its own',
    { ...GROWN, second_root: hex(rootOf(FORK)), proof: consistencyOf(3, FORK).map(hex) },
  ],
  [
    'fork-of-power',
    'an old leaf was changed in a log whose older tree is a complete subtree',
    { ...POWER, second_root: hex(rootOf(FORK)), proof: consistencyOf(4, FORK).map(hex) },
  ],
  [
    'same-size-other-root',
    'two roots of one size: the log has two histories',
    { ...SAME, second_root: hex(rootOf(FORK)) },
  ],
  ['same-size-with-proof', 'equal sizes have an empty proof', { ...SAME, proof: [C0] }],
  [
    'first-zero',
    'an empty tree proves nothing: it begins every log',
    { ...GROWN, first: 0, first_root: hex(rootOf([])), proof: [] },
  ],
  [
    'first-zero-of-zero',
    'two empty trees prove nothing',
    { ...SAME, first: 0, second: 0, first_root: SAME.second_root },
  ],
  [
    'first-zero-with-proof',
    'an empty tree proves nothing: the proof is the only leaf, which is both roots',
    { ...grown(1, 1), first: 0, proof: [hex(countedLeaf(0))] },
  ],
  ['shrunk-to-one', 'a log of two leaves has shrunk to one, and the root is the same', { ...grown(2, 2), second: 1 }],
  ['first-negative', 'the older size is negative', { ...SAME, first: -7, second: -7 }],
  ['first-fraction', 'the sizes are no whole numbers', { ...SAME, first: 7.5, second: 7.5 }],
  [
    'beyond-safe',
    'the sizes are beyond 2^53: two sizes would be one number',
    { ...SAME, first: 2 ** 60, second: 2 ** 60 },
  ],
  ['second-beyond-safe', 'the newer size is beyond 2^53', { ...POWER, second: 2 ** 60 }],
  ['hash-short', 'a hash of the proof has 31 bytes', { ...GROWN, proof: [C0.slice(2), C1, C2, C3] }],
  ['root-empty', 'the newer root is empty', { ...GROWN, second_root: '' }],
]

export function makeInclusionRefused(): VectorFile<InclusionInput, { valid: boolean }> {
  return {
    family: 'ledger',
    version: 1,
    source: SOURCE,
    about:
      'Inclusion proofs (RFC 9162 2.1.3.2) that are refused: that the leaf with the hash `leaf_hash` is at `index` of the tree of ' +
      '`size` leaves with this root. All bytes are hex. A library may throw where a number or a hash has another form.',
    cases: NOT_INCLUDED.map(([id, why, input]) => ({
      id: `ledger-inclusion-refused-${id}`,
      title: `refuse: ${why}`,
      input,
      expect: { valid: false },
    })),
  }
}

export function makeConsistencyRefused(): VectorFile<ConsistencyInput, { valid: boolean }> {
  return {
    family: 'ledger',
    version: 1,
    source: SOURCE,
    about:
      'Consistency proofs (RFC 9162 2.1.4.2) that are refused: that the tree of `second` leaves begins with the tree of `first` ' +
      'leaves. All bytes are hex. A library may throw where a number or a hash has another form.',
    cases: NOT_GROWN.map(([id, why, input]) => ({
      id: `ledger-consistency-refused-${id}`,
      title: `refuse: ${why}`,
      input,
      expect: { valid: false },
    })),
  }
}
