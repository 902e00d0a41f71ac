// Attribution of an exported decoder. What is written to the output directly is exact, since its parts add up to the logit.
// What neurons do by way of other layers is measured: each of those that may matter is removed, and the text runs again.

import { agreementOf } from '../attribution/ablation.ts'
import {
  type AttributionGraph,
  type AttributionRequest,
  assemble,
  MAX_FEATURE_NODES,
  starGraph,
  VERIFIED_NEURONS,
} from '../attribution/attribute.ts'
import { chooseLogits, chooseObjective, differenceOf, type Objective, showToken } from '../attribution/objective.ts'
import { byEffect, type NeuronEffect } from '../attribution/total-effects.ts'
import { modelError } from '../gguf/model-error.ts'
import { turn } from '../llama/generation.ts'
import type { ActivationEdit, ExportedModel, Written } from './decoder.ts'
import { computeDirect, type DirectParts } from './direct.ts'
import type { ResidualWriters } from './writers.ts'

interface Candidate {
  layer: number
  position: number
  neuron: number
  activation: number
  /** Direct effect on the objective; 0 at other positions than the last. */
  direct: number
}

// All neurons of a layer and position are removed together first, to see where single ones are worth a pass. Longer texts
// are looked at from their end.
const MAX_GROUPS = 2_048
// More texts at once take memory for their neurons, and save little.
const TEXTS_AT_ONCE = 8
/** A pass gives the logits of every token of every text. Beside the weights, twice as much must fit into the process. */
const LOGITS_BYTES = 128e6

/** @throws {ModelError} `request_invalid`, `aborted`, `capability_missing`, or `attribution_inexact`. */
export async function attributeExported(
  model: ExportedModel,
  { tokens, target, method, maxFeatureNodes, maxLogits, desiredLogitProbability, thresholds }: AttributionRequest,
  {
    signal,
    onProgress = () => {},
  }: { signal?: AbortSignal | undefined; onProgress?: (done: number, total: number) => void } = {},
): Promise<AttributionGraph> {
  const writers = knownWriters(model)
  if (method !== 'ablation') {
    throw modelError('capability_missing', `Exported models are attributed by ablation, and not by ${method}.`)
  }
  if (maxFeatureNodes < 1 || maxFeatureNodes > MAX_FEATURE_NODES) {
    throw modelError('request_invalid', `A graph has 1 to ${MAX_FEATURE_NODES} neurons.`)
  }
  const { logits: all, written } = await model.pass({ texts: [tokens], capture: true })
  const [last] = all
  if (last === undefined || written === undefined) throw new TypeError('a pass gave nothing')
  const objective = chooseObjective({ logits: last }, target)
  const logits = chooseLogits(last, objective.token, { most: maxLogits, probability: desiredLogitProbability })
  // The objective's two come first.
  const others = logits.filter(({ token }) => token !== objective.token && token !== objective.contrast)
  const explained = [objective.token, objective.contrast, ...others.map(({ token }) => token)]
  const direct = computeDirect(
    writers,
    written,
    explained.map((token) => ({ token, logit: last[token] ?? 0 })),
  )
  const groups = groupsOf(writers, tokens.length)
  const steps = 1 + groups.length + maxFeatureNodes
  let done = 1
  const onDone = (count: number) => {
    done = Math.min(steps - 1, done + count)
    onProgress(done, steps)
  }
  const explainedText = { tokens, objective }
  const removed = groups.map((group) => [{ ...group, neuron: undefined, factor: 0 }])
  const changes = await measureEdits(model, explainedText, removed, { signal, onDone })
  const sized = groups.map((group, index) => ({ ...group, size: Math.abs(changes[index] ?? 0) }))
  const candidates = chooseCandidates({ writers, written, direct }, sized, maxFeatureNodes)
  const edits = candidates.map(({ layer, position, neuron }) => [{ layer, position, neuron, factor: 0 }])
  const measured = await measureEdits(model, explainedText, edits, { signal, onDone })
  const selected = candidates.map((one, index) => ({ ...one, effect: -(measured[index] ?? 0) }))
  const frame = { tokens, layers: writers.layers.length, selected, logits }
  const dense = starGraph(
    frame,
    [],
    selected.map((one) => ({ ...one, measured: -one.effect })),
  )
  const { nodes, links, linksFound } = assemble(frame, dense, thresholds)
  const verified = verifiedOf(selected, tokens.length)
  onProgress(steps, steps)
  return {
    method,
    layers: frame.layers,
    tokens: [...tokens],
    text: model.tokenizer.decode(tokens),
    tokenTexts: tokens.map((token) => showToken(model.tokenizer, token)),
    logitTexts: logits.map(({ token }) => showToken(model.tokenizer, token)),
    objective,
    nodes,
    links,
    linksFound,
    sumCheck: null,
    remainderShare: unnamedShare(direct, candidates, tokens.length),
    scores: null,
    verified,
    agreement: agreementOf(verified),
    direct: { rows: direct.rows, sumCheck: direct.sumCheck },
  }
}

