// What somebody finds in a published graph who has the file of the model. Two ways to the text: least squares, over what each
// token of the vocabulary can add to a link by the heads of a layer; and a search from the left, which runs the model on each
// candidate and compares. A third way leads to neurons without the text: rows of a layer are equations over what it reads.

import type { Matrix } from '#src/trace/kernel/kernel.ts'
import { createInternals, type Internals } from '#src/trace/llama/internals.ts'
import type { LoadedModel } from '#src/trace/llama/model.ts'
import { kindOf, type ManifestNode, neuronOf } from '#src/trace/shares/graph.ts'
import type { SharedGraph } from '#src/trace/shares/mask.ts'

/** What reads something at a position from the residual stream behind the attention of a layer. */
interface Reader {
  layer: number
  vector: Float64Array
}

const rowOf = ({ kernel }: LoadedModel, matrix: Matrix, row: number) =>
  Float64Array.from(kernel.readRows(matrix, row, 1))
const times = (one: Float64Array, other: ArrayLike<number>) => one.map((value, index) => value * (other[index] ?? 0))

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0)
  return sum
}

/** Of a neuron's `up`. @param id Of a node. */
export function readerOfNeuron(model: LoadedModel, id: string): Reader {
  const [layer = 0, neuron = 0] = id.split('_').map(Number)
  const weights = layerOf(model, layer)
  return { layer, vector: times(rowOf(model, weights.up, neuron), weights.mlpNorm) }
}

/** Of a logit, which reads behind the last layer. */
export function readerOfLogit(model: LoadedModel, token: number): Reader {
  const { weights, shape } = model
  return { layer: shape.layers - 1, vector: times(rowOf(model, weights.unembedding, token), weights.norm) }
}

/** What the residual stream has of a token where a layer begins, as far as that does not depend on the text. */
export type Words = (token: number, layer: number) => Float64Array

/** Embeddings alone, which is exact for the first layer. */
export const embeddings =
  (model: LoadedModel): Words =>
  (token) =>
    rowOf(model, model.weights.embedding, token)

/** What a layer has of a token behind a text that everybody knows. */
export function wordsBehind(model: LoadedModel, known: readonly number[]): Words {
  const { shape, llama } = model
  llama.restart()
  llama.feed(known, { logits: 'none' })
  const streams = Array.from({ length: shape.vocabulary }, (_, token) => {
    llama.rewind(known.length)
    const internals = createInternals(shape, known.length + 1, { residuals: true }, 1e9)
    llama.feed([token], { internals, logits: 'none' })
    return internals.layers.map(({ residual }) => Float64Array.from(residual.slice(known.length * shape.width)))
  })
  return (token, layer) => streams[token]?.[layer] ?? new Float64Array()
}

export interface Row {
  reader: Reader
  weight: number
}

export interface Vocabulary {
  model: LoadedModel
  /**
   * Its tokens, the one first that explains most of the links of one source to readers of one layer. How much each head looks
   * at it is unknown: a coefficient each. @param isOwn Whether the readers are at the position of the source.
   */
  rank(rows: readonly Row[], isOwn?: boolean): number[]
}

