// What writes to the residual stream of an exported decoder, found by the form of its graph: from the logits back through
// the output matrix and the final norm, then down the chain of sums. The names in a graph are the exporter's and say
// nothing here. A form that is not known is no error: such a decoder completes texts, and shows nothing of its inside.

import type { OnnxGraph, OnnxNode } from '../onnx/proto.ts'
import { type GraphTrace, readTrace, type WeightProduct } from './graph-trace.ts'
import type { WeightMatrix, WeightVector } from './weights.ts'

export interface ResidualWriters {
  width: number
  /** Neurons of each layer. */
  neurons: number
  /** The tensor of token embeddings, as it enters the first layer. */
  embedding: string
  layers: readonly LayerWriters[]
  /** The residual stream behind the last layer, and what the output matrix reads of it. */
  final: string
  normed: string
  norm: { kind: 'rms' | 'mean'; gain: WeightVector; bias: WeightVector | undefined; epsilon: number }
  /** width x vocabulary. */
  unembedding: WeightMatrix
  /** Sums that are an output of a norm without a name of their own: node and number of the output. */
  unnamed: readonly { node: OnnxNode; output: number; name: string }[]
}

export interface LayerWriters {
  /** What attention adds, and what the MLP adds. */
  attention: string
  mlp: string
  /** The activations of the neurons: what the matrix `down` reads. */
  activations: string
  /** neurons x width. */
  down: WeightMatrix
  /** The MLP adds more than its neurons write. */
  hasBias: boolean
}

/** The form of the graph, or why it is not known. */
export type FoundWriters = { writers: ResidualWriters } | { reason: string }

const MAX_LAYERS = 512
const NORMS: Readonly<Record<string, 'rms' | 'mean'>> = {
  SimplifiedLayerNormalization: 'rms',
  RMSNormalization: 'rms',
  SkipSimplifiedLayerNormalization: 'rms',
  LayerNormalization: 'mean',
  SkipLayerNormalization: 'mean',
}
// Where the operator says nothing.
const EPSILON = 1e-5
/** What a norm is made of where it is no operator of its own. */
const NORM_PARTS = new Set(['Mul', 'Div', 'Cast', 'Identity', 'Reciprocal', 'Sqrt', 'Pow', 'ReduceMean', 'Sub', 'Add'])
const PASSING = new Set(['Identity', 'Cast', 'Slice', 'Gather', 'GatherND', 'Squeeze', 'Reshape', 'Unsqueeze'])

export function findWriters(graph: OnnxGraph, logits: string): FoundWriters {
  const trace = readTrace(graph)
  try {
    return { writers: find(trace, logits) }
  } catch (error) {
    if (error instanceof UnknownForm) return { reason: error.message }
    throw error
  }
}

class UnknownForm extends Error {}
const unknown = (reason: string): never => {
  throw new UnknownForm(reason)
}

function find(trace: GraphTrace, logits: string): ResidualWriters {
  const output = trace.product(trace.back(logits, (operator) => operator === 'Cast' || operator === 'Identity'))
  if (output === undefined) return unknown('the logits are no product with a matrix of the file')
  if (output.bias !== undefined) return unknown('the output matrix has a bias')
  const normed = trace.back(output.input, (operator) => PASSING.has(operator))
  const { kind, gain, bias, epsilon, sum } = findNorm(trace, normed)
  const width = output.matrix.rows
  if (gain.length !== width) return unknown('the final norm has another width than the output matrix')
  const chain = walk(trace, sum)
  const layers: LayerWriters[] = []
  for (let index = 0; index < chain.branches.length; index += 2) {
    const [attention, mlp] = [chain.branches[index], chain.branches[index + 1]]
    const neurons = mlp && neuronsOf(trace, mlp)
    if (attention === undefined || mlp === undefined || neurons === undefined || neuronsOf(trace, attention)) {
      return unknown('attention and MLP do not take turns')
    }
    layers.push({ attention: attention.tensor, mlp: mlp.tensor, ...neurons })
  }
  const [first] = layers
  if (first === undefined) return unknown('it has no layers')
  if (layers.some(({ down }) => down.columns !== width || down.rows !== first.down.rows)) {
    return unknown('its layers have different sizes')
  }
  return {
    width,
    neurons: first.down.rows,
    embedding: chain.start,
    layers,
    final: trace.nameOf(sum),
    normed,
    norm: { kind, gain, bias, epsilon },
    unembedding: output.matrix,
    unnamed: trace.unnamed(),
  }
}

