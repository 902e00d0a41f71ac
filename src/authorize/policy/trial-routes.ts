import { z } from 'zod'
import { hardwareTierView } from '#src/attest/judgement-views.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { jsonObject, timestamp } from '#src/platform/http/params.ts'
import { documentSchema } from './document.ts'
import type { PolicyAnswers, PolicyFacts } from './evaluate.ts'
import { COMMON, DOCUMENT_LIMITS, PATH } from './routes.ts'
import { PLAIN_FACTS } from './samples.ts'
import type { Trials } from './trials.ts'
import { evaluationView, findingView, toEvaluationView } from './views.ts'

const common = { ...COMMON, permission: 'policy.read' } as const
const trying = { ...common, ...DOCUMENT_LIMITS, method: 'POST' } as const

const whole = z.number().int()
const text = z.string()

const deviceFacts = z
  .strictObject({ id: text.max(200).default(''), tier: hardwareTierView, enrolled: z.boolean().default(true) })
  .meta({ id: 'PolicyDeviceFacts', verbatim: true })

const factsSchema = z
  .strictObject({
    action_type: text.max(200).nullable().optional(),
    action_description: text.max(2_000).optional(),
    action_payload: jsonObject.optional(),
    context: jsonObject.optional(),
    authorize_context: jsonObject.optional().describe('Context of authorize, where verify has another.'),
    agent: jsonObject.nullable().optional(),
    device: deviceFacts.optional().describe('Facts about the device. Default: a device that is not enrolled.'),
    session: jsonObject.optional(),
    mandate: jsonObject.nullable().optional(),
    schedule: jsonObject.nullable().optional(),
    canary: jsonObject.nullable().optional(),
    at: timestamp.optional().describe('Time of the decision. Default: now.'),
    token: z.strictObject({ biometric: z.boolean() }).meta({ id: 'PolicyTokenFacts', verbatim: true }).optional(),
  })
  // Rules name them as they are written here.
  .meta({ id: 'PolicyFacts', verbatim: true })

const unavailable = z.literal('unavailable')
const webhookAnswer = z
  .strictObject({
    decision: z.enum(['allow', 'deny']).meta({ id: 'PolicyWebhookDecision' }),
    reason: text.max(200).optional(),
  })
  .meta({ id: 'SimulatedWebhookAnswer' })
const canaryAnswer = z
  .strictObject({
    tripped: z.boolean(),
    families: z.array(text).default([]),
    set: text.default(''),
    source: z
      .enum(['server', 'client'])
      .meta({ id: 'ReadingSource' })
      .default('server')
      .describe('client: the reading can refuse, and satisfies no condition. Default: server.'),
  })
  .meta({ id: 'SimulatedCanaryAnswer' })

const answersSchema = z
  .strictObject({
    webhooks: z.record(z.string(), z.union([unavailable, webhookAnswer])).default({}),
    canaries: z.record(z.string(), z.union([unavailable, canaryAnswer])).default({}),
    approvals: z.record(z.string(), z.literal('covered')).default({}).describe('Rules whose approval is given.'),
  })
  .meta({ id: 'SimulatedAnswers' })

const simulateRequest = z.strictObject({
  document: documentSchema.optional().describe('Default: the stored policy.'),
  version: whole
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('Stored version to evaluate, in place of the current one.'),
  input: factsSchema.describe('Facts that verify would have. All members are optional.'),
  answers: answersSchema
    .optional()
    .describe(
      'Replies by rule id: what the policy webhook and the canaries would answer, and what people have approved. A ' +
        'webhook without a reply is pending.',
    ),
})

const analysisView = z
  .object({
    findings: z.array(findingView),
    complete: z
      .boolean()
      .describe('false: there are more than 500 findings, or too many cases of rules to compare all.'),
  })
  .meta({ id: 'PolicyAnalysis' })

export function trialRoutes(trials: Trials, { now }: { now: () => Date }): Route[] {
  const simulate = async ({ caller, body }: { caller: Parameters<Trials['simulate']>[0]; body: SimulateBody }) => {
    const { document, version, input, answers } = body
    const contexts = contextsOf(input, now())
    const given = { webhooks: {}, canaries: {}, approvals: {}, ...answers } as unknown as PolicyAnswers
    const { version: used, evaluation } = await trials.simulate(caller, { document, version, contexts, answers: given })
    return toEvaluationView(evaluation, used)
  }
  const analyze = async ({ caller, body }: { caller: Parameters<Trials['analyze']>[0]; body: AnalyzeBody }) => {
    const { findings, isComplete } = await trials.analyze(caller, body.document)
    return { findings, complete: isComplete }
  }

  // Neither creates anything that a repeated request could show: it is answered anew.
  return [
    endpoint(
      {
        ...trying,
        path: `${PATH}/analyze`,
        operationId: 'analyzePolicy',
        sdk: 'policy.analyze',
        effect: 'read',
        kind: 'call',
        summary: 'Find rules that always deny, never match or never give the reason, and more',
        body: analyzeRequest,
        view: analysisView,
        status: [200],
      },
      analyze,
      analyze,
    ),
    endpoint(
      {
        ...trying,
        path: `${PATH}/simulate`,
        operationId: 'simulatePolicy',
        sdk: 'policy.simulate',
        effect: 'read',
        kind: 'call',
        summary: 'Evaluate a policy on given facts, with the result of each rule',
        body: simulateRequest,
        view: evaluationView,
        status: [200],
      },
      simulate,
      simulate,
    ),
  ]
}

const analyzeRequest = z.strictObject({ document: documentSchema.optional().describe('Default: the stored policy.') })
type SimulateBody = z.output<typeof simulateRequest>
type AnalyzeBody = z.output<typeof analyzeRequest>

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
