// Mean and variance of each neuron's activation over prompts, in one pass (Welford), for both models. The state is one array
// of floats, so that it can be stored in the middle and continued with the same bits.

/** Four rows of as many numbers as there are neurons: mean and sum of squares of the base, and of the target. */
export interface NeuronMoments {
  neurons: number
  /** Prompts so far. */
  count: number
  values: Float64Array
}

export interface NeuronShift {
  layer: number
  neuron: number
  /** The mean activation in each model. */
  base_mean: number
  target_mean: number
  /** The difference of the means in standard deviations, those of both models averaged (Cohen's d). */
  effect: number
}

const ROWS = 4
// In units of an activation. A neuron that never moves would have an infinite effect.
const LEAST_DEVIATION = 1e-6

export function createMoments(neurons: number): NeuronMoments {
  return { neurons, count: 0, values: new Float64Array(ROWS * neurons) }
}

/** Adds one prompt: the mean activation of each neuron over its tokens. */
export function addActivations(moments: NeuronMoments, base: Float32Array, target: Float32Array): void {
  const { neurons, values } = moments
  if (base.length !== neurons || target.length !== neurons) throw new RangeError('another number of neurons')
  moments.count += 1
  const add = (row: number, activations: Float32Array) => {
    for (let neuron = 0; neuron < neurons; neuron += 1) {
      const [meanAt, squaresAt] = [row * neurons + neuron, (row + 1) * neurons + neuron]
      const value = activations[neuron] ?? 0
      const before = values[meanAt] ?? 0
      const mean = before + (value - before) / moments.count
      values[meanAt] = mean
      values[squaresAt] = (values[squaresAt] ?? 0) + (value - before) * (value - mean)
    }
  }
  add(0, base)
  add(2, target)
}

/** Returns the neurons with the largest effect first; equal ones in the order of the model. */
export function topShifted({ neurons, count, values }: NeuronMoments, perLayer: number, limit: number): NeuronShift[] {
  if (count < 2) return []
  const shifts: NeuronShift[] = []
  for (let index = 0; index < neurons; index += 1) {
    const at = (row: number) => values[row * neurons + index] ?? 0
    const deviation = Math.sqrt((at(1) + at(3)) / (2 * (count - 1)))
    const effect = (at(2) - at(0)) / Math.max(deviation, LEAST_DEVIATION)
    if (effect === 0) continue
    shifts.push({
      layer: Math.floor(index / perLayer),
      neuron: index % perLayer,
      base_mean: at(0),
      target_mean: at(2),
      effect,
    })
  }
  return shifts.toSorted((one, other) => Math.abs(other.effect) - Math.abs(one.effect)).slice(0, limit)
}