/** The norm that ends in a tensor: its gain, and the sum that it reads. */
function findNorm(trace: GraphTrace, normed: string) {
  const own = trace.producer(normed)
  const kind = own && NORMS[own.operator]
  if (own !== undefined && kind !== undefined) {
    const skips = own.operator.startsWith('Skip')
    const gain = trace.vector(own.inputs[skips ? 2 : 1])
    const bias = kind === 'mean' ? trace.vector(own.inputs[skips ? 3 : 2]) : undefined
    if (gain === undefined) return unknown('the final norm has no gain in the file')
    const given = own.attributes.find(({ name }) => name === 'epsilon')?.value
    const epsilon = given?.kind === 'float' ? given.value : EPSILON
    return {
      kind,
      gain,
      bias,
      epsilon,
      sum: skips ? { node: own, output: 3 } : { tensor: own.inputs[0] ?? '' },
    } as const
  }
  const gains: WeightVector[] = []
  const sources = new Set<string>()
  const seen = new Set<string>()
  const added: number[] = []
  const open = [normed]
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    if (seen.has(tensor)) continue
    seen.add(tensor)
    if (trace.isConstant(tensor)) {
      const vector = trace.vector(tensor)
      if (vector !== undefined && vector.length > 1) gains.push(vector)
      continue
    }
    const node = trace.producer(tensor)
    const isPart = node !== undefined && NORM_PARTS.has(node.operator)
    const isSum = node?.operator === 'Add' && node.inputs.every((input) => !trace.isConstant(input))
    if (!isPart || isSum) sources.add(tensor)
    else {
      open.push(...node.inputs)
      if (node.operator === 'Add') added.push(...node.inputs.flatMap((input) => trace.number(input) ?? []))
    }
    if (seen.size > 64) return unknown('the final norm has no known form')
  }
  const [gain, ...otherGains] = gains
  const [source, ...others] = sources
  const isMean = [...seen].some((tensor) => trace.producer(tensor)?.operator === 'Sub')
  if (gain === undefined || source === undefined || otherGains.length + others.length > 0 || isMean) {
    return unknown('the final norm has no known form')
  }
  const [epsilon, ...more] = added
  if (epsilon === undefined || more.length > 0) return unknown('the final norm has no known form')
  return { kind: 'rms', gain, bias: undefined, epsilon, sum: { tensor: source } } as const
}

interface Branch {
  /** What is added. */
  tensor: string
  product: WeightProduct
  hasBias: boolean
}

/** Down the chain of sums: what was added, the first one first, and where the chain starts. */
function walk(trace: GraphTrace, from: Parameters<GraphTrace['nameOf']>[0]): { branches: Branch[]; start: string } {
  const branches: Branch[] = []
  let at = trace.sum(from)
  let start = trace.nameOf(from)
  while (at !== undefined) {
    const parts = at.map((tensor) => {
      const made = trace.throughBias(tensor)
      const product = trace.product(made.tensor)
      return { tensor, product, hasBias: made.hasBias || product?.bias !== undefined }
    })
    const [own, ...more] = parts.filter(({ product }) => product !== undefined)
    // Such as embeddings of tokens and of positions.
    if (own === undefined) return { branches, start }
    const rest = parts.find((part) => part !== own)
    if (own.product === undefined || rest === undefined || more.length > 0) return unknown('a sum has no known form')
    branches.unshift({ tensor: own.tensor, product: own.product, hasBias: own.hasBias })
    if (branches.length > 2 * MAX_LAYERS) return unknown(`it has more than ${MAX_LAYERS} layers`)
    start = rest.tensor
    at = trace.sum({ tensor: start })
  }
  return { branches, start }
}

/** Undefined where it is no MLP: there, the matrix reads what an activation function or a gate has made. */
function neuronsOf(trace: GraphTrace, { product: { input, matrix }, hasBias }: Branch) {
  const activations = trace.back(input, (operator) => operator === 'Identity' || operator === 'Reshape')
  const made = trace.producer(activations)
  const isGated = made?.operator === 'Mul' && made.inputs.every((one) => !trace.isConstant(one))
  const isActivation = made !== undefined && ACTIVATIONS.has(made.operator)
  return isGated || isActivation ? { activations, down: matrix, hasBias } : undefined
}

const ACTIVATIONS = new Set(['Relu', 'Gelu', 'FastGelu', 'QuickGelu', 'BiasGelu', 'HardSwish', 'Swish', 'Mish'])
