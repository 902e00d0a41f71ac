// Exports of a decision ledger that are refused.

import { createHash } from 'node:crypto'
import {
  BEGIN,
  type Case,
  CHECKPOINT,
  checkpointLine,
  EDITED,
  END,
  type ExportCase,
  endOf,
  entryLine,
  FOUR,
  FOURTH,
  failed,
  goneBehind,
  HEAD,
  headOf,
  inserted,
  KEPT_FOUR,
  kept,
  linesWithout,
  OLD_CHECKPOINT,
  OTHER_HASH,
  REST,
  REWRITTEN,
  REWRITTEN_LINES,
  signed,
  spread,
  THIRD,
  WHOLE,
  withLine,
  without,
} from './export-lines.ts'
import {
  base64url,
  claimsOf,
  decisionId,
  ENTRIES,
  hashEntry,
  LEAVES,
  leavesOf,
  makeEntry,
  signCheckpoint,
} from './log.ts'
import { MALFORMED } from './malformed-lines.ts'
import { damaged, RECORD_KEYS, signRecord } from './records.ts'
import { hashLeaf, hashNode, rootOf } from './trees.ts'

const BROKEN = { root: null }
export const FORGED: ExportCase[] = [
  [
    'parts-after-gap',
    'a leaf of the first export was taken out: the second one goes on behind a tree that is not known',
    {
      lines: [...BEGIN.filter((_, at) => at !== 3), ...REST],
      findings: failed('order'),
      expect: { size: 2, entries: 6, ...BROKEN },
    },
  ],
  [
    'parts-of-other-size',
    'the second export says that it begins behind eight leaves, with the hashes of four',
    {
      lines: [...BEGIN, headOf(4, LEAVES, { from: 8 }), ...REST.slice(1)],
      findings: failed('order'),
      expect: { size: 4, ...BROKEN },
    },
  ],
  [
    'kept-after-line',
    'the first line can not be read: a kept checkpoint says nothing of what follows',
    {
      lines: [null, ...REST],
      kept: KEPT_FOUR,
      findings: failed('line'),
      expect: { size: 4, entries: 3, checkpoints: 1, ...BROKEN },
    },
  ],
  [
    'checkpoint-of-other-size',
    'a checkpoint of eight leaves has the root of seven, and is signed',
    {
      lines: withLine(CHECKPOINT, { size: 8, jws: signed(LEAVES, { size: 8 }) }),
      findings: failed('checkpoint', 'checkpoint'),
    },
  ],
  [
    'empty',
    'a file without lines is no export',
    {
      lines: [],
      findings: failed('head'),
      expect: { size: 0, root: null, entries: 0, checkpoints: 0 },
    },
  ],
  ['entry-edited', 'an entry was changed', { lines: withLine(FOURTH, { entry: EDITED }), findings: failed('entry') }],
  [
    'entry-without-canonical-form',
    'an entry has an integer that readers round, and its hash is that of no bytes',
    ofNoCanonicalForm(),
  ],
  [
    'entry-edited-with-hash',
    'an entry was changed with its hash',
    {
      lines: withLine(FOURTH, { entry: EDITED, entry_hash: base64url(hashEntry(EDITED)) }),
      findings: failed('leaf'),
    },
  ],
  [
    'entry-edited-with-leaf',
    'an entry was changed with hash and leaf: the signed checkpoints are of other leaves',
    {
      lines: WHOLE.with(FOURTH, entryLine(3, EDITED)),
      findings: failed('checkpoint', 'checkpoint', 'checkpoint'),
      expect: { root: base64url(rootOf(REWRITTEN)) },
    },
  ],
  ['entry-of-other-environment', 'an entry is of the other environment', otherEnvironment()],
  [
    'entries-swapped',
    'two entries changed places, with their positions',
    {
      lines: WHOLE.with(2, entryLine(1, ENTRIES[2] ?? EDITED)).with(3, entryLine(2, ENTRIES[1] ?? EDITED)),
      findings: failed('checkpoint', 'checkpoint', 'checkpoint'),
      expect: { root: base64url(rootOf([0, 2, 1, 3, 4, 5, 6].map((at) => LEAVES[at] ?? Buffer.alloc(0)))) },
    },
  ],
  [
    'lines-swapped',
    'two lines changed places',
    {
      lines: WHOLE.with(2, WHOLE[3] ?? {}).with(3, WHOLE[2] ?? {}),
      findings: failed('order'),
      expect: { size: 1, ...BROKEN },
    },
  ],
  [
    'line-removed',
    'a leaf was taken out',
    {
      lines: without(THIRD),
      findings: failed('order'),
      expect: { size: 2, entries: 6, ...BROKEN },
    },
  ],
  [
    'line-repeated',
    'a leaf is there twice',
    {
      lines: inserted(3, WHOLE[2] ?? {}),
      findings: failed('order'),
      expect: { size: 2, entries: 8, ...BROKEN },
    },
  ],
  ['truncated-before-end', 'the file ends before its last line', { lines: without(END), findings: failed('complete') }],
  [
    'truncated-leaves',
    'the last leaves were cut off, and the end was not',
    {
      lines: without(6, 7, 8, CHECKPOINT),
      findings: failed('complete'),
      expect: { size: 4, root: base64url(rootOf(FOUR)), entries: 4, checkpoints: 1 },
    },
  ],
  [
    'truncated-checkpoint',
    'the last checkpoint was taken out: nothing signs the last leaves',
    {
      lines: without(CHECKPOINT),
      findings: failed('checkpoint'),
      expect: { checkpoints: 1 },
    },
  ],
  [
    'end-of-other-size',
    'the end is of more leaves',
    { lines: withLine(END, { size: 8 }), findings: failed('complete') },
  ],
  [
    'line-after-end',
    'a line follows the end',
    { lines: [...WHOLE, checkpointLine(LEAVES)], findings: failed('order') },
  ],
  [
    'entry-before-head',
    'an entry precedes the head',
    {
      lines: [WHOLE[1] ?? {}, ...WHOLE],
      findings: failed('order'),
    },
  ],
  [
    'no-head',
    'the head was taken out',
    {
      lines: without(HEAD),
      findings: failed(...Array.from({ length: 10 }, () => 'order'), 'head'),
      expect: { size: 0, root: null, entries: 0, checkpoints: 0 },
    },
  ],
  [
    'head-frontier-short',
    'the head lacks a hash of what is before',
    {
      lines: REST.with(0, headOf(4, LEAVES, { frontier: [] })),
      findings: failed('head', ...Array.from({ length: 5 }, () => 'order'), 'head'),
      expect: { size: 0, root: null, entries: 0, checkpoints: 0 },
    },
  ],
  [
    'head-frontier-changed',
    'the hashes of what is before are others',
    {
      lines: REST.with(0, headOf(4, LEAVES, { frontier: [OTHER_HASH] })),
      findings: failed('checkpoint', 'checkpoint'),
      expect: { entries: 3, checkpoints: 1, root: base64url(rootBehind(OTHER_HASH)) },
    },
  ],
  [
    'parts-gap',
    'the second export begins behind another leaf',
    {
      lines: [...BEGIN, headOf(5, LEAVES), ...WHOLE.slice(7)],
      findings: failed('order'),
      expect: { size: 4, entries: 6, ...BROKEN },
    },
  ],
  [
    'parts-of-other-history',
    'the second export goes on behind other leaves',
    {
      lines: [...BEGIN, headOf(4, LEAVES, { frontier: [OTHER_HASH] }), ...REST.slice(1)],
      findings: failed('order'),
      expect: { size: 4, ...BROKEN },
    },
  ],
  [
    'parts-of-other-account',
    'the second export is of another account',
    {
      lines: [...BEGIN, headOf(4, LEAVES, { account_id: 'acc_other' }), ...REST.slice(1)],
      findings: failed('head', ...Array.from({ length: 5 }, () => 'order')),
      expect: { size: 4, root: base64url(rootOf(FOUR)), entries: 4, checkpoints: 1 },
    },
  ],
  [
    'parts-of-other-environment',
    'the second export is of the other environment',
    {
      lines: [...BEGIN, headOf(4, LEAVES, { environment: 'live' }), ...REST.slice(1)],
      findings: failed('head', ...Array.from({ length: 5 }, () => 'order')),
      expect: { size: 4, root: base64url(rootOf(FOUR)), entries: 4, checkpoints: 1 },
    },
  ],
  [
    'parts-frontier-short',
    'the head of the second export lacks a hash of what is before',
    {
      lines: [...BEGIN, headOf(4, LEAVES, { frontier: [] }), ...REST.slice(1)],
      findings: failed('head', ...Array.from({ length: 5 }, () => 'order')),
      expect: { size: 4, ...BROKEN, entries: 4, checkpoints: 1 },
    },
  ],
  ...(
    [
      ['size', 'of fewer leaves', { size: 6 }],
      ['root', 'of another root', { root: OTHER_HASH }],
      ['account', 'of another account', { account_id: 'acc_other' }],
      ['at', 'of another time', { at: '2026-11-20T23:00:00.000Z' }],
    ] as const
  ).map(
    ([member, what, changes]): ExportCase => [
      `checkpoint-signs-other-${member}`,
      `what is signed is ${what} than the line says`,
      { lines: withLine(CHECKPOINT, { jws: signed(LEAVES, changes) }), findings: failed('checkpoint') },
    ],
  ),
  [
    'checkpoint-signs-other-env',
    'what is signed is of live',
    {
      lines: withLine(CHECKPOINT, { jws: signed(LEAVES, { env: 'live' }, { key: RECORD_KEYS.live }) }),
      findings: failed('checkpoint'),
    },
  ],
  [
    'checkpoint-elsewhere',
    'a checkpoint stands behind other leaves than it is of',
    {
      lines: WHOLE.toSpliced(OLD_CHECKPOINT, 1).toSpliced(4, 0, WHOLE[OLD_CHECKPOINT] ?? {}),
      findings: failed('checkpoint'),
    },
  ],
  [
    'checkpoint-of-other-root',
    'a checkpoint with another root is signed: two logs are',
    {
      lines: withLine(CHECKPOINT, { root: OTHER_HASH, jws: signed(LEAVES, { root: OTHER_HASH }) }),
      findings: failed('checkpoint', 'checkpoint'),
    },
  ],
  [
    'checkpoint-older',
    'a later checkpoint is older than the one before',
    {
      lines: withLine(CHECKPOINT, {
        at: '2026-11-20T00:00:00.000Z',
        jws: signed(LEAVES, { at: '2026-11-20T00:00:00.000Z' }),
      }),
      findings: failed('checkpoint'),
    },
  ],
  [
    'checkpoint-damaged',
    'the signature of the last checkpoint does not verify',
    {
      lines: withLine(CHECKPOINT, { jws: damaged(signCheckpoint(claimsOf(LEAVES))) }),
      findings: failed('signature', 'checkpoint'),
    },
  ],
  [
    'checkpoint-of-stranger',
    'the last checkpoint is signed by a key in no set',
    {
      lines: withLine(CHECKPOINT, { jws: signed(LEAVES, {}, { key: RECORD_KEYS.stranger }) }),
      findings: failed('signature', 'checkpoint'),
    },
  ],
  [
    'checkpoint-no-jws',
    'the signature of the last checkpoint can not be read',
    {
      lines: withLine(CHECKPOINT, { jws: 'x' }),
      findings: failed('signature', 'checkpoint'),
    },
  ],
  [
    'checkpoint-no-checkpoint',
    'the last checkpoint is a signed result',
    {
      lines: withLine(CHECKPOINT, { jws: signRecord('attest-result+jwt', claimsOf(LEAVES)) }),
      findings: failed('signature', 'checkpoint'),
    },
  ],
  [
    'old-checkpoint-damaged',
    'the signature of an older checkpoint does not verify',
    {
      lines: withLine(OLD_CHECKPOINT, { jws: damaged(signCheckpoint(claimsOf(FOUR))) }),
      findings: failed('signature'),
    },
  ],
  [
    'kept-other-history',
    'the log was rewritten with new checkpoints, and does not begin with the leaves of a kept one',
    {
      lines: REWRITTEN_LINES,
      kept: KEPT_FOUR,
      findings: failed('kept'),
      expect: { root: base64url(rootOf(REWRITTEN)), checkpoints: 1 },
    },
  ],
  [
    'kept-of-other-account',
    'a kept checkpoint is of another account',
    {
      lines: WHOLE,
      kept: kept('four', signed(FOUR, { account_id: 'acc_other' })),
      findings: failed('kept'),
    },
  ],
  [
    'kept-of-other-environment',
    'a kept checkpoint is of live',
    {
      lines: WHOLE,
      kept: kept('four', signed(FOUR, { env: 'live' }, { key: RECORD_KEYS.live })),
      findings: failed('kept'),
    },
  ],
  [
    'kept-longer',
    'a kept checkpoint is of more leaves: the log was shortened',
    {
      lines: BEGIN,
      kept: kept('seven', signCheckpoint(claimsOf(LEAVES))),
      findings: failed('kept'),
      expect: { size: 4, root: base64url(rootOf(FOUR)), entries: 4, checkpoints: 1 },
    },
  ],
  [
    'kept-damaged',
    'the signature of a kept checkpoint does not verify',
    {
      lines: WHOLE,
      kept: kept('four', damaged(signCheckpoint(claimsOf(FOUR)))),
      findings: failed('signature'),
    },
  ],
  [
    'kept-two-of-one-size',
    'of two kept checkpoints of one size one is of another history',
    {
      lines: WHOLE,
      kept: [...KEPT_FOUR, ...kept('other four', signCheckpoint(claimsOf(REWRITTEN.slice(0, 4))))],
      findings: [
        ['kept', 'ok'],
        ['kept', 'failed'],
      ],
    },
  ],
  removedCase('removed', 'an entry is gone although one that is hours older is there', 'verify'),
  removedId('removed-id-without-time', 'the id of a leaf whose entry is gone has no time', 'dec_test_x'),
  removedId(
    'removed-id-too-old',
    'the id of a leaf whose entry is gone is older than those before it',
    decisionId(Date.parse('2026-11-01T00:00:00.000Z'), 9),
  ),
  ...MALFORMED,
]

