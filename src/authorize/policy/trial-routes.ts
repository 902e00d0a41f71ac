import { z } from 'zod'
import { hardwareTierView } from '#src/attest/judgement-views.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { jsonObject, timestamp } from '#src/platform/http/params.ts'
import { documentSchema } from './document.ts'
import type { PolicyAnswers, PolicyFacts } from './evaluate.ts'
import { COMMON, DOCUMENT_LIMITS, PATH } from './routes.ts'
import { PLAIN_FACTS } from './samples.ts'
import type { Replay, Trials } from './trials.ts'
import { evaluationView, toEvaluationView } from './views.ts'

const common = { ...COMMON, permission: 'policy.read' } as const
const drafting = { ...common, ...DOCUMENT_LIMITS, method: 'POST' } as const

const whole = z.number().int()
const text = z.string()

const simulateRequest = z.strictObject({
  draft: documentSchema.optional().describe('Default: the stored policy.'),
  version: whole.min(0).max(999_999_999).optional().describe('A stored version, in place of the current one.'),
  input: z
    .strictObject({
      action_type: text.max(200).nullable().optional(),
      action_description: text.max(2_000).optional(),
      action_payload: jsonObject.optional(),
      context: jsonObject.optional(),
      authorize_context: jsonObject.optional().describe('The context that authorize was given, where verify has another.'),
      agent: jsonObject.nullable().optional(),
      device: z
        .strictObject({ id: text.max(200).default(''), tier: hardwareTierView, enrolled: z.boolean().default(true) })
        .optional()
        .describe('Default: a device that is not enrolled.'),
      session: jsonObject.optional(),
      mandate: jsonObject.nullable().optional(),
      schedule: jsonObject.nullable().optional(),
      canary: jsonObject.nullable().optional(),
      at: timestamp.optional().describe('Default: now.'),
      token: z.strictObject({ biometric: z.boolean() }).optional(),
    })
    .describe('What verify would have. Everything is optional.'),
  answers: z
    .strictObject({
      webhooks: z
        .record(
          z.string(),
          z.union([
            z.literal('unavailable'),
            z.strictObject({ decision: z.enum(['allow', 'deny']), reason: text.max(200).optional() }),
          ]),
        )
        .default({}),
      canaries: z
        .record(
          z.string(),
          z.union([
            z.literal('unavailable'),
            z.strictObject({
              tripped: z.boolean(),
              families: z.array(text).default([]),
              set: text.default(''),
              source: z.enum(['server', 'client']).default('server'),
            }),
          ]),
        )
        .default({}),
      approvals: z.record(z.string(), z.literal('covered')).default({}).describe('The rules whose approval is given.'),
    })
    .optional()
    .describe(
      'By rule id: what the policy webhook and the canaries would answer, and what people have approved. A webhook without one is pending.',
    ),
})

const findingView = z
  .object({
    code: z.enum([
      'always_denies',
      'never_matches',
      'shadowed_by',
      'conflicts_with',
      'unreachable_approval',
      'webhook_unreachable',
      'ineffective',
    ]),
    rule_id: text,
    pointer: text,
    other_rule_id: text.optional(),
    detail: text,
  })
  .meta({ id: 'PolicyFinding' })

const analysisView = z
  .object({
    findings: z.array(findingView),
    complete: z
      .boolean()
      .describe('false: more than 500 findings, or too many rules of too many cases to compare all.'),
  })
  .meta({ id: 'PolicyAnalysis' })

const answered = z.object({ valid: z.boolean(), reason: text.nullable() })
const replayView = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        decision_id: text,
        jti: text.nullable(),
        at: z.iso.datetime(),
        before: answered,
        after: answered.extend({ matched_rule_id: text.nullable() }),
      }),
    ),
    has_more: z.boolean(),
    next_cursor: text.nullable(),
    looked: whole.describe('Decisions that this page has examined, oldest first.'),
    looked_to: z.iso.datetime().nullable().describe('When the last of them was made.'),
    would_change: whole.describe('All are in `data`.'),
    unaffected: whole.describe('Refused before the policy was asked, or while the account was stopped.'),
    unknown: whole.describe('The draft needs an answer that was not asked for then, or no facts were recorded.'),
    rules: z
      .array(z.object({ rule_id: text, refused_before: whole, refuses_after: whole }))
      .describe('Decisions that each rule refused then, and refuses under the draft.'),
  })
  .meta({ id: 'PolicyReplay' })

