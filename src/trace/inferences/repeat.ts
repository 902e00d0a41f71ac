// What a repeat of an inference is answered, by its Idempotency-Key: the same facts. A completion that was not kept is made
// again from the request, which has its text, and is the same by its hash. Nothing is recorded or counted.

import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { type CheckFacts, judgeCheck } from '../canaries/judge.ts'
import { findTrace, noTrace } from '../canaries/traces.ts'
import type { Models } from '../models/models.ts'
import { completionHashOf, promptHashOf } from './contents.ts'
import type { InferenceAnswer } from './inferences.ts'
import { type InferenceBody, inputOf } from './request.ts'
import { readRunContext, refuseRun } from './run-context.ts'

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

  /**
   * @param made What `infer` passed to `once`.
   * @throws {Failure} `not_found` where the trace is not kept any more; while the session is locked as a first request.
   */
  return async (acting: Acting, body: InferenceBody, made: string, signal: AbortSignal): Promise<InferenceAnswer> => {
    const [traceId = '', decisionId = '', lockId = ''] = made.split(' ')
    const { trace, facts } = await db.tenant(acting, async (tx) => {
      const [trace, facts] = await Promise.all([findTrace(tx, traceId), ledger.readFacts(tx, decisionId)])
      if (trace === undefined || trace.inference === null || facts === undefined) throw noTrace(traceId)
      // A completion was given once; a lock that came since holds back every further one.
      if (trace.inference.completionHash !== null) refuseRun(await readRunContext(tx, trace), trace)
      return { trace: { ...trace, inference: trace.inference }, facts }
    })
    const isWithheld = trace.inference.completionHash === null
    return {
      trace,
      completion: isWithheld ? null : await makeAgain(acting, body, trace, signal),
      judgement: judgedBy(facts),
      lockId: lockId === '' ? null : lockId,
      decisionId,
    }
  }
}

// The ledger keeps what `judgeCheck` was given.
const judgedBy = (facts: Json) => judgeCheck(facts as unknown as CheckFacts)
