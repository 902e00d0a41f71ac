import { isDeepStrictEqual } from 'node:util'
import { verifyCheckpoint } from '#client/verify/checkpoint.ts'
import { verifyLedgerExport } from '#client/verify/ledger.ts'
import type { RecordKeys } from '#client/verify/records.ts'
import { parseJson } from '#client/verify/strict-json.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { type KeySet, revocationOf } from '#src/platform/crypto/signing-keys.ts'
import { entryHash } from '#src/platform/ledger/entry.ts'
import { appendLeaves, EMPTY_TREE, leafHash, rootOf } from '#src/platform/ledger/merkle.ts'
import { verifyConsistency, verifyInclusion } from '#src/platform/ledger/proofs.ts'
import type { Answers } from '../answers.ts'
import type { CheckpointInput, EntryExpected, EntryInput } from '../made/checkpoints.ts'
import type { ExportInput } from '../made/export-lines.ts'
import type { ConsistencyInput, InclusionInput } from '../made/tree-proofs.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const bytes = (text: string) => Buffer.from(text, 'base64url')

function proveInclusion({ index, size, leaf_hash, root, proof }: InclusionInput) {
  return { valid: verifyInclusion({ index, size, leaf: hex(leaf_hash), root: hex(root), proof: proof.map(hex) }) }
}

function proveConsistency({ first, first_root, second, second_root, proof }: ConsistencyInput) {
  const roots = { firstRoot: hex(first_root), secondRoot: hex(second_root) }
  return { valid: verifyConsistency({ first, second, ...roots, proof: proof.map(hex) }) }
}

export const answers: Answers = {
  'ledger/trees'({ leaves, counted = 0 }: { leaves?: string[]; counted?: number }) {
    const data = leaves?.map(hex) ?? Array.from({ length: counted }, (_, index) => eightBytes(index))
    return { root: rootOf(appendLeaves(EMPTY_TREE, data.map(leafHash)).tree).toString('hex') }
  },

  'ledger/inclusion': proveInclusion,
  'ledger/inclusion-refused': proveInclusion,
  'ledger/consistency': proveConsistency,
  'ledger/consistency-refused': proveConsistency,

  async 'ledger/checkpoints'({ jws, jwks }: CheckpointInput) {
    const verdict = await verifyCheckpoint(jws, jwks as unknown as RecordKeys)
    // What the service says of its own records, which it does not verify.
    const revoked = revocationOf(jws, jwks as unknown as KeySet)
    if (verdict.isValid && !isDeepStrictEqual(revoked, verdict.revoked)) return { revoked }
    return verdict.isValid
      ? { valid: true, reason: null, claims: verdict.claims, revoked: verdict.revoked ?? null }
      : { valid: false, reason: verdict.reason, claims: null, revoked: null }
  },

  async 'ledger/entries'(input: EntryInput) {
    const reason = await judgeEntry(input)
    return { valid: reason === null, reason }
  },

  async 'ledger/exports'({ lines, kept, jwks }: ExportInput) {
    const options = { keys: (jwks ?? undefined) as RecordKeys | undefined, checkpoints: kept }
    const report = await verifyLedgerExport(lines, options)
    const texts = lines.map((line) => JSON.stringify(line))
    const ofTexts = await verifyLedgerExport(texts, options)
    if (texts.every(isPortable) && !isDeepStrictEqual(ofTexts, report)) return { ofTexts }
    const { findings, size, root = null, entries, gone, checkpoints, holds } = report
    if (holds !== findings.every(({ outcome }) => outcome === 'ok')) return { holds }
    return { findings: findings.map((one) => [one.check, one.outcome]), size, root, entries, gone, checkpoints }
  },
}

// The lenient parser of a program may have rounded a number, where the strict one refuses the line.
function isPortable(text: string): boolean {
  try {
    return parseJson(text) !== undefined
  } catch {
    return false
  }
}

function eightBytes(index: number): Buffer {
  const data = Buffer.alloc(8)
  data.writeBigUInt64BE(BigInt(index))
  return data
}

// The steps that docs/authorize/ledger.md names, each by the service's own function.
async function judgeEntry({ entry, proof, jwks }: EntryInput): Promise<EntryExpected['reason']> {
  const { position, size, root, checkpoint } = proof
  if (!entryHash(canonicalize(entry as Json)).equals(bytes(proof.entry_hash))) return 'entry'
  const leaf = bytes(proof.leaf_hash)
  if (!leafHash(bytes(proof.entry_hash)).equals(leaf)) return 'leaf'
  const claim = { index: position, size, leaf, root: bytes(root), proof: proof.proof.map(bytes) }
  if (!verifyInclusion(claim)) return 'path'
  if (checkpoint === null) return 'checkpoint'
  const verdict = await verifyCheckpoint(checkpoint.jws, jwks as unknown as RecordKeys)
  if (!verdict.isValid) return 'signature'
  const { claims } = verdict
  const isSaid = [size, checkpoint.size].every((said) => said === claims.size)
  const isRoot = [root, checkpoint.root].every((said) => said === claims.root)
  return isSaid && isRoot && checkpoint.at === claims.at && claims.env === entry.environment ? null : 'checkpoint'
}
