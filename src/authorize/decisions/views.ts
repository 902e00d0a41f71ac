import { z } from 'zod'
import { ruleResultView } from '#src/authorize/policy/views.ts'
import { DECISION_KIND_NAMES } from '#src/catalogue/decisions.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import type { Checkpoint } from '#src/platform/ledger/tree-rows.ts'
import { type ChainCheck, LEDGER_PROBLEMS, type LedgerProblemCode } from './chain.ts'
import type { Explanation, ShownDecision } from './decisions.ts'
import type { Consistency, Inclusion } from './proving.ts'

const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const hash = z.string().describe('SHA-256, base64url without padding.')

export const decisionKind = z.enum(DECISION_KIND_NAMES).meta({ id: 'DecisionKind' })

const text = z.string()

// Actor as hashed, with the labels that were known at that time.
const entryActorView = z
  .object({
    actor_id: text.describe('Id of the API key or user.'),
    person: text.nullable().describe('The user of a session; with a key, the person whom its caller named.'),
    api_key_id: text.nullable(),
  })
  .meta({ id: 'DecisionEntryActor', verbatim: true })

const entryView = z
  .object({
    decision_id: text,
    kind: decisionKind,
    environment,
    at: timestampView,
    actor: z.union([z.literal('service'), entryActorView]),
    subject_id: text.nullable().describe('Id of the subject of the decision.'),
    reason: text.nullable(),
    valid: z.boolean().nullable().describe('null: neither a permission nor a refusal.'),
    inputs: z.record(text, text.nullable()).describe('Hashes and ids of the inputs.'),
    matched_rule_id: text.nullable().describe('The rule of the policy that gave the answer.'),
    policy_version: z.number().int().nullable(),
    rule_results: z
      .array(ruleResultView)
      .describe(
        'Results of rules that decide and of shadow rules, at most 100 of each: first the rule that gave the answer, ' +
          'then rules that refused, then the others.',
      ),
    rule_results_omitted: z
      .number()
      .int()
      .optional()
      .describe(
        'Number of results that are left out; absent when none is. `replay.rules` of the explanation has the first ' +
          '1,000.',
      ),
    facts_hash: hash.nullable(),
  })
  .meta({ id: 'DecisionEntry', verbatim: true })

export const decisionView = z
  .object({
    decision_id: text,
    kind: decisionKind,
    environment,
    at: timestampView,
    actor: actorView,
    subject_id: text.nullable().describe('Id of the subject of the decision.'),
    reason: text.nullable(),
    valid: z.boolean().nullable().describe('null: neither a permission nor a refusal.'),
    jti: text.nullable(),
    agent_id: text.nullable(),
    agent_session_id: text.nullable(),
    device_id: text.nullable(),
    mandate_id: text.nullable(),
    schedule_id: text.nullable(),
    trace_id: text.nullable(),
    matched_rule_id: text.nullable().describe('The rule of the policy that gave the answer.'),
    policy_version: z.number().int().nullable(),
    entry: entryView.describe('Entry as the ledger stores it.'),
    entry_hash: hash.describe('SHA-256 of the canonical JSON (RFC 8785) of `entry`.'),
    position: z.number().int().nullable().describe('Position of the leaf in the log; null for about a second.'),
  })
  .meta({ id: 'Decision' })

const factsStatus = z.enum(['intact', 'changed', 'none']).meta({ id: 'DecisionFactsStatus' })

export const explanationView = z
  .object({
    decision: decisionView,
    meaning: z.string().describe('What decisions of this kind record.'),
    entry_intact: z.boolean().describe('Whether the hash of the entry is correct.'),
    facts_status: factsStatus,
    facts: z.unknown().nullable(),
    replay: z
      .unknown()
      .nullable()
      .describe('null: decisions of this kind are not repeated, or the facts are not intact.'),
    same_answer: z.boolean().nullable().describe('Whether the facts lead to the recorded answer again.'),
    differences: z.array(z.string()).describe('Members whose value differs.'),
  })
  .meta({ id: 'DecisionExplanation' })

export const checkpointView = z
  .object({
    size: z.number().int().describe('Number of leaves that it covers.'),
    root: hash,
    at: timestampView,
    jws: z.string().describe('JWS by a record key; `typ` is `ledger-checkpoint+jwt`.'),
  })
  .meta({ id: 'LedgerCheckpoint' })

export const inclusionView = z
  .object({
    decision_id: z.string(),
    entry_hash: hash,
    leaf_hash: hash.describe('SHA-256 of 0x00 and `entry_hash`.'),
    position: z.number().int(),
    size: z.number().int(),
    root: hash,
    proof: z.array(hash).describe('Proof of RFC 6962 2.1.1, from the neighbour of the leaf to the top.'),
    checkpoint: checkpointView.nullable().describe('Checkpoint of exactly this size; null: there is none.'),
  })
  .meta({ id: 'LedgerInclusionProof' })

const treeView = z.object({ size: z.number().int(), root: hash }).meta({ id: 'LedgerTree' })

export const consistencyView = z
  .object({ from: treeView, to: treeView, proof: z.array(hash).describe('Proof of RFC 6962 2.1.2.') })
  .meta({ id: 'LedgerConsistencyProof' })

