// What an approval demands and whether it has it: over plain data, so that verify, the preflight of authorize and explain
// judge the same way. Whether an approval has expired follows from a time that the caller gives, and from no job.

import type { Environment } from '#src/platform/ids.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile.ts'
import type { ApproverRole, PolicyDocument } from '../policy/document.ts'
import type { PolicyAnswers } from '../policy/evaluate.ts'
import type { ApprovalRow } from './rows.ts'

export const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** Which request asked for it. */
export type ApprovalOrigin = 'authorize' | 'verify'

/** A rule that an approval is for, as it was when the approval was asked for. */
export interface ApprovedRule {
  rule_id: string
  rule_hash: string
  min_approvals: number
  roles: readonly ApproverRole[]
  /** The rule in the words of its author; absent where it has none, and behind the first MAX_DESCRIBED rules. */
  description?: string | undefined
}

/** Rules that one approval shows, with their descriptions. Several hundred of 1,000 characters would be no help to people. */
export const MAX_DESCRIBED = 100

/** What a verification depends on; plain JSON, as the ledger keeps it. A token has at most one approval of each origin. */
export interface ApprovalFacts {
  approval_id: string
  origin: ApprovalOrigin
  status: ApprovalStatus
  rules: Pick<ApprovedRule, 'rule_id' | 'rule_hash'>[]
  expires_at: string
  /** When it was approved, denied or cancelled. */
  decided_at: string | null
  /** Until when an approved token may be used, unless it expires earlier. */
  usable_until: string | null
}

/** One approval for several rules. */
export interface MergedDemand {
  /** The largest number of any rule. */
  min_approvals: number
  /** Roles of all rules together. Each rule also has its own number of votes from its own roles: see `missingVotes`. */
  roles: ApproverRole[]
  /** The shortest of all rules. */
  ttl_seconds: number
  require_passkey: boolean
}

/** @throws {Error} when no rule requires an approval. */
export function mergeRules(rules: readonly CompiledRule[]): MergedDemand {
  const demands = rules.flatMap(demandsOf)
  if (demands.length === 0) throw new Error('an approval is for at least one rule that requires it')
  return {
    min_approvals: Math.max(...demands.map(({ minApprovals }) => minApprovals)),
    roles: [...new Set(demands.flatMap(({ roles }) => roles))].toSorted(),
    ttl_seconds: Math.min(...demands.map(({ ttlSeconds }) => ttlSeconds)),
    require_passkey: demands.some(({ requiresPasskey }) => requiresPasskey),
  }
}

/** The rules as an approval keeps them: all, since it covers each of them. */
export function approvedRulesOf(rules: readonly CompiledRule[]): ApprovedRule[] {
  const demanding = rules.flatMap((rule) => demandsOf(rule).map((demand) => ({ rule, demand })))
  return demanding.map(({ rule: { id, hash, description }, demand: { minApprovals, roles } }, index) => ({
    rule_id: id,
    rule_hash: hash ?? '',
    min_approvals: minApprovals,
    roles: [...roles],
    ...(description !== undefined && index < MAX_DESCRIBED && { description }),
  }))
}

export function approvalFactsOf(row: ApprovalRow, at: Date): ApprovalFacts {
  const { outcome, expiresAt, decidedAt } = row
  const usableUntil =
    outcome === 'approved' && decidedAt !== null
      ? new Date(decidedAt.getTime() + row.tokenTtlSeconds * 1_000).toISOString()
      : null
  return {
    approval_id: row.id,
    origin: row.origin,
    status: outcome ?? (at >= expiresAt ? 'expired' : 'pending'),
    rules: row.rules.map(({ rule_id, rule_hash }) => ({ rule_id, rule_hash })),
    expires_at: expiresAt.toISOString(),
    decided_at: decidedAt?.toISOString() ?? null,
    usable_until: usableUntil,
  }
}

/**
 * Rules of a policy whose approval was given for exactly their current form. An unrelated change of the policy voids
 * nothing; a change of a rule voids the approval of its earlier form.
 */
export function coveredRules(approvals: readonly ApprovalFacts[], policy: CompiledPolicy): PolicyAnswers['approvals'] {
  const approved = new Set(approvals.flatMap(({ status, rules }) => (status === 'approved' ? rules.map(keyOf) : [])))
  if (approved.size === 0) return {}
  const covered = policy.rules.filter(
    ({ id, hash }) => hash !== undefined && approved.has(keyOf({ rule_id: id, rule_hash: hash })),
  )
  return Object.fromEntries(covered.map(({ id }) => [id, 'covered']))
}

/** A vote for the action by a person who may vote. */
export interface CountedVote {
  userId: string
  /** The voter's role now. */
  role: string
}

/** Whether only people who are signed in decide. In live they do, unless the policy says otherwise. */
export function requiresHumanSession({ approvals }: PolicyDocument, environment: Environment): boolean {
  return approvals?.require_human_session ?? environment === 'live'
}

/** Where only people decide, earlier votes of keys don't count either: an account turns this on when a key has leaked. */
export function countedVotes<Vote extends { keyRootId: string | null }>(
  votes: readonly Vote[],
  isHumanOnly: boolean,
): Vote[] {
  return votes.filter(({ keyRootId }) => keyRootId === null || !isHumanOnly)
}

/** How many more approvals are missing, from people with one of the roles. */
export interface MissingVotes {
  roles: readonly ApproverRole[]
  approvals: number
}

/**
 * What is missing; empty: it is approved. Each person counts once. The number of all rules together must be there, and for each
 * rule its own number of people with its own roles: an approval for several rules is never easier than that of one of them.
 */
export function missingVotes(
  { minApprovals, roles, rules }: Pick<ApprovalRow, 'minApprovals' | 'roles' | 'rules'>,
  votes: readonly CountedVote[],
): MissingVotes[] {
  const voters = [...new Map(votes.map((vote) => [vote.userId, vote])).values()]
  const demands = [
    { roles, min_approvals: minApprovals },
    ...rules.map(({ roles: own, min_approvals }) => ({ roles: own, min_approvals })),
  ]
  const missing = new Map<string, MissingVotes>()
  for (const { roles: wanted, min_approvals: wantedVotes } of demands) {
    const given = voters.filter(({ role }) => wanted.some((one) => one === role)).length
    const key = wanted.toSorted().join(' ')
    const approvals = Math.max(wantedVotes - given, missing.get(key)?.approvals ?? 0)
    if (approvals > 0) missing.set(key, { roles: wanted.toSorted(), approvals })
  }
  return [...missing.values()]
}

function demandsOf({ requirements }: CompiledRule) {
  return requirements.filter((requirement) => requirement.kind === 'approval')
}

function keyOf({ rule_id, rule_hash }: Pick<ApprovedRule, 'rule_id' | 'rule_hash'>): string {
  return `${rule_id} ${rule_hash}`
}
