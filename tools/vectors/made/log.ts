// A decision ledger of seven entries, as the cases of checkpoints, proofs and exports need it.

import { createHash } from 'node:crypto'
import { CHECKPOINT_TYP } from '#client/verify/checkpoint.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { signRecord } from './records.ts'
import { hashLeaf, rootOf, type Tree } from './trees.ts'

export const ACCOUNT = 'acc_01m7x7enn9exb9d4gh0kbvf97d'
const START = Date.parse('2026-11-20T12:00:00.000Z')
const STEP_MS = 600_000
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export interface Entry {
  [name: string]: Json
  decision_id: string
  kind: string
  environment: string
}

/** 26 base32 digits: the time in ten of them, and the rest from the number. */
export function decisionId(atMs: number, serial: number): string {
  const digits = (value: number, length: number) =>
    Array.from({ length }, (_, at) => ALPHABET[Math.floor(value / 32 ** (length - 1 - at)) % 32]).join('')
  return `dec_test_${digits(atMs, 10)}e${digits(serial, 15)}`
}

export function makeEntry(index: number, changes: Record<string, Json> = {}): Entry {
  const at = START + index * STEP_MS
  return {
    decision_id: decisionId(at, index),
    kind: 'verify',
    environment: 'sandbox',
    at: new Date(at).toISOString(),
    actor: 'service',
    subject_id: `jti_test_${index}`,
    reason: index % 3 === 0 ? 'token_expired' : null,
    valid: index % 3 !== 0,
    inputs: { action_hash: 'L9ThxnotKPzthJ7hu3bnORuT6xI' },
    matched_rule_id: null,
    policy_version: 3,
    rule_results: [],
    facts_hash: null,
    ...changes,
  }
}

export const ENTRIES = Array.from({ length: 7 }, (_, index) => makeEntry(index))

export const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** SHA-256 of the canonical entry. */
export function hashEntry(entry: Json): Buffer {
  return createHash('sha256').update(canonicalize(entry)).digest()
}

export function leavesOf(entries: readonly Entry[]): Tree {
  return entries.map((entry) => hashLeaf(hashEntry(entry)))
}

export const LEAVES = leavesOf(ENTRIES)

export interface CheckpointMembers {
  account_id: string
  env: string
  size: number
  root: string
  at: string
}

/** What is signed for the first `size` entries of a log. */
export function claimsOf(leaves: Tree, changes: Record<string, unknown> = {}): CheckpointMembers {
  const at = new Date(START + leaves.length * STEP_MS).toISOString()
  const claims = { account_id: ACCOUNT, env: 'sandbox', size: leaves.length, root: base64url(rootOf(leaves)), at }
  return { ...claims, ...changes }
}

export function signCheckpoint(claims: object, signed?: Parameters<typeof signRecord>[2]): string {
  return signRecord(CHECKPOINT_TYP, claims, signed)
}
