// POST /v1/trace/traces/:id/interventions: the model reads a trace again with some of its neurons ablated or scaled. Nothing is
// recorded but that it was done: it counts as an inference. A repeat by its Idempotency-Key has the model measure again, and
// does not count.

import { randomUUID } from 'node:crypto'
import { countOperations } from '#src/account/usage/meter.ts'
import { Failure, refusalOf } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { Intervention } from '../attribution/intervene.ts'
import type { ModelVersion } from '../models/backend.ts'
import { capabilityMissing, hasCapability } from '../models/capabilities.ts'
import type { Models } from '../models/models.ts'
import { type InterventionBody, type NeuronPlace, neuronPlaceOf } from './bodies.ts'
import { checkInput, checkTargetPosition, findKeptText, getExplainedTrace, repeatText } from './texts.ts'

interface InterventionDeps extends Pick<Platform, 'db' | 'sealer'> {
  models: Pick<Models, 'version'>
}

interface InterventionOptions {
  key: IdempotencyKey | undefined
  signal: AbortSignal
}

export type Interventions = ReturnType<typeof createInterventions>

export function createInterventions({ db, sealer, models }: InterventionDeps) {
  async function measure(
    scope: Scope,
    id: string,
    body: InterventionBody,
    { key, signal }: InterventionOptions,
  ): Promise<Intervention> {
    checkId(id, 'trc', scope.environment)
    note({ trace: id })
    const { trace, kept } = await db.tenant(scope, async (tx) => {
      if (key !== undefined) await refuseRepeat(tx, key)
      return { trace: await getExplainedTrace(tx, id), kept: await findKeptText(tx, sealer, id) }
    })
    checkTargetPosition(trace, body.target.position)
    // A text that is kept needs no input; one that came all the same must not be another.
    const input = kept === undefined || body.input !== undefined ? checkInput(trace, body.input) : undefined
    const backend = await models.version(trace.modelVersionId)
    // Before it completes the input again, which costs something elsewhere.
    if (!hasCapability(await backend.capabilities(), 'intervene')) throw capabilityMissing(backend.model, 'intervene')
    const edits = body.edits.map(({ node_id, factor }) => ({ ...neuronPlaceOf(node_id), factor }))
    checkPlaces(edits, await backend.modelVersion(), trace.inference.promptTokens + body.target.position)
    const options = { signal, lane: scope.accountId }
    const text = kept ?? (input && (await repeatText(backend, trace, input, options)))
    if (text === undefined) {
      const detail = `${id} keeps no text, and the model completes its input in another way than it did.`
      throw new Failure('text_not_kept', detail)
    }
    const tokens = text.tokens.slice(0, text.promptTokens + body.target.position)
    return backend.call('intervene', { tokens, edits, topTokens: body.top_tokens }, options)
  }

  return {
    /**
     * @throws {Failure} `not_found`, also where the model has another version now; `environment_mismatch`; `conflict` for a
     * withheld completion; `text_not_kept` where the model says something else now; `invalid_request`; `backend_capability_missing`;
     * `service_unavailable`.
     */
    async run(scope: Scope, id: string, body: InterventionBody, options: InterventionOptions): Promise<Intervention> {
      const made = await measure(scope, id, body, options)
      // It has no row of its own.
      const count = (tx: Tx) => countOperations(tx, scope, 'inference', [`${id} ${randomUUID()}`])
      await db.tenant(scope, (tx) => once(tx, options.key, count, () => id))
      return made
    },

    /** Repeats an intervention that was counted. Throws as `run`. */
    repeat: (scope: Scope, id: string, body: InterventionBody, signal: AbortSignal): Promise<Intervention> =>
      measure(scope, id, body, { key: undefined, signal }),
  }
}

/** @throws {Failure} `invalid_request` at each `/edits/<index>/node_id` that the text has not. */
function checkPlaces(
  edits: readonly NeuronPlace[],
  { layers, mlp }: Pick<ModelVersion, 'layers' | 'mlp'>,
  positions: number,
): void {
  const bounds = { layer: layers - 1, neuron: mlp - 1, position: positions - 1 } as const
  const errors = edits.flatMap((edit, index) => {
    const beyond = (['layer', 'neuron', 'position'] as const).filter((name) => edit[name] > bounds[name])
    if (beyond.length === 0) return []
    const detail = beyond.map((name) => `its ${name} must be at most ${bounds[name]}`).join(', ')
    return [{ pointer: `/edits/${index}/node_id`, code: 'out_of_range' as const, detail }]
  })
  if (errors.length > 0) throw refusalOf(errors)
}
