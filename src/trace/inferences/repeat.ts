// What a repeat of an inference is answered, by its Idempotency-Key: the same facts. A completion that was not kept is
// made again from the request, which has its text, and is the same by its hash. It is given out as a first one is:
// under the locks of the session and its agent, and by the current kill switch. Nothing is recorded or counted.

import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { lockShared } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { noSuch } from '#src/platform/ids.ts'
import { type CheckFacts, isBlocking, judgeCheck } from '../canaries/judge.ts'
import { findTrace } from '../canaries/traces.ts'
import { locksOf } from '../locks/locks.ts'
import type { Models } from '../models/models.ts'
import { completionHashOf, promptHashOf } from './contents.ts'
import type { InferenceAnswer } from './inferences.ts'
import { type InferenceBody, inputOf } from './request.ts'
import { checkFactsOf, readRunContext, refuseRun, unreadRefusal } from './run-context.ts'

interface RepeatDeps extends Pick<Platform, 'db' | 'ledger'> {
  models: Pick<Models, 'version'>
}

export type Repeat = ReturnType<typeof createRepeat>

export function createRepeat({ db, ledger, models }: RepeatDeps) {
  /** null where the model has another version now. */
  async function makeAgain(
    acting: Acting,
    body: InferenceBody,
    { modelVersionId, inference }: InferenceAnswer['trace'],
    signal: AbortSignal,
  ): Promise<string | null> {
    const { promptHash, completionHash, maxTokens, sampling } = inference
    try {
      const backend = await models.version(modelVersionId ?? '')
      // It would cost another call, and give another text.
      if (!(await backend.capabilities()).deterministic) return null
      const input = inputOf(body, (await backend.modelVersion()).hasChat)
      if (promptHashOf(input) !== promptHash) return null
      const { text } = await backend.generate({ input, maxTokens, sampling }, { signal, lane: acting.accountId })
      return completionHashOf(text) === completionHash ? text : null
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return null
      throw error
    }
  }

  /** What is answered now, without the completion. */
  async function readAnswer(tx: Tx, made: string): Promise<InferenceAnswer> {
    const [traceId = '', decisionId = '', lockId = ''] = made.split(' ')
    const [found, facts] = await Promise.all([findTrace(tx, traceId), ledger.readFacts(tx, decisionId)])
    if (found === undefined || found.inference === null || facts === undefined) throw noSuch(traceId)
    const trace = { ...found, inference: found.inference }
    const answer: InferenceAnswer = {
      trace,
      completion: null,
      toolCalls: [],
      judgement: judgedBy(facts),
      lockId: lockId === '' ? null : lockId,
      decisionId,
    }
    if (isWithheld(answer)) return answer
    const context = await readRunContext(tx, trace)
    refuseRun(context, trace)
    const judgement = judgeCheck(checkFactsOf(trace, context))
    if (!isBlocking(judgement.mode) || judgement.allowed) return answer
    if (judgement.tripped_families.length === 0) throw unreadRefusal(trace.inference.model)
    return {
      ...answer,
      trace: { ...trace, inference: { ...trace.inference, finishReason: 'canary_tripped' } },
      judgement,
    }
  }

  /**
   * @param made What `infer` passed to `once`.
   * @throws {Failure} `not_found` where the trace is not kept any more; of a completion that was given as a first request:
   * `session_canary_locked`, `agent_suspended`, `agent_session_ended`; `backend_capability_missing`; `service_unavailable`.
   */
  return async (acting: Acting, body: InferenceBody, made: string, signal: AbortSignal): Promise<InferenceAnswer> => {
    const first = await db.tenant(acting, (tx) => readAnswer(tx, made))
    if (isWithheld(first)) return first
    const completion = await makeAgain(acting, body, first.trace, signal)
    // A lock or another kill switch that came while the model ran.
    return db.tenant(acting, async (tx) => {
      await lockShared(tx, locksOf(acting, first.trace))
      const answer = await readAnswer(tx, made)
      return isWithheld(answer) ? answer : { ...answer, completion }
    })
  }
}

const isWithheld = ({ trace: { inference } }: InferenceAnswer): boolean => inference.finishReason === 'canary_tripped'

// The ledger keeps what `judgeCheck` was given.
const judgedBy = (facts: Json) => judgeCheck(facts as unknown as CheckFacts)
