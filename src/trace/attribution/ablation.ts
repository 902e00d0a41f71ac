// What the model really does without a neuron: the text is run again with its activation at one position set to 0, and
// attention, norms and gates follow as they will. The frozen model predicts the change; the two together say how far to
// trust a graph.

import { feedText } from '../llama/generation.ts'
import { type FrozenPass, feederOf } from './frozen.ts'
import { differenceOf, type Objective } from './objective.ts'
import type { NeuronEffect } from './total-effects.ts'

export interface VerifiedNeuron extends NeuronEffect {
  /** Change of the objective when the neuron is ablated. */
  predicted: number
  measured: number
}

export interface Agreement {
  /** The part of the verified neurons whose two changes have one sign. */
  sign: number
  /** Pearson's, of the two changes; null for fewer than three neurons, or where all changes are equal. */
  correlation: number | null
}

/** The pass must be the last text that the model has run, apart from other ablations of it. */
export async function ablate(
  { model, tokens }: FrozenPass,
  objective: Objective,
  neurons: readonly NeuronEffect[],
  { signal, onNeuron = () => {} }: { signal?: AbortSignal | undefined; onNeuron?: () => void } = {},
): Promise<VerifiedNeuron[]> {
  const feeder = feederOf(model)
  const measured = new Map<NeuronEffect, number>()
  // Nothing in front of an ablated position changes, so its keys and values are used again: the last positions come first.
  for (const neuron of neurons.toSorted((one, other) => other.position - one.position)) {
    feeder.rewind(neuron.position)
    const edits = [{ ...neuron, factor: 0 }]
    const rest = tokens.slice(neuron.position)
    const logits = await feedText(feeder, rest, { logits: 'last', edits, ...(signal && { signal }) })
    measured.set(neuron, differenceOf(logits, objective) - objective.difference)
    onNeuron()
  }
  return neurons.map((neuron) => ({ ...neuron, predicted: -neuron.effect, measured: measured.get(neuron) ?? 0 }))
}

export function agreementOf(verified: readonly Pick<VerifiedNeuron, 'predicted' | 'measured'>[]): Agreement {
  const same = verified.filter(({ predicted, measured }) => Math.sign(predicted) === Math.sign(measured))
  return {
    sign: verified.length === 0 ? 0 : same.length / verified.length,
    correlation: correlate(verified.map(({ predicted, measured }) => [predicted, measured])),
  }
}

function correlate(pairs: readonly (readonly [number, number])[]): number | null {
  if (pairs.length < 3) return null
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(pairs.map(([one]) => one)), mean(pairs.map(([, other]) => other))]
  const products = mean(pairs.map(([one, other]) => (one - x) * (other - y)))
  const spread = mean(pairs.map(([one]) => (one - x) ** 2)) * mean(pairs.map(([, other]) => (other - y) ** 2))
  return spread === 0 ? null : products / Math.sqrt(spread)
}
