// An entry of the decision ledger: what of a decision is on record, in the form in which it is hashed. The text of an
// entry is stored as it was hashed, so that the hash can be checked without knowing how the text was made.

import type { DecisionKind } from '#src/catalogue/decisions.ts'
import type { ScopedType } from '#src/catalogue/ids.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256, sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Actor } from '#src/platform/http/principal.ts'
import type { Environment } from '#src/platform/ids.ts'

/** What one rule of a policy said. */
export interface RuleResult {
  rule_id: string
  /** What the rule demands: deny, biometric, hardware, ... */
  effect: string
  matched: boolean
  met: boolean
  /** A shadow rule is evaluated and refuses nothing. */
  shadow: boolean
  error?: string
  note?: string
}

/**
 * Results of deciding rules that an entry names, and as many of shadow rules. A policy of 1,000 rules may give 7,000
 * results, and a list reads 100 entries.
 */
export const MAX_RULE_RESULTS = 100

export interface NewDecision {
  /** A `dec_` id; made from `at` when absent. */
  id?: string
  kind: DecisionKind
  at: Date
  actor: Actor | 'service'
  /** The id of what was decided about: a jti, a lock, an agent, a policy version. */
  subject: string | null
  reason: string | null
  /** null where the decision is neither a permission nor a refusal. */
  valid: boolean | null
  /** Hashes and ids of what was given. `jti` is found by the list's filter. */
  inputs: Record<string, string | null>
  policyVersion?: number | null
  /** The rule that gave the answer. */
  matchedRuleId?: string | null
  ruleResults?: readonly RuleResult[]
  /** How many more there were than are named. They follow from the facts. */
  omittedRuleResults?: number
  /** Everything that explaining the decision needs. Stored sealed; the entry has its hash. */
  facts?: Json
}

/** An entry as callers see it and as it is hashed. */
export interface DecisionEntry {
  decision_id: string
  kind: DecisionKind
  environment: Environment
  at: string
  actor: 'service' | { actor_id: string; person: string | null; api_key_id: string | null }
  subject_id: string | null
  reason: string | null
  valid: boolean | null
  inputs: Record<string, string | null>
  /** The rule that gave the answer. */
  matched_rule_id: string | null
  policy_version: number | null
  rule_results: RuleResult[]
  /** How many more there were; absent where there were none. */
  rule_results_omitted?: number
  /** SHA-256, base64url, of the facts' text; null without facts. */
  facts_hash: string | null
}

/** @param factsText As it is sealed. */
export function entryOf(
  decision: NewDecision & { id: string },
  environment: Environment,
  factsText: string | null,
): DecisionEntry {
  const { id, kind, at, actor, subject, reason, valid, inputs, policyVersion = null, ruleResults = [] } = decision
  const { matchedRuleId = null, omittedRuleResults: omitted = 0 } = decision
  return {
    decision_id: id,
    kind,
    environment,
    at: at.toISOString(),
    actor: actor === 'service' ? actor : { actor_id: actor.id, person: actor.person, api_key_id: actor.keyId },
    subject_id: subject,
    reason,
    valid,
    inputs,
    matched_rule_id: matchedRuleId,
    policy_version: policyVersion,
    rule_results: ruleResults.map(ruleResultOf),
    ...(omitted > 0 && { rule_results_omitted: omitted }),
    facts_hash: factsText === null ? null : sha256Base64url(factsText),
  }
}

/** RFC 8785 text of an entry, without its own hash. */
export function entryText(entry: DecisionEntry): string {
  return canonicalize(entry as unknown as Json)
}

/** SHA-256 of the text: what the Merkle log has as the data of a leaf. */
export function entryHash(text: string): Buffer {
  return sha256(text)
}

/** What the filters of the list find an entry by; null where an entry names none. */
export interface EntrySubjects {
  subjectId: string | null
  jti: string | null
  agentId: string | null
  agentSessionId: string | null
  deviceId: string | null
  mandateId: string | null
  scheduleId: string | null
  traceId: string | null
  matchedRuleId: string | null
}

/** From `inputs`, or from the subject where its type says what it is. */
export function subjectsOf({
  subject_id: subjectId,
  inputs,
  matched_rule_id: matchedRuleId,
}: Pick<DecisionEntry, 'subject_id' | 'inputs' | 'matched_rule_id'>): EntrySubjects {
  const named = (member: string, type: ScopedType) =>
    inputs[member] ?? (subjectId?.startsWith(`${type}_`) === true ? subjectId : null)
  return {
    subjectId,
    jti: named('jti', 'jti'),
    agentId: named('agent_id', 'agt'),
    agentSessionId: inputs.agent_session_id ?? null,
    deviceId: named('device_id', 'dev'),
    mandateId: named('mandate_id', 'mnd'),
    scheduleId: named('schedule_id', 'sch'),
    traceId: named('trace_id', 'trc'),
    matchedRuleId,
  }
}

// Absent members stay absent: undefined is not JSON.
function ruleResultOf({ rule_id, effect, matched, met, shadow, error, note }: RuleResult): RuleResult {
  return {
    rule_id,
    effect,
    matched,
    met,
    shadow,
    ...(error !== undefined && { error }),
    ...(note !== undefined && { note }),
  }
}