export const chainCheckView = z
  .object({
    valid: z.boolean().describe('true: this part has no findings.'),
    size: z.number().int().describe('Number of leaves of the log.'),
    from: z.number().int(),
    to: z.number().int(),
    next: z.number().int().nullable().describe('`from` of the next part; null after the last.'),
    leaves: z.number().int().describe('Number of checked leaves.'),
    entries_gone: z
      .number()
      .int()
      .describe('Number of leaves whose entries were deleted at the end of their retention.'),
    checkpoints: z.number().int().describe('Number of checked checkpoints.'),
    problems: z.array(
      z
        .object({
          code: z
            .enum(Object.keys(LEDGER_PROBLEMS) as [LedgerProblemCode, ...LedgerProblemCode[]])
            .meta({ id: 'LedgerProblemCode' }),
          position: z.number().int().nullable(),
          decision_id: z.string().nullable(),
          detail: z.string(),
        })
        .meta({ id: 'LedgerProblem' }),
    ),
    has_more_problems: z.boolean(),
  })
  .meta({ id: 'LedgerCheck' })

const position = z.number().int()

const headLine = z
  .object({
    type: z.literal('head'),
    version: z.literal(1),
    account_id: z.string(),
    environment,
    from: position.describe('The position of the first leaf.'),
    size: z.number().int().describe('Leaves at the last checkpoint of the export.'),
    frontier: z.array(hash).describe('Roots of the complete subtrees of the leaves before `from`, the largest first.'),
  })
  .meta({ id: 'LedgerHeadLine' })
const entryLine = z
  .object({ type: z.literal('entry'), position, leaf_hash: hash, entry_hash: hash, entry: entryView })
  .meta({ id: 'LedgerEntryLine' })
const leafLine = z
  .object({ type: z.literal('leaf'), position, leaf_hash: hash, decision_id: z.string() })
  .meta({ id: 'LedgerLeafLine' })
const checkpointLine = extended(checkpointView, { type: z.literal('checkpoint') }, { id: 'LedgerCheckpointLine' })
const endLine = z.object({ type: z.literal('end'), size: z.number().int() }).meta({ id: 'LedgerEndLine' })

/** A line of the export. */
export const ledgerLineView = z
  .discriminatedUnion('type', [headLine, entryLine, leafLine, checkpointLine, endLine])
  .meta({ id: 'LedgerLine' })

export function toDecisionView({
  entry,
  entryHash,
  position,
  actor,
  subjects,
}: ShownDecision): z.input<typeof decisionView> {
  const { decision_id, kind, at, subject_id, reason, valid, policy_version } = entry
  return {
    decision_id,
    kind,
    environment: entry.environment,
    at,
    actor,
    subject_id,
    reason,
    valid,
    jti: subjects.jti,
    agent_id: subjects.agentId,
    agent_session_id: subjects.agentSessionId,
    device_id: subjects.deviceId,
    mandate_id: subjects.mandateId,
    schedule_id: subjects.scheduleId,
    trace_id: subjects.traceId,
    matched_rule_id: subjects.matchedRuleId,
    policy_version,
    entry,
    entry_hash: entryHash,
    position,
  }
}

export function toExplanationView(explanation: Explanation): z.input<typeof explanationView> {
  const { decision, meaning, isEntryIntact, facts, shownFacts, replay, isSameAnswer, differences } = explanation
  return {
    decision: toDecisionView(decision),
    meaning,
    entry_intact: isEntryIntact,
    facts_status: facts,
    facts: shownFacts,
    replay,
    same_answer: isSameAnswer,
    differences,
  }
}

export function toCheckpointView({ size, root, at, jws }: Checkpoint): z.input<typeof checkpointView> {
  return { size, root: textOf(root), at: at.toISOString(), jws }
}

export function toInclusionView(inclusion: Inclusion): z.input<typeof inclusionView> {
  const { decisionId, entrySha256, leaf, position, size, root, proof, checkpoint } = inclusion
  return {
    decision_id: decisionId,
    entry_hash: textOf(entrySha256),
    leaf_hash: textOf(leaf),
    position,
    size,
    root: textOf(root),
    proof: proof.map(textOf),
    checkpoint: checkpoint === null ? null : toCheckpointView(checkpoint),
  }
}

export function toConsistencyView({ from, to, proof }: Consistency): z.input<typeof consistencyView> {
  const tree = ({ size, root }: Consistency['from']) => ({ size, root: textOf(root) })
  return { from: tree(from), to: tree(to), proof: proof.map(textOf) }
}

export function toChainCheckView(check: ChainCheck): z.input<typeof chainCheckView> {
  const { size, from, to, next, leaves, gone, checkpoints, problems, hasMoreProblems } = check
  return {
    valid: problems.length === 0,
    ...{ size, from, to, next, leaves, checkpoints },
    entries_gone: gone,
    problems: problems.map(({ code, position, decisionId }) => ({
      code,
      position,
      decision_id: decisionId,
      detail: LEDGER_PROBLEMS[code],
    })),
    has_more_problems: hasMoreProblems,
  }
}

function textOf(hash: Buffer): string {
  return hash.toString('base64url')
}