export function createVocabulary(model: LoadedModel, words: Words): Vocabulary {
  const { heads, kvHeads, headSize, width, vocabulary } = model.shape
  const tokens = Array.from({ length: vocabulary }, (_, token) => token)
  const layers = model.weights.layers.map(({ output, value, attentionNorm }, layer) => {
    const values = Array.from({ length: kvHeads * headSize }, (_, row) => rowOf(model, value, row))
    const streams = tokens.map((token) => words(token, layer))
    return {
      streams,
      outputs: Array.from({ length: width }, (_, row) => rowOf(model, output, row)),
      values: streams.map((stream) => {
        const normed = times(stream, attentionNorm)
        return Float64Array.from(values, (row) => dot(row, normed))
      }),
    }
  })

  function rank(rows: readonly Row[], isOwn = false): number[] {
    const { streams = [], outputs = [], values = [] } = layers[rows[0]?.reader.layer ?? 0] ?? {}
    const throughOutput = rows.map(({ reader }) => {
      const read = new Float64Array(heads * headSize)
      outputs.forEach((output, row) => {
        const factor = reader.vector[row] ?? 0
        for (let at = 0; at < read.length; at += 1) read[at] = (read[at] ?? 0) + factor * (output[at] ?? 0)
      })
      return Array.from({ length: heads }, (_, head) => read.subarray(head * headSize, (head + 1) * headSize))
    })
    const wanted = rows.map(({ weight }) => weight)
    const left = tokens.map((token) => {
      const columns = Array.from({ length: heads }, (_, head) => {
        const from = Math.floor((head * kvHeads) / heads) * headSize
        const own = values[token]?.subarray(from, from + headSize) ?? []
        return throughOutput.map((read) => dot(own, read[head] ?? []))
      })
      if (isOwn) columns.push(rows.map(({ reader }) => dot(reader.vector, streams[token] ?? [])))
      return unexplained(columns, wanted)
    })
    return tokens.toSorted((one, other) => (left[one] ?? 0) - (left[other] ?? 0))
  }

  return { model, rank }
}

/** The square of what is left of the values when they are fitted by the columns. */
function unexplained(columns: readonly number[][], values: readonly number[]): number {
  const rest = remove(values, orthonormal(columns))
  return dot(rest, rest)
}

function orthonormal(vectors: readonly (readonly number[])[]): number[][] {
  const basis: number[][] = []
  for (const vector of vectors) {
    const rest = remove(remove(vector, basis), basis)
    const norm = Math.sqrt(dot(rest, rest))
    if (norm > 1e-9 * Math.sqrt(dot(vector, vector))) basis.push(rest.map((value) => value / norm))
  }
  return basis
}

function remove(vector: readonly number[], basis: readonly number[][]): number[] {
  let rest = [...vector]
  for (const one of basis) {
    const part = dot(rest, one)
    rest = rest.map((value, index) => value - part * (one[index] ?? 0))
  }
  return rest
}

/** Enough for four heads, and for a direct way. */
const ROWS = 16

/** Of each position, the token that explains best what its embedding adds to neurons of the first layer. */
export function findTokens({ model, rank }: Vocabulary, { nodes, links }: SharedGraph): (number | undefined)[] {
  const targets = new Map(nodes.filter(({ layer }) => layer === '0').map((node) => [node.node_id, node]))
  return nodes
    .filter((node) => kindOf(node) === 'embedding')
    .toSorted((a, b) => a.ctx_idx - b.ctx_idx)
    .map(({ node_id: id, ctx_idx }) => {
      const own = links.filter(({ source, target }) => source === id && targets.has(target))
      const [[position, best] = [-1, []]] = [
        ...Map.groupBy(own, ({ target }) => targets.get(target)?.ctx_idx ?? -1),
      ].toSorted((a, b) => b[1].length - a[1].length)
      if (best.length < ROWS) return undefined
      const rows = best.slice(0, ROWS).map(({ target, weight }) => ({ reader: readerOfNeuron(model, target), weight }))
      return rank(rows, position === ctx_idx)[0]
    })
}

/** A row of a neuron is its `up`; the minimum-norm solution over those of one layer gives that of another neuron. */
export function estimateUp(model: LoadedModel, known: readonly Row[], id: string): { up: number; open: number } {
  const basis: { vector: number[]; value: number }[] = []
  for (const { reader, weight } of known) {
    let [vector, value] = [[...reader.vector], weight]
    for (let round = 0; round < 2; round += 1) {
      for (const one of basis) {
        const part = dot(vector, one.vector)
        vector = vector.map((entry, index) => entry - part * (one.vector[index] ?? 0))
        value -= part * one.value
      }
    }
    const norm = Math.sqrt(dot(vector, vector))
    if (norm > 1e-6) basis.push({ vector: vector.map((entry) => entry / norm), value: value / norm })
  }
  const { vector } = readerOfNeuron(model, id)
  const parts = basis.map((one) => ({ part: dot(vector, one.vector), value: one.value }))
  return {
    up: parts.reduce((sum, { part, value }) => sum + part * value, 0),
    open: 1 - parts.reduce((sum, { part }) => sum + part * part, 0) / dot(vector, vector),
  }
}

