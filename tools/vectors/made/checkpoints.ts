// vectors/ledger/checkpoints.json and entries.json: signed checkpoints, and entries with the proofs that lead to them.

import type { VectorFile } from '../file.ts'
import {
  ACCOUNT,
  base64url,
  type CheckpointMembers,
  claimsOf,
  ENTRIES,
  type Entry,
  hashEntry,
  LEAVES,
  leavesOf,
  makeEntry,
  signCheckpoint,
} from './log.ts'
import { damaged, RECORD_KEY_SET, RECORD_KEYS, REVOCATION, type RecordKey, signRecord } from './records.ts'
import { derSignature, signNumbers } from './signing.ts'
import { hashNode, pathOf, rootOf } from './trees.ts'

const SOURCE =
  'Made by tools/vectors for this project; no third-party data. Keys are SHA-256 of `countersign token vectors: <name>` modulo ' +
  'the order of P-256, nonces follow RFC 6979. The keys are in no deployment.'

export interface CheckpointInput {
  jws: string
  jwks: { keys: RecordKey[] }
}

export interface CheckpointExpected {
  valid: boolean
  reason: null | 'malformed' | 'unknown_key' | 'bad_signature' | 'no_checkpoint'
  claims: CheckpointMembers | null
  revoked: typeof REVOCATION | null
}

const CLAIMS = claimsOf(LEAVES)
const GOOD = signCheckpoint(CLAIMS)
const [HEADER = '', PAYLOAD = '', SIGNATURE = ''] = GOOD.split('.')
const withClaims = (changes: Record<string, unknown>) => signCheckpoint({ ...CLAIMS, ...changes })
const withoutMember = (whole: object, name: string) =>
  Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name))
const without = (name: string) => signCheckpoint(withoutMember(CLAIMS, name))
const LIVE = { ...CLAIMS, env: 'live' }

type Reason = NonNullable<CheckpointExpected['reason']>
type Refused = [id: string, reason: Reason, why: string, jws: string, keys?: RecordKey[]]

const wrong = (member: string, values: Record<string, [string, unknown]>): Refused[] =>
  Object.entries(values).map(([id, [why, value]]) => [
    `${member}-${id}`,
    'no_checkpoint',
    why,
    withClaims({ [member]: value }),
  ])