const shadowReportView = z
  .object({
    looked: whole.describe('Decisions that this page has examined, oldest first.'),
    looked_to: z.iso.datetime().nullable(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    next_cursor: text.nullable(),
    rules: z.array(
      z.object({
        rule_id: text,
        matched: whole,
        would_deny: whole,
        would_allow: whole,
        shadow_webhook_unevaluated: whole.describe('Its webhook or canary was not asked: shadow rules never are.'),
        errors: whole,
        divergent: whole.describe('Valid decisions that the rule would have refused.'),
        examples: z.array(text).describe('Some of those decisions.'),
      }),
    ),
  })
  .meta({ id: 'PolicyShadowReport' })

export function trialRoutes(trials: Trials, { now }: { now: () => Date }): Route[] {
  const simulate = async ({ caller, body }: { caller: Parameters<Trials['simulate']>[0]; body: SimulateBody }) => {
    const { draft, version, input, answers } = body
    const contexts = contextsOf(input, now())
    const given = { webhooks: {}, canaries: {}, approvals: {}, ...answers } as unknown as PolicyAnswers
    const { version: used, evaluation } = await trials.simulate(caller, { draft, version, contexts, answers: given })
    return toEvaluationView(evaluation, used)
  }
  const analyze = async ({ caller, body }: { caller: Parameters<Trials['analyze']>[0]; body: AnalyzeBody }) => {
    const { findings, isComplete } = await trials.analyze(caller, body.draft)
    return { findings, complete: isComplete }
  }
  const replay = async ({ caller, body }: { caller: Parameters<Trials['replay']>[0]; body: ReplayBody }) =>
    toReplayView(await trials.replay(caller, body))

  // None of them creates anything that a repeated request could show: it is answered anew.
  return [
    endpoint(
      {
        ...drafting,
        path: `${PATH}/analyze`,
        operationId: 'analyzePolicy',
        summary: 'Rules that always deny, never match or never give the reason, and more',
        body: analyzeRequest,
        view: analysisView,
        status: [200],
      },
      analyze,
      analyze,
    ),
    endpoint(
      {
        ...drafting,
        path: `${PATH}/simulate`,
        operationId: 'simulatePolicy',
        summary: 'What a policy says of facts, with the result of each rule',
        body: simulateRequest,
        view: evaluationView,
        status: [200],
      },
      simulate,
      simulate,
    ),
    endpoint(
      {
        ...drafting,
        path: `${PATH}/replay`,
        operationId: 'replayPolicy',
        summary: 'Which past verifications a draft would answer otherwise',
        body: replayRequest,
        view: replayView,
        status: [200],
      },
      replay,
      replay,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/shadow-report`,
        operationId: 'getShadowReport',
        summary: 'What the shadow rules would have done, and where they differ from the answers',
        query: z.object({
          from: timestamp.optional().describe('Decisions made at or after; default: a week before `to`.'),
          to: timestamp.optional().describe('Decisions made before; default: now.'),
          cursor: text.max(1_024).optional().describe('next_cursor of the page before; send its from and to again.'),
        }),
        view: shadowReportView,
        status: [200],
      },
      async ({ caller, query }) => {
        const { from, to, looked, lookedTo, rules, nextCursor } = await trials.shadowReport(
          caller,
          rangeOf(query, now()),
        )
        return {
          looked,
          looked_to: lookedTo,
          from,
          to,
          next_cursor: nextCursor,
          rules: rules.map(({ ruleId, wouldDeny, wouldAllow, unevaluated, ...tally }) => ({
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

const analyzeRequest = z.strictObject({ draft: documentSchema.optional().describe('Default: the stored policy.') })
const replayRequest = z.strictObject({
  draft: documentSchema,
  from: timestamp.describe('Decisions made at or after.'),
  to: timestamp.describe('Decisions made before.'),
  limit: whole.min(1).max(500).default(100).describe('Maximum number of changed decisions in the answer.'),
  cursor: text.max(1_024).optional().describe('next_cursor of the page before.'),
})
type SimulateBody = z.output<typeof simulateRequest>
type AnalyzeBody = z.output<typeof analyzeRequest>
type ReplayBody = z.output<typeof replayRequest>

const DEFAULT_RANGE_MS = 7 * 86_400_000

function rangeOf(
  { from, to, cursor }: { from?: string | undefined; to?: string | undefined; cursor?: string | undefined },
  now: Date,
) {
  const end = to === undefined ? now : new Date(to)
  const start = from === undefined ? new Date(end.getTime() - DEFAULT_RANGE_MS) : new Date(from)
  return { from: start.toISOString(), to: end.toISOString(), cursor }
}

function contextsOf(input: SimulateBody['input'], now: Date): PolicyFacts[] {
  const { authorize_context: authorized, at, ...given } = input
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const facts = { ...PLAIN_FACTS, ...(named as Record<string, Json>) } as PolicyFacts
  const timed = { ...facts, at: at === undefined ? now.toISOString() : new Date(at).toISOString() }
  const context = timed.context
  return authorized === undefined
    ? [timed]
    : [
        { ...timed, context: authorized as JsonObject },
        { ...timed, context },
      ]
}

function toReplayView(replay: Replay): z.input<typeof replayView> {
  return {
    object: 'list',
    data: replay.changes.map(({ entry, before, after }) => ({
      decision_id: entry.id,
      jti: entry.subject,
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
