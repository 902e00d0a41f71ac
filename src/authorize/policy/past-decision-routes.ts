import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf } from '#src/platform/http/page.ts'
import { timestamp } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { documentSchema } from './document.ts'
import type { PastDecisions, Replay } from './past-decisions.ts'
import { COMMON, DOCUMENT_LIMITS, PATH } from './routes.ts'

const common = { ...COMMON, permission: 'policy.read' } as const
const whole = z.number().int()
const text = z.string()

const replayRequest = z.strictObject({
  document: documentSchema,
  from: timestamp.describe('Decisions made at or after this time.'),
  to: timestamp.describe('Decisions made before this time.'),
  limit: whole.min(1).max(500).default(100).describe('Maximum number of changed decisions in the answer.'),
  cursor: text.max(1_024).optional().describe('`next_cursor` of the page before.'),
})
type ReplayBody = z.output<typeof replayRequest>

const looked = {
  looked: whole.describe('Number of decisions that this page has examined, oldest first.'),
  looked_to: timestampView.nullable().describe('Time of the last examined decision.'),
}

const recordedAnswer = z
  .object({ valid: z.boolean(), reason: text.nullable() })
  .meta({ id: 'RecordedPolicyAnswer', description: 'What verify answered at the time.' })
const changedDecision = z
  .object({
    decision_id: text,
    jti: text.nullable(),
    at: timestampView,
    before: recordedAnswer,
    after: extended(recordedAnswer, { matched_rule_id: text.nullable() }, { id: 'ReplayedPolicyAnswer' }),
  })
  .meta({ id: 'ReplayedDecision' })
const ruleTally = z.object({ rule_id: text, refused_before: whole, refuses_after: whole }).meta({ id: 'ReplayedRule' })

const replayView = extended(
  listOf(changedDecision),
  {
    ...looked,
    would_change: whole.describe('Number of decisions that would change: all are in `data`.'),
    unaffected: whole.describe(
      'Decisions that were refused before the policy was evaluated, or while the account was stopped.',
    ),
    unknown: whole.describe(
      'Decisions without a result: the document needs an answer that was not requested at that time, or no facts were ' +
        'recorded.',
    ),
    rules: z
      .array(ruleTally)
      .describe('Decisions that each rule refused, and would refuse under the document in the request.'),
  },
  { id: 'PolicyReplay' },
)

const shadowRule = z
  .object({
    rule_id: text,
    matched: whole,
    would_deny: whole,
    would_allow: whole,
    shadow_webhook_unevaluated: whole.describe(
      'Decisions without an answer of the rule’s webhook or canary: shadow rules never ask.',
    ),
    errors: whole,
    divergent: whole.describe('Number of valid decisions that the rule would have refused.'),
    examples: z.array(text).describe('Some of those decisions.'),
  })
  .meta({ id: 'ShadowRule' })

const shadowReportView = extended(
  listOf(shadowRule),
  { from: timestampView, to: timestampView, ...looked },
  { id: 'PolicyShadowReport' },
)

export function pastDecisionRoutes(past: PastDecisions, { now }: { now: () => Date }): Route[] {
  const replay = async ({ caller, body }: { caller: Parameters<PastDecisions['replay']>[0]; body: ReplayBody }) =>
    toReplayView(await past.replay(caller, body))

  return [
    endpoint(
      {
        ...common,
        ...DOCUMENT_LIMITS,
        method: 'POST',
        path: `${PATH}/replay`,
        operationId: 'replayPolicy',
        sdk: 'policy.replay',
        effect: 'read',
        kind: 'call',
        summary: 'Find past verifications that another policy would answer differently',
        body: replayRequest,
        view: replayView,
        status: [200],
      },
      replay,
      // It creates nothing that a repeated request could show: that is answered anew.
      replay,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/shadow-report`,
        operationId: 'getShadowReport',
        sdk: 'policy.shadowReport.list',
        effect: 'read',
        kind: 'list',
        summary: 'Report what the shadow rules would have done, and where they differ from the answers',
        query: z.object({
          from: timestamp.optional().describe('Decisions made at or after this time; default: a week before `to`.'),
          to: timestamp.optional().describe('Decisions made before this time; default: now.'),
          cursor: text
            .max(1_024)
            .optional()
            .describe('`next_cursor` of the page before; send the same `from` and `to` again.'),
        }),
        view: shadowReportView,
        status: [200],
      },
      async ({ caller, query }) => {
        const { from, to, looked, lookedTo, rules, nextCursor } = await past.shadowReport(caller, rangeOf(query, now()))
        return {
          object: 'list' as const,
          has_more: nextCursor !== null,
          next_cursor: nextCursor,
          from,
          to,
          looked,
          looked_to: lookedTo,
          data: rules.map(({ ruleId, wouldDeny, wouldAllow, unevaluated, ...tally }) => ({
            rule_id: ruleId,
            would_deny: wouldDeny,
            would_allow: wouldAllow,
            shadow_webhook_unevaluated: unevaluated,
            ...tally,
          })),
        }
      },
    ),
  ]
}

const DEFAULT_RANGE_MS = 7 * 86_400_000

function rangeOf(
  { from, to, cursor }: { from?: string | undefined; to?: string | undefined; cursor?: string | undefined },
  now: Date,
) {
  const end = to === undefined ? now : new Date(to)
  const start = from === undefined ? new Date(end.getTime() - DEFAULT_RANGE_MS) : new Date(from)
  return { from: start.toISOString(), to: end.toISOString(), cursor }
}

function toReplayView(replay: Replay): z.input<typeof replayView> {
  return {
    object: 'list',
    data: replay.changes.map(({ entry, before, after }) => ({
      decision_id: entry.decision_id,
      jti: entry.subject_id,
      at: entry.at,
      before,
      after: { valid: after.valid, reason: after.reason, matched_rule_id: after.matchedRuleId },
    })),
    has_more: replay.nextCursor !== null,
    next_cursor: replay.nextCursor,
    looked: replay.looked,
    looked_to: replay.lookedTo,
    would_change: replay.changes.length,
    unaffected: replay.unaffected,
    unknown: replay.unknown,
    rules: replay.tallies.map(({ ruleId, before, after }) => ({
      rule_id: ruleId,
      refused_before: before,
      refuses_after: after,
    })),
  }
}
