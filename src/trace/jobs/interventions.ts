// POST /v1/trace/traces/:id/interventions: the model reads a trace again with some of its neurons ablated or scaled. Nothing is
// recorded but that it was done: it counts as an inference.

import { randomUUID } from 'node:crypto'
import { countOperations } from '#src/account/usage/meter.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { Intervention } from '../attribution/intervene.ts'
import { capabilityMissing, hasCapability } from '../models/capabilities.ts'
import type { Models } from '../models/models.ts'
import type { InterventionBody } from './bodies.ts'
import { checkInput, checkPosition, findKeptText, getExplainedTrace, repeatText } from './texts.ts'

interface InterventionDeps extends Pick<Platform, 'db' | 'sealer'> {
  models: Pick<Models, 'version'>
}

export type Interventions = ReturnType<typeof createInterventions>

export function createInterventions({ db, sealer, models }: InterventionDeps) {
  return {
    /**
     * @throws {Failure} `not_found`, also where the model has another version now; `environment_mismatch`; `conflict` for a
     * withheld completion, or where the model says something else now; `invalid_request`; `backend_capability_missing`;
     * `service_unavailable`.
     */
    async run(
      scope: Scope,
      id: string,
      body: InterventionBody,
      { key, signal }: { key: IdempotencyKey | undefined; signal: AbortSignal },
    ): Promise<Intervention> {
      checkId(id, 'trc', scope.environment)
      note({ trace: id })
      const { trace, kept } = await db.tenant(scope, async (tx) => ({
        trace: await getExplainedTrace(tx, id),
        kept: await findKeptText(tx, sealer, id),
      }))
      checkPosition(trace, body.target.position)
      const input = kept === undefined ? checkInput(trace, body.input) : undefined
      const backend = await models.version(trace.modelVersionId)
      // Before it completes the input again, which costs something elsewhere.
      if (!hasCapability(await backend.capabilities(), 'intervene')) throw capabilityMissing(backend.model, 'intervene')
      const options = { signal, lane: scope.accountId }
      const text = kept ?? (input && (await repeatText(backend, trace, input, options)))
      if (text === undefined) {
        throw new Failure('conflict', `The model completes the input of ${id} in another way than it did.`)
      }
      const tokens = text.tokens.slice(0, text.promptTokens + body.target.position)
      const edits = body.edits.map(({ node_id, factor }) => {
        const [layer = 0, neuron = 0, position = 0] = node_id.split('_').map(Number)
        return { layer, neuron, position, factor }
      })
      const made = await backend.call('intervene', { tokens, edits, topTokens: body.top_tokens }, options)
      await db.tenant(scope, (tx) => countOperations(tx, scope, 'inference', [`${id} ${nameOf(key)}`]))
      return made
    },
  }
}

// It has no row by which it could be counted once. The same key with another body is another intervention.
function nameOf(key: IdempotencyKey | undefined): string {
  const fingerprint = key?.fingerprint()
  return fingerprint === undefined || key === undefined
    ? randomUUID()
    : sha256Hex(Buffer.concat([key.digest, fingerprint]))
}