interface ExplainedText {
  tokens: readonly number[]
  objective: Objective
}

/** The change of the objective for each list of edits. @throws {ModelError} `aborted`. */
async function measureEdits(
  model: ExportedModel,
  { tokens, objective }: ExplainedText,
  edits: readonly (readonly ActivationEdit[])[],
  { signal, onDone = () => {} }: { signal?: AbortSignal | undefined; onDone?: (count: number) => void } = {},
): Promise<number[]> {
  const { hasBatch, vocabulary } = model.decoder
  const fitting = Math.floor(LOGITS_BYTES / (tokens.length * vocabulary * Float32Array.BYTES_PER_ELEMENT))
  const atOnce = hasBatch ? Math.max(1, Math.min(TEXTS_AT_ONCE, fitting)) : 1
  const changes: number[] = []
  for (let from = 0; from < edits.length; from += atOnce) {
    const batch = edits.slice(from, from + atOnce)
    const { logits } = await model.pass({ texts: batch.map(() => tokens), edits: batch })
    for (const own of logits) changes.push(differenceOf(own, objective) - objective.difference)
    onDone(batch.length)
    await turn(signal)
  }
  return changes
}

/** @throws {ModelError} `capability_missing` where the form of the graph is not known. */
export function knownWriters({ writers, reason }: ExportedModel): ResidualWriters {
  if (writers !== undefined) return writers
  throw modelError('capability_missing', `The inside of this exported model is not known: ${reason ?? 'no reason'}.`)
}

/** What a neuron at the last position adds to the objective directly: to its token, less to the contrast. */
function directEffect({ neurons }: DirectParts, layer: number, neuron: number): number {
  const [ofToken, ofContrast] = neurons[layer] ?? []
  return (ofToken?.[neuron] ?? 0) - (ofContrast?.[neuron] ?? 0)
}

function groupsOf({ layers }: ResidualWriters, positions: number): { layer: number; position: number }[] {
  const looked = Math.min(positions, Math.max(1, Math.floor(MAX_GROUPS / layers.length)))
  return layers.flatMap((_, layer) =>
    Array.from({ length: looked }, (_, index) => ({ layer, position: positions - looked + index })),
  )
}

/** What one pass showed of the inside. */
interface KnownInside {
  writers: ResidualWriters
  written: Written
  direct: DirectParts
}

/** Places share the named neurons by what removing all of theirs did. */
function chooseCandidates(
  { writers, written, direct }: KnownInside,
  groups: readonly { layer: number; position: number; size: number }[],
  most: number,
): Candidate[] {
  const { neurons: count } = writers
  const total = groups.reduce((sum, { size }) => sum + size, 0)
  const last = written.final.length / writers.width - 1
  const lengths = writers.layers.map(({ down }) =>
    Float64Array.from({ length: count }, (_, one) => lengthOf(down.row(one))),
  )
  const chosen: Candidate[] = []
  for (const { layer, position, size } of groups.toSorted((one, other) => other.size - one.size)) {
    const room = Math.min(count, most - chosen.length, Math.ceil((most * size) / total) || 0)
    if (room === 0) break
    const activations = written.layers[layer]?.activations.subarray(position * count, (position + 1) * count)
    const all = Array.from(activations ?? [], (activation, neuron) => {
      const own = position === last ? directEffect(direct, layer, neuron) : 0
      // At other positions, what it writes is all that is known.
      const rank = position === last ? Math.abs(own) : Math.abs(activation) * (lengths[layer]?.[neuron] ?? 0)
      return { layer, position, neuron, activation, direct: own, rank }
    })
    const largest = all.toSorted((one, other) => other.rank - one.rank || one.neuron - other.neuron).slice(0, room)
    chosen.push(...largest.map(({ rank: _, ...one }) => one))
  }
  return chosen.toSorted(
    (one, other) => one.layer - other.layer || one.position - other.position || one.neuron - other.neuron,
  )
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
}

/** What direct attribution predicts of the strongest neurons of the last position, beside what was measured. */
function verifiedOf(selected: readonly (Candidate & NeuronEffect)[], positions: number) {
  return selected
    .filter(({ position }) => position === positions - 1)
    .toSorted(byEffect)
    .slice(0, VERIFIED_NEURONS)
    .map(({ direct, ...neuron }) => ({ ...neuron, predicted: -direct, measured: -neuron.effect }))
}

/** Share of what the last position's neurons write to the output directly that belongs to neurons without a node. */
function unnamedShare(direct: DirectParts, candidates: readonly Candidate[], positions: number): number {
  let total = 0
  direct.neurons.forEach(([first], layer) => {
    for (let neuron = 0; neuron < (first?.length ?? 0); neuron += 1)
      total += Math.abs(directEffect(direct, layer, neuron))
  })
  const named = candidates
    .filter(({ position }) => position === positions - 1)
    .reduce((sum, { layer, neuron }) => sum + Math.abs(directEffect(direct, layer, neuron)), 0)
  return total === 0 ? 0 : Math.max(0, 1 - named / total)
}
