// The questions of a verification that leave this process or take long: the policy's webhooks and the readings of
// canaries. All are asked at once, outside of any transaction. What has no answer in time is unavailable.

import type { CompiledPolicy } from '#src/authorize/policy/compile.ts'
import { type CanaryAnswer, NO_ANSWERS, type PolicyAnswers, type PolicyNeed } from '#src/authorize/policy/evaluate.ts'
import { needsOf } from '#src/authorize/policy/requirements.ts'
import type { UnavailableCause } from '#src/authorize/webhooks/answer.ts'
import type { PolicyWebhooks } from '#src/authorize/webhooks/policy-webhooks.ts'
import { note } from '#src/platform/context.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { CanaryCondition, CanaryReading } from '#src/trace/canaries/conditions.ts'
import type { InferenceInput } from '#src/trace/canaries/input.ts'
import { shownFamily } from '#src/trace/canaries/judge.ts'
import type { CanaryPort, CanaryState } from '#src/trace/canaries/port.ts'
import { policyFactsOf, type TokenFacts, type VerifyFacts } from './facts.ts'

export interface OutsideAnswers {
  /** What was asked. */
  needs: readonly PolicyNeed[]
  answers: PolicyAnswers
  /** Readings by rule. */
  readings: ReadonlyMap<string, CanaryReading>
  /** A reading tripped: the decision may lock the session or the agent. */
  hasTripped: boolean
}

export const NOTHING_ASKED: OutsideAnswers = {
  needs: [],
  answers: { webhooks: {}, canaries: {}, approvals: {} },
  readings: new Map(),
  hasTripped: false,
}

export interface AskingDeps {
  policyWebhooks: Pick<PolicyWebhooks, 'ask'>
  canaries: Pick<CanaryPort, 'read'>
  log: Log
}

/** What the questions are about. */
export interface Evaluation {
  /** The id of the decision that the answers are for. */
  decisionId: string
  facts: VerifyFacts
  token: TokenFacts
  needs: readonly PolicyNeed[]
  inferenceInput: InferenceInput | undefined
}

type CanaryNeed = PolicyNeed & { kind: 'canary' }

// Age that a condition accepts when it names none (docs/trace/canaries.md, Conditions of a policy).
const MAX_AGE_SECONDS = 300

export type Ask = ReturnType<typeof createAsk>

export function createAsk({ policyWebhooks, canaries, log }: AskingDeps) {
  async function readAll(
    acting: Acting,
    { facts, token, inferenceInput }: Evaluation,
    needs: readonly CanaryNeed[],
    signal: AbortSignal,
  ): Promise<(CanaryReading | undefined)[]> {
    if (needs.length === 0) return []
    const source = {
      traceId: facts.request.trace_id ?? token.trace_id,
      inferenceInput,
      agentSessionId: token.agent_session_id,
      agentId: token.agent_id,
    }
    return canaries.read(acting, source, needs.map(conditionOf), signal).catch((error: unknown) => {
      log.warn({ err: error }, 'a canary reading failed')
      return []
    })
  }

  /** @throws when the client leaves meanwhile: then nothing is decided. */
  return async (acting: Acting, evaluation: Evaluation, signal: AbortSignal): Promise<OutsideAnswers> => {
    const { decisionId, facts, token, needs } = evaluation
    const webhookNeeds = needs.flatMap((need) =>
      need.kind === 'webhook' ? [{ ruleId: need.rule_id, url: need.url, timeoutMs: need.timeout_ms }] : [],
    )
    const canaryNeeds = needs.filter((need) => need.kind === 'canary')
    const [webhooks, read] = await Promise.all([
      policyWebhooks.ask(acting, webhookNeeds, questionOf(decisionId, facts, token), signal),
      readAll(acting, evaluation, canaryNeeds, signal),
    ])
    signal.throwIfAborted()
    note({ intent: token.jti })
    const readings = canaryNeeds.map(({ rule_id }, index) => [rule_id, read[index]] as const)
    const found = readings.flatMap(([ruleId, reading]) => (reading === undefined ? [] : [[ruleId, reading] as const]))
    return {
      needs,
      answers: {
        webhooks,
        canaries: Object.fromEntries(
          readings.map(([ruleId, reading]) => [ruleId, reading === undefined ? 'unavailable' : answerOf(reading)]),
        ),
        approvals: {},
      },
      readings: new Map(found),
      hasTripped: found.some(([, reading]) => reading.families.some(({ tripped }) => tripped)),
    }
  }
}

/**
 * The answers that the stored reading of the token's trace has without asking anything. A need that it can't answer stays
 * open, whatever its mode: verify may be given an input or another trace.
 */
export function storedAnswers(needs: readonly PolicyNeed[], readFor: CanaryState['readFor']): PolicyAnswers {
  const canaries = needs.flatMap((need) => {
    const reading = need.kind === 'canary' ? readFor(conditionOf(need)) : undefined
    return reading === undefined ? [] : [[need.rule_id, answerOf(reading)] as const]
  })
  return { ...NO_ANSWERS, canaries: Object.fromEntries(canaries) }
}

/**
 * Answers as they count under the policy that decides. The policy may have changed since the questions: an answer from
 * another receiver, or another reading, does not count for a rule of the same id. A rule without an answer refuses,
 * unless the reading is `best_effort`: then the question has to be asked.
 */
