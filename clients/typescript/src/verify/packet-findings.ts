// The result of a check, and the functions that all checks share.

import type { RecordProblem, RecordVerdict } from './records.ts'

/** unproven: consistent, but its origin is not proven. skipped: the data for the check is missing. */
export type CheckOutcome = 'ok' | 'failed' | 'unproven' | 'skipped'

export interface CheckFinding {
  /** `file`, `pages`, `packet`, `keys`, a member of the packet, or `attestations/<id>`. */
  part: string
  check: string
  outcome: CheckOutcome
  detail: string
}

export function finding(part: string, check: string, isOk: boolean, detail = ''): CheckFinding {
  return { part, check, outcome: isOk ? 'ok' : 'failed', detail: isOk ? '' : detail }
}

export function skipped(part: string, check: string, detail: string): CheckFinding {
  return { part, check, outcome: 'skipped', detail }
}

interface Doubtful {
  part: string
  /** What was signed. */
  what: string
  verdict: RecordVerdict
  /** The record's own time. */
  statedAt: unknown
  /** The same content stands under a signature whose key was not revoked. */
  isVouched?: boolean
}

/**
 * What the revocation of its key means for a record whose signature verifies. A holder of a key can state any time: without
 * another signature, a time before the doubt proves nothing.
 */
export function doubtsOf({ part, what, verdict, statedAt, isVouched = false }: Doubtful): CheckFinding[] {
  if (!verdict.isValid || verdict.revoked === undefined) return []
  const { revoked_at, doubted_since } = verdict.revoked
  const check = `key of the ${what}`
  const key = `its key ${verdict.kid} was revoked at ${revoked_at} and is doubted since ${doubted_since}`
  const isBefore = typeof statedAt === 'string' && Date.parse(statedAt) < Date.parse(doubted_since)
  if (!isBefore) return [{ part, check, outcome: 'failed', detail: `${key}; it says ${String(statedAt)}` }]
  if (isVouched)
    return [{ part, check, outcome: 'ok', detail: `${key}; it says ${statedAt}, and the packet says so too` }]
  return [
    {
      part,
      check,
      outcome: 'unproven',
      detail: `${key}; it says ${statedAt}, which another holder of the key could say too: export the claim again`,
    },
  ]
}

export function wordsOf(reason: RecordProblem): string {
  return {
    malformed: 'the signature can not be read',
    unknown_key: 'it is signed with a key that is not among the record keys',
    bad_signature: 'the signature does not verify',
  }[reason]
}