const REFUSED: Refused[] = [
  ['empty', 'malformed', 'an empty text', ''],
  ['no-dots', 'malformed', 'a text without segments', 'checkpoint'],
  [
    'header-no-json',
    'malformed',
    'the header is no JSON',
    `${base64url(Buffer.from('ES256'))}.${PAYLOAD}.${SIGNATURE}`,
  ],
  ['header-no-kid', 'malformed', 'the header names no key', signCheckpoint(CLAIMS, { header: { kid: undefined } })],
  ['header-no-typ', 'malformed', 'the header names no type', signCheckpoint(CLAIMS, { header: { typ: undefined } })],
  [
    'header-crit',
    'malformed',
    'the header names a member in crit that changes how a signature is checked',
    signCheckpoint(CLAIMS, { header: { crit: ['b64'], b64: false } }),
  ],
  ['header-no-base64url', 'malformed', 'the header has padding', `${HEADER}=.${PAYLOAD}.${SIGNATURE}`],
  ['payload-no-base64url', 'malformed', 'the payload has padding', `${HEADER}.${PAYLOAD}=.${SIGNATURE}`],
  ['signature-no-base64url', 'malformed', 'the signature has padding', `${HEADER}.${PAYLOAD}.${SIGNATURE}==`],
  ['too-long', 'malformed', 'a text of more than 4,096 characters', withClaims({ note: 'x'.repeat(4_000) })],
  ['payload-no-json', 'malformed', 'what is signed is no JSON', signCheckpoint(CLAIMS, { text: 'size=7' })],
  [
    'payload-duplicate',
    'malformed',
    'what is signed has a member twice: readers would see two checkpoints',
    signCheckpoint(CLAIMS, { text: JSON.stringify(CLAIMS).replace('"size":7', '"size":9,"size":7') }),
  ],
  [
    'key-unknown',
    'unknown_key',
    'it is signed by a key in no set',
    signCheckpoint(CLAIMS, { key: RECORD_KEYS.stranger }),
  ],
  ['key-set-empty', 'unknown_key', 'the key set is empty', GOOD, []],
  [
    'key-of-tokens',
    'unknown_key',
    'it is signed by a key that signs tokens, and no records',
    signCheckpoint(LIVE, { key: RECORD_KEYS.token }),
  ],
  ['signature-changed', 'bad_signature', 'one bit of the signature was changed', damaged(GOOD)],
  ['signature-missing', 'bad_signature', 'the signature is missing', `${HEADER}.${PAYLOAD}.`],
  [
    'signature-of-other',
    'bad_signature',
    'the signature is that of another checkpoint',
    `${HEADER}.${PAYLOAD}.${withClaims({ size: 9 }).split('.')[2]}`,
  ],
  [
    'signature-der',
    'bad_signature',
    'the signature is in DER',
    `${HEADER}.${PAYLOAD}.${base64url(derSignature(signNumbers(RECORD_KEYS.sandbox, `${HEADER}.${PAYLOAD}`)))}`,
  ],
  [
    'signature-by-other-key',
    'bad_signature',
    'the header names another key than the one that signed',
    signCheckpoint(CLAIMS, { key: RECORD_KEYS.stranger, header: { kid: RECORD_KEYS.sandbox.kid } }),
  ],
  [
    'payload-changed',
    'bad_signature',
    'the size was changed after it was signed',
    `${HEADER}.${base64url(Buffer.from(JSON.stringify({ ...CLAIMS, size: 8 })))}.${SIGNATURE}`,
  ],
  [
    'key-beside-the-curve',
    'bad_signature',
    'the coordinates of the key are of no point of the curve',
    GOOD,
    [{ ...RECORD_KEYS.sandbox.jwk, y: RECORD_KEYS.live.jwk.y }],
  ],
  ['alg-none', 'bad_signature', 'the algorithm is none', signCheckpoint(CLAIMS, { header: { alg: 'none' } })],
  ['alg-hs256', 'bad_signature', 'the algorithm is symmetric', signCheckpoint(CLAIMS, { header: { alg: 'HS256' } })],
  ['four-segments', 'malformed', 'a fourth segment follows', `${GOOD}.${SIGNATURE}`],
  [
    'typ-result',
    'no_checkpoint',
    'it is a signed result, with the members of a checkpoint',
    signRecord('attest-result+jwt', CLAIMS),
  ],
  ['typ-jwt', 'no_checkpoint', 'its type says only that it is a JWT', signRecord('JWT', CLAIMS)],
  ['payload-list', 'no_checkpoint', 'what is signed is a list', signCheckpoint([CLAIMS])],
  ['payload-null', 'no_checkpoint', 'what is signed is null', signCheckpoint(CLAIMS, { text: 'null' })],
  ['payload-text', 'no_checkpoint', 'what is signed is a string', signCheckpoint(CLAIMS, { text: '"7"' })],
  ...Object.keys(CLAIMS).map(
    (name): Refused => [`no-${name.replace('_', '-')}`, 'no_checkpoint', `there is no ${name}`, without(name)],
  ),
  ...wrong('account_id', { number: ['account_id is a number', 7] }),
  ...wrong('env', {
    other: ['env is no environment', 'production'],
    live: ['env is live, and the key signs for the sandbox', 'live'],
  }),
  [
    'env-sandbox-by-live-key',
    'no_checkpoint',
    'env is sandbox, and the key signs for live',
    signCheckpoint(CLAIMS, { key: RECORD_KEYS.live }),
  ],
  ...wrong('size', {
    zero: ['an empty log has no checkpoint', 0],
    negative: ['size is negative', -7],
    fraction: ['size is no whole number', 7.5],
    text: ['size is a string', '7'],
    'beyond-safe': ['size is beyond 2^53', 1e21],
  }),
  ...wrong('root', {
    short: ['root has 31 bytes', base64url(rootOf(LEAVES).subarray(1))],
    long: ['root has 33 bytes', base64url(Buffer.concat([rootOf(LEAVES), Buffer.of(0)]))],
    padded: ['root has padding', `${CLAIMS.root}=`],
    hex: ['root is hexadecimal', rootOf(LEAVES).toString('hex')],
    number: ['root is a number', 7],
    list: ['root is a list of one', [CLAIMS.root]],
  }),
  ...wrong('at', {
    text: ['at is no time', 'yesterday'],
    number: ['at is a number', 1_795_176_000],
    year: ['at is a number that some readers take for a year', 2026],
    list: ['at is a list of one', [CLAIMS.at]],
  }),
]

