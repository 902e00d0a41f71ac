// Exports of a decision ledger with a line that is none.

import {
  END,
  type ExportCase,
  type ExportExpected,
  failed,
  goneLine,
  inserted,
  type Line,
  OLD_CHECKPOINT,
  OTHER_HASH,
  WHOLE,
  withLine,
} from './export-lines.ts'
import { ENTRIES } from './log.ts'

const BROKEN = { root: null }
const malformed = (id: string, why: string, at: number, changes: Line): ExportCase => [
  `line-${id}`,
  why,
  { lines: withLine(at, changes), findings: failed('line'), expect: sizeBefore(at) },
]

// Up to the broken line the tree is built; entries and checkpoints behind it are still read.
function sizeBefore(at: number): Partial<ExportExpected> {
  const count = (type: string, lines: Line[]) => lines.filter((line) => line.type === type).length
  const others = WHOLE.filter((_, index) => index !== at)
  return {
    size: count('entry', WHOLE.slice(0, at)),
    root: null,
    entries: count('entry', others),
    checkpoints: count('checkpoint', others),
  }
}

function goneLineWith(id: string, why: string, changes: Line): ExportCase {
  return [
    `line-${id}`,
    why,
    { lines: WHOLE.with(2, goneLine(1, changes)), findings: failed('line'), expect: sizeBefore(2) },
  ]
}

export const MALFORMED: ExportCase[] = [
  malformed('entry-without-entry', 'an entry has no entry', 2, { entry: null }),
  malformed('entry-position', 'the position of an entry is a string', 2, { position: '1' }),
  malformed('entry-position-negative', 'the position of an entry is negative', 2, { position: -1 }),
  malformed('entry-position-fraction', 'the position of an entry is no whole number', 2, { position: 1.5 }),
  malformed('entry-leaf-hash', 'the leaf of an entry is too short', 2, { leaf_hash: 'AAAA' }),
  malformed('entry-entry-hash', 'the hash of an entry is no text', 2, { entry_hash: null }),
  malformed('entry-decision-id', 'an entry has no id', 2, { entry: { ...ENTRIES[1], decision_id: null } }),
  malformed('entry-kind', 'an entry has no kind', 2, { entry: { ...ENTRIES[1], kind: 7 } }),
  malformed('entry-environment', 'an entry has no environment', 2, { entry: { ...ENTRIES[1], environment: null } }),
  malformed('entry-list', 'an entry is a list', 2, { entry: [] }),
  malformed('type-list', 'the type of a line is a list of one', 2, { type: ['entry'] }),
  malformed('type-of-prototype', 'the type of a line is a name that every object has', 2, { type: 'toString' }),
  malformed('type', 'a line is of an unknown type', 2, { type: 'decision' }),
  malformed('checkpoint-jws', 'a checkpoint has no signature', OLD_CHECKPOINT, { jws: null }),
  malformed('checkpoint-root', 'the root of a checkpoint is hexadecimal', OLD_CHECKPOINT, { root: 'ab'.repeat(32) }),
  malformed('checkpoint-size', 'the size of a checkpoint is a string', OLD_CHECKPOINT, { size: '4' }),
  malformed('checkpoint-at', 'the time of a checkpoint is a number', OLD_CHECKPOINT, { at: 0 }),
  goneLineWith('leaf-position', 'the position of a leaf is a string', { position: '1' }),
  goneLineWith('leaf-leaf-hash', 'the hash of a leaf is too short', { leaf_hash: 'AAAA' }),
  goneLineWith('leaf-decision-id', 'a leaf has no id', { decision_id: null }),
  [
    'line-no-object',
    'a line is a list',
    { lines: inserted(2, []), findings: failed('line'), expect: { size: 1, ...BROKEN } },
  ],
  [
    'line-end-size',
    'the end has no size',
    {
      lines: withLine(END, { size: null }),
      findings: failed('line', 'complete'),
      expect: BROKEN,
    },
  ],
  ...(
    [
      ['version', 'of another version', { version: 2 }],
      ['account', 'without an account', { account_id: null }],
      ['environment', 'of no environment', { environment: 'production' }],
      ['from', 'whose beginning is negative', { from: -1 }],
      ['size', 'without a size', { size: null }],
      ['frontier', 'whose hashes are hexadecimal', { frontier: ['ab'.repeat(32)] }],
      ['frontier-text', 'whose hashes are one text', { frontier: 'ab'.repeat(32) }],
      [
        'frontier-long',
        'with more hashes than a tree can have',
        { frontier: Array.from({ length: 65 }, () => OTHER_HASH) },
      ],
    ] as [string, string, Line][]
  ).map(
    ([id, what, changes]): ExportCase => [
      `line-head-${id}`,
      `the head is one ${what}`,
      {
        lines: withLine(0, changes),
        findings: failed('line', ...Array.from({ length: 10 }, () => 'order'), 'head'),
        expect: { size: 0, root: null, entries: 0, checkpoints: 0 },
      },
    ],
  ),
]