export function answersUnder({ rules }: CompiledPolicy, asked: OutsideAnswers): OutsideAnswers {
  const askedIds = new Set(asked.needs.map((need) => need.rule_id))
  const questions = new Set(asked.needs.map((need) => JSON.stringify(need)))
  const current = askedIds.size === 0 ? [] : rules.filter(({ id }) => askedIds.has(id)).flatMap(needsOf)
  const changed = current.filter((need) => !questions.has(JSON.stringify(need)))
  if (changed.length === 0) return asked
  const idsOf = (wanted: PolicyNeed['kind']) =>
    changed.filter(({ kind }) => kind === wanted).map((need) => need.rule_id)
  const [webhookIds, canaryIds] = [idsOf('webhook'), idsOf('canary')]
  const passing = new Set(changed.flatMap((need) => (isPassing(need) ? [need.rule_id] : [])))
  const strictIds = canaryIds.filter((id) => !passing.has(id))
  const changedNow = { unavailable: 'policy_changed' satisfies UnavailableCause }
  const { answers, readings } = asked
  return {
    ...asked,
    answers: {
      ...answers,
      webhooks: { ...answers.webhooks, ...Object.fromEntries(webhookIds.map((id) => [id, changedNow])) },
      canaries: {
        ...Object.fromEntries(Object.entries(answers.canaries).filter(([id]) => !passing.has(id))),
        ...Object.fromEntries(strictIds.map((id) => [id, 'unavailable' as const])),
      },
    },
    readings: new Map([...readings].filter(([id]) => !canaryIds.includes(id))),
  }
}

/** A reading that is not there lets the action pass. */
function isPassing(need: PolicyNeed): boolean {
  return need.kind === 'canary' && need.mode === 'best_effort'
}

/** With a trip of the session, the agent or the bound reading as the answer to each condition that counts it. */
export function withTrips(
  { rules }: CompiledPolicy,
  asked: OutsideAnswers,
  tripFor: CanaryState['tripFor'],
): OutsideAnswers {
  if (tripFor === undefined) return asked
  const trips = rules.flatMap(needsOf).flatMap((need) => {
    const trip = need.kind === 'canary' ? tripFor(conditionOf(need)) : undefined
    return trip === undefined ? [] : [[need.rule_id, trip] as const]
  })
  if (trips.length === 0) return asked
  const canaries = Object.fromEntries(trips.map(([ruleId, trip]) => [ruleId, answerOf(trip)]))
  return {
    ...asked,
    answers: { ...asked.answers, canaries: { ...asked.answers.canaries, ...canaries } },
    readings: new Map([...asked.readings, ...trips]),
  }
}

/** The oldest trip that a condition of the policy counts, in seconds; 0 without a condition. */
export function maxAgeOf({ rules, asksOutside }: CompiledPolicy): number {
  if (!asksOutside) return 0
  const ages = rules.flatMap(needsOf).map((need) => (need.kind === 'canary' ? conditionOf(need).maxAgeSeconds : 0))
  return Math.max(0, ...ages)
}

function questionOf(decisionId: string, facts: VerifyFacts, token: TokenFacts) {
  return {
    evaluation_id: decisionId,
    jti: token.jti,
    ...actionOf(facts, token),
    agent_id: token.agent_id,
    agent_session_id: token.agent_session_id,
    device_id: token.device_id,
  }
}

// The action of an order says something about a patient, so it leaves the service by its hashes alone.
function actionOf(facts: VerifyFacts, token: TokenFacts) {
  const { action_description, action_payload, action_hash, payload_hash } = facts.request
  const { order_id, order_hash } = token
  if (order_id !== null && order_hash !== null) {
    const order = { order_id, order_hash, action_hash, payload_hash }
    return { action_description: null, action_payload: null, context: null, order }
  }
  // The relying party's own, where it sends one.
  const context: JsonObject = policyFactsOf(facts, token).at(-1)?.context ?? {}
  return { action_description, action_payload, context }
}

function conditionOf({
  set,
  families,
  max_age_s: maxAgeSeconds = MAX_AGE_SECONDS,
  source,
}: CanaryNeed): CanaryCondition {
  return { set, families, maxAgeSeconds, source }
}

function answerOf({ set, traceId, source, families }: CanaryReading): CanaryAnswer {
  const tripped = families.filter((family) => family.tripped)
  return {
    tripped: tripped.length > 0,
    families: tripped.map(({ family }) => family),
    set,
    readings: families.map((family) => ({ ...shownFamily(family) })),
    trace_id: traceId,
    source,
  }
}

/** Accounts whose policy this process has seen last; further ones are asked about as if they were new. */
const MAX_REMEMBERED = 10_000

/** Remembers which policies ask nothing outside. Out of date it costs a second transaction and no wrong answer. */
export function createPolicyMemory() {
  const known = new Map<string, boolean>()
  const nameOf = ({ accountId, environment }: Scope) => `${accountId} ${environment}`
  return {
    asksNothing: (scope: Scope) => known.get(nameOf(scope)) === true,
    keep(scope: Scope, { asksOutside }: CompiledPolicy) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.set(nameOf(scope), !asksOutside)
    },
  }
}
