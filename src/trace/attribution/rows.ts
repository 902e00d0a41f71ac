// The exact rows of a graph: for each target (a logit, or a neuron's `up`) what every source adds to it. The sources of a
// row are the named neurons, for each layer and position all other neurons together, and the token embeddings. Their sum
// is the target's value, which is checked for each row.

import { modelError } from '../gguf/model-error.ts'
import { turn } from '../llama/generation.ts'
import { createBackward, type Segment } from './backward.ts'
import {
  dot,
  embeddingsOf,
  type FrozenPass,
  layerOf,
  mlpOutputOf,
  readColumns,
  readVectorOf,
  upVectorOf,
  weightsOf,
} from './frozen.ts'
import type { NeuronEffect } from './total-effects.ts'

export interface ExactRows {
  /** The named neurons, then layers x positions remainders, then the embeddings of the positions. */
  columns: number
  /** The row of each named neuron, in their order, then that of each logit. */
  rows: Float64Array[]
  sumCheck: SumCheck
}

export interface SumCheck {
  /** Relative to max(1, |target|). */
  maxError: number
  rows: number
}

/** Float32 products of 30 layers leave 4e-5 at most; what is wrong in the arithmetic leaves far more. */
export const MAX_SUM_ERROR = 1e-4

// 2,048 read-vectors of SmolLM2 are 5 MB; more of them at once save nothing.
const BATCH_ROWS = 2_048
const MAX_ROWS_BYTES = 256e6

interface Target {
  row: Float64Array
  /** The row is of what is read behind the attention of this layer; for a logit, behind the last MLP. */
  layer: number
  position: number
  value: number
  read(): Float32Array
}

/** @throws {ModelError} `attribution_inexact` when a row does not add up. */
export async function computeExactRows(
  pass: FrozenPass,
  neurons: readonly NeuronEffect[],
  logitTokens: readonly number[],
  { signal, onRows = () => {} }: { signal?: AbortSignal | undefined; onRows?: (count: number) => void } = {},
): Promise<ExactRows> {
  const { layers, mlp } = pass.model.shape
  const { positions } = pass
  const columns = neurons.length + layers * positions + positions
  const bytes = (neurons.length + logitTokens.length) * columns * 8
  if (bytes > MAX_ROWS_BYTES) {
    throw modelError(
      'request_invalid',
      `A graph of ${neurons.length} nodes over ${positions} tokens has ${Math.ceil(bytes / 1e6)} MB; ${MAX_ROWS_BYTES / 1e6} MB is the limit. Ask for fewer nodes.`,
    )
  }
  const targets: Target[] = [
    ...neurons.map(({ layer, position, neuron }) => ({
      row: new Float64Array(columns),
      layer,
      position,
      value: layerOf(pass, layer).up[position * mlp + neuron] ?? 0,
      read: () => upVectorOf(pass, layer, position, neuron),
    })),
    ...logitTokens.map((token) => ({
      row: new Float64Array(columns),
      layer: layers,
      position: positions - 1,
      value: pass.logits[token] ?? 0,
      read: () => readVectorOf(pass, token),
    })),
  ]
  await fillRows(pass, neurons, targets, { signal, onRows })
  return { columns, rows: targets.map(({ row }) => row), sumCheck: checkSums(targets) }
}

