// That a decision is in the ledger: its entry, the proof of its place, and a signed checkpoint of the log.

import { encodeBase64url, isEqual, utf8 } from './bytes.ts'
import { verifyCheckpoint } from './checkpoint.ts'
import { leafHash, nodeHash, tryCanonicalize } from './ledger.ts'
import { readHash } from './ledger-lines.ts'
import { rootOfInclusion } from './merkle.ts'
import type { KeyRevocation, RecordKeys, RecordProblem } from './records.ts'
import { sha256 } from './sha256.ts'
import type { Json } from './strict-json.ts'

/** What GET /v1/decisions/{id}/proof answers; the members of `decisions.proof.retrieve` are named so too. */
export interface InclusionProof {
  position: number
  size: number
  proof: readonly string[]
}

export type InclusionProblem =
  | RecordProblem
  | 'no_checkpoint'
  | 'malformed_proof'
  | 'other_size'
  | 'not_included'
  | 'other_account'

export interface InclusionVerdict {
  valid: boolean
  problem: InclusionProblem | null
  /** When the checkpoint was signed: the entry was in the log by then. */
  at: string | null
  /** The key of the checkpoint was revoked: compare `at` with `doubted_since`. */
  revoked: KeyRevocation | null
}

/**
 * Never throws for what the arguments say.
 * @param entry The member `entry` of a decision, as it came.
 * @param checkpoint The checkpoint of the proof, or another one of the same size that you kept: its jws alone is enough.
 */
export async function verifyInclusion(
  entry: Json,
  { position, size, proof }: InclusionProof,
  checkpoint: { jws: string } | string,
  keys: RecordKeys,
): Promise<InclusionVerdict> {
  const verdict = await verifyCheckpoint(typeof checkpoint === 'string' ? checkpoint : checkpoint.jws, keys)
  if (!verdict.isValid) return refused(verdict.reason)
  const { claims, revoked } = verdict
  if (claims.size !== size) return refused('other_size')
  const hashes = proof.map(readHash)
  if (!hashes.every((hash) => hash !== undefined)) return refused('malformed_proof')
  const text = tryCanonicalize(entry)
  if (text === undefined) return refused('not_included')
  const leaf = leafHash(sha256(utf8(text)))
  const root = rootOfInclusion({ index: position, size, leaf, proof: hashes }, nodeHash)
  if (root === undefined) return refused('malformed_proof')
  if (!isEqual(utf8(encodeBase64url(root)), utf8(claims.root))) return refused('not_included')
  const { environment } = entry as { environment?: Json }
  if (environment !== claims.env) return refused('other_account')
  return { valid: true, problem: null, at: claims.at, revoked: revoked ?? null }
}

function refused(problem: InclusionProblem): InclusionVerdict {
  return { valid: false, problem, at: null, revoked: null }
}