/** The sums of the published rows of the neurons of a layer, at one position. */
export function rowsOf(model: LoadedModel, { nodes, links }: SharedGraph, layer: number, position: number): Row[] {
  const sums = new Map<string, number>()
  for (const { target, weight } of links) sums.set(target, (sums.get(target) ?? 0) + weight)
  return nodes
    .filter((node) => kindOf(node) === 'neuron' && node.layer === String(layer) && node.ctx_idx === position)
    .map(({ node_id: id }) => ({ reader: readerOfNeuron(model, id), weight: sums.get(id) ?? 0 }))
}

export interface Guess {
  /** Known, and what stands behind the text in every prompt. */
  prefix: readonly number[]
  tail: readonly number[]
  candidates: readonly number[]
}

/** A neuron of a graph, with its activation there. */
interface Shown {
  layer: number
  neuron: number
  activation: number
}

/**
 * The next token by each graph: the candidate whose activations are nearest to those of the graph's neurons. A graph with
 * positions has some of this one; of another, those of the last position are compared here and behind the tail.
 */
export function searchToken(model: LoadedModel, graphs: readonly SharedGraph[], guess: Guess): (number | undefined)[] {
  const { llama, shape } = model
  const { prefix, tail, candidates } = guess
  llama.restart()
  for (let from = 0; from < prefix.length; from += llama.maxPieceTokens) {
    llama.feed(prefix.slice(from, from + llama.maxPieceTokens), { logits: 'none' })
  }
  const internals = createInternals(shape, prefix.length + 1 + tail.length, { neurons: true }, 1e9)
  const compared = graphs.map((graph) => {
    const own = shownAt(graph, ({ ctx_idx, node_id }) => node_id.split('_').length === 3 && ctx_idx === prefix.length)
    const last = Math.max(...graph.nodes.map(({ ctx_idx }) => ctx_idx))
    const hasPositions = graph.nodes.some(({ node_id }) => node_id.startsWith('E_'))
    return hasPositions
      ? { shown: own, places: [prefix.length], best: { token: -1, distance: Number.POSITIVE_INFINITY } }
      : {
          shown: shownAt(graph, ({ ctx_idx }) => ctx_idx === last),
          places: [prefix.length, prefix.length + tail.length],
          best: { token: -1, distance: Number.POSITIVE_INFINITY },
        }
  })
  for (const token of candidates) {
    llama.rewind(prefix.length)
    llama.feed([token, ...tail], { internals, logits: 'none' })
    for (const one of compared) {
      for (const place of one.places) {
        const distance = distanceOf(one.shown, internals, place * shape.mlp)
        if (distance < one.best.distance) one.best = { token, distance }
      }
    }
  }
  return compared.map(({ best }) => (best.token === -1 ? undefined : best.token))
}

function shownAt({ nodes }: SharedGraph, isThere: (node: ManifestNode) => boolean): Shown[] {
  return nodes
    .filter((node) => kindOf(node) === 'neuron' && isThere(node))
    .map(({ node_id, activation }) => {
      const [layer = 0, neuron = 0] = neuronOf(node_id).split('_').map(Number)
      return { layer, neuron, activation: activation ?? 0 }
    })
}

function distanceOf(shown: readonly Shown[], { layers }: Internals, from: number): number {
  if (shown.length === 0) return Number.POSITIVE_INFINITY
  return shown.reduce((sum, { layer, neuron, activation }) => {
    const { gate, up } = layers[layer] ?? { gate: [], up: [] }
    return sum + ((gate[from + neuron] ?? 0) * (up[from + neuron] ?? 0) - activation) ** 2
  }, 0)
}

function layerOf({ weights }: LoadedModel, layer: number) {
  const own = weights.layers[layer]
  if (own === undefined) throw new RangeError(`there is no layer ${layer}`)
  return own
}