async function fillRows(
  pass: FrozenPass,
  neurons: readonly NeuronEffect[],
  targets: readonly Target[],
  { signal, onRows }: { signal: AbortSignal | undefined; onRows: (count: number) => void },
): Promise<void> {
  const { layers, width } = pass.model.shape
  const { positions } = pass
  const maxRows = Math.max(BATCH_ROWS, positions)
  const backward = createBackward(pass, maxRows, { hasMlp: false })
  const writers = Array.from({ length: layers }, (_, layer) => writersOf(pass, neurons, layer))
  const embeddings = embeddingsOf(pass)
  for (const batch of batchesOf(targets, maxRows)) {
    const highest = batch[0]?.target.layer ?? 0
    // Logits read behind the last layer.
    for (let layer = Math.min(highest, layers - 1); layer >= 0; layer -= 1) {
      const { output, named } = writers[layer] ?? { output: new Float64Array(), named: [] }
      for (const { target, firstRow } of batch) {
        if (target.layer <= layer) break
        if (target.layer === layers && layer === layers - 1) activate(firstRow, target)
        const from = neurons.length + layer * positions
        for (let position = 0; position <= target.position; position += 1) {
          const place = { oneFrom: (firstRow + position) * width, otherFrom: position * width, count: width }
          target.row[from + position] = dot(backward.rows, output, place)
        }
        for (const { column, position, activation, write } of named) {
          if (position > target.position) continue
          const weight =
            activation * dot(backward.rows, write, { oneFrom: (firstRow + position) * width, count: width })
          target.row[column] = weight
          target.row[from + position] = (target.row[from + position] ?? 0) - weight
        }
      }
      const active = batch.filter(({ target }) => target.layer >= layer)
      for (const { target, firstRow } of active) if (target.layer === layer) activate(firstRow, target)
      await backward.throughAttention(layer, active.map(segmentOf))
      await turn(signal)
    }
    for (const { target, firstRow } of batch) {
      const from = neurons.length + layers * positions
      for (let position = 0; position <= target.position; position += 1) {
        const place = { oneFrom: (firstRow + position) * width, otherFrom: position * width, count: width }
        target.row[from + position] = dot(backward.rows, embeddings, place)
      }
    }
    onRows(batch.length)
  }

  function activate(firstRow: number, { position, read }: Target): void {
    backward.rows.fill(0, firstRow * width, (firstRow + position) * width)
    backward.rows.set(read(), (firstRow + position) * width)
  }
}

interface Placed {
  target: Target
  firstRow: number
}

const segmentOf = ({ target, firstRow }: Placed): Segment => ({ firstRow, positions: target.position + 1 })

/**
 * Sorts targets so that those that read the highest layer come first: the targets that a layer has reached come before
 * the others.
 */
function batchesOf(targets: readonly Target[], maxRows: number): Placed[][] {
  const batches: Placed[][] = []
  let used = maxRows
  for (const target of targets.toSorted((one, other) => other.layer - one.layer)) {
    if (used + target.position + 1 > maxRows) {
      batches.push([])
      used = 0
    }
    batches.at(-1)?.push({ target, firstRow: used })
    used += target.position + 1
  }
  return batches
}

/** What a layer's MLP wrote, and the column of the matrix with which each of its named neurons writes. */
function writersOf(pass: FrozenPass, neurons: readonly NeuronEffect[], layer: number) {
  const own = neurons.flatMap((neuron, column) => (neuron.layer === layer ? [{ ...neuron, column }] : []))
  const distinct = [...new Set(own.map(({ neuron }) => neuron))]
  const written = readColumns(pass, weightsOf(pass, layer).down, distinct)
  const writes = new Map(distinct.map((neuron, index) => [neuron, written[index] ?? new Float32Array()]))
  const named = own.map(({ column, position, activation, neuron }) => ({
    column,
    position,
    activation,
    write: writes.get(neuron) ?? new Float32Array(),
  }))
  return { output: mlpOutputOf(pass, layer), named }
}

function checkSums(targets: readonly Target[]): SumCheck {
  let maxError = 0
  for (const { row, value } of targets) {
    const error = Math.abs(row.reduce((sum, weight) => sum + weight, 0) - value) / Math.max(1, Math.abs(value))
    // Also where it is no number.
    if (!(error <= MAX_SUM_ERROR)) {
      throw modelError('attribution_inexact', `The parts of a row differ from its target by ${error} of it.`)
    }
    maxError = Math.max(maxError, error)
  }
  return { maxError, rows: targets.length }
}
