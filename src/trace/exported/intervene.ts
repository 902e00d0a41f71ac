// Runs a text again with the activations of some neurons multiplied by factors. The prediction beside the measured change
// is that of direct attribution: it knows the neurons of the last position, and of them what they write to the output.

import {
  checkIntervention,
  compareTokens,
  type Intervention,
  type InterventionRequest,
} from '../attribution/intervene.ts'
import { largestTokens } from '../attribution/objective.ts'
import { turn } from '../llama/generation.ts'
import { knownWriters } from './attribute.ts'
import type { ExportedModel } from './decoder.ts'
import { computeDirect } from './direct.ts'

/** @throws {ModelError} `request_invalid`, `capability_missing`, `attribution_inexact`, `aborted`. */
export async function interveneExported(
  model: ExportedModel,
  { tokens, edits, topTokens }: InterventionRequest,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Intervention> {
  const writers = knownWriters(model)
  const { neurons } = writers
  checkIntervention({ layers: writers.layers.length, mlp: neurons }, { tokens, edits, topTokens })
  const { logits: before, written } = await model.pass({ texts: [tokens], capture: true })
  await turn(signal)
  const { logits: after } = await model.pass({ texts: [tokens], edits: [edits] })
  const [own, changed] = [before[0], after[0]]
  if (own === undefined || changed === undefined || written === undefined) throw new TypeError('a pass gave nothing')
  const shown = [...new Set([...largestTokens(own, topTokens), ...largestTokens(changed, topTokens)])]
  const explained = shown.map((token) => ({ token, logit: own[token] ?? 0 }))
  const direct = computeDirect(writers, written, explained)
  const predicted = shown.map((_, index) =>
    edits
      .filter(({ position }) => position === tokens.length - 1)
      .reduce(
        (sum, { layer, neuron, factor }) => sum + (factor - 1) * (direct.neurons[layer]?.[index]?.[neuron] ?? 0),
        0,
      ),
  )
  return {
    tokens: compareTokens(model.tokenizer, shown, { before: own, after: changed, predicted }),
    edits: edits.map((edit) => {
      const activationBefore = written.layers[edit.layer]?.activations[edit.position * neurons + edit.neuron] ?? 0
      return { ...edit, activationBefore, activationAfter: activationBefore * edit.factor }
    }),
  }
}