export function makeCheckpoints(): VectorFile<CheckpointInput, CheckpointExpected> {
  const accepted = (id: string, why: string, jws: string, expect: Partial<CheckpointExpected> = {}) => ({
    id: `ledger-checkpoints-${id}`,
    title: `accept: ${why}`,
    input: { jws, jwks: { keys: RECORD_KEY_SET } },
    expect: { valid: true, reason: null, claims: CLAIMS, revoked: null, ...expect },
  })
  return {
    family: 'ledger',
    version: 1,
    source: SOURCE,
    about:
      'The signature and the form of a checkpoint, with the record keys of `jwks`. A key that was revoked still verifies: the ' +
      'answer says since when its signatures are doubted.',
    cases: [
      accepted('sandbox', 'a checkpoint of the sandbox', GOOD),
      accepted('live', 'a checkpoint of live', signCheckpoint(LIVE, { key: RECORD_KEYS.live }), {
        claims: LIVE as CheckpointMembers,
      }),
      accepted(
        'revoked',
        'a checkpoint of a key that was revoked, with its doubt',
        signCheckpoint(CLAIMS, { key: RECORD_KEYS.revoked }),
        {
          revoked: REVOCATION,
        },
      ),
      accepted('more-members', 'members that a later version adds', withClaims({ region: 'eu' }), {
        claims: { ...CLAIMS, region: 'eu' } as CheckpointMembers,
      }),
      accepted(
        'largest-size',
        'the largest size that a number holds exactly',
        withClaims({ size: Number.MAX_SAFE_INTEGER }),
        {
          claims: { ...CLAIMS, size: Number.MAX_SAFE_INTEGER },
        },
      ),
      ...REFUSED.map(([id, reason, why, jws, keys = RECORD_KEY_SET]) => ({
        id: `ledger-checkpoints-${id.replaceAll('_', '-')}`,
        title: `refuse as ${reason}: ${why}`,
        input: { jws, jwks: { keys } },
        expect: { valid: false, reason, claims: null, revoked: null },
      })),
    ],
  }
}

/** An entry, and the answer of `GET /v1/decisions/{id}/proof`. Hashes are base64url. */
export interface EntryInput {
  entry: Entry
  proof: {
    decision_id: string
    entry_hash: string
    leaf_hash: string
    position: number
    size: number
    root: string
    proof: string[]
    checkpoint: { size: number; root: string; at: string; jws: string } | null
  }
  jwks: { keys: RecordKey[] }
}

export interface EntryExpected {
  valid: boolean
  reason: null | 'entry' | 'leaf' | 'path' | 'checkpoint' | 'signature'
}

function provenEntry(position: number, leaves = LEAVES, entry = ENTRIES[position] ?? makeEntry(position)): EntryInput {
  const root = base64url(rootOf(leaves))
  const claims = claimsOf(leaves)
  return {
    entry,
    proof: {
      decision_id: entry.decision_id,
      entry_hash: base64url(hashEntry(entry)),
      leaf_hash: base64url(leavesOf([entry])[0] ?? Buffer.alloc(0)),
      position,
      size: leaves.length,
      root,
      proof: pathOf(position, leaves).map(base64url),
      checkpoint: { size: claims.size, root, at: claims.at, jws: signCheckpoint(claims) },
    },
    jwks: { keys: RECORD_KEY_SET },
  }
}

const PROVEN = provenEntry(3)
const CHECKPOINT = PROVEN.proof.checkpoint ?? { size: 0, root: '', at: '', jws: '' }
const changed = (proof: Partial<EntryInput['proof']>): EntryInput => ({
  ...PROVEN,
  proof: { ...PROVEN.proof, ...proof },
})
const signedBy = (jws: string, members = {}) => changed({ checkpoint: { ...CHECKPOINT, ...members, jws } })
const EDITED = makeEntry(3, { valid: true, reason: null })
const EDITED_LEAVES = LEAVES.with(3, leavesOf([EDITED])[0] ?? Buffer.alloc(0))
const [S0 = '', S1 = '', S2 = ''] = PROVEN.proof.proof

type EntryCase = [id: string, reason: EntryExpected['reason'], why: string, input: EntryInput]

