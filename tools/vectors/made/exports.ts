// vectors/ledger/exports.json: exports of a decision ledger, honest and not.

import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { VectorFile } from '../file.ts'
import {
  BEGIN,
  CHECKPOINT,
  checkpointLine,
  type ExportCase,
  type ExportExpected,
  type ExportInput,
  endOf,
  FIRST,
  FOURTH,
  goneBehind,
  goneLine,
  headOf,
  KEPT_FOUR,
  kept,
  REST,
  WHOLE,
  withLine,
} from './export-lines.ts'
import { FORGED } from './forged-exports.ts'
import { base64url, claimsOf, ENTRIES, LEAVES, signCheckpoint } from './log.ts'
import { RECORD_KEY_SET, RECORD_KEYS } from './records.ts'
import { rootOf } from './trees.ts'

const HONEST: ExportCase[] = [
  ['whole', 'an export of the whole log', { lines: WHOLE }],
  ['parts', 'two exports, of which the second goes on where the first ended', { lines: [...BEGIN, ...REST] }],
  [
    'later-part',
    'an export that begins behind the fourth leaf: the head has the hashes of what is before',
    {
      lines: REST,
      expect: { entries: 3, checkpoints: 1 },
    },
  ],
  [
    'gone',
    'the oldest entries are gone, as retention deletes them: their leaves are there',
    {
      lines: WHOLE.with(1, goneLine(0)).with(2, goneLine(1)),
      expect: { entries: 5, gone: 2 },
    },
  ],
  [
    'gone-all',
    'every entry is gone',
    {
      lines: [headOf(0, LEAVES), ...ENTRIES.map((_, at) => goneLine(at)), checkpointLine(LEAVES), endOf(7)],
      expect: { entries: 0, gone: 7, checkpoints: 1 },
    },
  ],
  [
    'gone-before-longer-kept',
    'an older entry of a kind that is kept for longer is there',
    {
      ...goneBehind('clinician_order'),
    },
  ],
  [
    'gone-minutes-younger',
    'an entry is gone that is minutes younger than one that is there: clocks of processes differ',
    {
      lines: WHOLE.with(FOURTH, goneLine(3)),
      expect: { entries: 6, gone: 1 },
    },
  ],
  [
    'members-reordered',
    'the order of the members of an entry is not part of it',
    {
      lines: withLine(FIRST, { entry: Object.fromEntries(Object.entries(ENTRIES[0] ?? {}).toReversed()) }),
    },
  ],
  [
    'kept',
    'the log begins with the leaves of a checkpoint that was kept',
    {
      lines: WHOLE,
      kept: KEPT_FOUR,
      findings: [['kept', 'ok']],
    },
  ],
  [
    'kept-between-checkpoints',
    'a kept checkpoint of a size that the export has none of',
    {
      lines: WHOLE,
      kept: kept('five', signCheckpoint(claimsOf(LEAVES.slice(0, 5)))),
      findings: [['kept', 'ok']],
    },
  ],
  [
    'checkpoint-revoked-key',
    'the key of the last checkpoint was revoked: nothing contradicts it, and nothing proves it',
    {
      lines: withLine(CHECKPOINT, { jws: signCheckpoint(claimsOf(LEAVES), { key: RECORD_KEYS.revoked }) }),
      findings: [['signature', 'unproven']],
    },
  ],
  [
    'no-keys',
    'without keys no signature is checked',
    {
      lines: WHOLE,
      jwks: null,
      findings: [['signature', 'unproven']],
    },
  ],
  [
    'kept-before-export',
    'a kept checkpoint is of fewer leaves than the export begins behind',
    {
      lines: REST,
      kept: kept('two', signCheckpoint(claimsOf(LEAVES.slice(0, 2)))),
      findings: [['kept', 'unproven']],
      expect: { entries: 3, checkpoints: 1 },
    },
  ],
]

export function makeExports(): VectorFile<ExportInput, ExportExpected> {
  const cases = (kind: string, all: ExportCase[]) =>
    all.map(([id, why, { lines, kept: held = [], jwks = { keys: RECORD_KEY_SET }, findings = [], expect }]) => ({
      id: `ledger-exports-${id}`,
      title: `${findings.some(([, outcome]) => outcome === 'failed') ? `${kind} (${findings.map(([check]) => check).join(', ')})` : 'accept'}: ${why}`,
      input: { lines: JSON.parse(canonicalize(lines)) as Json[], kept: held, jwks },
      expect: { findings, size: 7, root: base64url(rootOf(LEAVES)), entries: 7, gone: 0, checkpoints: 2, ...expect },
    }))
  return {
    family: 'ledger',
    version: 1,
    source:
      'Made by tools/vectors for this project; no third-party data. Keys are SHA-256 of `countersign token vectors: <name>` modulo ' +
      'the order of P-256, nonces follow RFC 6979. The keys are in no deployment.',
    about:
      'What a check of an export finds: `lines` are its lines in their order (of several exports, one after the other), `kept` are ' +
      'checkpoints that the verifier has from elsewhere, `jwks` the keys of the service (null: there are none). `findings` are ' +
      '[check, outcome] in the order in which they are found, and `size`, `root`, `entries`, `gone` and `checkpoints` what was read.',
    cases: [...cases('refuse', HONEST), ...cases('refuse', FORGED)],
  }
}
