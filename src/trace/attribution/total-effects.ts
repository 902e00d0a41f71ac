// The total effect of every neuron on a difference of two logits: the sum over all paths through the frozen model, other
// neurons included. One pass from the output to the first layer computes them all. What a neuron writes to the output
// directly says less: of neurons chosen by it, a third changed the logits in the other direction when they were ablated.

import { turn } from '../llama/generation.ts'
import { type Backward, createBackward } from './backward.ts'
import { activationsOf, dot, embeddingsOf, type FrozenPass } from './frozen.ts'

export interface NeuronEffect {
  layer: number
  position: number
  neuron: number
  activation: number
  /** What the objective would lose without it, in the frozen model. */
  effect: number
}

export interface TotalEffects {
  /** Neurons with the largest absolute effect, in the order of layer, position and neuron. */
  selected: NeuronEffect[]
  /** The part of the absolute effect of all neurons that the others have: 0 to 1. */
  remainderShare: number
  /** Effect of the token at each position. */
  embeddings: number[]
}

/** @param read A vector over the residual stream at the last position, behind the last layer. */
export async function computeTotalEffects(
  pass: FrozenPass,
  read: Float32Array,
  limit: number,
  { signal, onLayer = () => {} }: { signal?: AbortSignal | undefined; onLayer?: () => void } = {},
): Promise<TotalEffects> {
  const { width, mlp, layers } = pass.model.shape
  const { positions } = pass
  const backward = createBackward(pass, positions, { hasMlp: true })
  const segment = { firstRow: 0, positions }
  const largest = createLargest(limit)
  let sum = 0
  backward.rows.fill(0)
  backward.rows.set(read, (positions - 1) * width)
  for (let layer = layers - 1; layer >= 0; layer -= 1) {
    const activations = activationsOf(pass, layer)
    await backward.throughMlp(layer, [segment], {
      use(effects) {
        for (let index = 0; index < positions * mlp; index += 1) {
          const activation = activations[index] ?? 0
          const effect = activation * (effects[index] ?? 0)
          sum += Math.abs(effect)
          if (largest.isLarge(effect)) {
            largest.add({ layer, position: Math.floor(index / mlp), neuron: index % mlp, activation, effect })
          }
        }
      },
    })
    await backward.throughAttention(layer, [segment])
    onLayer()
    await turn(signal)
  }
  const selected = largest.take()
  const named = selected.reduce((total, { effect }) => total + Math.abs(effect), 0)
  const remainderShare = sum === 0 ? 0 : Math.max(0, 1 - named / sum)
  return { selected, remainderShare, embeddings: embeddingEffects(pass, backward) }
}

function embeddingEffects(pass: FrozenPass, backward: Backward): number[] {
  const { width } = pass.model.shape
  const embeddings = embeddingsOf(pass)
  return Array.from({ length: pass.positions }, (_, position) =>
    dot(embeddings, backward.rows, { oneFrom: position * width, otherFrom: position * width, count: width }),
  )
}

/** Keeps the largest of millions without keeping all: of equal effects, those of the lowest layer, position and neuron. */
export function createLargest(limit: number) {
  let kept: NeuronEffect[] = []
  let least = 0
  const cut = () => {
    kept = kept.toSorted(byEffect).slice(0, limit)
    if (kept.length === limit) least = Math.abs(kept.at(-1)?.effect ?? 0)
  }
  return {
    isLarge: (effect: number) => Math.abs(effect) >= least && effect !== 0,
    add(effect: NeuronEffect): void {
      kept.push(effect)
      if (kept.length >= limit * 4 + 1_024) cut()
    },
    take(): NeuronEffect[] {
      cut()
      return kept.toSorted(byPlace)
    },
  }
}

export function byEffect(one: NeuronEffect, other: NeuronEffect): number {
  return Math.abs(other.effect) - Math.abs(one.effect) || byPlace(one, other)
}

function byPlace(one: NeuronEffect, other: NeuronEffect): number {
  return one.layer - other.layer || one.position - other.position || one.neuron - other.neuron
}
