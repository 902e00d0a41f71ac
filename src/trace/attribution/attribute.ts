// A graph of what made a model say a token. `exact`: every row of the frozen model adds up to what it explains. The two
// approximate methods give each node's effect on the objective alone, without the edges between nodes.

import { modelError } from '../gguf/model-error.ts'
import type { LoadedModel } from '../llama/model.ts'
import { type Agreement, ablate, agreementOf, type VerifiedNeuron } from './ablation.ts'
import { type FrozenPass, freeze } from './frozen.ts'
import { computeGradients } from './gradient.ts'
import { type DenseGraph, type GraphScores, type PruningThresholds, pruneGraph } from './influence.ts'
import {
  chooseLogits,
  chooseObjective,
  type LogitTarget,
  type Objective,
  readObjective,
  showToken,
} from './objective.ts'
import { computeExactRows, type SumCheck } from './rows.ts'
import { byEffect, computeTotalEffects, type NeuronEffect, type TotalEffects } from './total-effects.ts'

export const ATTRIBUTION_METHODS = ['exact', 'grad_x_act', 'ablation'] as const
export type AttributionMethod = (typeof ATTRIBUTION_METHODS)[number]

export interface AttributionRequest {
  /** The token after these is explained. */
  tokens: readonly number[]
  /** Undefined: the most likely one. */
  target?: number
  method: AttributionMethod
  maxFeatureNodes: number
  maxLogits: number
  /** Logits are targets until their tokens have this probability together. */
  desiredLogitProbability: number
  thresholds: PruningThresholds
}

export type GraphNode =
  | {
      kind: 'neuron'
      layer: number
      position: number
      neuron: number
      activation: number
      effect: number
      /** Part of the effect that the neuron writes to the output directly, where that is known separately. */
      direct?: number
      influence: number
    }
  /** All neurons of a layer and position that have no node of their own. */
  | { kind: 'remainder'; layer: number; position: number; influence: number }
  | { kind: 'embedding'; position: number; token: number; influence: number }
  | ({ kind: 'logit'; position: number } & LogitTarget)

/** What each writer of the residual stream adds to a logit directly, at the last position. The final norm is frozen. */
export interface DirectRow {
  token: number
  logit: number
  embedding: number
  /** Contribution of each layer. The neurons of an MLP add up to its part. */
  attention: number[]
  mlp: number[]
  /** What no writer adds: of a norm with a bias. */
  constant: number
}

/** A structured clone of it can travel between processes. */
export interface AttributionGraph {
  method: AttributionMethod
  /** Runtime that computed the graph, where it is not the kernel: its bits, and so a hash of them, differ. */
  runtime?: string
  layers: number
  tokens: number[]
  /** Control tokens have none. */
  text: string
  /** Text of each token, as it is shown. */
  tokenTexts: string[]
  /** Texts of the logits, in the order of their nodes. */
  logitTexts: string[]
  objective: Objective
  nodes: GraphNode[]
  /** Indices of nodes. */
  links: { sources: Uint32Array; targets: Uint32Array; weights: Float64Array }
  /** How many links the thresholds ask for. Above `MAX_EDGES`, the weakest of them are left out. */
  linksFound: number
  /** null: the method is approximate, and nothing adds up. */
  sumCheck: SumCheck | null
  /** Share of the absolute effect of all neurons that belongs to neurons without a node. */
  remainderShare: number
  /** null: the method is approximate, and the inputs of neurons and remainders are not known. */
  scores: GraphScores | null
  /** The neurons with the largest effect, ablated. Pruning may have left out some of them. */
  verified: VerifiedNeuron[]
  agreement: Agreement
  /** Where the model's inside is known so far only: a row of each logit, and the check of their sums. */
  direct?: { rows: DirectRow[]; sumCheck: SumCheck }
}

export interface AttributionOptions {
  maxInternalsBytes: number
  signal?: AbortSignal | undefined
  /** Steps of the work: they take about the same time. */
  onProgress?: (done: number, total: number) => void
}

export const MAX_FEATURE_NODES = 1_024
export const VERIFIED_NEURONS = 20
// 0.1 s of SmolLM2 with 40 tokens, as are a few layers of a backward pass and a tenth of an ablation.
const ROWS_PER_STEP = 2

