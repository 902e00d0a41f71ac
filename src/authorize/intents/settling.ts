// Writes a decision of verify and everything that follows from it, in its transaction: the execution with what it charges, the
// approval that people are asked for, the lock of a canary that tripped, the entries of the ledger.

import { countOperations } from '#src/account/usage/meter.ts'
import { type ApprovalFacts, approvalFactsOf } from '#src/authorize/approvals/facts.ts'
import type { ApprovalsFeature } from '#src/authorize/approvals/feature.ts'
import { markExecuted as markOrderExecuted } from '#src/authorize/orders/rows.ts'
import type { CurrentCompiled } from '#src/authorize/policy/current.ts'
import { findIntent, markExecuted, type VerifiedIntent } from '#src/authorize/tokens/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { isTripping } from '#src/trace/canaries/conditions.ts'
import type { CanaryPort } from '#src/trace/canaries/port.ts'
import { chargesOf, spend } from './charging.ts'
import type { VerifyFacts } from './facts.ts'
import type { OutsideAnswers } from './outside-answers.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { decisionsOfVerify } from './record.ts'
import type { Presented } from './verify-input.ts'

export interface Verified {
  decisionId: string
  facts: VerifyFacts
  outcome: VerifyOutcome
  /** This verification executed the action. */
  isExecuted: boolean
}

export interface JudgedToken {
  facts: VerifyFacts
  outcome: VerifyOutcome
  policy: CurrentCompiled | null
  asked: OutsideAnswers | undefined
  /** undefined: the token is not one of this service. */
  row: VerifiedIntent | undefined
}

export interface SettlingDeps {
  ledger: Pick<Ledger, 'recordMany'>
  canaries: Pick<CanaryPort, 'tripAtVerify' | 'tripByKillSwitch'>
  openApproval: ApprovalsFeature['openApproval']
}

export function createSettle({ ledger, canaries, openApproval }: SettlingDeps) {
  /**
   * A trip locks the session or the agent where the kill switch says so: one by which the kill switch refuses, and one of a
   * condition, also where another rule gives the reason.
   */
  async function trip(tx: Tx, caller: Caller, judged: JudgedToken): Promise<JudgedToken> {
    const { facts, outcome, asked } = judged
    const { token, canary_trip: refusal } = facts
    if (token === null) return judged
    const { jti, agent_id: agentId, agent_session_id: agentSessionId } = token
    const subject = { agentId, agentSessionId }
    const { canary_readings: readings, matched_rule_id: answeredBy } = outcome
    if (refusal !== null && readings !== undefined && answeredBy === undefined) {
      const { lockId } = await canaries.tripByKillSwitch(tx, caller, { ...subject, refusal, jti, at: facts.at })
      return withLock(judged, lockId)
    }
    const ruleId = readings === undefined ? trippedRuleOf(outcome, asked) : answeredBy
    const reading = ruleId === undefined ? undefined : asked?.readings.get(ruleId)
    if (ruleId === undefined || reading === undefined) return judged
    const { lockId } = await canaries.tripAtVerify(tx, caller, { ...subject, jti, matchedRuleId: ruleId, reading })
    return readings === undefined ? judged : withLock(judged, lockId)
  }

  const withLock = (judged: JudgedToken, lockId: string | undefined): JudgedToken =>
    lockId === undefined ? judged : { ...judged, outcome: { ...judged.outcome, lock_id: lockId } }

  /** A rule whose condition tripped, of those that were evaluated. */
  function trippedRuleOf({ results }: VerifyOutcome, asked: OutsideAnswers | undefined): string | undefined {
    const unmet = results.filter(({ effect, matched, met }) => effect === 'canary' && matched && !met)
    return unmet.find(({ rule_id: id }) => isTripping(asked?.readings.get(id)))?.rule_id
  }

  /**
   * A policy that was tightened since authorize asks people too, once for each token. A check (`execute: false`) opens
   * no approval.
   */
  async function open(tx: Tx, caller: Caller, judged: JudgedToken): Promise<JudgedToken> {
    const { facts, outcome, policy } = judged
    const opens = new Set(outcome.opens)
    if (!facts.request.execute || opens.size === 0 || policy === null || judged.row === undefined) return judged
    const row = await findIntent(tx, judged.row.jti)
    if (row === undefined) throw new Error('a token is gone while its row is locked')
    const approval = await openApproval(tx, caller, {
      jti: row.jti,
      origin: 'verify',
      rules: policy.compiled.rules.filter(({ id }) => opens.has(id)),
      action_description: facts.request.action_description,
      action_payload: facts.request.action_payload,
      action_hash: row.actionHash,
      payload_hash: row.payloadHash,
      agentId: row.agentId,
      agentSessionId: row.agentSessionId,
      deviceId: row.deviceId,
      requesterUserId: row.passkeyUserId,
      tokenTtlSeconds: Math.ceil((row.expiresAt.getTime() - row.createdAt.getTime()) / 1_000),
      latestExpiry: earliest(row.expiresAt, facts.approvals),
      mandateId: row.mandateId,
      scheduleId: row.scheduleId,
      orderId: row.orderId,
    })
    const approvals = [...facts.approvals, approvalFactsOf(approval, new Date(facts.at))]
    const now = { ...facts, approvals }
    return { ...judged, facts: now, outcome: runPipeline(now, policy.compiled) }
  }

  return async (tx: Tx, presented: Presented, first: JudgedToken): Promise<Verified> => {
    const { caller, request, decisionId, tokenSha256, execution } = presented
    const judged = await open(tx, caller, await trip(tx, caller, first))
    const { facts, outcome, policy } = judged
    const isExecuted = outcome.valid && request.execute && facts.execution === null
    const decision = {
      id: decisionId,
      principal: caller.principal,
      facts,
      outcome,
      policy,
      tokenSha256: tokenSha256.toString('base64url'),
    }
    const charges = isExecuted ? chargesOf(facts) : undefined
    if (charges !== undefined) {
      const { jti, orderId } = charges
      const marks = await Promise.all([
        markExecuted(tx, jti, execution),
        orderId === undefined || markOrderExecuted(tx, caller, orderId, { decisionId, at: new Date(facts.at) }),
        spend(tx, caller, charges),
      ])
      if (marks.includes(false)) throw new Error('a token or an order was executed while its row was locked')
    }
    const decisions = decisionsOfVerify(decision, charges)
    tx.withCommit(() =>
      Promise.all([ledger.recordMany(tx, caller, decisions), countOperations(tx, caller, 'verify', [decisionId])]),
    )
    return { decisionId, facts, outcome, isExecuted }
  }
}

// A token that waited for an approval is valid for its own lifetime from the decision on: people who are asked later than
// that are asked in vain.
function earliest(expiresAt: Date, approvals: readonly Pick<ApprovalFacts, 'usable_until'>[]): Date {
  const ends = approvals.flatMap(({ usable_until: until }) => (until === null ? [] : [Date.parse(until)]))
  return new Date(Math.min(expiresAt.getTime(), ...ends))
}
