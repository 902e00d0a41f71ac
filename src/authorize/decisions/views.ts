import { z } from 'zod'
import { ruleResultView } from '#src/authorize/policy/views.ts'
import { DECISION_KIND_NAMES } from '#src/catalogue/decisions.ts'
import type { Checkpoint } from '#src/platform/ledger/tree-rows.ts'
import { type ChainCheck, LEDGER_PROBLEMS, type LedgerProblemCode } from './chain.ts'
import type { Explanation } from './decisions.ts'
import type { Consistency, Inclusion } from './proving.ts'

const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const hash = z.string().describe('SHA-256, base64url without padding.')

export const decisionKind = z.enum(DECISION_KIND_NAMES).meta({ id: 'DecisionKind' })

const decisionActor = z
  .union([
    z.literal('service'),
    z.object({ id: z.string(), person: z.string().nullable(), key_id: z.string().nullable() }),
  ])
  .meta({ id: 'DecisionActor' })

export const decisionView = z
  .object({
    id: z.string(),
    kind: decisionKind,
    env: environment,
    at: z.string(),
    actor: decisionActor,
    subject: z.string().nullable().describe('The id of what was decided about.'),
    reason: z.string().nullable(),
    valid: z.boolean().nullable().describe('null: neither a permission nor a refusal.'),
    inputs: z.record(z.string(), z.string().nullable()).describe('Hashes and ids of what was given.'),
    policy_version: z.number().int().nullable(),
    rule_results: z
      .array(ruleResultView)
      .describe(
        'At most 100 of rules that decide, and of shadow rules: of the rule that gave the answer, then of those that refused, then of others.',
      ),
    rule_results_omitted: z
      .number()
      .int()
      .optional()
      .describe('How many more there were; absent where none. `replay.rules` of the explanation has the first 1,000.'),
    facts_hash: hash.nullable(),
    entry_hash: hash.describe('SHA-256 of the canonical JSON (RFC 8785) of the members before it.'),
    position: z.number().int().nullable().describe('Of its leaf in the log; null for about a second.'),
  })
  .meta({ id: 'Decision' })

export const explanationView = z
  .object({
    decision: decisionView,
    meaning: z.string().describe('What decisions of this kind record.'),
    entry_intact: z.boolean().describe('Whether the entry has its hash.'),
    facts_state: z.enum(['intact', 'changed', 'none']),
    facts: z.unknown().nullable(),
    replay: z
      .unknown()
      .nullable()
      .describe('null: decisions of this kind are not repeated, or the facts are not intact.'),
    same_answer: z.boolean().nullable().describe('Whether the facts lead to the recorded answer again.'),
    differences: z.array(z.string()).describe('Members for which they do not.'),
  })
  .meta({ id: 'DecisionExplanation' })

export const checkpointView = z
  .object({
    size: z.number().int().describe('Leaves that it covers.'),
    root: hash,
    at: z.string(),
    jws: z.string().describe('Signed by a record key; `typ` is `ledger-checkpoint+jwt`.'),
  })
  .meta({ id: 'LedgerCheckpoint' })

export const inclusionView = z
  .object({
    decision_id: z.string(),
    entry_hash: hash,
    leaf_hash: hash.describe('SHA-256 of 0x00 and the entry_hash.'),
    position: z.number().int(),
    size: z.number().int(),
    root: hash,
    proof: z.array(hash).describe('RFC 6962 2.1.1, from the neighbour of the leaf to the top.'),
    checkpoint: checkpointView.nullable().describe('null: none has exactly this size.'),
  })
  .meta({ id: 'LedgerInclusionProof' })

const treeView = z.object({ size: z.number().int(), root: hash }).meta({ id: 'LedgerTree' })

export const consistencyView = z
  .object({ from: treeView, to: treeView, proof: z.array(hash).describe('RFC 6962 2.1.2.') })
  .meta({ id: 'LedgerConsistencyProof' })

export const chainCheckView = z
  .object({
    valid: z.boolean().describe('Nothing was found in this part.'),
    size: z.number().int().describe('Leaves of the log.'),
    from: z.number().int(),
    to: z.number().int(),
    next: z.number().int().nullable().describe('`from` of the next part; null after the last.'),
    leaves: z.number().int().describe('Checked leaves.'),
    entries_gone: z.number().int().describe('Leaves whose entries went when their retention ended.'),
    checkpoints: z.number().int().describe('Checked checkpoints.'),
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
const { entry_hash: _, position: __, ...hashed } = decisionView.shape

/** A line of the export. */
export const ledgerLineView = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('head'),
      version: z.literal(1),
      account_id: z.string(),
      env: environment,
      from: position.describe('The position of the first leaf.'),
      size: z.number().int().describe('Leaves at the last checkpoint of the export.'),
      frontier: z
        .array(hash)
        .describe('Roots of the complete subtrees of the leaves before `from`, the largest first.'),
    }),
    z.object({ type: z.literal('entry'), position, leaf_hash: hash, entry_hash: hash, entry: z.object(hashed) }),
    z.object({ type: z.literal('leaf'), position, leaf_hash: hash, decision_id: z.string() }),
    z.object({ type: z.literal('checkpoint'), ...checkpointView.shape }),
    z.object({ type: z.literal('end'), size: z.number().int() }),
  ])
  .meta({ id: 'LedgerLine' })

export function toExplanationView(explanation: Explanation): z.input<typeof explanationView> {
  const { decision, meaning, isEntryIntact, facts, shownFacts, replay, isSameAnswer, differences } = explanation
  return {
    decision,
    meaning,
    entry_intact: isEntryIntact,
    facts_state: facts,
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