// The root where another hash stands for the first four leaves.
function rootBehind(hash: string): Buffer {
  const [four = Buffer.alloc(0), five = four, six = four] = LEAVES.slice(4)
  return hashNode(Buffer.from(hash, 'base64url'), hashNode(hashNode(four, five), six))
}

function removedCase(id: string, why: string, kind: string): ExportCase {
  return [id, why, { ...goneBehind(kind), findings: failed('removed') }]
}

function removedId(id: string, why: string, decision: string): ExportCase {
  const { entries, leaves } = spread('clinician_order')
  return [
    id,
    why,
    { ...goneBehind('clinician_order'), lines: linesWithout(entries, leaves, decision), findings: failed('removed') },
  ]
}

function ofNoCanonicalForm(): Case {
  const hash = createHash('sha256').update('').digest()
  const leaves = LEAVES.with(3, hashLeaf(hash))
  const changes = { entry_hash: base64url(hash), leaf_hash: base64url(leaves[3] ?? hash) }
  const entries = ENTRIES.map((entry, at) => entryLine(at, entry))
  const rounded = entryLine(3, makeEntry(3, { policy_version: 2 ** 60 }), changes)
  return {
    lines: [headOf(0, leaves), ...entries.with(3, rounded), checkpointLine(leaves), endOf(7)],
    findings: failed('entry'),
    expect: { root: base64url(rootOf(leaves)), checkpoints: 1 },
  }
}

function otherEnvironment(): Case {
  const foreign = makeEntry(3, { environment: 'live' })
  const entries = ENTRIES.with(3, foreign)
  const leaves = leavesOf(entries)
  return {
    lines: [headOf(0, leaves), ...entries.map((entry, at) => entryLine(at, entry)), checkpointLine(leaves), endOf(7)],
    findings: failed('entry'),
    expect: { root: base64url(rootOf(leaves)), checkpoints: 1 },
  }
}