const ENTRY_CASES: EntryCase[] = [
  ...ENTRIES.map((_, at): EntryCase => [`position-${at}`, null, `entry ${at} of 7 is in the log`, provenEntry(at)]),
  ['only-one', null, 'the only entry of a log is its root', provenEntry(0, LEAVES.slice(0, 1))],
  [
    'members-reordered',
    null,
    'the order of members is not part of an entry: its hash is that of the canonical JSON',
    { ...PROVEN, entry: Object.fromEntries(Object.entries(PROVEN.entry).toReversed()) as Entry },
  ],
  ['entry-changed', 'entry', 'the entry was changed', { ...PROVEN, entry: EDITED }],
  [
    'entry-member-added',
    'entry',
    'a member was added to the entry',
    { ...PROVEN, entry: { ...PROVEN.entry, note: 'ok' } },
  ],
  [
    'entry-member-removed',
    'entry',
    'a member of the entry was taken out',
    { ...PROVEN, entry: withoutMember(PROVEN.entry, 'reason') as Entry },
  ],
  [
    'entry-hash-changed',
    'entry',
    'the hash of the entry is another one',
    changed({ entry_hash: base64url(hashEntry(EDITED)) }),
  ],
  [
    'leaf-changed',
    'leaf',
    'the entry was changed with its hash, and the leaf is still that of the true entry',
    { ...PROVEN, entry: EDITED, proof: { ...PROVEN.proof, entry_hash: base64url(hashEntry(EDITED)) } },
  ],
  [
    'leaf-without-prefix',
    'leaf',
    'the leaf is the hash of the entry itself, without the byte 0x00',
    changed({ leaf_hash: PROVEN.proof.entry_hash }),
  ],
  [
    'leaf-is-node',
    'leaf',
    'an inner node stands for a leaf, in a tree of half the size',
    changed({
      leaf_hash: base64url(hashNode(LEAVES[2] ?? Buffer.alloc(0), LEAVES[3] ?? Buffer.alloc(0))),
      position: 1,
      size: 4,
    }),
  ],
  [
    'path-of-edited-entry',
    'path',
    'the entry was changed with hash and leaf, and the root is that of the true log',
    {
      ...PROVEN,
      entry: EDITED,
      proof: {
        ...PROVEN.proof,
        entry_hash: base64url(hashEntry(EDITED)),
        leaf_hash: base64url(leavesOf([EDITED])[0] ?? Buffer.alloc(0)),
      },
    },
  ],
  ['path-truncated', 'path', 'the last hash of the path is missing', changed({ proof: [S0, S1] })],
  ['path-reordered', 'path', 'two hashes of the path changed places', changed({ proof: [S1, S0, S2] })],
  ['path-extended', 'path', 'a hash follows the path', changed({ proof: [S0, S1, S2, S2] })],
  ['position-other', 'path', 'the position is that of the neighbour', changed({ position: 2 })],
  ['position-beyond', 'path', 'the position is beyond the log', changed({ position: 7 })],
  ['root-other', 'path', 'the root is that of another log', changed({ root: base64url(rootOf(EDITED_LEAVES)) })],
  ['no-checkpoint', 'checkpoint', 'no checkpoint has this size: nothing is signed yet', changed({ checkpoint: null })],
  [
    'checkpoint-of-other-log',
    'checkpoint',
    'the proof leads to another log, and the checkpoint is that of the true one',
    {
      ...provenEntry(3, EDITED_LEAVES, EDITED),
      proof: { ...provenEntry(3, EDITED_LEAVES, EDITED).proof, checkpoint: CHECKPOINT },
    },
  ],
  [
    'checkpoint-of-other-size',
    'checkpoint',
    'the checkpoint is of fewer leaves',
    signedBy(signCheckpoint(claimsOf(LEAVES.slice(0, 4)))),
  ],
  [
    'checkpoint-size-said',
    'checkpoint',
    'the size beside the signature is another one',
    signedBy(CHECKPOINT.jws, { size: 8 }),
  ],
  [
    'checkpoint-root-said',
    'checkpoint',
    'the root beside the signature is another one',
    signedBy(CHECKPOINT.jws, { root: S0 }),
  ],
  [
    'checkpoint-at-said',
    'checkpoint',
    'the time beside the signature is another one',
    signedBy(CHECKPOINT.jws, { at: '2026-11-20T00:00:00.000Z' }),
  ],
  [
    'checkpoint-of-other-environment',
    'checkpoint',
    'the checkpoint is of live, and the entry of the sandbox',
    signedBy(signCheckpoint(claimsOf(LEAVES, { env: 'live' }), { key: RECORD_KEYS.live })),
  ],
  [
    'signature-changed',
    'signature',
    'one bit of the signature of the checkpoint was changed',
    signedBy(damaged(CHECKPOINT.jws)),
  ],
  [
    'signature-by-stranger',
    'signature',
    'the checkpoint is signed by a key in no set',
    signedBy(signCheckpoint(claimsOf(LEAVES), { key: RECORD_KEYS.stranger })),
  ],
  [
    'signature-of-token-key',
    'signature',
    'the checkpoint is signed by a key that signs tokens',
    signedBy(signCheckpoint(claimsOf(LEAVES, { env: 'live' }), { key: RECORD_KEYS.token })),
  ],
  [
    'signature-of-result',
    'signature',
    'what is signed is no checkpoint',
    signedBy(signRecord('attest-result+jwt', claimsOf(LEAVES))),
  ],
]

export function makeEntries(): VectorFile<EntryInput, EntryExpected> {
  return {
    family: 'ledger',
    version: 1,
    source: `${SOURCE} The account is ${ACCOUNT}.`,
    about:
      'Whether an entry is in the log: `proof` is the answer of GET /v1/decisions/{id}/proof. `reason` names what fails first: the ' +
      'hash of the entry, the leaf, the path to the root, the signature of the checkpoint, what it says (size, root, time, environment).',
    cases: ENTRY_CASES.map(([id, reason, why, input]) => ({
      id: `ledger-entries-${id}`,
      title: `${reason === null ? 'accept' : `refuse as ${reason}`}: ${why}`,
      input,
      expect: { valid: reason === null, reason },
    })),
  }
}