/** @throws {ModelError} `request_invalid`, `aborted`, or `attribution_inexact` when a row does not add up. */
export async function attribute(
  model: LoadedModel,
  request: AttributionRequest,
  { maxInternalsBytes, signal, onProgress = () => {} }: AttributionOptions,
): Promise<AttributionGraph> {
  const { method, maxFeatureNodes } = request
  if (maxFeatureNodes < 1 || maxFeatureNodes > MAX_FEATURE_NODES) {
    throw modelError('request_invalid', `A graph has 1 to ${MAX_FEATURE_NODES} neurons.`)
  }
  const { layers } = model.shape
  const ablations = method === 'ablation' ? maxFeatureNodes : VERIFIED_NEURONS
  const steps = 1 + layers + Math.ceil(maxFeatureNodes / ROWS_PER_STEP) + ablations
  let done = 0
  const advance = (count = 1) => {
    done = Math.min(steps - 1, done + count)
    onProgress(done, steps)
  }
  const options = { signal, onLayer: advance, onNeuron: advance }
  const pass = await freeze(model, request.tokens, { maxBytes: maxInternalsBytes, signal })
  advance()
  const objective = chooseObjective(pass, request.target)
  const most = request.maxLogits
  const logits = chooseLogits(pass.logits, objective.token, { most, probability: request.desiredLogitProbability })
  const effects =
    method === 'grad_x_act'
      ? await computeGradients(pass, objective, maxFeatureNodes, options)
      : await computeTotalEffects(pass, readObjective(pass, objective), maxFeatureNodes, options)
  const { selected, remainderShare } = effects
  const frame = { tokens: request.tokens, layers, selected, logits }
  const order = selected.toSorted(byEffect)
  const verified = await ablate(
    pass,
    objective,
    method === 'ablation' ? order : order.slice(0, VERIFIED_NEURONS),
    options,
  )
  const { dense, sumCheck } =
    method === 'exact'
      ? await exactGraph(pass, frame, { signal, onRows: (count) => advance(count / ROWS_PER_STEP) })
      : {
          dense: starGraph(frame, effects.embeddings, method === 'ablation' ? verified : undefined),
          sumCheck: null,
        }
  const { scores, ...assembled } = assemble(frame, dense, request.thresholds)
  const top = verified.slice(0, VERIFIED_NEURONS)
  onProgress(steps, steps)
  return {
    method,
    ...(model.accelerator && { runtime: model.accelerator.runtime }),
    layers,
    tokens: [...request.tokens],
    text: model.tokenizer.decode(request.tokens),
    tokenTexts: request.tokens.map((token) => showToken(model.tokenizer, token)),
    logitTexts: logits.map(({ token }) => showToken(model.tokenizer, token)),
    objective,
    ...assembled,
    sumCheck,
    remainderShare,
    scores: method === 'exact' ? scores : null,
    verified: top,
    agreement: agreementOf(top),
  }
}

async function exactGraph(
  pass: FrozenPass,
  frame: GraphFrame,
  options: { signal: AbortSignal | undefined; onRows: (count: number) => void },
): Promise<{ dense: DenseGraph; sumCheck: SumCheck }> {
  const tokens = frame.logits.map(({ token }) => token)
  const { rows, sumCheck } = await computeExactRows(pass, frame.selected, tokens, options)
  return { dense: denseGraph(frame, rows, { needsInputs: true }), sumCheck }
}

/** What the nodes of a graph follow from. */
export interface GraphFrame {
  tokens: readonly number[]
  layers: number
  /** The neurons that have nodes of their own. */
  selected: readonly NeuronEffect[]
  logits: readonly LogitTarget[]
}

/** Each node's effect on the objective, as an edge to the logit that is explained. */
export function starGraph(
  frame: GraphFrame,
  embeddings: TotalEffects['embeddings'],
  measured: readonly (NeuronEffect & { measured: number })[] | undefined,
): DenseGraph {
  const { tokens, layers, selected, logits } = frame
  const positions = tokens.length
  const columns = selected.length + layers * positions + positions
  const rows = Array.from({ length: selected.length + logits.length }, () => new Float64Array(columns))
  const row = rows[selected.length + logits.findIndex(({ isTarget }) => isTarget)]
  selected.forEach((neuron, column) => {
    const found = measured?.find(
      (one) => one.layer === neuron.layer && one.position === neuron.position && one.neuron === neuron.neuron,
    )
    // What is lost by the ablation is what the neuron contributes.
    if (row !== undefined) row[column] = measured === undefined ? neuron.effect : -(found?.measured ?? 0)
  })
  if (measured === undefined) row?.set(embeddings, columns - positions)
  return denseGraph(frame, rows, { needsInputs: false })
}

function denseGraph(
  { tokens, layers, selected, logits }: GraphFrame,
  rows: readonly Float64Array[],
  { needsInputs }: Pick<DenseGraph, 'needsInputs'>,
): DenseGraph {
  return {
    features: selected.length,
    remainders: layers * tokens.length,
    embeddings: tokens.length,
    rows,
    probabilities: logits.map(({ probability }) => probability),
    needsInputs,
    // They are sorted by layer, and a neuron reads lower layers alone.
    order: selected.map((_, index) => selected.length - 1 - index),
  }
}

export function assemble(
  { tokens, layers, selected, logits }: GraphFrame,
  dense: DenseGraph,
  thresholds: PruningThresholds,
) {
  const positions = tokens.length
  const { isKept, edges, found, cumulative, scores } = pruneGraph(dense, thresholds)
  const nodes: GraphNode[] = []
  const places = new Map<number, number>()
  const put = (source: number, node: GraphNode) => {
    places.set(source, nodes.length)
    nodes.push(node)
  }
  isKept.forEach((kept, source) => {
    if (!kept) return
    const influence = cumulative[source] ?? 0
    const neuron = selected[source]
    const place = source - selected.length
    if (neuron !== undefined) put(source, { kind: 'neuron', ...neuron, influence })
    else if (place < layers * positions) {
      put(source, { kind: 'remainder', layer: Math.floor(place / positions), position: place % positions, influence })
    } else {
      const position = place - layers * positions
      put(source, { kind: 'embedding', position, token: tokens[position] ?? 0, influence })
    }
  })
  logits.forEach((logit, index) => {
    put(isKept.length + index, { kind: 'logit', position: positions - 1, ...logit })
  })
  const indexOf = (source: number) => places.get(source)
  const rowOf = (row: number) => indexOf(row < selected.length ? row : isKept.length + row - selected.length) ?? 0
  const links = {
    sources: Uint32Array.from(edges, ({ column }) => indexOf(column) ?? 0),
    targets: Uint32Array.from(edges, ({ row }) => rowOf(row)),
    weights: Float64Array.from(edges, ({ row, column }) => dense.rows[row]?.[column] ?? 0),
  }
  return { nodes, links, linksFound: found, scores }
}
